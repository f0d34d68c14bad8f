// The picture that is looked at, and how it is cut.
#include <algorithm>
#include <random>

#include "app/panels/panels.h"
#include "app/window/widgets.h"
#include "core/attention/patches.h"

namespace attnscope {
namespace {

std::string shown_choice(const Experiment& e) {
    if (!e.image) return "none";
    return *e.image == drawn_picture() ? "drawn" : "a file";
}

void picture_row(Ui& ui) {
    const std::string current = shown_choice(ui.document.experiment());
    std::vector<Choice> choices = {{"none", "none", "The keys are of the sentence"},
                                   {"drawn", "drawn", "The built-in picture"}};
    if (current == "a file") choices.push_back({"a file", "a file", "File ▸ Open picture… takes another"});
    option_row(ui, "image", "Picture", "", [&](float) {
        const auto picked = choice_field(ui, "##choice", choices, current);
        if (picked && *picked != "a file") set_option(ui, "image", *picked);
    });
}

void number_row(Ui& ui, std::string_view option, const char* label, int value, int most) {
    option_row(ui, option, label, "", [&](float width) {
        const DragResult result = drag_field(ui, "number", std::to_string(value),
                                             static_cast<float>(value) / static_cast<float>(most), width);
        if (result.typed) set_option(ui, option, *result.typed);
        const int next = std::clamp(value + result.steps, 1, most);
        if (next != value) set_option(ui, option, std::to_string(next), result.gesture);
    });
}

void seed_row(Ui& ui) {
    const Experiment& e = ui.document.experiment();
    const bool own = e.image_seed.kind == ProjectionSeed::Kind::own;
    const std::string number = own ? e.image_seed.seed.text() : e.seed.text();
    const std::vector<Choice> kinds = {{"same", "same", "The embedding's seed again"},
                                       {"continue", "continue", "Go on where the embedding's draw ended"},
                                       {number, own ? "own: " + number : "own", "A seed of its own"}};
    option_row(ui, "image-seed", "Patches' seed", "", [&](float width) {
        const std::string current = text_of(ui.document.session(), *find_option("image-seed"));
        const float die = ui.px(26);
        ImGui::SetNextItemWidth(width - die - ui.px(4));
        if (const auto picked = choice_field(ui, "##kind", kinds, current))
            set_option(ui, "image-seed", *picked);
        ImGui::SameLine(0, ui.px(4));
        if (small_button(ui, "die", "⚄", "Roll a seed", die))
            set_option(ui, "image-seed", std::to_string(std::random_device{}() % 1'000'000U));
    });
}

}  // namespace

void image_section(Ui& ui) {
    const Experiment& e = ui.document.experiment();
    const std::string side = std::to_string(e.grid * e.patch_size);
    section_header(ui, "Image", e.image ? side + " × " + side + " pixels" : "");
    picture_row(ui);
    if (!e.image) return;
    number_row(ui, "grid", "Patches a side", e.grid, k_max_grid);
    number_row(ui, "patch-size", "Pixels a side", e.patch_size, k_max_patch_size);
    seed_row(ui);
}

}  // namespace attnscope
