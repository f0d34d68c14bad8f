#include "core/picture/axis_labels.h"

namespace attnscope {

std::string_view axis_name(Axis axis) {
    switch (axis) {
        case Axis::query_token: return "queries";
        case Axis::key_token: return "keys";
        case Axis::feature:
        case Axis::head_feature: return "features";
        case Axis::table_row: return "words";
        case Axis::single: return "";
    }
    return "";
}

std::vector<std::string> axis_labels(const Trace& trace, Axis axis, int count) {
    const std::vector<std::string>* words = nullptr;
    if (axis == Axis::query_token) words = &trace.rows;
    if (axis == Axis::key_token) words = &trace.columns;
    if (axis == Axis::table_row) words = &trace.table;
    std::vector<std::string> labels(static_cast<std::size_t>(count));
    if (axis == Axis::single) return labels;
    for (std::size_t i = 0; i < labels.size(); ++i) {
        // Rows of the table beyond the vocabulary have no word.
        labels[i] = words && i < words->size() ? (*words)[i] : std::to_string(i + 1);
    }
    return labels;
}

}  // namespace attnscope
