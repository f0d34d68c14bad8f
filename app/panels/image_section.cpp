// The image whose patches are the keys, and how it is cut.
#include <algorithm>

#include "app/panels/panels.h"
#include "app/panels/setting_rows.h"
#include "core/image/patches.h"

namespace attnscope {
namespace {

std::string shown_choice(const Experiment& e) {
    if (!e.input.image) return "none";
    return *e.input.image == drawn_picture() ? "drawn" : "a file";
}

void picture_row(Desk& desk, const Ui& ui) {
    const std::string current = shown_choice(desk.document.experiment());
    std::vector<Choice> choices = {{"none", "none", "The keys come from the sentence"},
                                   {"drawn", "drawn", "The built-in picture"}};
    if (current == "a file")
        choices.push_back({"a file", "a file", "File ▸ Open picture… opens another one"});
    option_row(desk, ui, "image", "Picture", [&](float) {
        const auto picked = choice_field(ui, "##choice", choices, current);
        if (picked && *picked != "a file") set_option(desk, "image", *picked);
    });
}

void number_row(Desk& desk, const Ui& ui, std::string_view option, const char* label, int value, int most) {
    whole_row(desk, ui, option, label, std::to_string(value),
              static_cast<float>(value) / static_cast<float>(most),
              [value, most](int steps) { return std::clamp(value + steps, 1, most); });
}

}  // namespace

void image_section(Desk& desk, const Ui& ui) {
    const Experiment& e = desk.document.experiment();
    const std::string side = std::to_string(e.input.grid * e.input.patch_size);
    if (!section_header(ui, OptionSection::image,
                        applies(desk, "grid") ? side + " × " + side + " pixels" : ""))
        return;
    picture_row(desk, ui);
    number_row(desk, ui, "grid", "Grid", e.input.grid, k_max_grid);
    number_row(desk, ui, "patch-size", "Patch size", e.input.patch_size, k_max_patch_size);
    weight_seed_row(desk, ui, "image-seed", e.weights.image_seed, "the embedding table");
}

}  // namespace attnscope
