#include "core/graph/formula.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "core/op/op.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

std::size_t result_index(const Trace& trace, const StageRecord& record) {
    const std::vector<const StageRecord*> results = trace.results_of(record);
    return static_cast<std::size_t>(std::ranges::find(results, &record) - results.begin());
}

std::string symbol(const StageInfo& info) {
    const std::string text(info.symbol.empty() ? info.name : info.symbol);
    return text.find('+') == std::string::npos ? text : "(" + text + ")";
}

op::Symbols symbols(const Trace& trace, const StageRecord& record) {
    return {.own = symbol(*record.stage->info),
            .count = record.inputs.size(),
            .result = result_index(trace, record),
            .of = [&](std::size_t i) { return symbol(*record.inputs[i]->info); },
            .formula_of =
                [&](std::size_t i) {
                    const StageRecord& input = *trace.record(record.inputs[i]->key());
                    return std::holds_alternative<op::Custom>(*input.op)
                               ? symbol(*input.stage->info)
                               : formula(*input.op, symbols(trace, input));
                }};
}

/// The stages whose operations read the stage of a gradient, and pass gradients back to it: "Q, K, V".
std::string readers(const Trace& trace, const Stage& gradient) {
    std::vector<std::string> names;
    const StageKey value{gradient.info->value, gradient.layer};
    if (has_own_gradients(*trace.record(value)->op)) names.emplace_back("the recurrence");
    for (const StageRecord& record : trace.records) {
        const bool reads = std::ranges::any_of(record.inputs, [&](const StagePtr& input) {
            const auto i = static_cast<std::size_t>(&input - record.inputs.data());
            return input->key() == value && passes_back_to(*record.op, i);
        });
        const bool passes = why_no_gradient(*record.op).empty() &&
                            trace.find({record.stage->info, record.stage->layer, StageKey::Part::gradient});
        if (reads && passes && (names.empty() || names.back() != symbol(*record.stage->info)))
            names.push_back(symbol(*record.stage->info));
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string formula(const Trace& trace, const Stage& stage) {
    if (stage.part == StageKey::Part::gradient) {
        const std::string from = readers(trace, stage);
        return from.empty() ? "∂ℓ/∂ℓ = 1" : "the loss's gradient, passed back from " + from;
    }
    const StageRecord& record = *trace.record(stage.key());
    return formula(*record.op, symbols(trace, record));
}

std::string caption(const Trace& trace, const Stage& stage) {
    if (stage.part == StageKey::Part::gradient) return std::string(stage.info->caption);
    const StageRecord& record = *trace.record(stage.key());
    std::string words = caption(*record.op, symbols(trace, record));
    return words.empty() ? std::string(stage.info->caption) : words;
}

std::string sentence(const Trace& trace, const Stage& stage) {
    const StageRecord& record = *trace.record(stage.key());
    const std::string words = sentence(*record.op, result_index(trace, record));
    return words.empty() ? capitalized(formula(trace, stage)) + "." : words;
}

StageOperands operands(const Trace& trace, const Stage& stage) {
    if (stage.part == StageKey::Part::gradient) return {};
    const StageRecord& record = *trace.record(stage.key());
    const op::Operands of = operands(*record.op, result_index(trace, record));
    const auto input = [&](int i) {
        return i < 0 ? nullptr : record.inputs[static_cast<std::size_t>(i)].get();
    };
    if (of.same_as >= 0) return operands(trace, *input(of.same_as));
    const Stage* left = input(of.left);
    if (of.left_result >= 0)
        left = trace.results_of(record)[static_cast<std::size_t>(of.left_result)]->stage.get();
    return {left, input(of.above), of.is_transposed};
}

}  // namespace attnscope
