// What the search finds, and what happens then.
#include "app/actions/search.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/session/comparisons.h"
#include "core/session/examples.h"
#include "core/session/options.h"
#include "core/session/questions.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

class SearchTest : public ::testing::Test {
protected:
    void SetUp() override { document.settle(); }
    ActionContext context() { return {document, interaction, saved, copy}; }
    std::vector<std::string> titles(std::string_view text) {
        std::vector<std::string> found;
        for (const SearchEntry& entry : search(context(), text)) found.push_back(entry.title);
        return found;
    }
    bool finds(std::string_view text, const std::string& title) {
        const std::vector<std::string> found = titles(text);
        return std::ranges::find(found, title) != found.end();
    }
    void run(std::string_view text) {
        const std::vector<SearchEntry> found = search(context(), text);
        ASSERT_FALSE(found.empty()) << text;
        ActionContext c = context();
        found.front().run(c);
        document.settle();
    }

    Document document{load_example("multi-head"), {}, {}};
    Interaction interaction;
    SavedState saved;
    std::function<void(const std::string&)> copy = [](const std::string&) {};
};

TEST_F(SearchTest, EveryEntryIsFoundByItsTitle) {
    const std::vector<SearchEntry> all = search_entries(context());
    EXPECT_GT(all.size(), 200u);
    for (const SearchEntry& entry : all) {
        EXPECT_FALSE(entry.title.empty());
        EXPECT_EQ(entry.title.find('\n'), std::string::npos);
        const std::string first = titles(entry.title).front();
        EXPECT_EQ(lower(first), lower(entry.title));
    }
}

TEST_F(SearchTest, HasEveryActionSettingStageExampleComparisonAndQuestion) {
    std::size_t least = options().size() + document.trace()->stages().size() + all_examples().size() +
                        comparison_presets().size() + questions().size();
    ActionContext c = context();
    for (const Action& action : actions()) least += action.menu && action.enabled(c);
    EXPECT_GE(search_entries(context()).size(), least);
}

TEST_F(SearchTest, AnExampleIsFoundByItsTitleInTheGallery) {
    for (const ExampleCard& card : example_cards()) {
        const std::vector<SearchEntry> found = search(context(), card.title);
        ASSERT_FALSE(found.empty()) << card.title;
        EXPECT_TRUE(std::ranges::any_of(found, [&](const SearchEntry& each) {
            return each.kind == "example" && each.title.find(card.name) != each.title.npos;
        })) << card.title;
    }
}

TEST_F(SearchTest, WhatCannotRunNowSaysWhy) {
    ActionContext c = context();
    int disabled = 0;
    for (const Action& action : actions()) {
        if (!action.menu || action.enabled(c)) continue;
        ++disabled;
        const std::vector<SearchEntry> found = search(c, action.title);
        const auto entry = std::ranges::find_if(found, [&](const SearchEntry& each) {
            return each.title == action.title && each.kind == "not available";
        });
        ASSERT_NE(entry, found.end()) << action.title;
        EXPECT_TRUE(entry->help.starts_with("Not available")) << entry->help;
        const Session before = document.session();
        entry->run(c);
        EXPECT_EQ(interaction.notice.text, why_disabled(action, c));
        EXPECT_TRUE(interaction.notice.text.starts_with("Not available now: "))
            << action.id << " says no reason";
        EXPECT_TRUE(entry->help.starts_with(interaction.notice.text)) << entry->help;
        EXPECT_EQ(document.session(), before);
    }
    EXPECT_GT(disabled, 0);
}

TEST_F(SearchTest, FindsGradientsParametersLayersAndRecentFiles) {
    saved.recent_files = {"/somewhere/attention.json"};
    EXPECT_TRUE(finds("attention.json", "Open attention.json"));
    run("open attention.json");
    ASSERT_TRUE(interaction.to_open);
    EXPECT_EQ(interaction.to_open->path, "/somewhere/attention.json");
    document.change([](Session& s) {
        s = load_example("learned-induction");
        s.presentation.gradients = true;
    });
    document.settle();
    run("layer 2");
    EXPECT_EQ(document.presentation().layer(), 2);
    const Trace& trace = *document.trace();
    ASSERT_FALSE(trace.gradients.empty());
    for (const StagePtr& stage : trace.parameters())
        EXPECT_FALSE(titles(stage_heading(*stage->info)).empty());
    run(stage_heading(trace.gradients.front()->key()));
    EXPECT_EQ(document.presentation().stage.part, StageKey::Part::gradient);
}

TEST_F(SearchTest, WhatIsCalledOtherwiseIsFound) {
    EXPECT_TRUE(finds("causal", "Mask: causal"));
    EXPECT_TRUE(finds("look-ahead", "Mask: causal"));
    EXPECT_TRUE(finds("temperature", "Temperature"));
    EXPECT_TRUE(finds("padding", "Compare with padding mask"));
    EXPECT_TRUE(finds("√d_k", "Scale"));
    EXPECT_TRUE(finds("rotary", "Position: rope"));
    EXPECT_TRUE(finds("d_model", "Dimension"));
    EXPECT_TRUE(finds("alignment", "Example: Alignment of a translation (bahdanau-alignment)"));
    EXPECT_TRUE(finds("logits", "scores"));
    EXPECT_TRUE(finds("dark theme", "Dark theme"));
    EXPECT_TRUE(titles("qwertyuiop").empty());
    EXPECT_FALSE(titles("").empty()) << "the actions";
}

TEST_F(SearchTest, ASettingOfAViewOpensTheViewThatHasIt) {
    run("Mass");
    EXPECT_EQ(document.presentation().view, ViewKind::lines);
    run("Head names");
    EXPECT_EQ(document.presentation().view, ViewKind::heads);
    run("Sweep");
    EXPECT_EQ(document.presentation().view, ViewKind::sweep);
}

TEST_F(SearchTest, AValueIsSetAndItsRowIsShown) {
    run("mask: causal");
    EXPECT_EQ(document.experiment().weighting.mask.size(), 1u);
    EXPECT_EQ(interaction.reveal.option, "mask");
    run("score: additive");
    EXPECT_EQ(document.experiment().attention.score, Score::additive);
    run("output projection: on");
    EXPECT_TRUE(document.experiment().attention.output_projection);
    run("colormap: magma");
    EXPECT_EQ(document.presentation().colormap, ColormapKind::magma);
}

TEST_F(SearchTest, StagesHeadsExamplesComparisonsAndQuestionsOpen) {
    run("scaled");
    EXPECT_EQ(document.presentation().stage, "scaled"_stage);
    run("head 3");
    EXPECT_EQ(document.presentation().head, (HeadChoice{HeadChoice::Kind::one, 2}));
    run("compare with no scaling");
    EXPECT_EQ(document.presentation().view, ViewKind::compare);
    EXPECT_TRUE(document.session().pinned);
    run("example: causal");
    EXPECT_EQ(document.session().note, load_example("causal").note);
    run("what does padding do");
    EXPECT_TRUE(document.session().note.starts_with("What does padding do?"));
    run("width");
    EXPECT_EQ(interaction.dialog, Dialog::exporting) << "it is set where pictures are exported";
}

}  // namespace
}  // namespace attnscope
