// Puts stages into a trace, each computed only if the previous trace does not have it.
#pragma once

#include <functional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/evaluate_options.h"
#include "core/attention/step.h"
#include "core/attention/trace.h"
#include "core/cpu/row_blocks.h"

namespace attnscope {

/// The experiment's fields that a stage reads, as one comparable text.
template <typename... Values>
std::string settings(const Values&... values) {
    std::ostringstream text;
    text << std::hexfloat;
    const auto write = [&](const auto& value) {
        if constexpr (std::is_enum_v<std::remove_cvref_t<decltype(value)>>)
            text << name_of(value) << '\x1f';
        else
            text << value << '\x1f';
    };
    (write(values), ...);
    return text.str();
}

/// Adds a trace's stages in the order of the computation.
class StageBuilder {
public:
    StageBuilder(const Trace& previous, Trace& trace, const EvaluateOptions& options)
        : previous_(previous), trace_(trace), options_(options) {}

    /// The stage of this name (one of stage_table()): the previous trace's if its inputs and `text` are the
    /// same, or if what `compute` gives equals it bit for bit. `compute` may read only the inputs and what
    /// `text` spells out. Throws Cancelled if asked to.
    StagePtr stage(std::string_view name, std::vector<StagePtr> inputs, std::string text,
                   const std::function<Tensor()>& compute);
    /// The same for a step that the backend may compute instead; `compute` fills a tensor of `shape`.
    StagePtr stage(std::string_view name, std::vector<StagePtr> inputs, std::string text, const Shape& shape,
                   const Step& step, const std::function<void(Tensor&)>& compute);

    /// Bytes of the previous trace on the backend's card, some of which may be taken over.
    std::size_t previous_bytes_on_device() const;

    /// A stage or a parameter that the experiment is given.
    StagePtr given(const Experiment& experiment, const std::string& name, bool per_head = false);

private:
    StagePtr add(std::string_view name, std::vector<StagePtr> inputs, std::string text,
                 const std::function<Buffer(const std::vector<StagePtr>&)>& compute);

    const Trace& previous_;
    Trace& trace_;
    const EvaluateOptions& options_;
};

/// A matrix as a stage's values.
Tensor as_tensor(const Matrix& matrix, bool per_head = false);
/// One head of a stage's values.
inline ConstMatrixView values(const StagePtr& stage, int head = 0) { return stage->buffer.host().head(head); }
/// Over all rows of all heads of a stage whose every cell takes so many multiply-adds.
inline RowLoop row_loop(const Shape& shape, double work_per_cell) {
    return {shape.heads, shape.rows, work_per_cell * shape.columns};
}

/// Throws Error(bad_input): "`what` is rows × columns, but `expected` is needed here".
[[noreturn]] void refuse_shape(std::string_view what, Eigen::Index rows, Eigen::Index columns,
                               const std::string& expected);
/// The same, unless the stage has this shape.
void require_shape(const Stage& stage, Eigen::Index rows, Eigen::Index columns);

}  // namespace attnscope
