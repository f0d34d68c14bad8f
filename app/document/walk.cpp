#include "app/document/walk.h"

#include <algorithm>

#include "core/picture/view_figure.h"

namespace attnscope {
namespace {

Cell start_of(const Presentation& presentation, const Stage& stage) {
    const Shape& shape = stage.shape();
    if (presentation.locked && may_mean(presentation.locked_stage(), stage)) return *presentation.locked;
    const int row = locked_query(presentation, shape.rows);
    const Eigen::RowVectorXf values = stage.buffer.row(0, row);
    return {row,
            static_cast<int>(std::max_element(values.data(), values.data() + values.size()) - values.data())};
}

}  // namespace

void walk_cells(Document& document, const Stage& stage, int down, int right) {
    walk_cells(document, stage, start_of(document.presentation(), stage), down, right);
}

void walk_cells(Document& document, const Stage& stage, const Cell& from, int down, int right) {
    const Shape& shape = stage.shape();
    const Cell to{std::clamp(from.row + down, 0, shape.rows - 1),
                  std::clamp(from.column + right, 0, shape.columns - 1)};
    document.change([&](Session& session) { session.presentation.lock(stage.key(), to); });
}

}  // namespace attnscope
