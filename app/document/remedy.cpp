#include "app/document/remedy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "app/document/steps.h"
#include "core/error.h"
#include "core/session/options.h"

namespace attnscope {
namespace {

/// A number of columns that is cut into heads; 0: as many as d.
struct Width {
    OptionName option;
    const char* name;
    int (*of)(const Experiment& experiment);
};
constexpr std::array k_widths = {
    Width{"dim", "d", [](const Experiment& e) { return e.input.dim; }},
    Width{"key-size", "the key size", [](const Experiment& e) { return e.attention.key_size; }},
    Width{"value-size", "the value size", [](const Experiment& e) { return e.attention.value_size; }},
};

/// Each width that cannot be cut becomes the next one that can: a multiple of the heads, and with RoPE, which
/// rotates pairs of features, of twice as many.
Remedy wider(const Experiment& e) {
    const int heads = std::max(1, e.attention.heads), pairs = e.attention.position == Position::rope ? 2 : 1;
    Remedy remedy;
    for (const Width& width : k_widths) {
        const int columns = width.of(e), unit = width.option == "value-size" ? heads : heads * pairs;
        if (columns % unit == 0) continue;
        const std::string next = std::to_string((columns / unit + 1) * unit);
        remedy.label += fmt::format("{} {} to {}", remedy.label.empty() ? "Set" : ",", width.name, next);
        remedy.options.emplace_back(width.option, next);
    }
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
