#include "app/document/remedy.h"

#include <fmt/format.h>

#include <utility>

#include "app/document/steps.h"
#include "core/error.h"
#include "core/session/options.h"

namespace attnscope {
namespace {

/// Adds the width's next multiple of `unit` to the remedy, unless it is one.
void widen(Remedy& remedy, OptionName option, std::string_view name, int columns, int unit) {
    if (columns % unit == 0) return;
    const std::string next = std::to_string((columns / unit + 1) * unit);
    remedy.label += fmt::format("{} {} to {}", remedy.label.empty() ? "Set" : ",", name, next);
    remedy.options.emplace_back(option, next);
}

/// What is cut into heads and cannot be is widened: d, or Q and K, or V where these have a size of their own.
/// RoPE rotates pairs of the features of Q and K.
Remedy wider(const Experiment& e) {
    const Attention& attention = e.attention;
    const auto fits = [](int size, int most) { return size >= 0 && size <= most; };
    if (attention.heads < 1 || attention.heads > k_max_heads || !fits(e.input.dim, k_max_dim) ||
        !fits(attention.key_size, k_max_dim) || !fits(attention.value_size, k_max_dim))
        return {};
    const bool in_stack = mechanism_rule(e.mechanism).has_layers;
    const bool own_keys = attention.key_size > 0 && !in_stack,
               own_values = attention.value_size > 0 && !in_stack;
    const int unit = attention.heads, keys_unit = position_rule(attention.position).rotates ? 2 * unit : unit;
    Remedy remedy;
    if (!own_keys || !own_values) widen(remedy, "dim", "d", e.input.dim, own_keys ? unit : keys_unit);
    if (own_keys) widen(remedy, "key-size", "the key size", attention.key_size, keys_unit);
    if (own_values) widen(remedy, "value-size", "the value size", attention.value_size, unit);
    return remedy;
}

}  // namespace

std::optional<Remedy> remedy_of(const Session& session, OptionName name, const std::string& text) {
    Session asked = session;
    if (!succeeds([&] { set_from_text(asked, option_named(name), text); })) return std::nullopt;
    using Setting = std::pair<OptionName, std::string>;
    const Remedy as_wide{"Set the value size to d", {Setting{OptionName("value-size"), "0"}}},
        projected{"Add the output projection", {Setting{OptionName("output-projection"), "true"}}};
    for (Remedy remedy : {wider(asked.experiment), name == "value-size" ? Remedy{} : as_wide, projected}) {
        Session trial = asked;
        const bool helps = !remedy.options.empty() && succeeds([&] {
            for (const auto& [option, value] : remedy.options)
                set_from_text(trial, option_named(option), value);
            check_edit(trial.experiment);
        });
        if (!helps) continue;
        remedy.options.emplace(remedy.options.begin(), name, text);
        return remedy;
    }
    return std::nullopt;
}

}  // namespace attnscope
