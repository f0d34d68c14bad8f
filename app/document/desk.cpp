#include "app/document/desk.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "app/document/steps.h"
#include "core/session/options.h"
#include "core/utf8.h"

namespace attnscope {

void focus_on(Desk& desk, const Stage& stage) {
    desk.document.change([key = stage.key()](Session& session) { session.presentation.focus(key); });
    desk.state.zoom = {};
}

std::string named_as(std::string_view option, const std::string& label, const Error& error) {
    if (error.where().empty()) return error.what();
    return error.at(label.empty() ? name_in_words(option) : label).what();
}

namespace {

/// A remedy for a number of heads that does not divide the dimension: the next dimension that it divides.
std::optional<Remedy> remedy_of(const Session& session, OptionName name, const std::string& text) {
    if (name != "heads") return std::nullopt;
    int heads = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), heads);
    if (error != std::errc{} || end != text.data() + text.size() || heads < 1 || heads > k_max_heads)
        return std::nullopt;
    const int dim = session.experiment.input.dim, next = (dim + heads - 1) / heads * heads;
    if (next == dim || next > k_max_dim) return std::nullopt;
    Session trial = session;
    trial.experiment.input.dim = next;
    trial.experiment.attention.heads = heads;
    if (!succeeds([&] { check_edit(trial.experiment); })) return std::nullopt;
    return Remedy{fmt::format("Set d to {}", next),
                  {{OptionName("dim"), std::to_string(next)}, {OptionName("heads"), text}}};
}

}  // namespace

void set_option(Desk& desk, OptionName name, const std::string& text, const std::string& gesture) {
    set_option(desk, option_named(name), text, gesture);
}

void set_option(Desk& desk, const Option& option, const std::string& text, const std::string& gesture) {
    Session trial = desk.document.session();
    try {
        set_from_text(trial, option, text);
        check_edit(trial.experiment);
    } catch (const Error& error) {
        desk.state.notice = {named_as(option.name, desk.state.control_label, error), true,
                             remedy_of(desk.document.session(), option.name, text)};
        return;
    }
    desk.state.notice = {};
    desk.document.change([&](Session& session) { session = std::move(trial); }, gesture);
}

void apply_remedy(Desk& desk) {
    const std::optional<Remedy> remedy = std::exchange(desk.state.notice, {}).remedy;
    if (!remedy) return;
    desk.document.change([&](Session& session) {
        for (const auto& [name, text] : remedy->options) set_from_text(session, option_named(name), text);
    });
}

}  // namespace attnscope
