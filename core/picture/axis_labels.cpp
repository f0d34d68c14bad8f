#include "core/picture/axis_labels.h"

namespace attnscope {

std::string_view axis_name(const Experiment& experiment, Axis axis) {
    const bool decodes = experiment.mechanism == MechanismKind::seq2seq;
    switch (axis) {
        case Axis::query_token: return decodes ? "steps" : "queries";
        case Axis::key_token: return decodes ? "source words" : "keys";
        case Axis::feature:
        case Axis::head_feature: return "features";
        case Axis::key_hidden: return "keys · hidden units";
        case Axis::table_row:
        case Axis::target_row: return "words";
        case Axis::head: return "heads";
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

}  // namespace attnscope
