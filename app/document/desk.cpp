#include "app/document/desk.h"

#include <algorithm>
#include <utility>

#include "app/document/steps.h"
#include "core/session/options.h"
#include "core/utf8.h"

namespace attnscope {

std::string named_as(std::string_view option, const std::string& label, const Error& error) {
    if (error.where().empty()) return error.what();
    std::string name = label.empty() ? std::string(option) : label;
    if (label.empty()) {
        std::ranges::replace(name, '-', ' ');
        name = capitalized(name);
    }
    return error.at(name).what();
}

void set_option(Desk& desk, std::string_view name, const std::string& text, const std::string& gesture) {
    Session trial = desk.document.session();
    try {
        set_from_text(trial, *find_option(name), text);
        check_edit(trial.experiment);
    } catch (const Error& error) {
        desk.state.notice = {named_as(name, desk.state.control_label, error), true};
        return;
    }
    desk.state.notice = {};
    desk.document.change([&](Session& session) { session = std::move(trial); }, gesture);
}

}  // namespace attnscope
