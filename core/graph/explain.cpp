#include "core/graph/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/graph/formula.h"
#include "core/graph/row_entropy.h"
#include "core/graph/stage_table.h"
#include "core/graph/trace.h"
#include "core/op/gradient_proof.h"
#include "core/op/op.h"

namespace attnscope {
namespace {

const StageRecord& record_of(const Trace& trace, const Stage& stage) { return *trace.record(stage.key()); }

/// "“you” is row 3 of the table, counted from 0", for a stage that holds rows of a table.
std::string table_row_text(const Trace& trace, const Stage& stage, int row) {
    const bool of_target = stage.info->rows == Axis::query_token && trace.find("E_tgt"_stage);
    const std::vector<std::string>& words = of_target ? trace.target_table : trace.table;
    const char* table = of_target ? "E_tgt" : trace.find("E_src"_stage) ? "E_src" : "the table";
    const auto i = static_cast<std::size_t>(row);
    return fmt::format("{}row {} of {}, counted from 0",
                       i < words.size() ? fmt::format("“{}” is ", words[i]) : "", row, table);
}

/// The proof of one head's cell, without the summary of its row.
Proof prove(const Trace& trace, const StageRecord& record, int head, int row, int column) {
    const Stage& stage = *record.stage;
    std::vector<const Buffer*> inputs, results;
    for (const StagePtr& input : record.inputs) inputs.push_back(&input->buffer);
    const std::vector<const StageRecord*> sisters = trace.results_of(record);
    for (const StageRecord* sister : sisters) results.push_back(&sister->stage->buffer);
    const auto result = static_cast<std::size_t>(std::ranges::find(sisters, &record) - sisters.begin());
    const auto head_of = [&](const Stage& input) { return std::min(head, input.shape().heads - 1); };
    // An operand's feature has its name, or else its number.
    const auto is_named = [&](const Stage& input, Axis axis) {
        return axis == Axis::key_token || axis == Axis::pixel || axis == Axis::query_token ||
               trace.features.contains(input.info);
    };
    const auto column_label = [&](const Stage& input, int j) {
        return is_named(input, input.info->columns) ? trace.column_label(input, j, head_of(input))
                                                    : std::to_string(j + 1);
    };
    const auto row_label = [&](const Stage& input, int i) {
        return is_named(input, input.info->rows) ? trace.row_label(input, i) : std::to_string(i + 1);
    };
    const op::CellWords words{
        .symbol = [&](std::size_t i) { return std::string(record.inputs[i]->info->symbol); },
        .column_label = [&](std::size_t i, int j) { return column_label(*record.inputs[i], j); },
        .row_label = [&](std::size_t i, int j) { return row_label(*record.inputs[i], j); },
        .table_row = [&](int i) { return table_row_text(trace, stage, i); },
        .prove =
            [&](std::size_t i) {
                const Stage& input = *record.inputs[i];
                return prove(trace, record_of(trace, input), head_of(input), row, column);
            },
    };
    const int own_head = std::clamp(head, 0, stage.shape().heads - 1);
    const op::Cell cell{.inputs = inputs,
                        .results = results,
                        .result = result,
                        .head = own_head,
                        .row = row,
                        .column = column,
                        .value = stage.buffer.at(own_head, row, column),
                        .words = words};
    Proof proof = explain(*record.op, cell);
    if (stage.info->role == StageRole::context && stage.part == StageKey::Part::value &&
        !proof.terms.empty()) {
        const Stage& values = *operands(trace, stage).above;
        proof.mixture = mixture_text(proof.terms, values.info->symbol);
    }
    return proof;
}

/// The proof of a mean over the heads. A remark that every head has becomes the mean's remark.
template <typename ProveHead>
Proof prove_mean(const Stage& stage, const ProveHead& prove_head, int row, int column) {
    const int heads = stage.shape().heads;
    Proof proof;
    proof.value = stage.buffer.mean_row(row)(column);
    for (int h = 0; h < heads; ++h) {
        const Proof own = prove_head(h);
        proof.add_step(fmt::format("head {}", h + 1), own.value);
        if (h == 0) proof.remark = own.remark;
        if (own.remark != proof.remark) proof.remark.clear();
    }
    proof.add_step(fmt::format("÷ {} heads", heads), proof.value);
    return proof;
}

/// Parts of a gradient that are not there are zeros: nullptr.
std::vector<const Buffer*> gradients_of(const Trace& trace, std::span<const StageRecord* const> results) {
    std::vector<const Buffer*> gradients;
    for (const StageRecord* result : results) {
        const Stage* found =
            trace.find({result->stage->info, result->stage->layer, StageKey::Part::gradient});
        gradients.push_back(found ? &found->buffer : nullptr);
    }
    return gradients;
}

/// What one operation, whose results these are, passes back to a cell of its input or, with `own`, of a
/// result.
Proof prove_share(const Trace& trace, std::span<const StageRecord* const> results, bool own,
                  std::size_t input, int head, int row, int column) {
    const StageRecord& first = *results.front();
    std::vector<const Buffer*> inputs, values;
    for (const StagePtr& each : first.inputs) inputs.push_back(&each->buffer);
    for (const StageRecord* result : results) values.push_back(&result->stage->buffer);
    const std::vector<const Buffer*> gradients = gradients_of(trace, results);
    const auto info = [&](std::size_t r) -> const StageInfo& { return *results[r]->stage->info; };
    const op::GradientWords words{
        .symbol = [&](std::size_t i) { return std::string(first.inputs[i]->info->symbol); },
        .result = [&](std::size_t r) { return std::string(info(r).symbol); },
        .gradient = [&](std::size_t r) { return std::string(gradient_info(info(r)).symbol); },
        .row_label = [&](std::size_t r, int i) { return trace.label(info(r).rows, i); },
        .column_label = [&](std::size_t r, int j) { return trace.label(info(r).columns, j); },
    };
    const op::GradientCell cell{.inputs = inputs,
                                .results = values,
                                .gradients = gradients,
                                .input = input,
                                .head = head,
                                .row = row,
                                .column = column,
                                .words = words};
    return own ? explain_own_gradient(*first.op, cell) : explain_gradient(*first.op, cell);
}

/// The proof of one head's cell of a gradient, without its row: that of its one share, or the sum of several.
Proof prove_gradient(const Trace& trace, const Stage& gradient, int head, int row, int column) {
    const float value = gradient.buffer.at(head, row, column);
    std::vector<GradientShare> shares = gradient_shares(trace, gradient, head, row, column);
    Proof proof;
    if (shares.size() == 1) {
        proof = std::move(shares.front().proof);
        if (proof.steps.empty())
            proof.terms_result = value;
        else
            proof.steps.back().value = value;
    } else if (shares.empty()) {
        proof.remark = "the gradient of the loss with respect to itself is 1";
    } else {
        for (const GradientShare& share : shares)
            proof.add_step(fmt::format("{}from {}", proof.steps.empty() ? "" : "+ ",
                                       share.is_own ? "the recurrence" : stage_heading(share.from->key())),
                           share.proof.value);
        proof.add_step("their sum", value, k_sum_help);
    }
    proof.value = value;
    return proof;
}

RowSummary summarize(const Stage& stage, int head, int row, int column, const Proof& proof) {
    std::vector<float> weights;
    RowSummary summary{0, 0, 0, 0};
    for (const ProofBar& bar : proof.row) {
        summary.sum += bar.value;
        weights.push_back(bar.value);
    }
    const RowEntropy spread = row_entropy(weights);
    summary.entropy = spread.entropy;
    summary.effective_tokens = spread.effective_tokens;
    // On demand, a cell alone and the cell of its row may be rounded differently.
    const ProofBar& own = proof.row[static_cast<std::size_t>(column)];
    if (own.closed) return summary;
    const auto is_larger = [&](const ProofBar& bar) { return bar.value > own.value; };
    summary.rank = 1 + static_cast<int>(std::ranges::count_if(proof.row, is_larger));
    if (head >= 0 && stage.shape().heads > 1) {
        summary.head_rank = 1;
        for (int h = 0; h < stage.shape().heads; ++h)
            if (stage.buffer.at(h, row, column) > proof.value) ++summary.head_rank;
    }
    return summary;
}

/// The cell's row, and the summary of a row of weights; `head` −1 means the mean, which is closed where every
/// head is.
void add_row(Proof& proof, const Trace& trace, const Stage& stage, int head, int row, int column) {
    const Stage* masked = trace.find(StageRole::masked_scores, stage.layer);
    const Eigen::RowVectorXf values = head < 0 ? stage.buffer.mean_row(row) : stage.buffer.row(head, row);
    std::vector<Eigen::RowVectorXf> scores;  // of that head, or of every head
    if (masked && stage.info->columns == Axis::key_token) {
        const int last = masked->shape().heads - 1;
        for (int h = std::clamp(head, 0, last); h <= (head < 0 ? last : std::min(head, last)); ++h)
            scores.push_back(masked->buffer.row(h, row));
    }
    proof.row_title = trace.row_label(stage, row);
    for (int j = 0; j < stage.shape().columns; ++j) {
        const auto closes = [&](const Eigen::RowVectorXf& of_head) { return of_head(j) == -INFINITY; };
        const bool closed = !scores.empty() && std::ranges::all_of(scores, closes);
        proof.row.push_back({trace.column_label(stage, j, head), values(j), closed});
    }
    if (stage.info->role == StageRole::weights) proof.summary = summarize(stage, head, row, column, proof);
}

}  // namespace

std::vector<GradientShare> gradient_shares(const Trace& trace, const Stage& gradient, int head, int row,
                                           int column) {
    const Stage* value = trace.find({gradient.info->value, gradient.layer});
    std::vector<GradientShare> shares;
    for (std::size_t first = 0; first < trace.records.size();) {
        std::vector<const StageRecord*> results;
        const StageRecord& record = trace.records[first];
        while (first < trace.records.size() && trace.records[first].op == record.op)
            results.push_back(&trace.records[first++]);
        const auto share = [&](bool own, std::size_t input) {
            shares.push_back(
                {record.stage.get(), own, prove_share(trace, results, own, input, head, row, column)});
        };
        const std::vector<const Buffer*> gradients = gradients_of(trace, results);
        const bool passes = why_no_gradient(*record.op).empty() &&
                            std::ranges::any_of(gradients, [](const Buffer* each) { return each; });
        if (!passes) continue;
        for (std::size_t r = 0; has_own_gradients(*record.op) && r < results.size(); ++r)
            if (results[r]->stage.get() == value) share(true, r);
        for (std::size_t i = 0; i < record.inputs.size(); ++i)
            if (record.inputs[i].get() == value && passes_back_to(*record.op, i)) share(false, i);
    }
    // Where others read the stage, a recurrence that does not is left out.
    const auto is_nothing = [](const GradientShare& share) {
        return share.is_own && share.proof.terms.empty() && share.proof.steps.empty();
    };
    if (shares.size() > 1) std::erase_if(shares, is_nothing);
    return shares;
}

std::optional<double> deviation_of_terms(const Trace& trace, const Stage& stage, int head) {
    const StageRecord* record = trace.record(stage.key());
    if (!record || stage.part == StageKey::Part::gradient) return std::nullopt;
    std::vector<const Buffer*> inputs;
    for (const StagePtr& input : record->inputs) inputs.push_back(&input->buffer);
    return deviation_of_terms(*record->op, inputs, head);
}

Proof explain(const Trace& trace, const Stage& stage, int head, int row, int column) {
    const bool mean = head < 0 && stage.shape().heads > 1;
    // A stage without heads may be asked for with a head that later stages have: the mask of head 3 is the
    // mask.
    const int own = mean ? -1 : std::clamp(head, 0, stage.shape().heads - 1);
    const auto prove_head = [&](int h) {
        if (stage.part == StageKey::Part::gradient)
            return prove_gradient(trace, stage, std::clamp(h, 0, stage.shape().heads - 1), row, column);
        return prove(trace, record_of(trace, stage), h, row, column);
    };
    Proof proof = mean ? prove_mean(stage, prove_head, row, column) : prove_head(head);
    add_row(proof, trace, stage, own, row, column);
    return proof;
}

}  // namespace attnscope
