#include "app/document/desk.h"

#include <utility>

#include "app/document/remedy.h"
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
