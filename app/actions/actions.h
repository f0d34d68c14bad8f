// The registry of all actions that a person can run. Menus, shortcuts, the action search and the tests read
// it.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/actions/action_names.h"
#include "app/actions/shortcut.h"
#include "app/document/document.h"
#include "app/document/interaction.h"
#include "app/document/saved_state.h"
#include "app/platform/input_event.h"
#include "core/choice.h"

namespace attnscope {

/// What an action works on.
struct ActionContext {
    Document& document;
    Interaction& interaction;
    SavedState& saved;
    const std::function<void(const std::string&)>& copy;  ///< puts text on the clipboard
};

/// The menus, in their order.
enum class Menu { file, edit, view, training, compute, examples, help };
constexpr auto choice_names(Menu) {
    using enum Menu;
    return std::to_array<ChoiceName<Menu>>({{file, "File"},
                                            {edit, "Edit"},
                                            {view, "View"},
                                            {training, "Training"},
                                            {compute, "Compute"},
                                            {examples, "Examples"},
                                            {help, "Help"}});
}

struct Action {
    std::string_view id;       ///< "edit.undo"
    std::optional<Menu> menu;  ///< nullopt if it is in no menu
    std::string_view title;
    std::string_view help;  ///< what it does, in one line
    Shortcut shortcut;
    bool while_typing;  ///< the shortcut works in a text field too
    bool (*enabled)(const ActionContext&);
    void (*run)(ActionContext&);
    /// Set for an action that is one of several choices, or a switch: whether it is the current one, or on.
    bool (*chosen)(const ActionContext&) = nullptr;
    /// Why the action is not enabled.
    std::string (*why_not)(const ActionContext&) = nullptr;
};

/// What a menu and the search say of an action that is not enabled: "Not available now: …".
std::string why_disabled(const Action& action, const ActionContext& context);

std::span<const Action> actions();
const Action& action_named(ActionName name);
/// The action with this id; nullptr if there is none.
const Action* find_action(std::string_view id);

/// Runs an action if it is enabled; errors become the notice of the interaction, and nothing is lost.
void run_action(const Action& action, ActionContext& context);
/// The action that a key press triggers, or nullptr.
const Action* action_for(const KeyPress& press, bool typing);

}  // namespace attnscope
