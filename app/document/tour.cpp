#include "app/document/tour.h"

#include "app/document/interaction.h"
#include "app/document/saved_state.h"

namespace attnscope {
namespace {

constexpr TourStep k_steps[] = {
    {"Type", "Change a word of the sentence, or add one. Every matrix follows each key you press.",
     "sentence", "",
     [](const Session& begun, const Session& now, const Interaction&) {
         return now.experiment.input.text != begun.experiment.input.text;
     }},
    {"Inspect a cell",
     "Click a cell of the weights. The inspector on the right shows why it has its value, number by "
     "number.",
     "matrix", "",
     [](const Session& begun, const Session& now, const Interaction&) {
         return now.presentation.locked && now.presentation.locked != begun.presentation.locked;
     }},
    {"Change a setting",
     "Drag the temperature to the right and back: the weights spread out, and sharpen again.", "temperature",
     "temperature",
     [](const Session& begun, const Session& now, const Interaction&) {
         return now.experiment.weighting.temperature != begun.experiment.weighting.temperature;
     }},
    {"Compare",
     "Press P to pin the current experiment as A. What you change next is B; Compare shows A, B and "
     "B − A side by side.",
     "compare", "",
     [](const Session& begun, const Session& now, const Interaction&) {
         return now.pinned && now.pinned != begun.pinned;
     }},
    {"Take it with you",
     "Ctrl+E exports what you see: a figure for a paper, the numbers, or a PyTorch script that "
     "computes the same numbers.",
     "File", "",
     [](const Session&, const Session&, const Interaction& state) {
         return state.dialog == Dialog::exporting;
     }},
};

}  // namespace

std::span<const TourStep> tour_steps() { return k_steps; }

std::string_view Tour::control() const {
    return step < 0 ? "" : k_steps[static_cast<std::size_t>(step)].control;
}

void leave_tour(Tour& tour, SavedState& saved) {
    tour = {};
    saved.toured = true;
}

}  // namespace attnscope
