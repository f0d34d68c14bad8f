#include "app/document/parity_run.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"
#include "core/mechanism/evaluate.h"
#include "core/mechanism/mechanisms.h"
#include "core/number_text.h"

namespace attnscope {

std::string place_text(const ParityReport& report, const StageDifference& stage,
                       const std::optional<CellPlace>& place) {
    if (!place) return why_not_compared(stage);
    const std::string head = stage.shape.heads > 1 ? fmt::format("head {}", place->head + 1) : "";
    const std::string row = report.labels.label(stage.key.stage->rows, place->row);
    const std::string column = report.labels.label(stage.key.stage->columns, place->column);
    const bool looks = stage.key.stage->columns == Axis::key_token;
    const std::string cell = row + (row.empty() || column.empty() ? "" : looks ? " → " : " · ") + column;
    return head + (head.empty() || cell.empty() ? "" : " · ") + cell;
}

std::string parity_text(const ParityReport& report) {
    std::string text =
        "stage\theads\trows\tcolumns\tabsolute\tabsolute at\trelative\trelative at\tdiffers in kind\tcpu "
        "ms\tgpu "
        "ms\n";
    for (const StageDifference& stage : report.stages) {
        text +=
            fmt::format("{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", stage.key.stage->name,
                        stage.shape.heads, stage.shape.rows, stage.shape.columns, exact_text(stage.absolute),
                        place_text(report, stage, stage.absolute_at), exact_text(stage.relative),
                        place_text(report, stage, stage.relative_at), stage.other_kind,
                        exact_text(stage.milliseconds_a), exact_text(stage.milliseconds_b));
    }
    return text;
}

ParityRun::ParityRun(GiveBackend give_backend, EvaluateOptions options, std::function<void()> wake,
                     ShaderSource shaders)
    : give_backend_(std::move(give_backend)),
      options_(std::move(options)),
      wake_(std::move(wake)),
      shaders_(std::move(shaders)) {}

void ParityRun::start(Experiment experiment) {
    if (running()) return;
    phase_ = Phase::processor;
    thread_ = std::jthread([this, experiment = std::move(experiment)](std::stop_token cancel) mutable {
        run(std::move(experiment), std::move(cancel));
    });
}

void ParityRun::run(Experiment experiment, std::stop_token cancel) {
    auto report = std::make_shared<ParityReport>();
    report->labels.experiment = experiment;
    report->shaders = shaders_.stamp();
    try {
        compare_both(*report, experiment, cancel);
    } catch (const Canceled&) {
        report = nullptr;
    } catch (const std::exception& error) {
        report->problem = problem_text(error, "for both results");
    }
    if (report) {
        const std::lock_guard lock(mutex_);
        report_ = std::move(report);
    }
    enter(Phase::idle);
}

void ParityRun::compare_both(ParityReport& report, const Experiment& experiment, std::stop_token cancel) {
    if (const std::string why = why_on_cpu(experiment.mechanism); !why.empty())
        throw Error(ErrorKind::backend, why + ": there is nothing to compare");
    const std::shared_ptr<Backend> backend = give_backend_();
    EvaluateOptions options = options_;
    options.cancel = cancel;
    options.backend = nullptr;
    const Trace on_cpu = evaluate(experiment, {}, options);
    enter(Phase::card);
    options.backend = backend.get();
    const Trace on_card = evaluate(experiment, {}, options);
    enter(Phase::comparing);
    report.stages = compare(on_cpu, on_card, cancel);
    report.labels = on_cpu;
    report.labels.records.clear();
    report.card = backend->card();
    report.compiled = used_.lock() != backend;
    used_ = backend;
    report.cpu_milliseconds = on_cpu.milliseconds;
    report.gpu_milliseconds = on_card.milliseconds;
}

void ParityRun::enter(Phase phase) {
    phase_ = phase;
    if (wake_) wake_();
}

std::shared_ptr<const ParityReport> ParityRun::report() const {
    const std::lock_guard lock(mutex_);
    return report_;
}

void ParityRun::wait() {
    if (thread_.joinable()) thread_.join();
}

}  // namespace attnscope
