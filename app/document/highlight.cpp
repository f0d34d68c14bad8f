#include "app/document/highlight.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/mechanisms.h"

namespace attnscope {
namespace {

bool is_token(Axis axis) { return axis == Axis::query_token || axis == Axis::key_token; }

int lit(const Highlight& highlight, Axis axis) {
    switch (axis) {
        case Axis::query_token:
            return highlight.query >= 0 || highlight.two_sides ? highlight.query : highlight.key;
        case Axis::key_token:
        case Axis::key_hidden: return highlight.key;
        case Axis::feature:
        case Axis::head_feature:
            return highlight.one_head || highlight.feature_axis == axis ? highlight.feature : -1;
        case Axis::table_row:
        case Axis::target_row:
        case Axis::head:
        case Axis::place:
        case Axis::pixel:
        case Axis::single: break;
    }
    return -1;
}

}  // namespace

bool has_two_sides(const Trace& trace) {
    const Stage* scores = trace.find("scores"_stage);
    const Experiment& e = trace.experiment;
    const Mechanism& mechanism = mechanism_of(e);
    const StageInfo* keys = mechanism.first.is_of_keys ? mechanism.first.tokens : mechanism.second.tokens;
    const bool has_keys = mechanism.first.is_of_keys || mechanism.second.is_of_keys;
    return (has_keys && trace.find(keys)) || trace.find("embedding_kv"_stage) || e.is_custom("query") ||
           e.is_custom("key") || (scores && scores->shape().rows != scores->shape().columns);
}

Highlight highlight_token(int token) { return {.query = token, .key = token}; }

Highlight highlight_cell(const StageInfo& info, const Cell& cell, int depth) {
    Highlight highlight;
    if (info.rows == Axis::query_token) highlight.query = cell.row;
    if (info.rows == Axis::key_token) highlight.key = cell.row;
    if (info.columns == Axis::key_token) highlight.key = cell.column;
    if (info.columns == Axis::key_hidden) highlight.key = cell.column / depth;
    if (is_of_features(info.columns)) {
        highlight.feature = cell.column;
        highlight.feature_axis = info.columns;
    }
    return highlight;
}

int lit_row(const Highlight& highlight, const StageInfo& info) {
    // Keys and values share the rows of the queries' tokens, so that one token is one band.
    if (info.rows == Axis::key_token)
        return highlight.key >= 0 || highlight.two_sides ? highlight.key : highlight.query;
    return lit(highlight, info.rows);
}

int lit_column(const Highlight& highlight, const StageInfo& info) { return lit(highlight, info.columns); }

std::optional<Cell> same_cell(const Trace& trace, const Stage& from, const Cell& cell, const Stage& to) {
    const StageInfo &first = *from.info, &second = *to.info;
    Cell same = cell;
    if (first.rows != second.rows || first.columns != second.columns) {
        if (!is_token(second.rows) || second.columns == Axis::key_hidden) return std::nullopt;
        Highlight highlight = highlight_cell(first, cell, from.shape().depth);
        highlight.two_sides = has_two_sides(trace);
        highlight.one_head = trace.experiment.attention.heads == 1;
        same = {lit_row(highlight, second),
                second.columns == Axis::single ? 0 : lit_column(highlight, second)};
    }
    const bool there =
        same.row >= 0 && same.column >= 0 && same.row < to.shape().rows && same.column < to.shape().columns;
    return there ? std::optional(same) : std::nullopt;
}

}  // namespace attnscope
