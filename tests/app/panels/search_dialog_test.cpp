// Every setting and every action is reached by the keyboard alone.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>

#include "app/actions/search.h"
#include "app/platform/imgui_compat.h"
#include "core/mechanism/mechanisms.h"
#include "core/session/applies.h"
#include "core/session/examples.h"
#include "core/session/options.h"
#include "tests/interface.h"
#include "tests/keys.h"
#include "tests/sanitized.h"
#include "tests/screen_texts.h"

namespace attnscope {
namespace {

using namespace test;

class SearchDialogTest : public InterfaceTest {
protected:
    void look_for(const std::string& text) {
        press(Key::p, k_ctrl);
        push(typing(text));
        settle();
        press(Key::enter);
        settle();
    }

    /// Types the option's name and picks it from what is found, which may list a view of that name first.
    void look_for_setting(const Option& option) {
        std::string name(option.name);
        std::ranges::replace(name, '-', ' ');
        press(Key::p, k_ctrl);
        push(typing(name));
        settle();
        const std::vector<SearchEntry> found = searched();
        const auto entry = std::ranges::find_if(found, [&](const SearchEntry& each) {
            return each.kind == name_of(option.section) && each.title == name_in_words(option.name);
        });
        ASSERT_NE(entry, found.end());
        pick(found, entry);
    }
    /// What the dialog lists.
    std::vector<SearchEntry> searched() {
        SavedState saved = workspace->state();
        const std::function<void(const std::string&)> copy = [](const std::string&) {};
        return search({document(), interaction(), saved, copy}, interaction().palette_text);
    }
    void pick(const std::vector<SearchEntry>& found, std::vector<SearchEntry>::const_iterator entry) {
        EXPECT_LT(entry - found.begin(), 6) << "too far below";
        for (auto i = found.begin(); i != entry; ++i) {
            press(Key::down);
            settle();
        }
        press(Key::enter);
        settle();
    }

    /// In the dialog of exports the setting has the keyboard, not the folder: → steps it, or a preset of it.
    void expect_steps(const Option& option) {
        if (option.name == "title") return;  // is typed
        EXPECT_EQ(ImGui::GetActiveID(), 0u) << "the keyboard is in a field of text";
        const Presentation before = interaction().export_form.presentation;
        press(Key::right);
        const bool is_pressed = option.name == "region";
        EXPECT_NE(interaction().export_form.presentation == before, !is_pressed);
    }

    std::set<std::string, std::less<>> visited_options_;
};

/// Sessions in which, together, every setting has an effect.
std::vector<std::pair<std::string, Session>> telling_sessions() {
    std::vector<std::pair<std::string, Session>> all;
    for (const std::string& example : example_names()) all.emplace_back(example, load_example(example));
    using Flags = std::vector<std::pair<const char*, const char*>>;
    for (const Flags& flags :
         {Flags{{"score", "cosine"}, {"image", "drawn"}, {"grid", "2"}, {"patch-size", "2"}},
          Flags{
              {"score", "rbf"}, {"dropout", "0.5"}, {"heads", "2"}, {"ablate", "1.1"}, {"block", "pre-norm"}},
          Flags{{"mechanism", "seq2seq"}, {"decode", "greedy"}},
          Flags{{"mechanism", "transformer"}, {"task", "next-word"}, {"optimizer", "sgd"}}}) {
        Session& session = all.emplace_back().second;
        session.experiment.input.text = "one word and another";
        for (const auto& [name, value] : flags) set_from_text(session, *find_option(name), value);
        all.back().first = flags.front().second;
    }
    return all;
}

/// Every setting in a session in which it has an effect: its control gets the keyboard, or what sets it
/// opens.
TEST_F(SearchDialogTest, EverySettingIsReachedByItsName) {
    int rows = 0;
    std::size_t visited = 0;
    for (const auto& [name, session] : telling_sessions()) {
        bool started = false;
        for (const Option& option : options()) {
            if (option.section == OptionSection::presentation ||
                visited_options_.contains(option.name.text()))
                continue;
            const auto own = mechanism_of(session.experiment).sections;
            if (std::ranges::find(own, option.section) == own.end() ||
                !why_unused(option, session.experiment).empty())
                continue;
            visited_options_.insert(std::string(option.name));
            if (!test::is_visited(visited++, 4)) continue;
            SCOPED_TRACE(fmt::format("{} in {}", option.name.text(), name));
            if (!std::exchange(started, true)) start(session, 1600, 1000);
            workspace->controls().focus.id = 0;
            interaction().notice = {};
            look_for_setting(option);
            EXPECT_EQ(interaction().dialog, Dialog::none);
            EXPECT_TRUE(interaction().reveal.option.empty());
            const bool is_of_file = option.name == "words" || option.name == "words2";  // or of a task
            if (workspace->controls().focus.id != 0 || ImGui::GetActiveID() != 0)
                ++rows;
            else
                EXPECT_TRUE(is_of_file && !interaction().notice.text.empty())
                    << "no control has the keyboard";
        }
    }
    EXPECT_GT(rows, test::k_sanitized ? 10 : 50);
    for (const Option& option : options())
        EXPECT_TRUE(!option.in_experiment() || visited_options_.contains(option.name.text()))
            << option.name.text() << " has an effect in none of these sessions";
}

/// Settings whose menu opens.
const std::set<std::string> k_in_menus = {"range", "color-spacing", "colormap", "values",
                                          "head",  "layer",         "theme",    "gradients"};

/// How pictures look: the control gets the keyboard, in its view, its menu or the dialog.
TEST_F(SearchDialogTest, EverySettingOfPicturesIsReachedByItsName) {
    for (const auto& [width, height] : {std::pair{1600, 1000}, {1024, 700}}) {
        SCOPED_TRACE(width);
        start(load_example("learned-induction"), width, height);
        for (const Option& option : options()) {
            if (option.section != OptionSection::presentation) continue;
            SCOPED_TRACE(option.name);
            workspace->controls().focus.id = 0;
            interaction().notice = {};
            look_for_setting(option);
            EXPECT_TRUE(interaction().reveal.option.empty());
            const bool in_dialog = interaction().dialog == Dialog::exporting;
            EXPECT_EQ(in_dialog, is_of_exports(option));
            if (option.name == "pooling")
                EXPECT_TRUE(interaction().notice.text.ends_with("(for: more than 4096 tokens)"));
            else
                EXPECT_TRUE(workspace->controls().focus.id != 0 || ImGui::GetActiveID() != 0)
                    << interaction().notice.text;
            if (in_dialog) expect_steps(option);
            EXPECT_EQ(in_dialog || compat::popup_is_open(),
                      in_dialog || k_in_menus.contains(std::string(option.name)));
            for (int i = 0; i < 3; ++i) {
                press(Key::escape);
                settle();
            }
            EXPECT_EQ(interaction().dialog, Dialog::none);
        }
    }
}

/// Sessions in which, together, every action is available that needs no graphics card.
std::vector<Session> acting_sessions() {
    std::vector<Session> all = {load_example("learned-induction"), load_example("image-attention"),
                                load_example("bahdanau-alignment"), load_example("scaled-dot-product")};
    all.front().pinned.emplace().experiment = load_example("scaled-dot-product").experiment;
    return all;
}

TEST_F(SearchDialogTest, EveryActionIsReachedByItsTitle) {
    std::size_t visited = 0;
    std::set<std::string, std::less<>> never;
    for (const Action& action : actions()) {
        if (action.id == "file.quit" || action.id == "escape" || action.id == "help.palette") continue;
        if (!test::is_visited(visited++, 6)) continue;
        SCOPED_TRACE(action.title);
        const bool available = std::ranges::any_of(acting_sessions(), [&](const Session& session) {
            start(session, 1600, 1000);
            for (const float temperature : {1.25f, 1.5f}) {
                document().change([&](Session& s) { s.experiment.weighting.temperature = temperature; });
                settle();
            }
            press(Key::z, k_ctrl);
            settle();
            SavedState saved = workspace->state();
            const std::function<void(const std::string&)> copy = [](const std::string&) {};
            return action.enabled({document(), interaction(), saved, copy});
        });
        if (!available) {
            never.insert(std::string(action.id));
            continue;
        }
        press(Key::p, k_ctrl);
        push(typing(action.title));
        settle();
        const std::vector<SearchEntry> found = searched();
        const auto entry = std::ranges::find(found, action.title, &SearchEntry::title);
        ASSERT_NE(entry, found.end());
        pick(found, entry);
        EXPECT_NE(interaction().dialog, Dialog::palette);
        EXPECT_FALSE(interaction().notice.problem) << interaction().notice.text;
    }
    for (const std::string& id : never)
        EXPECT_TRUE(id == "compute.gpu" || id == "compute.parity" || id == "compare.cpu") << id;
}

TEST_F(SearchDialogTest, AFoldedSectionOpensAndTheRowIsBroughtIntoSight) {
    start(load_example("scaled-dot-product"), 1024, 700);
    workspace->controls().folded_sections->insert(std::string(name_of(OptionSection::softmax)));
    look_for("temperature");
    settle();
    EXPECT_FALSE(
        workspace->controls().folded_sections->contains(std::string(name_of(OptionSection::softmax))));
    const ImGuiWindow* panel = find_window("/experiment_");
    ASSERT_TRUE(panel);
    EXPECT_GT(panel->Scroll.y, 0);
    EXPECT_NE(workspace->controls().focus.id, 0u);
}

TEST_F(SearchDialogTest, WhatIsNotFoundIsSaid) {
    press(Key::p, k_ctrl);
    push(typing("qwertyuiop"));
    settle();
    step();
    const std::vector<test::ScreenText> texts = test::texts_on_screen();
    EXPECT_NE(std::ranges::find(texts, "Nothingfoundfor“qwertyuiop”", &test::ScreenText::text), texts.end());
    press(Key::enter);
    EXPECT_EQ(interaction().dialog, Dialog::palette) << "nothing happens";
}

}  // namespace
}  // namespace attnscope
