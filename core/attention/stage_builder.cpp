#include "core/attention/stage_builder.h"

#include <chrono>
#include <cmath>
#include <cstring>

#include "core/attention/backend.h"
#include "core/error.h"

namespace attnscope {
namespace {

/// Bit for bit; what lies on a card is not fetched to know.
bool same(const Buffer& a, const Buffer& b) {
    if (a.shape() != b.shape() || a.is_on_device() || b.is_on_device()) return false;
    const std::span<const float> left = a.host().values(), right = b.host().values();
    return std::memcmp(left.data(), right.data(), left.size_bytes()) == 0;
}

/// Whether a matrix of rows × columns numbers with a decimal comma, "1,5", reads as this one of whole
/// numbers.
bool may_be_decimal_commas(const ConstMatrixView& matrix, Eigen::Index rows, Eigen::Index columns) {
    if (matrix.rows() != rows || matrix.cols() != 2 * columns) return false;
    for (Eigen::Index i = 0; i < matrix.rows(); ++i)
        for (Eigen::Index j = 0; j < matrix.cols(); ++j)
            if (matrix(i, j) != std::floor(matrix(i, j)) || (j % 2 == 1 && matrix(i, j) < 0)) return false;
    return true;
}

}  // namespace

StagePtr StageBuilder::stage(std::string_view name, std::vector<StagePtr> inputs, std::string text,
                             const std::function<Tensor()>& compute) {
    return add(name, std::move(inputs), std::move(text),
               [&](const std::vector<StagePtr>&) { return Buffer(compute()); });
}

StagePtr StageBuilder::stage(std::string_view name, std::vector<StagePtr> inputs, std::string text,
                             const Shape& shape, const Step& step,
                             const std::function<void(Tensor&)>& compute) {
    return add(name, std::move(inputs), std::move(text), [&](const std::vector<StagePtr>& from) {
        if (options_.backend)
            if (auto values = options_.backend->compute(step, shape, from, options_.cancel))
                return Buffer(std::move(values));
        Tensor values(shape);
        compute(values);
        return Buffer(std::move(values));
    });
}

StagePtr StageBuilder::add(std::string_view name, std::vector<StagePtr> inputs, std::string text,
                           const std::function<Buffer(const std::vector<StagePtr>&)>& compute) {
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
    Buffer result = compute(inputs);
    const double milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    StagePtr stage = old && same(old->stage->buffer, result)
                         ? old->stage
                         : StagePtr(new Stage{find_stage_info(name), std::move(result)});
    trace_.records.push_back({stage, std::move(inputs), std::move(text), milliseconds, true});
    return stage;
}

std::size_t StageBuilder::previous_bytes_on_device() const {
    std::size_t bytes = 0;
    for (const StageRecord& record : previous_.records)
        if (record.stage->buffer.is_on_device()) bytes += record.stage->shape().size() * sizeof(float);
    return bytes;
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
    if (shape.rows == rows && shape.columns == columns) return;
    std::string expected = std::to_string(rows) + " × " + std::to_string(columns);
    if (may_be_decimal_commas(stage.buffer.host().head(0), rows, columns))
        expected += " (its commas read as separators: write decimals with a point)";
    refuse_shape(stage.name(), shape.rows, shape.columns, expected);
}

}  // namespace attnscope
