// One step of the decoder: the previous state → scores → weights → context → new state → a word.
#include <algorithm>
#include <cmath>

#include "app/ui/widgets.h"
#include "app/views/alignment_scene.h"
#include "app/views/focus_layout.h"
#include "app/views/labels.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/seq2seq/step_words.h"
#include "core/number_text.h"
#include "core/picture/view_figure.h"

namespace attnscope {
namespace {

constexpr float k_head = 40;   ///< units above the columns: symbol and description
constexpr float k_strip = 24;  ///< units, width of a vector
constexpr float k_arrow = 30;  ///< units between two columns, with the arrow
constexpr float k_narrow_arrow = 20;
constexpr float k_words = 190, k_least_words = 84;
constexpr float k_most_bars = 260;
constexpr float k_narrow = 640;

struct Column {
    Desk& desk;
    const Ui& ui;
    const AlignmentScene& scene;
    Area area;  ///< from the top of the heads to the bottom of the columns
    float top;  ///< top edge of what is below the headings
    float height() const { return area.max.y - top; }
};

void head(const Column& c, float left, float width, const std::string& symbol, const std::string& what,
          Align align = Align::left) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float x = align == Align::center ? left + width / 2 : left;
    draw_text(list, c.ui.fonts.strong, {x, c.area.min.y}, ink(c.ui.theme.text), symbol, align);
    draw_text(list, c.ui.fonts.caption, {x, c.area.min.y + c.ui.px(18)}, ink(c.ui.theme.faint), what, align);
}

/// "s₁₂": an index in subscript digits.
std::string indexed(const std::string& symbol, int index) {
    std::string text = symbol;
    for (const char digit : std::to_string(index))
        text += "\xE2\x82" + std::string(1, static_cast<char>('\x80' + digit - '0'));
    return text;
}

void arrow(const Column& c, float middle) {
    draw_text(ImGui::GetWindowDrawList(), c.ui.fonts.body, {middle, c.top + c.height() / 2 - c.ui.px(9)},
              ink(c.ui.theme.faint), "→", Align::center);
}

/// One row of a stage as a column: the whole stage is drawn, clipped to this row.
void vector_strip(const Column& c, float left, StageKey stage, int row, const std::string& symbol,
                  const std::string& what) {
    const ShownStage shown = *c.scene.stage(stage);
    const float width = c.ui.px(k_strip);
    head(c, left, width, symbol, what, Align::center);
    const Area area{{left, c.top}, {left + width, c.area.max.y}};
    ImGui::SetCursorScreenPos(area.min);
    ImGui::PushID(symbol.c_str());
    ImGui::InvisibleButton("vector", {area.width(), std::max(1.0f, area.height())});
    const AxisPlace place{shown.columns(), area.min.y, area.max.y, area.min.y,
                          area.height() / static_cast<float>(shown.columns())};
    use_cell(c.desk, c.ui, shown, {row, place.at(ImGui::GetIO().MousePos.y)});
    ImGui::PopID();
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->PushClipRect(area.min, area.max, true);
    const float first = area.min.x - static_cast<float>(row) * width;
    paint_matrix(c.desk, c.ui, *list, shown,
                 Area{{first, area.min.y}, {first + static_cast<float>(shown.rows()) * width, area.max.y}},
                 true);
    list->PopClipRect();
    list->AddRect({area.min.x - 1, area.min.y - 1}, {area.max.x + 1, area.max.y + 1}, ink(c.ui.theme.line));
}

// ---- scores and weights

/// The bars of one row of a stage, one word below another.
void bars(const Column& c, const char* id, float left, float width, const AxisPlace& words,
          const ShownStage& shown) {
    ImGui::SetCursorScreenPos({left, words.begin(0)});
    ImGui::InvisibleButton(id, {width, std::max(1.0f, words.end() - words.begin(0))});
    const int step = c.scene.step;
    use_cell(c.desk, c.ui, shown, {step, words.at(ImGui::GetIO().MousePos.y)});
    float smallest = 0, largest = 0;
    for (int j = 0; j < words.count; ++j)
        if (const float value = shown.at(step, j); std::isfinite(value)) {
            smallest = std::min(smallest, value);
            largest = std::max(largest, value);
        }
    const bool written = words.pitch() >= c.ui.px(13) && width >= c.ui.px(96);
    const float value_room = written ? text_width(c.ui.fonts.mono_small, "-0.000") + c.ui.px(8) : 0;
    const float per_unit = (width - value_room) / std::max(largest - smallest, 1e-30f);
    const float zero = left - smallest * per_unit;
    const ColorScale scale = scale_of(shown, c.desk.document.presentation());
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddLine({zero, words.begin(0)}, {zero, words.end()}, ink(c.ui.theme.line));
    for (int j = 0; j < words.count; ++j) {
        const float value = shown.at(step, j), end = zero + value * per_unit;
        const float gap = words.pitch() >= c.ui.px(8) ? c.ui.px(1.5f) : 0;
        const bool closed = shown.closed(step, j);
        if (std::isfinite(value) && !closed)
            value_bar(c.ui, *list,
                      {{std::min(zero, end), words.begin(j) + gap},
                       {std::max({zero, end, std::min(zero, end) + 1}), words.begin(j + 1) - gap}},
                      scale.color(value));
        if (written)
            draw_text(list, c.ui.fonts.mono_small,
                      {left + width, words.middle(j) - compat::font_size(*c.ui.fonts.mono_small) / 2},
                      ink(j == c.scene.lit_word ? c.ui.theme.text : c.ui.theme.secondary),
                      closed ? "closed" : weight_text(value), Align::right);
    }
    if (c.scene.lit_word >= 0)
        list->AddRect({left - 1, words.begin(c.scene.lit_word)},
                      {left + width + 1, words.begin(c.scene.lit_word + 1)}, ink(c.ui.theme.accent, 0.6f), 2);
}

void word_labels(const Column& c, float right, float width, const AxisPlace& words) {
    const int stride = label_stride(c.ui, words.pitch());
    for (int j = 0; j < words.count; ++j) {
        if (!label_shown(j, stride, c.scene.lit_word)) continue;
        const bool lit = j == c.scene.lit_word;
        ImFont* font = lit ? c.ui.fonts.strong : c.ui.fonts.body;
        draw_text(ImGui::GetWindowDrawList(), font, {right, words.middle(j) - compat::font_size(*font) / 2},
                  ink(lit ? c.ui.theme.text : c.ui.theme.secondary),
                  fitted(font, legible(c.scene.word(j)), width), Align::right);
    }
}

void attention(const Column& c, float left, float width) {
    if (!c.scene.aligned) {
        head(c, left, width, "no attention", "so no scores or weights");
        const std::string text =
            "Every step gets the same context: the encoder's last state has to hold the whole sentence.";
        ImGui::GetWindowDrawList()->AddText(c.ui.fonts.body, compat::font_size(*c.ui.fonts.body),
                                            {left, c.top}, ink(c.ui.theme.secondary), text.data(),
                                            text.data() + text.size(), width);
        return;
    }
    const AxisPlace words{c.scene.words, c.top, c.area.max.y, c.top,
                          std::min(c.ui.px(k_most_step_row), c.height() / static_cast<float>(c.scene.words))};
    const float labels = std::min(0.26f * width, c.ui.px(120)), gap = c.ui.px(10);
    const float each = (width - labels - 2 * gap) / 2, first = left + labels + gap;
    word_labels(c, left + labels, labels, words);
    head(c, first, each, indexed("e", c.scene.step + 1), "scores");
    bars(c, "scores", first, each, words, *c.scene.stage("alignment_scores"_stage));
    head(c, first + each + gap, each, indexed("α", c.scene.step + 1), "weights");
    bars(c, "weights", first + each + gap, each, words, c.scene.matrix);
}

// ---- the word

void likely(const Column& c, float left, float width) {
    const Ui& ui = c.ui;
    const Trace& trace = c.scene.trace;
    const int said = said_word(trace, c.scene.step);
    const std::string target = "target “" + trace.label(Axis::target_row, said) + "”";
    head(c, left, width, "predicts",
         trace.find("target_tokens"_stage) ? fitted(ui.fonts.caption, target, width) : "most likely");
    const ShownStage probabilities = *c.scene.stage("probabilities"_stage);
    const float pitch = ui.px(24);
    const int count = std::clamp(static_cast<int>(c.height() / pitch), 1, 8);
    ImDrawList* list = ImGui::GetWindowDrawList();
    float y = c.top;
    for (const LikelyWord& each : likely_words(trace, c.scene.step, count)) {
        ImGui::SetCursorScreenPos({left, y});
        ImGui::PushID(each.word);
        ImGui::InvisibleButton("likely", {width, pitch});
        use_cell(c.desk, ui, probabilities, {c.scene.step, each.word});
        ImGui::PopID();
        const bool own = each.word == said;
        ImFont* font = own ? ui.fonts.strong : ui.fonts.body;
        const Rgb8 color = own ? ui.theme.accent : ui.theme.text;
        const std::string p = weight_text(each.probability), rank = std::to_string(each.rank);
        const float rank_width = width > ui.px(130) ? ui.px(22) : 0;
        if (rank_width > 0)
            draw_text(list, ui.fonts.mono_small, {left, y + ui.px(3)}, ink(ui.theme.faint), rank);
        const float room = width - rank_width - text_width(ui.fonts.mono_small, p) - ui.px(6);
        const std::string word = legible(trace.label(Axis::target_row, each.word));
        draw_text(list, font, {left + rank_width, y + ui.px(1)}, ink(color), fitted(font, word, room));
        draw_text(list, ui.fonts.mono_small, {left + width, y + ui.px(3)}, ink(ui.theme.secondary), p,
                  Align::right);
        const float bar = std::isfinite(each.probability) ? static_cast<float>(each.probability) : 0;
        list->AddRectFilled({left, y + ui.px(18)}, {left + width, y + ui.px(20)}, ink(ui.theme.raised));
        list->AddRectFilled({left, y + ui.px(18)}, {left + width * bar, y + ui.px(20)},
                            ink(own ? ui.theme.accent : ui.theme.secondary));
        y += pitch;
    }
}

void before(const Column& c, float left) {
    const bool first = c.scene.step == 0;
    vector_strip(c, left, first ? "initial_state"_stage : "decoder_state"_stage, first ? 0 : c.scene.step - 1,
                 indexed("s", c.scene.step), "before");
}

}  // namespace

void decoder_step(Desk& desk, const Ui& ui, const AlignmentScene& scene, const Area& area) {
    const Column c{desk, ui, scene, area, area.min.y + ui.px(k_head)};
    const bool narrow = area.width() < ui.px(k_narrow);
    const float strip = ui.px(k_strip), gap = ui.px(narrow ? k_narrow_arrow : k_arrow);
    const float words = narrow ? std::max(ui.px(k_least_words), 0.2f * area.width()) : ui.px(k_words);
    const float margin = ui.px(10);  // headings are wider than strips
    const float room = area.width() - margin - 3 * strip - 4 * gap - words;
    const float wide = std::min(room, ui.px(130 + 2 * k_most_bars));
    // A decoder that aligns with its current state computes the state before the scores.
    const bool current = queries_current(scene.trace.experiment.seq2seq.alignment_state);
    float x = area.min.x + margin;
    const auto next = [&](float width) {
        x += width;
        arrow(c, x + gap / 2);
        x += gap;
    };
    const auto state = [&] {
        vector_strip(c, x, "decoder_state"_stage, scene.step, indexed("s", scene.step + 1), "state");
        next(strip);
    };
    before(c, x);
    next(strip);
    if (current) state();
    attention(c, x, wide);
    next(wide);
    vector_strip(c, x, "decoder_context"_stage, scene.step, indexed("c", scene.step + 1), "context");
    next(strip);
    if (!current) state();
    likely(c, x, words);
}

}  // namespace attnscope
