#include <fmt/format.h>

#include <algorithm>

#include "app/document/find_tokens.h"
#include "app/document/inspected.h"
#include "app/panels/panels.h"
#include "app/ui/widgets.h"
#include "core/learn/training_run.h"
#include "core/learn/unknown_words.h"
#include "core/mechanism/mechanisms.h"
#include "core/text/lexicon.h"
#include "core/text/tokenizer.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

constexpr float k_new_sentence_width = 102;
constexpr float k_field_height = 36;
constexpr float k_chip_height = 24;
constexpr float k_chip_gap = 8;
constexpr int k_chip_lines = 3;
constexpr std::size_t k_most_chips = 1000;  ///< more than the lines of any window have room for
constexpr std::size_t k_long_text =
    2000;  ///< bytes; of a longer one the field shows a part until it is typed in
constexpr std::size_t k_excerpt = 600;  ///< bytes, more than a field has room for
constexpr float k_low = 600;            ///< units; a lower window has one line of chips

/// One token of a sentence, as shown.
struct Chip {
    int token;
    std::string text;
    std::string id;  ///< its row in the table
    float x, width;
    int line;
    std::string guess;  ///< where its features come from, if the lexicon does not have it
};

int most_lines(const Ui& ui, float window_height) { return window_height < ui.px(k_low) ? 1 : k_chip_lines; }

/// A sentence: that of the queries, or that of the keys and values.
struct Sentence {
    bool second;
    bool of_keys;
    bool beside_another;
    std::string Input::*text;
    const SentenceRole* role;
    const char* id;
};

/// Why nothing reads the sentence; empty if it is used.
std::string why_unread(const Desk& desk, const Sentence& sentence) {
    const Option& text = sentence.second ? option_named("text2") : option_named("text");
    return capitalized(desk.document.why_unused(text));
}

Sentence first_sentence(const Experiment& e, bool beside_another) {
    const SentenceRole& role = mechanism_of(e).first;
    return {false, role.is_of_keys, beside_another, &Input::text, &role, "sentence"};
}

Sentence second_sentence(const Experiment& e) {
    const SentenceRole& role = mechanism_of(e).second;
    return {true, role.is_of_keys, true, &Input::text2, &role, "second sentence"};
}

bool shows_second(const Desk& desk) {
    return desk.state.second_sentence_open || !desk.document.experiment().input.text2.empty();
}

/// The words of the rows of their table that a stage of tokens holds; "–" where there is none.
std::vector<std::string> words_of(const Trace& trace, const Stage& tokens) {
    std::vector<std::string> words;
    for (int i = 0; i < tokens.shape().rows; ++i) {
        const auto row = static_cast<int>(tokens.buffer.at(0, i, 0));
        words.push_back(row < 0 ? "–" : trace.label(Axis::table_row, row));
    }
    return words;
}

/// The tokens of a sentence in the newest trace, which may be a book's; the keys' sentence has none if the
/// trace has no second sentence.
const std::vector<std::string>& labels_of(const Trace& trace, const Sentence& sentence) {
    static const std::vector<std::string> k_none;
    if (!sentence.of_keys) return trace.rows;
    const bool has_keys =
        mechanism_of(trace.experiment).first.is_of_keys || !trace.experiment.input.text2.empty();
    return has_keys ? trace.columns : k_none;
}

/// The tokens in the newest trace from one on, no more than `most`.
std::vector<std::string> tokens_of(const Trace& trace, const Sentence& sentence, int first,
                                   std::size_t most) {
    if (sentence.role->says_rows) {
        const Stage* tokens = trace.find(sentence.role->tokens);
        return tokens ? words_of(trace, *tokens) : std::vector<std::string>();
    }
    const std::vector<std::string>& all = labels_of(trace, sentence);
    const auto begin = all.begin() + std::min<std::ptrdiff_t>(first, std::ssize(all));
    return {begin, begin + std::min(static_cast<std::ptrdiff_t>(most), all.end() - begin)};
}

std::size_t token_count(const Trace& trace, const Sentence& sentence) {
    if (!sentence.role->says_rows) return labels_of(trace, sentence).size();
    const Stage* tokens = trace.find(sentence.role->tokens);
    return tokens ? static_cast<std::size_t>(tokens->shape().rows) : 0;
}

/// The source of a token's features if they are guessed; empty otherwise.
std::string guess_of(const Trace& trace, const std::string& token) {
    if (!is_designed(trace.experiment)) return "";
    const std::string word = fold(token);
    return lexicon().find(word).source == LexiconEntry::Source::guessed ? lexicon_source(word) : "";
}

/// The token in the middle of what is zoomed to, on the axis of the matrix that is of this sentence; −1 where
/// all is in sight, or no axis is.
int token_zoomed_to(const Desk& desk, const Trace& trace, const Sentence& sentence) {
    const std::optional<Region>& seen = desk.state.in_sight;
    if (!seen || desk.document.presentation().view != ViewKind::pipeline) return -1;
    const Stage& stage = focused_stage(trace, desk.document.presentation().stage);
    const auto is_of = [&](Axis axis) {
        const bool of_keys = is_of_keys(axis);
        if (!of_keys && axis != Axis::query_token) return false;
        return of_keys == sentence.of_keys || !has_two_sides(trace);
    };
    if (is_of(stage.info->rows)) return seen->row + seen->rows / 2;
    if (is_of(stage.info->columns)) return (seen->column + seen->columns / 2) / stage.shape().depth;
    return -1;
}

/// The token of the locked cell, else the one that is zoomed to, else the first.
int token_in_sight(const Desk& desk, const Trace& trace, const Sentence& sentence) {
    const auto count = static_cast<int>(labels_of(trace, sentence).size());
    for (const int token : {locked_token(trace, desk.document.presentation(), sentence.of_keys),
                            token_zoomed_to(desk, trace, sentence)})
        if (token >= 0 && token < count) return token;
    return 0;
}

std::string before_text(int first_chip) { return fmt::format("{} before …", first_chip); }
float before_width(const Ui& ui, int first_chip) {
    return text_width(ui.fonts.caption, before_text(first_chip)) + ui.px(k_chip_gap);
}

/// The first of the tokens that have a chip. Those of a long sentence begin some tokens before the one in
/// sight, and stay while that moves by a few tokens.
int first_chip(const Desk& desk, const Trace& trace, const Sentence& sentence, int that_fit) {
    const int token = token_in_sight(desk, trace, sentence), step = std::max(1, that_fit / 2);
    if (token < that_fit || sentence.role->says_rows) return 0;
    return std::max(0, token / step * step - step / 2);
}

/// The chips of the newest trace from a token on, broken into lines, as far as they fit.
std::vector<Chip> lay_out_from(const Trace& trace, const Ui& ui, const Sentence& sentence, int first_token,
                               float width, int most_lines) {
    std::vector<Chip> chips;
    const Mechanism& mechanism = mechanism_of(trace.experiment);
    const bool first = !sentence.role->says_rows && sentence.of_keys == mechanism.first.is_of_keys;
    const Stage* ids = trace.find((first ? mechanism.first : mechanism.second).tokens);
    const std::vector<std::string> tokens = tokens_of(trace, sentence, first_token, k_most_chips);
    float x = first_token > 0 ? before_width(ui, first_token) : 0;
    int line = 0;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const int token = first_token + static_cast<int>(i);
        const std::string text = legible(tokens[i]);
        const std::string id = ids ? std::to_string(static_cast<int>(ids->buffer.at(0, token, 0))) : "";
        const float chip = text_width(ui.fonts.body, text) + text_width(ui.fonts.mono_small, id) + ui.px(32);
        // The last line leaves room for the number of chips left out.
        const float room = width - (line + 1 == most_lines ? ui.px(100) : 0);
        if (x > 0 && x + chip > room) {
            x = 0;
            ++line;
        }
        if (line >= most_lines) break;
        chips.push_back({token, text, id, x, std::min(chip, width), line, guess_of(trace, tokens[i])});
        x += chip + ui.px(k_chip_gap);
    }
    return chips;
}

/// The chips of the newest trace: of all tokens or, of a long sentence, of those around the one in sight.
std::vector<Chip> lay_out(const Desk& desk, const Ui& ui, const Sentence& sentence, float width,
                          int most_lines) {
    const Trace* trace = desk.document.trace().get();
    if (!trace) return {};
    std::vector<Chip> chips = lay_out_from(*trace, ui, sentence, 0, width, most_lines);
    const int first = first_chip(desk, *trace, sentence, static_cast<int>(chips.size()));
    if (first == 0) return chips;
    chips = lay_out_from(*trace, ui, sentence, first, width, most_lines);
    // Of longer words fewer fit.
    const int token = token_in_sight(desk, *trace, sentence);
    const bool is_there = !chips.empty() && chips.back().token >= token;
    return is_there ? chips : lay_out_from(*trace, ui, sentence, token, width, most_lines);
}

int undo_run(Interaction& state, const std::string& before, const std::string& after) {
    // A new word, and switching between typing and deleting, start a new undo step.
    const bool longer = after.size() > before.size();
    const bool space = longer && after.ends_with(' ');
    if (space || longer != (state.typing_run % 2 == 0)) ++state.typing_run;
    if (longer != (state.typing_run % 2 == 0)) ++state.typing_run;
    return state.typing_run;
}

/// Whether the newest trace has another sentence than the one typed.
bool is_behind(const Desk& desk, const Sentence& sentence) {
    const Trace* trace = desk.document.trace().get();
    const Experiment& typed = desk.document.experiment();
    return trace && !(trace->experiment.input.*sentence.text == typed.input.*sentence.text &&
                      trace->experiment.input.tokenizer == typed.input.tokenizer &&
                      trace->experiment.input.vocabulary == typed.input.vocabulary);
}

/// The number of tokens, or why it is unknown.
std::string count_text(const Desk& desk, const Sentence& sentence) {
    if (is_behind(desk, sentence)) {
        if ((desk.document.experiment().input.*sentence.text).empty())
            return sentence.of_keys ? "" : "no tokens";
        return desk.document.busy() ? "computing…" : "not shown";
    }
    const Trace* trace = desk.document.trace().get();
    const std::size_t count = trace ? token_count(*trace, sentence) : 0;
    return count ? fmt::format("{}{}", count, count == 1 ? " token" : " tokens") : std::string();
}

const std::vector<TextPart>& unknown_in(Desk& desk, const Sentence& sentence) {
    const Experiment& e = desk.document.experiment();
    CheckedWords& known = desk.state.checked_words[sentence.second ? 1 : 0];
    const std::string& text = e.input.*sentence.text;
    const std::string words = fmt::format("{} {} {} {}", e.input.words, e.input.words2, name_of(e.mechanism),
                                          name_of(e.training.task));
    if (known.text != text || known.words != words) known = {text, words, unknown_words(e, sentence.second)};
    return known.unknown;
}

/// The description on the right of the field.
std::string facts(Desk& desk, const Sentence& sentence) {
    const Experiment& e = desk.document.experiment();
    if (std::string reason = why_unread(desk, sentence); !reason.empty()) return reason;
    if (const auto& unknown = unknown_in(desk, sentence); !unknown.empty()) {
        const auto [begin, end] = unknown.front();
        return fmt::format("not in this task's vocabulary: {}",
                           legible((e.input.*sentence.text).substr(begin, end - begin)));
    }
    const std::string tokens = count_text(desk, sentence);
    if (!sentence.beside_another)
        return tokens + (tokens.empty() ? "" : " · ") + std::string(name_of(e.input.tokenizer)) + " · " +
               (is_designed(e)           ? "designed features"
                : !e.input.words.empty() ? "fixed vocabulary"
                                         : std::string(name_of(e.input.vocabulary)) + " vocabulary");
    return sentence.role->words + (tokens.empty() ? "" : " · " + tokens);
}

/// Underlines the words that the task does not know, unless the text is longer than it.
void underline_unknown(Desk& desk, const Ui& ui, const Sentence& sentence, const Area& area, float width) {
    const Experiment& e = desk.document.experiment();
    const std::string& text = e.input.*sentence.text;
    const float left = area.min.x + ui.px(14), y = area.max.y - ui.px(7);
    if (text_width(ui.fonts.sentence, text) > width - ui.px(28)) return;
    for (const auto& [begin, end] : unknown_in(desk, sentence)) {
        const float x = left + text_width(ui.fonts.sentence, text.substr(0, begin));
        ImGui::GetWindowDrawList()->AddLine(
            {x, y}, {x + text_width(ui.fonts.sentence, text.substr(begin, end - begin)), y},
            ink(ui.theme.warning), ui.px(2));
    }
}

/// The byte at which a token begins in the text of a sentence, as far as the tokens before it are found
/// there: some are shown otherwise than they are written.
std::size_t byte_of(Desk& desk, const Trace& trace, const Sentence& sentence, int token) {
    constexpr std::size_t k_between = 64;  ///< bytes that may lie between two tokens
    const std::string_view text = desk.document.experiment().input.*sentence.text;
    TokenPosition& known = desk.state.in_text[sentence.second ? 1 : 0];
    if (known.text != text) known = {std::string(text), 0, 0};
    if (known.token > token) known = {std::move(known.text), 0, 0};
    const std::vector<std::string>& tokens = labels_of(trace, sentence);
    for (; known.token < token; ++known.token) {
        const std::string& each = tokens[static_cast<std::size_t>(known.token)];
        const std::string_view written = each == "␣" ? " " : std::string_view(each);
        const std::size_t found = text.substr(known.byte, k_between + written.size()).find(written);
        if (found != text.npos) known.byte += found + written.size();
    }
    const std::size_t begin = text.find_first_not_of(' ', known.byte);
    return begin == text.npos ? text.size() : begin;
}

/// The byte of a line of text that is drawn at `x` pixels from its start.
std::size_t byte_at(ImFont* font, const std::string& text, float x) {
    std::size_t at = 0;
    for (const std::string_view each : graphemes(text)) {
        if (text_width(font, text.substr(0, at + each.size())) > x) break;
        at += each.size();
    }
    return at;
}

/// Where the part of a long text that is shown begins: some words before the token in sight.
std::size_t excerpt_begin(Desk& desk, const Sentence& sentence) {
    constexpr int k_before = 3;
    const Trace* trace = desk.document.trace().get();
    if (!trace || is_behind(desk, sentence)) return 0;
    const int token = token_in_sight(desk, *trace, sentence) - k_before;
    return token > 0 ? byte_of(desk, *trace, sentence, token) : 0;
}

/// The part of a long text around the token in sight, in place of the field, which a click brings back.
void excerpt(Desk& desk, const Ui& ui, const Sentence& sentence, TextField& field, const Area& area,
             float width) {
    const std::string_view text = desk.document.experiment().input.*sentence.text;
    const std::size_t begin = excerpt_begin(desk, sentence);
    const std::string_view rest = text.substr(begin);
    std::string part(rest.substr(0, code_point_begin(rest, std::min(k_excerpt, rest.size()))));
    std::ranges::replace_if(
        part, [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
    const std::string before = begin > 0 ? "… " : "";
    const float left = area.min.x + ui.px(14);
    ImGui::InvisibleButton(fmt::format("excerpt##{}", sentence.id).c_str(), {width, area.height()});
    if (ImGui::IsItemClicked()) {
        const float x = ImGui::GetIO().MousePos.x - left - text_width(ui.fonts.sentence, before);
        field.put_caret(begin + byte_at(ui.fonts.sentence, part, x));
        (sentence.second ? desk.state.edit_second_sentence : desk.state.edit_sentence) = true;
    }
    draw_text(ImGui::GetWindowDrawList(), ui.fonts.sentence,
              {left, (area.min.y + area.max.y - compat::font_size(*ui.fonts.sentence)) / 2},
              ink(ui.theme.text), before + part, Align::left, width - ui.px(20));
}

/// The text field at the cursor, `width` wide; true while it has the keyboard.
bool text_input(Desk& desk, const Ui& ui, const Sentence& sentence, TextField& field, const Area& area,
                float width) {
    ImGui::PushFont(ui.fonts.sentence);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding,
                        {ui.px(12), (area.height() - compat::font_size(*ui.fonts.sentence)) / 2});
    ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, 0);
    ImGui::PushStyleColor(ImGuiCol_FrameBg, 0);
    bool& edit = sentence.second ? desk.state.edit_second_sentence : desk.state.edit_sentence;
    if (keyboard_use(ui, ImGui::GetID(sentence.id), area).pressed) edit = true;
    const bool is_long = (desk.document.experiment().input.*sentence.text).size() > k_long_text;
    if (is_long && !edit && !field.has_keyboard()) {
        excerpt(desk, ui, sentence, field, area, width);
        ImGui::PopStyleColor();
        ImGui::PopStyleVar(2);
        ImGui::PopFont();
        return false;
    }
    if (is_long && edit && !field.has_keyboard()) field.put_caret(excerpt_begin(desk, sentence));
    if (edit) ImGui::SetKeyboardFocusHere();
    edit = false;
    ImGui::SetNextItemWidth(width);
    const std::string before = desk.document.experiment().input.*sentence.text;
    std::string text = before;
    if (field.draw(("##" + std::string(sentence.id)).c_str(), sentence.role->hint, text)) {
        const std::string gesture =
            fmt::format("{}{}", sentence.second ? "type keys " : "type ", undo_run(desk.state, before, text));
        // The field stays open when its last letter is deleted.
        if (sentence.second) desk.state.second_sentence_open = true;
        desk.document.change([&](Session& session) { session.experiment.input.*sentence.text = text; },
                             gesture);
    }
    const bool active = ImGui::IsItemActive();
    if (sentence.second && ImGui::IsItemDeactivated() && text.empty())
        desk.state.second_sentence_open = false;
    ImGui::PopStyleColor();
    ImGui::PopStyleVar(2);
    ImGui::PopFont();
    return active;
}

void sentence_field(Desk& desk, const Ui& ui, const Sentence& sentence, const Area& area, TextField& field,
                    const std::function<void(const Action&)>& run) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled(area.min, area.max, ink(ui.theme.raised), ui.px(6));
    light(ui, sentence.id, area);
    // The field takes precedence: a description that does not leave it enough room is omitted.
    const std::string words = facts(desk, sentence);
    const bool roomy = text_width(ui.fonts.caption, words) < 0.4f * area.width();
    const float facts_width = roomy ? text_width(ui.fonts.caption, words) : 0;
    const Action& another = action_named("training.sentence");
    const bool of_task = !sentence.second && can_be_trained(desk.document.experiment());
    const float remove = sentence.second ? ui.px(28) : of_task ? ui.px(k_new_sentence_width) : 0;
    const std::string unread = why_unread(desk, sentence);
    ImGui::SetCursorScreenPos({area.min.x + ui.px(2), area.min.y});
    ui.controls.disabled = !unread.empty();
    ImGui::BeginDisabled(ui.controls.disabled);
    const bool active =
        text_input(desk, ui, sentence, field, area, area.width() - facts_width - remove - ui.px(32));
    ImGui::EndDisabled();
    ui.controls.disabled = false;
    tooltip(ui, unread);
    if (unread.empty() && !active) help_at_rest(ui, "Click to type; Ctrl+L goes here; Ctrl+F finds a word");
    underline_unknown(desk, ui, sentence, area, area.width() - facts_width - remove - ui.px(32));
    list->AddRect(area.min, area.max, active ? ink(ui.theme.accent) : ink(ui.theme.line), ui.px(6));
    if (roomy)
        draw_text(list, ui.fonts.caption, {area.max.x - remove - ui.px(16), area.min.y + ui.px(12)},
                  ink(ui.theme.faint), words, Align::right);
    if (of_task) {
        ImGui::SetCursorScreenPos({area.max.x - ui.px(k_new_sentence_width + 6), area.min.y + ui.px(5)});
        const std::string help = fmt::format("{} ({})", another.title, shortcut_text(another.shortcut));
        if (small_button(ui, "another", "New sentence", help.c_str(), ui.px(k_new_sentence_width)))
            run(another);
    }
    if (!sentence.second) return;
    ImGui::SetCursorScreenPos({area.max.x - ui.px(32), area.min.y + ui.px(5)});
    if (small_button(ui, "remove", "×", "Remove the second sentence: back to self-attention", ui.px(26)))
        run(action_named("edit.one_sentence"));
}

/// Locks the cell that the token stands for (cell_of_token); unlocks it if it is locked. The stage in focus
/// stays.
void lock_token(Desk& desk, const PointedToken& token) {
    const Presentation& before = desk.document.presentation();
    const Trace& trace = *desk.document.trace();
    const auto found = cell_of_token(trace, before, token);
    if (!found) return;
    const bool locked =
        before.locked == found->cell && trace.find_chosen(before.locked_stage()) == found->stage;
    const StageKey focused = before.stage;
    desk.document.change([&](Session& session) {
        Presentation& p = session.presentation;
        p.lock(found->stage->key(), locked ? std::nullopt : std::optional(found->cell));
        p.focus(focused);
    });
}

void draw_chip(const Ui& ui, const Chip& chip, const Area& area, bool lit, bool hovered, bool behind) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float rounding = area.height() / 2;
    list->AddRectFilled(area.min, area.max, lit ? ink(ui.theme.accent, 0.25f) : ink(ui.theme.raised),
                        rounding);
    const Rgb8 line = chip.guess.empty() ? ui.theme.line : ui.theme.warning;
    list->AddRect(area.min, area.max, ink(lit || hovered ? ui.theme.accent : line), rounding);
    draw_text(list, ui.fonts.body, {area.min.x + ui.px(12), area.min.y + ui.px(4.5f)},
              ink(behind ? ui.theme.faint : ui.theme.text), chip.text);
    draw_text(list, ui.fonts.mono_small, {area.max.x - ui.px(9), area.min.y + ui.px(6)},
              ink(lit ? ui.theme.secondary : ui.theme.faint), chip.id, Align::right);
}

/// What a chip stands for and what a click does.
std::string chip_help(const Sentence& sentence, const Chip& chip) {
    return fmt::format("“{}”, token {}{}\nClick: lock its cell{}{}", chip.text, chip.token + 1,
                       chip.id.empty() ? "" : fmt::format(", number {} of the vocabulary", chip.id),
                       sentence.of_keys ? "" : "; with Shift, as a key",
                       chip.guess.empty() ? "" : "\n" + chip.guess);
}

void chips(Desk& desk, const Ui& ui, const Sentence& sentence, const Area& area) {
    const Trace* trace = desk.document.trace().get();
    if (!trace) return;
    const Highlight lit = current_highlight(desk.state, desk.document.presentation(), trace);
    // Chips of a sentence that cannot be shown any more stay, dimmed, as the matrices do.
    const bool behind = is_behind(desk, sentence) && !desk.document.busy();
    const int lines = most_lines(ui, ImGui::GetIO().DisplaySize.y);
    const std::vector<Chip> all = lay_out(desk, ui, sentence, area.width(), lines);
    ImGui::PushID(sentence.id);
    for (const Chip& chip : all) {
        const ImVec2 at{area.min.x + chip.x,
                        area.min.y + static_cast<float>(chip.line) * ui.px(k_chip_height + 4)};
        const Area place{at, {at.x + chip.width, at.y + ui.px(k_chip_height)}};
        ImGui::SetCursorScreenPos(at);
        ImGui::PushID(chip.token);
        const bool clicked = ImGui::InvisibleButton("chip", {chip.width, ui.px(k_chip_height)});
        const bool as_key = sentence.of_keys || (!lit.two_sides && ImGui::GetIO().KeyShift);
        if (keyboard_use(ui, ImGui::GetID("chip"), place).pressed || clicked)
            lock_token(desk, {chip.token, as_key});
        const bool hovered = ImGui::IsItemHovered();
        ImGui::PopID();
        if (hovered) desk.state.pointing_token = PointedToken{chip.token, as_key};
        help_at_rest(ui, chip_help(sentence, chip));
        const bool asks = !sentence.of_keys && chip.token == lit.query;
        const bool is_key = (sentence.of_keys || !lit.two_sides) && chip.token == lit.key;
        draw_chip(ui, chip, place, asks || (sentence.of_keys && is_key), hovered || is_key, behind);
    }
    ImGui::PopID();
    if (all.empty()) return;
    if (all.front().token > 0)
        draw_text(ImGui::GetWindowDrawList(), ui.fonts.caption, {area.min.x, area.min.y + ui.px(6)},
                  ink(ui.theme.faint), before_text(all.front().token));
    const auto after = static_cast<int>(token_count(*trace, sentence)) - 1 - all.back().token;
    if (after > 0)
        draw_text(
            ImGui::GetWindowDrawList(), ui.fonts.caption,
            {area.max.x, area.min.y + static_cast<float>(lines - 1) * ui.px(k_chip_height + 4) + ui.px(6)},
            ink(ui.theme.faint), fmt::format("and {} more", after), Align::right);
}

constexpr float k_sentence_margin = 16;
constexpr float k_between = 14;  ///< two sentences
const char* const k_add = "+ second sentence";

float add_width(const Ui& ui) { return text_width(ui.fonts.caption, k_add) + ui.px(20); }

/// The width for the chips of one sentence: half the window if there are two.
float chips_width(const Ui& ui, float window_width, bool two) {
    const float width = window_width - ui.px(2 * k_sentence_margin);
    return two ? (width - ui.px(k_between)) / 2 : width - add_width(ui) - ui.px(8);
}

int chip_lines(const Desk& desk, const Ui& ui, float window_width, float window_height) {
    const bool two = shows_second(desk);
    int lines = 1;
    for (const Sentence& sentence :
         {first_sentence(desk.document.experiment(), two), second_sentence(desk.document.experiment())}) {
        if (sentence.second && !two) continue;
        const std::vector<Chip> all =
            lay_out(desk, ui, sentence, chips_width(ui, window_width, two), most_lines(ui, window_height));
        if (!all.empty()) lines = std::max(lines, all.back().line + 1);
    }
    return lines;
}

/// The button that adds a second sentence, on the right of the chips.
void add_button(Desk& desk, const Ui& ui, float right, float top,
                const std::function<void(const Action&)>& run) {
    const float width = add_width(ui), height = ui.px(k_chip_height);
    const std::string unread = why_unread(desk, second_sentence(desk.document.experiment()));
    ImGui::SetCursorScreenPos({right - width, top});
    ui.controls.disabled = !unread.empty();
    ImGui::BeginDisabled(ui.controls.disabled);
    const bool clicked = ImGui::InvisibleButton("add sentence", {width, height});
    const bool hovered = ImGui::IsItemHovered();
    const Area area{{right - width, top}, {right, top + height}};
    if (keyboard_use(ui, ImGui::GetID("add sentence"), area).pressed || clicked)
        run(action_named("edit.second_sentence"));
    ImGui::EndDisabled();
    ui.controls.disabled = false;
    tooltip(ui, unread.empty() ? mechanism_of(desk.document.experiment()).second_sentence : unread);
    draw_text(ImGui::GetWindowDrawList(), ui.fonts.caption, {right - ui.px(10), top + ui.px(6)},
              ink(!unread.empty() ? ui.theme.faint
                  : hovered       ? ui.theme.accent
                                  : ui.theme.secondary),
              k_add, Align::right);
}

}  // namespace

float sentence_panel_height(Desk& desk, const Ui& ui, float window_width, float window_height) {
    return ui.px(59 +
                 static_cast<float>(chip_lines(desk, ui, window_width, window_height)) * (k_chip_height + 4));
}

void sentence_panel(Desk& desk, const Ui& ui, const Area& area, SentenceFields& fields,
                    const std::function<void(const Action&)>& run) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddLine({area.min.x, area.max.y - 1}, {area.max.x, area.max.y - 1}, ink(ui.theme.line));
    const bool two = shows_second(desk);
    const float top = area.min.y + ui.px(11), chips_top = top + ui.px(k_field_height + 8);
    const float width = chips_width(ui, area.width(), two);
    const float left = area.min.x + ui.px(k_sentence_margin), right = area.max.x - ui.px(k_sentence_margin);
    const float first_right = two ? left + width : right;
    sentence_field(desk, ui, first_sentence(desk.document.experiment(), two),
                   {{left, top}, {first_right, top + ui.px(k_field_height)}}, fields.first, run);
    chips(desk, ui, first_sentence(desk.document.experiment(), two),
          {{left, chips_top}, {left + width, area.max.y}});
    if (!two) return add_button(desk, ui, right, chips_top, run);
    sentence_field(desk, ui, second_sentence(desk.document.experiment()),
                   {{right - width, top}, {right, top + ui.px(k_field_height)}}, fields.second, run);
    chips(desk, ui, second_sentence(desk.document.experiment()),
          {{right - width, chips_top}, {right, area.max.y}});
}

}  // namespace attnscope
