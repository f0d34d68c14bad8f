#include "app/document/sweeper.h"

#include <algorithm>

#include "app/document/readiness.h"
#include "core/error.h"
#include "core/mechanism/evaluate.h"
#include "core/mechanism/mechanisms.h"
#include "core/picture/shown_matrix.h"
#include "core/session/sweep.h"

namespace attnscope {
namespace {

/// The limit on the cells of all frames of the shown stage together.
constexpr std::size_t k_most_cells = std::size_t{1} << 25;

/// Whether k_swept_seeds traces like this one fit.
bool is_small(const Trace& trace, const Stage& shown) {
    constexpr std::size_t k_most_bytes = std::size_t{1} << 28;  // of all traces together
    std::size_t bytes = 0;
    for (const StageRecord& record : trace.records) bytes += record.stage->shape().size() * sizeof(float);
    return bytes <= k_most_bytes / k_swept_seeds && shown.shape().head_size() <= k_most_cells / k_swept_seeds;
}

void compute(SweptValues& swept, const std::stop_token& cancel) {
    const auto& [session, sweep, count] = swept.of;
    std::shared_ptr<const Trace> before;
    std::vector<SweepStep> steps = sweep_steps(session, sweep, count);
    for (std::size_t i = 0; i < steps.size(); ++i) {
        SweepStep& step = steps[i];
        const EvaluateOptions options{.cancel = cancel};
        auto trace =
            std::make_shared<const Trace>(before ? evaluate(step.session.experiment, *before, options)
                                                 : evaluate(step.session.experiment, {}, options));
        const Stage& stage = focused_stage(*trace, session.presentation.stage);
        const HeadChoice head = head_on_screen(stage, session.presentation.head);
        if (const std::string why = why_not_shown(stage, head); !why.empty())
            throw Error(ErrorKind::bad_input, why);
        if (i == 0 && sweep == Sweep::seed && !is_small(*trace, stage))
            steps.resize(std::min<std::size_t>(steps.size(), k_swept_values));
        if (stage.shape().head_size() * (swept.frames.size() + 1) > k_most_cells)
            throw Error(ErrorKind::too_large, "the frames have too many cells: shorten the sentence");
        make_ready(*trace, {head}, cancel);
        const ShownMatrix shown = shown_matrix(stage, head);
        shown.buffer->percentiles(shown.head);
        swept.frames.push_back(
            {step.value, {trace, trace->stage(stage.key()), head, step_title(sweep, step.value)}});
        before = trace;
    }
    if (!sweeps_numbers(sweep)) return;
    std::vector<MaskedMatrix> matrices;
    for (const SweptFrame& frame : swept.frames)
        matrices.push_back(masked_matrix(*frame.shown.trace, *frame.shown.stage, frame.shown.head));
    swept.spread = spread_of(matrices);
    if (!swept.spread) return;
    swept.mean = drawable(swept.spread->mean, swept.spread->count);
    swept.deviation = drawable(swept.spread->deviation, swept.spread->count);
}

}  // namespace

SweptValues swept_values(SweepRequest request, const SweptValues*, const std::stop_token& cancel) {
    SweptValues swept{std::move(request), {}, {}, nullptr, nullptr, ""};
    try {
        compute(swept, cancel);
    } catch (const Canceled&) {
        throw;
    } catch (const std::exception& error) {
        swept.frames.clear();
        swept.problem = problem_text(error, "for all values");
    }
    return swept;
}

}  // namespace attnscope
