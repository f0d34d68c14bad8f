#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "app/document/custom.h"
#include "app/panels/own_rows.h"
#include "app/panels/panels.h"
#include "app/panels/setting_rows.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/mechanisms.h"
#include "core/number_text.h"
#include "core/session/questions.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

/// "8 × 16", rows and columns of the stage; empty if the trace has none.
std::string shape_text(const Desk& desk, StageKey stage) {
    const Stage* found = desk.document.trace() ? desk.document.trace()->find(stage) : nullptr;
    return found ? fmt::format("{} × {}", found->shape().rows, found->shape().columns) : "";
}

std::string image_text(const Desk& desk) {
    const Input& input = desk.document.experiment().input;
    const int side = input.grid * input.patch_size;
    return applies(desk, "grid") ? fmt::format("{} × {} pixels", side, side) : "";
}

std::string projections_text(const Desk& desk) {
    const Experiment& e = desk.document.experiment();
    const bool none = e.attention.projection == Projection::none && applies(desk, "projection");
    return none ? unprojected_text(e) : shape_text(desk, "W_q"_stage);
}

std::string heads_text(const Desk& desk) {
    const Trace* trace = desk.document.trace().get();
    const int d_k = trace ? head_width(*trace, "key_heads"_stage, "key"_stage) : 0,
              d_v = trace ? head_width(*trace, "value_heads"_stage, "value"_stage) : 0;
    if (d_k == 0) return "";
    return fmt::format("d_k = {}{}", d_k, d_v == d_k ? "" : ", d_v = " + std::to_string(d_v));
}

std::string score_text(const Desk& desk) {
    const Experiment& e = desk.document.experiment();
    const int d_k = key_width(e, desk.document.trace().get());
    return applies(desk, "scale") ? "× " + short_text(e.attention.scale.factor(d_k)) : "";
}

std::string custom_text(const Desk& desk) {
    const auto& given = desk.document.experiment().weights.custom;
    const auto count = given.size() - given.count("mask");
    return count ? std::to_string(count) : "";
}

/// The text on the right of a section's header: what follows from its settings.
std::string derived_text(const Desk& desk, OptionSection section) {
    const Experiment& e = desk.document.experiment();
    switch (section) {
        case OptionSection::embedding: return shape_text(desk, "table"_stage);
        case OptionSection::image: return image_text(desk);
        case OptionSection::position:
            return shape_text(desk,
                              position_rule(e.attention.position).biases ? "bias"_stage : "position"_stage);
        case OptionSection::projections: return projections_text(desk);
        case OptionSection::heads: return heads_text(desk);
        case OptionSection::score: return score_text(desk);
        case OptionSection::mask: return open_cells(desk);
        case OptionSection::softmax:
            return desk.document.trace() && desk.document.trace()->over_queries() ? "over queries"
                                                                                  : "over keys";
        case OptionSection::output: return e.attention.output_projection ? shape_text(desk, "W_o"_stage) : "";
        case OptionSection::block:
            return e.attention.block != Block::none ? shape_text(desk, "W_1"_stage) : "";
        case OptionSection::transformer:
            return fmt::format("{} layer{}", e.transformer.layers, e.transformer.layers == 1 ? "" : "s");
        case OptionSection::custom: return custom_text(desk);
        case OptionSection::training:
            return e.training.task != TaskKind::none ? fmt::format("step {}", e.training.step) : "";
        case OptionSection::input:
        case OptionSection::seq2seq:
        case OptionSection::presentation: break;
    }
    return "";
}

/// An option that a section shows before one of its own, though it belongs to another section.
struct Guest {
    OptionSection section;
    OptionName before;
    OptionName option;
};
constexpr Guest k_guests[] = {{OptionSection::transformer, "tied", "feed-forward-size"},
                              {OptionSection::transformer, "tied", "activation"},
                              {OptionSection::transformer, "tied", "layer-norm-epsilon"},
                              {OptionSection::transformer, "tied", "ablate"},
                              {OptionSection::transformer, "tied", "ablation"}};

/// Draws the rows of a section in the order of the table of options.
void section_rows(Desk& desk, const Ui& ui, OptionSection section) {
    const bool trains = desk.document.experiment().training.task != TaskKind::none;
    for (const Option& option : options()) {
        if (option.section != section) continue;
        if (section == OptionSection::training && !trains && option.name != "task") continue;
        for (const Guest& guest : k_guests)
            if (guest.section == section && guest.before == option.name)
                setting_rows(desk, ui, option_named(guest.option));
        setting_rows(desk, ui, option);
    }
}

}  // namespace

constexpr float k_other_margin = 18;  ///< units: that of the rows

/// What the panel has for other mechanisms, on one line; the tooltip says which has it.
void other_sections_line(const Desk& desk, const Ui& ui) {
    const std::span<const OptionSection> own = mechanism_of(desk.document.experiment()).sections;
    std::string names, reasons;
    for (const auto& [section, name] : choices<OptionSection>()) {
        if (section == OptionSection::presentation || std::ranges::find(own, section) != own.end()) continue;
        std::string having;
        for (const Mechanism* other : mechanisms())
            if (std::ranges::find(other->sections, section) != other->sections.end())
                having += (having.empty() ? "" : " or ") + std::string(name_of(other->choice));
        names += (names.empty() ? "" : ", ") + std::string(name);
        reasons += fmt::format("{}{}: set mechanism to {}", reasons.empty() ? "" : "\n", name, having);
    }
    if (names.empty()) return;
    const std::string text = "Other mechanisms: " + names;
    const ImVec2 at{ImGui::GetWindowPos().x + ui.px(k_other_margin),
                    ImGui::GetCursorScreenPos().y + ui.px(10)};
    const float width = ImGui::GetWindowContentRegionMax().x - ui.px(k_other_margin + 8);
    ImGui::SetCursorScreenPos(at);
    ImGui::InvisibleButton("other sections", {width, ui.px(20)});
    tooltip(ui, text + "\n" + reasons);
    draw_text(ImGui::GetWindowDrawList(), ui.fonts.caption, {at.x, at.y + ui.px(3)}, ink(ui.theme.secondary),
              fitted(ui.fonts.caption, text, width));
}

/// Unfolds the settings that the question is about, once it is asked, and brings the first into sight.
void reveal_asked(Desk& desk, const Ui& ui) {
    const Question* question = shown_question(desk);
    if (std::exchange(desk.state.asked, question) == question || !question) return;
    for (const OptionName setting : question->settings)
        ui.controls.folded_sections->erase(std::string(name_of(option_named(setting).section)));
    if (!question->settings.empty()) desk.state.reveal = {std::string(question->settings.front()), false};
}

void experiment_panel(Desk& desk, const Ui& ui, const Area& area) {
    ImGui::SetCursorScreenPos(area.min);
    ImGui::GetWindowDrawList()->AddRectFilled(area.min, area.max, ink(ui.theme.panel));
    ImGui::BeginChild("experiment", {area.width(), area.height()}, false);
    ImGui::SetCursorPos({0, ui.px(4)});
    reveal_asked(desk, ui);
    const Option* revealed = find_option(desk.state.reveal.option);
    if (revealed) ui.controls.folded_sections->erase(std::string(name_of(revealed->section)));
    for (const OptionSection section : mechanism_of(desk.document.experiment()).sections) {
        ui.controls.section.name = name_of(section);
        if (section_header(ui, name_of(section), derived_text(desk, section)))
            section_rows(desk, ui, section);
        ImGui::PushID(ui.controls.section.name.c_str());
        left_out_line(ui);
        ImGui::PopID();
    }
    ui.controls.section.name.clear();
    other_sections_line(desk, ui);
    ImGui::Dummy({1, ui.px(12)});
    ImGui::EndChild();
}

}  // namespace attnscope
