#include "app/document/highlight.h"

namespace attnscope {
namespace {

bool is_feature(Axis axis) { return axis == Axis::feature || axis == Axis::head_feature; }

int lit(const Highlight& highlight, Axis axis) {
    switch (axis) {
        case Axis::query_token:
            return highlight.query >= 0 || highlight.two_sides ? highlight.query : highlight.key;
        case Axis::key_token:
        case Axis::key_hidden: return highlight.key;
        case Axis::feature:
        case Axis::head_feature:
            return highlight.one_head || highlight.feature_axis == axis ? highlight.feature : -1;
        default: return -1;
    }
}

}  // namespace

bool has_two_sides(const Trace& trace) {
    const Stage* scores = trace.find("scores");
    const Experiment& e = trace.experiment;
    return trace.find("source") || trace.find("tokens_kv") || trace.find("embedding_kv") ||
           e.is_given("query") || e.is_given("key") ||
           (scores && scores->shape().rows != scores->shape().columns);
}

Highlight highlight_token(int token) { return {.query = token, .key = token}; }

Highlight highlight_cell(const StageInfo& info, const Cell& cell, int depth) {
    Highlight highlight;
    if (info.rows == Axis::query_token) highlight.query = cell.row;
    if (info.rows == Axis::key_token) highlight.key = cell.row;
    if (info.columns == Axis::key_token) highlight.key = cell.column;
    if (info.columns == Axis::key_hidden) highlight.key = cell.column / depth;
    if (is_feature(info.columns)) {
        highlight.feature = cell.column;
        highlight.feature_axis = info.columns;
    }
    return highlight;
}

int lit_row(const Highlight& highlight, const StageInfo& info) {
    // Keys and values stand in the same rows as the queries' tokens: one token is one band.
    if (info.rows == Axis::key_token)
        return highlight.key >= 0 || highlight.two_sides ? highlight.key : highlight.query;
    return lit(highlight, info.rows);
}

int lit_column(const Highlight& highlight, const StageInfo& info) { return lit(highlight, info.columns); }

}  // namespace attnscope
