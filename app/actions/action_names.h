// The names of the actions, checked by the compiler where the program names one.
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace attnscope {

/// In the order of actions().
inline constexpr std::string_view k_action_names[] = {
    "file.new",          "file.open",          "file.open_picture",   "file.save",
    "file.save_as",      "file.export",        "file.quit",           "edit.undo",
    "edit.redo",         "edit.history",       "edit.copy_matrix",    "edit.copy_picture",
    "edit.copy_latex",   "edit.copy_recipe",   "edit.sentence",       "edit.second_sentence",
    "edit.one_sentence", "edit.find",          "edit.find_next",      "edit.find_previous",
    "edit.roll_seed",    "edit.give",          "edit.drawn_picture",  "edit.remove_picture",
    "view.pipeline",     "view.heads",         "view.lines",          "view.compare",
    "compare.pin",       "compare.exchange",   "compare.unpin",       "compare.steps",
    "compare.cpu",       "view.alignment",     "view.step",           "view.image",
    "view.training",     "view.sweep",         "view.play",           "view.previous_stage",
    "view.next_stage",   "view.previous_head", "view.next_head",      "view.previous_layer",
    "view.next_layer",   "view.gradients",     "view.stage_gradient", "view.whole",
    "view.dark",         "view.light",         "view.contrast",       "view.larger",
    "view.smaller",      "view.normal",        "view.experiment",     "view.inspector",
    "view.reset_layout", "training.play",      "training.back",       "training.forward",
    "training.ten",      "training.restart",   "training.watch",      "training.learned",
    "training.designed", "training.sentence",  "compute.auto",        "compute.cpu",
    "compute.gpu",       "compute.parity",     "examples.gallery",    "help.tour",
    "help.palette",      "help.keys",          "help.about",          "escape",
};

/// The id of an action. A literal that is none of k_action_names does not compile.
class ActionName {
public:
    consteval ActionName(const char* text) : text_(text) {
        if (std::ranges::find(k_action_names, text_) == std::end(k_action_names))
            throw "no action has this name";
    }
    constexpr std::string_view text() const { return text_; }
    /// The text ending with a zero, for an id of ImGui.
    constexpr const char* c_str() const { return text_.data(); }
    constexpr bool operator==(const ActionName&) const = default;

private:
    std::string_view text_;
};

}  // namespace attnscope
