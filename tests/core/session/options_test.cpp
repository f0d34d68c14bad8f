// One table defines flags, JSON fields and docs/options.md.
#include "core/session/options.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "core/error.h"
#include "core/picture/colormap.h"
#include "core/picture/theme.h"
#include "tests/refusal.h"

namespace attnscope {
namespace {

using namespace test;

std::string refusal_of_flag(std::string_view name, std::string_view value) {
    Session session;
    const std::string message = refusal([&] { set_from_text(session, *find_option(name), value); });
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    EXPECT_TRUE(session == Session{}) << "--" << name << " " << value << " changed the session";
    return message;
}

/// Flag arguments that each option takes, every kind of value that it has.
const std::map<std::string, std::vector<std::string>> k_values = {
    {"text", {"", "I am a student", "naïve “Grüße” 日本語 🎉", "two\nlines\ttab", "none", "true", "7", "{}"}},
    {"text2", {"", "Kannst du mir helfen"}},
    {"tokenizer", {"words", "whitespace", "characters"}},
    {"vocabulary", {"alphabetical", "appearance", "stable", "lexicon"}},
    {"words", {"", "a b c"}},
    {"words2", {"", "un deux"}},
    {"task",
     {"none", "translate", "dates", "induction", "copy", "reverse", "sort", "recall", "next-word",
      "next-character"}},
    {"corpus", {"", "a text to learn from"}},
    {"optimizer", {"sgd", "adam", "adamw"}},
    {"learning-rate", {"0.001", "1e-05", "1.0"}},
    {"momentum", {"0.0", "0.9"}},
    {"weight-decay", {"0.0", "0.01"}},
    {"clip", {"0.0", "5.0"}},
    {"warm-up", {"0", "100"}},
    {"decay", {"0", "1000"}},
    {"batch", {"1", "16", "1024"}},
    {"data-seed", {"0", "-7", "18446744073709551615"}},
    {"step", {"0", "100000"}},
    {"context-length", {"1", "64", "4096"}},
    {"layers", {"1", "2", "24"}},
    {"norm", {"none", "before", "after"}},
    {"train-ablated", {"1.2, 2.1", "2.1", ""}},
    {"ablate", {"1.2, 2.1", "2.1", ""}},
    {"ablation", {"mean", "zero"}},
    {"tied", {"true", "false"}},
    {"objective", {"next", "position"}},
    {"layer", {"1", "24"}},
    {"table-size", {"0", "10", "1000000"}},
    {"seed", {"0", "123", "-1", "-9223372036854775808", "9223372036854775808", "18446744073709551615"}},
    {"dim", {"1", "16", "1024"}},
    {"embedding", {"normal", "uniform", "linear", "xavier"}},
    {"image", {"none", "drawn"}},
    {"grid", {"1", "7", "32"}},
    {"patch-size", {"1", "8", "64"}},
    {"image-seed", {"same", "continue", "7"}},
    {"position", {"none", "sinusoidal", "rope", "alibi"}},
    {"rope-layout", {"interleaved", "half"}},
    {"projection", {"none", "normal", "uniform", "linear", "xavier", "mha"}},
    {"projection-seed", {"same", "continue", "0", "-9223372036854775808", "18446744073709551615"}},
    {"projection-bias", {"true", "false"}},
    {"key-size", {"0", "8"}},
    {"value-size", {"0", "24"}},
    {"hidden", {"1", "8", "1024"}},
    {"score-seed", {"same", "continue", "7"}},
    {"sharpening", {"1.0", "5.5", "-2.0"}},
    {"bandwidth", {"1.0", "0.5", "4.0"}},
    {"layer-norm-epsilon", {"1e-05", "0.5", "1.0"}},
    {"heads", {"1", "4", "64"}},
    {"score", {"dot", "general", "additive", "concat", "cosine", "location"}},
    {"scale", {"sqrt", "none", "0.125", "-2.5", "1e-30", "0.1", "0.0"}},
    {"mask", {"none", "causal", "valid:0", "valid:5", "valid:1,2,3", "window:1,0"}},
    {"normalizer", {"softmax", "hard", "local-m", "local-p"}},
    {"temperature", {"1.0", "0.1", "1e-05", "12345.678"}},
    {"softmax-axis", {"keys", "queries"}},
    {"local-window", {"0", "3", "4096", "1.5", "0.25"}},
    {"dropout", {"0.0", "0.5"}},
    {"dropout-seed", {"0", "-7", "18446744073709551615"}},
    {"training", {"true", "false"}},
    {"block", {"none", "post-norm", "pre-norm"}},
    {"activation", {"relu", "gelu"}},
    {"feed-forward-size", {"0", "32"}},
    {"block-seed", {"same", "continue", "7"}},
    {"output-projection", {"true", "false"}},
    {"mechanism", {"attention", "seq2seq"}},
    {"encoder", {"bidirectional", "forward"}},
    {"decoder-attention", {"additive", "none"}},
    {"alignment-state", {"previous", "current"}},
    {"decode", {"teacher", "greedy"}},
    {"max-steps", {"1", "10", "4096"}},
    {"encoder-size", {"1", "8", "1024"}},
    {"decoder-size", {"1", "8", "1024"}},
    {"view", {"pipeline", "lines", "alignment", "step", "image", "training"}},
    {"stage", {"weights", "tokens", "W_q", "query_heads", "grad.weights"}},
    {"gradients", {"true", "false"}},
    {"head", {"1", "4", "64", "all", "mean"}},
    {"head-names", {"", "pronoun → noun; adjective → noun"}},
    {"color-spacing", {"linear", "log"}},
    {"pooling", {"strongest", "mean"}},
    {"range", {"auto", "percentile", "matrix", "head", "all", "0,1", "-0.1,1e+30", "-3,-2"}},
    {"colormap", {"viridis", "cividis", "magma", "gray", "blues", "ink"}},
    {"theme", {"dark", "light", "contrast", "print"}},
    {"decimals", {"auto", "0", "6"}},
    {"compose", {"none", "operands", "heads", "strip", "compare", "steps", "film"}},
    {"width", {"none", "20.0", "84.0", "2000.0"}},
    {"dpi", {"36.0", "300.0", "2400.0"}},
    {"font-size", {"4.0", "8.0", "36.0"}},
    {"cell-size", {"1", "48", "512", "auto"}},
    {"max-cells", {"64", "1536", "4096"}},
    {"region", {"1:5,2:3", "100:1536,1:1048576", "7:7,7:7", "all"}},
    {"values", {"true", "false"}},
    {"sweep", {"none", "seed", "temperature", "dim", "scale"}},
    {"mass", {"0.5", "0.9", "0.625", "1.0"}},
    {"title", {"", "Figure 1: “weights”", "none"}},
    {"locked", {"none", "1,1", "8,16", "2,3,1.scores", "2,3,2.grad.scores", "2,3,scores"}},
};

TEST(OptionsTest, EveryOptionHasValuesHere) {
    // `given` takes files: a test of its own.
    for (const Option& option : options())
        EXPECT_NE(k_values.contains(std::string(option.name)), option.type == OptionType::matrices)
            << option.name;
    EXPECT_EQ(options().size(), k_values.size() + 1);
}

TEST(OptionsTest, TextRoundTripsThroughTheSession) {
    for (const auto& [name, values] : k_values)
        for (const std::string& value : values) {
            const Option& option = *find_option(name);
            Session session;
            set_from_text(session, option, value);
            EXPECT_EQ(text_of(session, option), value) << name;
            Session again;
            set_from_text(again, option, text_of(session, option));
            EXPECT_TRUE(again == session) << name << " " << value;
        }
}

TEST(OptionsTest, EachValueRoundTripsThroughItsJsonFieldAlone) {
    for (const auto& [name, values] : k_values)
        for (const std::string& value : values) {
            const Option& option = *find_option(name);
            Session session;
            set_from_text(session, option, value);
            const std::string json = option.get(session).dump();
            Session again;
            option.set(again, {Json::parse(json)});
            EXPECT_TRUE(again == session) << name << " " << json;
        }
}

TEST(OptionsTest, AGivenMatrixIsReadAtOnceFromItsFile) {
    const std::string path = testing::TempDir() + "/options_given.csv";
    std::ofstream(path) << "1,0\n1,1\n";
    Session session;
    set_from_text(session, *find_option("given"), "scores=" + path);
    set_from_text(session, *find_option("mask"), "file:" + path);
    std::filesystem::remove(path);
    Matrix expected(2, 2);
    expected << 1, 0, 1, 1;
    EXPECT_EQ(session.experiment.weights.custom.at("scores").values(), expected);
    EXPECT_EQ(session.experiment.weights.custom.at("mask").values(), expected);
    EXPECT_TRUE(session.experiment.weighting.mask.empty());
    set_from_text(session, *find_option("mask"), "causal");
    EXPECT_FALSE(session.experiment.is_custom("mask"));
    EXPECT_EQ(refusal([&] { set_from_text(session, *find_option("given"), "score=a.csv"); }),
              "--given: \"score\" cannot be custom; did you mean scores?");
    EXPECT_EQ(refusal([&] { set_from_text(session, *find_option("given"), "scores"); }),
              "--given: expected NAME=PATH, not \"scores\"");
}

TEST(OptionsTest, TheNamesThatTheCompilerKnowsAreThoseOfTheTable) {
    EXPECT_TRUE(std::ranges::equal(k_option_names, options(), {}, {}, &Option::name));
}

TEST(OptionsTest, NamesAreUniqueAndSpelledAlikeAsFlagAndField) {
    std::set<std::string_view> names;
    for (const Option& option : options()) {
        EXPECT_TRUE(names.insert(option.name).second) << option.name;
        EXPECT_EQ(find_option(option.name), &option);
        EXPECT_FALSE(option.help.empty()) << option.name;
        std::string field = option.json_name();
        EXPECT_EQ(field.find('-'), std::string::npos);
        EXPECT_EQ(field.size(), option.name.text().size());
    }
    EXPECT_EQ(find_option("output-projection")->json_name(), "output_projection");
    EXPECT_EQ(find_option("no-such"), nullptr);
}

TEST(OptionsTest, ASectionsOptionsStandTogetherInTheOrderOfTheSections) {
    EXPECT_TRUE(std::ranges::is_sorted(options(), {}, &Option::section));
}

TEST(OptionsTest, EverySettingButTheSentencesHasARowInThePanel) {
    const std::set<std::string_view> in_the_sentence_panel = {"text", "text2", "words", "words2"};
    for (const Option& option : options()) {
        const bool has_row = option.in_experiment() && !in_the_sentence_panel.contains(option.name);
        EXPECT_EQ(!std::holds_alternative<control::None>(option.control), has_row) << option.name;
        EXPECT_EQ(!option.label.empty(), has_row) << option.name;
    }
}

TEST(OptionsTest, TheChoicesOfARowAreTheValuesOfTheOption) {
    for (const Option& option : options()) {
        const auto* choices = std::get_if<control::Choices>(&option.control);
        if (!choices) continue;
        std::string names;
        for (const auto& [name, help] : choices->values(Experiment{})) {
            names += (names.empty() ? "" : "|") + std::string(name);
            EXPECT_FALSE(help.empty()) << option.name << " " << name;
        }
        EXPECT_EQ(names, option.argument) << option.name;
    }
}

/// The ends of what a row's number can be dragged to; none for a row that sets no number.
std::vector<std::string> ends_of(const Control& control) {
    if (const auto* whole = std::get_if<control::Whole>(&control))
        return {std::to_string(whole->least), std::to_string(whole->most)};
    if (const auto* number = std::get_if<control::Number>(&control))
        return {std::to_string(number->least), std::to_string(number->most)};
    if (const auto* share = std::get_if<control::Share>(&control)) return {"0", std::to_string(share->most)};
    return {};
}

TEST(OptionsTest, WhatANumberCanBeDraggedToIsAccepted) {
    int numbers = 0;
    for (const Option& option : options())
        for (const std::string& end : ends_of(option.control)) {
            ++numbers;
            Session session;
            set_from_text(session, option, end);
            EXPECT_EQ(refusal([&] { check(session.experiment); }), "") << option.name << " " << end;
        }
    EXPECT_GT(numbers, 20);
}

TEST(OptionsTest, SettingOneOptionLeavesTheOthers) {
    for (const auto& [name, values] : k_values) {
        Session session;
        set_from_text(session, *find_option(name), values.back());
        for (const Option& other : options())
            if (other.name.text() != name) {
                EXPECT_EQ(text_of(session, other), text_of(Session{}, other)) << name;
            }
    }
}

TEST(OptionsTest, ARefusedFlagNamesItselfItsValueAndWhatItMayBe) {
    const std::map<std::pair<std::string, std::string>, std::string> cases = {
        {{"dim", "abc"}, "--dim: expected a whole number, not \"abc\""},
        {{"dim", "1.5"}, "--dim: expected a whole number, not 1.5"},
        {{"dim", ""}, "--dim: expected a whole number, not \"\""},
        {{"dim", "16x"}, "--dim: expected a whole number, not \"16x\""},
        {{"dim", "4294967312"}, "--dim: 4294967312 is out of range"},
        {{"dim", "-4294967280"}, "--dim: -4294967280 is out of range"},
        {{"dim", "99999999999999999999"}, "--dim: 99999999999999999999 is out of range"},
        {{"seed", "18446744073709551616"},
         "--seed: expected a whole number from -2^63 to 2^64-1, not 18446744073709551616"},
        {{"seed", "-9223372036854775809"},
         "--seed: expected a whole number from -2^63 to 2^64-1, not -9223372036854775809"},
        {{"seed", "lucky"}, "--seed: expected a whole number from -2^63 to 2^64-1, not \"lucky\""},
        {{"projection-seed", "1.5"},
         "--projection-seed: expected a whole number from -2^63 to 2^64-1, not 1.5"},
        {{"projection-seed", "sam"},
         "--projection-seed: expected same, continue or a whole number, not \"sam\""},
        {{"scale", "big"}, "--scale: expected sqrt, none or a number, not \"big\""},
        {{"scale", "nan"}, "--scale: expected sqrt, none or a number, not \"nan\""},
        {{"temperature", "hot"}, "--temperature: expected a number, not \"hot\""},
        {{"temperature", "1,5"}, "--temperature: expected a number, not \"1,5\""},
        {{"head", "0"}, "--head: expected a head from 1 to 64, all or mean, not \"0\""},
        {{"head", "65"}, "--head: expected a head from 1 to 64, all or mean, not \"65\""},
        {{"head", "1.5"}, "--head: expected a head from 1 to 64, all or mean, not \"1.5\""},
        {{"range", "1,0"},
         "--range: expected auto, matrix, head, all, percentile or MIN,MAX with MIN below MAX, not \"1,0\""},
        {{"range", "0,inf"},
         "--range: expected auto, matrix, head, all, percentile or MIN,MAX with MIN below MAX, not "
         "\"0,inf\""},
        {{"mechanism", "rnn"}, "--mechanism: \"rnn\" is not known: use attention, seq2seq"},
        {{"score", "dott"},
         "--score: \"dott\" is not known: use dot, general, additive, concat, cosine, location"},
        {{"projection", "None"},
         "--projection: \"None\" is not known: use none, normal, uniform, linear, xavier, mha"},
        {{"normalizer", ""}, "--normalizer: \"\" is not known: use softmax, hard, local-m, local-p"},
        {{"block", "post_norm"}, "--block: \"post_norm\" is not known: use none, post-norm, pre-norm"},
        {{"theme", "drak"}, "--theme: \"drak\" is not known: use dark, light, contrast, print"},
        {{"theme", "a\nb"}, "--theme: \"a\\nb\" is not known: use dark, light, contrast, print"},
        {{"colormap", "jet"},
         "--colormap: \"jet\" is not known: use viridis, cividis, magma, gray, blues, ink"},
        {{"cell-size", "0"}, "--cell-size: 0 is out of range: use 1 to 512"},
        {{"max-cells", "63"}, "--max-cells: 63 is out of range: use 64 to 4096"},
        {{"cell-size", "big"}, "--cell-size: expected auto or a whole number, not \"big\""},
        {{"region", "5:1,1:3"},
         "--region: expected all or FIRST:LAST,FIRST:LAST, queries and keys counted from 1, not \"5:1,1:3\""},
        {{"region", "1:3"},
         "--region: expected all or FIRST:LAST,FIRST:LAST, queries and keys counted from 1, not \"1:3\""},
        {{"region", "0:3,1:2"},
         "--region: expected all or FIRST:LAST,FIRST:LAST, queries and keys counted from 1, not \"0:3,1:2\""},
        {{"cell-size", "513"}, "--cell-size: 513 is out of range: use 1 to 512"},
        {{"stage", "wieghts"}, "--stage: \"wieghts\" is not a stage; did you mean weights?"},
        {{"locked", "0,1"},
         "--locked: expected none or ROW,COLUMN counted from 1, or ROW,COLUMN,STAGE, not \"0,1\""},
        {{"locked", "5"},
         "--locked: expected none or ROW,COLUMN counted from 1, or ROW,COLUMN,STAGE, not \"5\""},
        {{"locked", "1,2,wieghts"},
         "--locked: expected none or ROW,COLUMN counted from 1, or ROW,COLUMN,STAGE, not \"1,2,wieghts\""},
        {{"values", "maybe"}, "--values: expected true or false, not \"maybe\""},
        {{"mask", "casual"},
         "--mask: mask \"casual\" is not a rule: use none, causal, valid:K[,K…], window:L,R, dilated:STEP, "
         "prefix:K, file:PATH"},
        {{"mask", "valid"}, "--mask: mask valid needs a length"},
        {{"mask", "valid:"}, "--mask: mask \"valid:\" is not a rule"},
        {{"mask", "valid:-1"}, "--mask: mask valid:-1 is not a length"},
        {{"mask", "causal:3"}, "--mask: mask causal takes no numbers"},
    };
    for (const auto& [flag, expected] : cases)
        EXPECT_EQ(refusal_of_flag(flag.first, flag.second).substr(0, expected.size()), expected);
}

TEST(OptionsTest, ALongRuleOfAMaskIsQuotedInShort) {
    EXPECT_EQ(refusal_of_flag("mask", "windows:" + std::string(1000, '1')),
              "--mask: mask \"windows:" + std::string(37, '1') + "…" + std::string(15, '1') +
                  "\" is not a rule: use none, causal, valid:K[,K…], window:L,R, dilated:STEP, prefix:K, "
                  "file:PATH");
}

TEST(OptionsTest, TextThatIsNotUtf8IsRefusedWhereverItStands) {
    for (const Option& option : options()) {
        if (option.type == OptionType::picture) continue;  // the name of a file may be any bytes
        EXPECT_NE(refusal_of_flag(option.name, "a\xff").find("--" + std::string(option.name)),
                  std::string::npos);
    }
    EXPECT_NE(refusal_of_flag("text", "a\xff").find("byte 1"), std::string::npos);
    EXPECT_NE(refusal_of_flag("title", "\xc3").find("UTF-8"), std::string::npos);
}

TEST(OptionsTest, AFieldOfAWrongTypeIsRefused) {
    const std::vector<std::string> values = {"null", "true", "\"?\"", "[1]", "{\"a\":1}", "2.5", "1e300"};
    for (const Option& option : options()) {
        int refused = 0;
        for (const std::string& value : values) {
            Session session;
            refused += refusal([&] { option.set(session, {Json::parse(value)}); }).empty() ? 0 : 1;
        }
        // Of these each type takes one: text and words any or no string, numbers 2.5 and 1e300, flags true.
        EXPECT_GE(refused, 5) << option.name;
        Session session;
        EXPECT_NE(refusal([&] { option.set(session, {Json(nullptr)}); }), "") << option.name;
        if (option.type != OptionType::list) {
            EXPECT_NE(refusal([&] { option.set(session, {Json::array()}); }), "") << option.name;
        }
    }
}

TEST(OptionsTest, ARefusedValueIsQuotedOnOneShortLine) {
    Json deep = Json::array();
    for (int i = 0; i < 1000; ++i) deep = Json::array({std::move(deep)});
    EXPECT_EQ(quoted_value(deep), "a list");
    EXPECT_EQ(quoted_value(Json::object()), "an object");
    EXPECT_EQ(quoted_value("a\nb"), "\"a\\nb\"");
    EXPECT_EQ(quoted_value("\xff"), "\"\uFFFD\"");
    const std::string cut = quoted_value(std::string(58, 'a') + "ééé");
    EXPECT_EQ(cut, "\"" + std::string(44, 'a') + "…" + std::string(8, 'a') + "ééé\"");
    EXPECT_EQ(quoted_value("\u202e\u009b"), "\"\\u202e\\u009b\"");
    EXPECT_LT(quoted_value(std::string(1'000'000, 'a')).size(), 70u);
}

TEST(OptionsTest, ANumberThatCouldNotBeWrittenBackIsRefused) {
    for (const Option& option : options()) {
        if (option.type != OptionType::number && option.type != OptionType::word_or_number) continue;
        for (const char* value : {"nan", "inf", "-inf", "-nan", "infinity"}) {
            Session session;
            EXPECT_TRUE(refusal([&] {
                            set_from_text(session, option, value);
                        }).starts_with("--" + std::string(option.name) + ": expected "))
                << option.name << " " << value;
            EXPECT_TRUE(session == Session{});
        }
    }
}

TEST(OptionsTest, ColorMapsAndThemesAreThoseOfTheirTables) {
    for (const Colormap& map : colormaps()) {
        Session session;
        const auto set = [&] { set_from_text(session, *find_option("colormap"), map.name); };
        EXPECT_EQ(refusal(set).empty(), !map.diverging) << map.name;
    }
    for (const Theme& theme : themes()) {
        Session session;
        set_from_text(session, *find_option("theme"), name_of(theme.choice));
        EXPECT_EQ(session.presentation.theme, theme.choice);
    }
    EXPECT_EQ(find_option("colormap")->argument, "viridis|cividis|magma|gray|blues|ink");
    EXPECT_EQ(find_option("theme")->argument, "dark|light|contrast|print");
}

TEST(OptionsTest, MaskNoneIsAnEmptyListInJson) {
    Session session;
    find_option("mask")->set(session, {Json::array({"none"})});
    EXPECT_TRUE(session.experiment.weighting.mask.empty());
    find_option("mask")->set(session, {Json::array({"causal", "valid:3"})});
    EXPECT_EQ(text_of(session, *find_option("mask")), "causal valid:3");
}

TEST(OptionsTest, TheNearestNameIsNear) {
    const std::vector<std::string> known = {"seed", "projection_seed", "heads", "temperature"};
    EXPECT_EQ(nearest_name("sede", known), "seed");
    EXPECT_EQ(nearest_name("Temprature", known), "temperature");
    EXPECT_EQ(nearest_name("projection-seed", known), "projection_seed");
    EXPECT_EQ(nearest_name("background", known), "");
    EXPECT_EQ(nearest_name("seed", {}), "");
}

TEST(OptionsTest, AShortNameIsNearToFew) {
    const std::vector<std::string> known = {"W_o", "W_q", "key", "value", "dim"};
    for (const char* far : {"foo", "x", "K", "bar", "no", "din_m"})
        EXPECT_EQ(nearest_name(far, known), "") << far;
    EXPECT_EQ(nearest_name("W_0", known), "W_o");
    EXPECT_EQ(nearest_name("ky", known), "key");
    EXPECT_EQ(nearest_name("vlaue", known), "value");
}

TEST(OptionsTest, MeasuresMayHaveTheirUnit) {
    Session session;
    set_from_text(session, *find_option("width"), "84mm");
    set_from_text(session, *find_option("font-size"), "7.5 pt");
    set_from_text(session, *find_option("dpi"), "600");
    EXPECT_EQ(session.presentation.paper(), (Paper{84, 600, 7.5}));
    EXPECT_EQ(refusal([&] { set_from_text(session, *find_option("width"), "84cm"); }),
              "--width: expected a number of mm, not \"84cm\"");
    EXPECT_EQ(refusal([&] { set_from_text(session, *find_option("width"), "3"); }),
              "--width: 3 mm is out of range: use 20 to 2000");
    EXPECT_EQ(refusal([&] { set_from_text(session, *find_option("width"), "3.5mm"); }),
              "--width: 3.5 mm is out of range: use 20 to 2000");
    set_from_text(session, *find_option("title"), "");
    EXPECT_EQ(session.presentation.title, "") << "an empty title is none";
    set_from_text(session, *find_option("title"), "auto");
    EXPECT_FALSE(session.presentation.title);
}

TEST(OptionsTest, TheEndOfEveryRangeStandsInTheHelp) {
    int ranges = 0;
    for (const Option& option : options()) {
        const std::set<OptionType> of_numbers{OptionType::whole, OptionType::number,
                                              OptionType::word_or_number};
        if (!of_numbers.contains(option.type)) continue;
        Session session;
        const std::string message = refusal([&] {
            option.set(session, {Json(2'000'000'000)});
            check(session.experiment);
        });
        const std::size_t end = message.rfind("use ");
        const bool is_range =
            message.find("out of range") != message.npos && message.rfind(" to ") != message.npos;
        if (!is_range || end == message.npos) continue;
        const std::string highest = message.substr(message.rfind(" to "));
        EXPECT_NE(option.help.find(highest), option.help.npos) << option.name << ":" << highest;
        ++ranges;
    }
    EXPECT_GE(ranges, 14);
}

TEST(OptionsTest, ThePageOfOptionsIsMadeFromTheTable) {
    const std::filesystem::path path = std::filesystem::path(ATTNSCOPE_SOURCE_DIR) / "docs/options.md";
    if (std::getenv("ATTNSCOPE_UPDATE")) {
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << options_markdown();
    }
    std::ostringstream text;
    text << std::ifstream(path, std::ios::binary).rdbuf();
    EXPECT_EQ(text.str(), options_markdown()) << "run the tests with ATTNSCOPE_UPDATE=1 to write " << path;
    for (const Option& option : options())
        EXPECT_NE(options_markdown().find("`--" + std::string(option.name)), std::string::npos);
}

}  // namespace
}  // namespace attnscope
