#include "core/picture/shown_matrix.h"

#include <string>

#include "core/error.h"

namespace attnscope {

bool has_mean(const Stage& stage) {
    return stage.shape().heads > 1 && stage.info->rows == Axis::query_token &&
           stage.info->columns == Axis::key_token;
}

ShownMatrix shown_matrix(const Stage& stage, const HeadChoice& choice) {
    const Shape& shape = stage.shape();
    if (!shape.per_head && shape.heads == 1) return {&stage.buffer, 0, false};
    switch (choice.kind) {
        case HeadChoice::Kind::mean: return {&stage.buffer.mean(), 0, shape.heads > 1};
        case HeadChoice::Kind::one:
            if (choice.head >= 0 && choice.head < shape.heads) return {&stage.buffer, choice.head, false};
            throw Error(ErrorKind::bad_input, "stage \"" + std::string(stage.name()) + "\" has no head " +
                                                  std::to_string(choice.head + 1) +
                                                  ": choose one from 1 to " + std::to_string(shape.heads));
        case HeadChoice::Kind::all: break;
    }
    throw Error(ErrorKind::bad_input, "a picture of \"" + std::string(stage.name()) +
                                          "\" shows one head or the mean of all: choose which");
}

}  // namespace attnscope
