#include "core/picture/axis_labels.h"

#include "core/mechanism/mechanisms.h"

namespace attnscope {

std::string_view axis_name(const Experiment& experiment, Axis axis) {
    const Mechanism& mechanism = mechanism_of(experiment);
    switch (axis) {
        case Axis::query_token: return mechanism.queries;
        case Axis::key_token: return mechanism.keys;
        case Axis::feature:
        case Axis::head_feature: return "features";
        case Axis::key_hidden: return "keys · hidden units";
        case Axis::table_row:
        case Axis::target_row: return "words";
        case Axis::head: return "heads";
        case Axis::place: return "positions";
        case Axis::pixel: return "pixels";
        case Axis::single: return "";
    }
    return "";
}

std::vector<std::string> axis_labels(const Trace& trace, Axis axis, int count) {
    std::vector<std::string> labels;
    for (int i = 0; i < count; ++i) labels.push_back(trace.label(axis, i));
    return labels;
}

std::vector<std::string> row_labels(const Trace& trace, const Stage& stage) {
    std::vector<std::string> labels;
    for (int i = 0; i < stage.shape().rows; ++i) labels.push_back(trace.row_label(stage, i));
    return labels;
}

std::vector<std::string> row_words(const Trace& trace, const Stage& stage) {
    const auto words = mechanism_of(trace.experiment).query_words;
    return words && stage.info->rows == Axis::query_token ? words(trace) : row_labels(trace, stage);
}

std::vector<std::string> column_labels(const Trace& trace, const Stage& stage, int head) {
    std::vector<std::string> labels;
    for (int j = 0; j < stage.shape().columns; ++j) labels.push_back(trace.column_label(stage, j, head));
    return labels;
}

}  // namespace attnscope
