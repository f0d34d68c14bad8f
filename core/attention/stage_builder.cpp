#include "core/attention/stage_builder.h"

#include <chrono>
#include <cstring>

#include "core/error.h"

namespace attnscope {
namespace {

bool same(const Tensor& a, const Tensor& b) {
    return a.shape() == b.shape() &&
           std::memcmp(a.values().data(), b.values().data(), a.values().size_bytes()) == 0;
}

}  // namespace

StagePtr StageBuilder::stage(std::string_view name, std::vector<StagePtr> inputs, std::string text,
                             const std::function<Tensor()>& compute) {
    using Clock = std::chrono::steady_clock;
    if (options_.cancel.stop_requested()) throw Cancelled{};
    const StageRecord* old = nullptr;
    for (const StageRecord& record : previous_.records)
        if (record.stage->name() == name) old = &record;
    if (old && old->settings == text && old->inputs == inputs) {
        trace_.records.push_back({old->stage, std::move(inputs), std::move(text)});
        return old->stage;
    }
    const Clock::time_point start = Clock::now();
    Tensor result = compute();
    const double milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    StagePtr stage = old && same(old->stage->buffer.host(), result)
                         ? old->stage
                         : StagePtr(new Stage{find_stage_info(name), Buffer(std::move(result))});
    trace_.records.push_back({stage, std::move(inputs), std::move(text), milliseconds, true});
    return stage;
}

StagePtr StageBuilder::given(const Experiment& experiment, const std::string& name, bool per_head) {
    const GivenMatrix& matrix = experiment.given.at(name);
    return stage(name, {}, settings("given", matrix.identity()),
                 [&] { return as_tensor(matrix.values(), per_head); });
}

Tensor as_tensor(const Matrix& matrix, bool per_head) {
    Tensor tensor({1, static_cast<int>(matrix.rows()), static_cast<int>(matrix.cols()), per_head});
    tensor.head(0) = matrix;
    return tensor;
}

void refuse_shape(std::string_view what, Eigen::Index rows, Eigen::Index columns,
                  const std::string& expected) {
    throw Error(ErrorKind::bad_input, std::string(what) + " is " + std::to_string(rows) + " × " +
                                          std::to_string(columns) + ", but " + expected + " is needed here");
}

void require_shape(const Stage& stage, Eigen::Index rows, Eigen::Index columns) {
    const Shape& shape = stage.shape();
    if (shape.rows != rows || shape.columns != columns)
        refuse_shape(stage.name(), shape.rows, shape.columns,
                     std::to_string(rows) + " × " + std::to_string(columns));
}

}  // namespace attnscope
