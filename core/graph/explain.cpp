#include "core/graph/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/graph/stage_table.h"
#include "core/graph/trace.h"
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
    std::size_t result = 0;
    for (const StageRecord& sister : trace.records)
        if (sister.op == record.op) {
            if (&sister == &record) result = results.size();
            results.push_back(&sister.stage->buffer);
        }
    const auto input_label = [&](Axis axis, int index) {
        // A feature of an operand is named by its number.
        const bool is_named = axis == Axis::key_token || axis == Axis::pixel || axis == Axis::query_token;
        return trace.label(is_named ? axis : Axis::feature, index);
    };
    const op::CellWords words{
        .symbol = [&](std::size_t i) { return std::string(record.inputs[i]->info->symbol); },
        .column_label = [&](std::size_t i, int j) { return input_label(record.inputs[i]->info->columns, j); },
        .row_label = [&](std::size_t i, int j) { return input_label(record.inputs[i]->info->rows, j); },
        .table_row = [&](int i) { return table_row_text(trace, stage, i); },
        .prove =
            [&](std::size_t i) {
                const Stage& input = *record.inputs[i];
                return prove(trace, record_of(trace, input), std::min(head, input.shape().heads - 1), row,
                             column);
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
    return explain(*record.op, cell);
}

/// The proof of a mean over the heads. A remark that every head has becomes the mean's remark.
Proof prove_mean(const Trace& trace, const StageRecord& record, int row, int column) {
    const Stage& stage = *record.stage;
    const int heads = stage.shape().heads;
    Proof proof;
    proof.value = stage.buffer.mean_row(row)(column);
    for (int h = 0; h < heads; ++h) {
        const Proof own = prove(trace, record, h, row, column);
        proof.add_step(fmt::format("head {}", h + 1), own.value);
        if (h == 0) proof.remark = own.remark;
        if (own.remark != proof.remark) proof.remark.clear();
    }
    proof.add_step(fmt::format("÷ {} heads", heads), proof.value);
    return proof;
}

RowSummary summarize(const Stage& stage, int head, int row, int column, const Proof& proof) {
    RowSummary summary{0, 0, 0, 0};
    for (const ProofBar& bar : proof.row) {
        summary.sum += bar.value;
        if (bar.value > 0)
            summary.entropy -= static_cast<double>(bar.value) * std::log(static_cast<double>(bar.value));
    }
    summary.effective_tokens = summary.sum > 0 ? std::exp(summary.entropy) : 0;
    if (proof.row[static_cast<std::size_t>(column)].closed) return summary;
    const auto is_larger = [&](const ProofBar& bar) { return bar.value > proof.value; };
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
    proof.row_title = trace.label(stage.info->rows, row);
    for (int j = 0; j < stage.shape().columns; ++j) {
        const auto closes = [&](const Eigen::RowVectorXf& of_head) { return of_head(j) == -INFINITY; };
        const bool closed = !scores.empty() && std::ranges::all_of(scores, closes);
        proof.row.push_back({trace.label(stage.info->columns, j), values(j), closed});
    }
    if (stage.info->role == StageRole::weights) proof.summary = summarize(stage, head, row, column, proof);
}

}  // namespace

Proof explain(const Trace& trace, const Stage& stage, int head, int row, int column) {
    const StageRecord& record = record_of(trace, stage);
    const bool mean = head < 0 && stage.shape().heads > 1;
    // A stage without heads may be asked for with a head that later stages have: the mask of head 3 is the
    // mask.
    const int own = mean ? -1 : std::clamp(head, 0, stage.shape().heads - 1);
    Proof proof = mean ? prove_mean(trace, record, row, column) : prove(trace, record, head, row, column);
    add_row(proof, trace, stage, own, row, column);
    return proof;
}

}  // namespace attnscope
