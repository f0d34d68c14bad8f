#include "core/recipe/recipe_script.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/experiment/masks.h"
#include "core/text/vocabulary.h"

namespace attnscope {
namespace {

constexpr std::size_t k_width = 100;

std::size_t width(std::string_view text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

std::string element(float value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    std::array<char, 32> digits;
    const auto end =
        std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::general, 9);
    std::string text(digits.data(), end.ptr);
    // In Python 1. is a float, 1 is not.
    return text.find_first_of(".e") == std::string::npos ? text + "." : text;
}

/// Items separated by commas, in lines that start with `indent` and are not too long.
std::string broken(std::span<const std::string> items, const std::string& indent) {
    std::string text, line;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const std::string item = items[i] + (i + 1 < items.size() ? "," : "");
        if (!line.empty() && indent.size() + width(line) + 1 + width(item) > k_width) {
            text += indent + line + "\n";
            line.clear();
        }
        line += (line.empty() ? "" : " ") + item;
    }
    return text + indent + line;
}

}  // namespace

void Script::comment(const std::string& words) {
    std::istringstream stream(words);
    std::string line = "#";
    for (std::string word; stream >> word;) {
        if (width(line) + 1 + width(word) > k_width) {
            text_ += line + "\n";
            line = "#";
        }
        line += " " + word;
    }
    text_ += line + "\n";
}

void Script::list(const std::string& head, std::span<const std::string> items, const std::string& tail) {
    std::string inside;
    for (const std::string& item : items) inside += (inside.empty() ? "" : ", ") + item;
    if (width(head + inside + tail) <= k_width)
        line(head + inside + tail);
    else
        line(head + "\n" + broken(items, "    ") + ",\n" + tail);
}

void Script::tensor(const std::string& name, const Matrix& values, bool vector) {
    const auto row = [&](Eigen::Index i) {
        std::vector<std::string> items;
        for (Eigen::Index j = 0; j < values.cols(); ++j) items.push_back(element(values(i, j)));
        return items;
    };
    if (vector) return list(name + " = torch.tensor([", row(0), "])");
    line(name + " = torch.tensor([");
    for (Eigen::Index i = 0; i < values.rows(); ++i) {
        std::string text = broken(row(i), "     ");
        text[4] = '[';
        line(text + "],");
    }
    line("])");
}

void Script::seed(const Seed& seed) {
    line("torch.manual_seed(" + seed.text() + ")");
    now_ = {seed, {}};
    known_ = true;
}

void Script::draw(const DrawLine& draw) {
    line(draw.target + " = " + draw.call);
    now_.draws.push_back(draw);
}

void Script::reach(const GeneratorState& state) {
    const auto is_start = [](const std::vector<DrawLine>& start, const std::vector<DrawLine>& all) {
        return start.size() <= all.size() && std::equal(start.begin(), start.end(), all.begin());
    };
    if (!known_ || now_.seed != state.seed || !is_start(now_.draws, state.draws)) seed(state.seed);
    for (std::size_t i = now_.draws.size(); i < state.draws.size(); ++i)
        line(state.draws[i].call + "  # " + state.draws[i].target + ": drawn before, and not used here");
    now_ = state;
}

std::string string_literal(std::string_view text) { return nlohmann::json(text).dump(); }

std::string python_name(std::string_view stage) {
    const std::size_t dot = stage.find('.');
    if (dot == std::string_view::npos) return std::string(stage);
    const std::string kind = stage[dot + 1] == 'W' ? ".weight" : ".bias";
    return std::string(stage.substr(0, dot)) + kind + std::string(stage.substr(stage.find('_', dot)));
}

std::string python_number(double value) {
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    return {digits.data(), end.ptr};
}

std::string text(int whole) { return std::to_string(whole); }

std::string linear_weight(int out, int in) {
    return "torch.nn.Linear(" + text(in) + ", " + text(out) + ", bias=False).weight";
}

std::string drawn_matrix(std::string_view initializer, int out, int in) {
    const std::string size = text(out) + ", " + text(in);
    if (initializer == "normal") return "torch.randn(" + size + ")";
    if (initializer == "uniform") return "torch.rand(" + size + ")";
    if (initializer == "xavier") return "torch.nn.init.xavier_uniform_(torch.empty(" + size + "))";
    return linear_weight(out, in);
}

void write_words(Script& script, const std::string& name, std::span<const std::string> words) {
    std::vector<std::string> items;
    for (const std::string& word : words) items.push_back(string_literal(word));
    script.list(name + " = [", items, "]");
}

void write_sentence(Script& script, const std::string& sentence) {
    if (sentence.size() <= 90) script.line("# " + string_literal(sentence));
}

void write_tokens(Script& script, const std::string& name, const Stage& tokens) {
    std::vector<std::string> rows;
    for (const float row : tokens.buffer.host().values()) rows.push_back(text(static_cast<int>(row)));
    script.list(name + " = torch.tensor([", rows, "])");
}

void write_stable_table(Script& script, const std::string& table, const Experiment& e,
                        std::span<const std::string> words) {
    std::vector<std::string> seeds;
    for (const std::string& word : words)
        seeds.push_back(string_literal(word) + ": " + word_seed(e.weights.seed, word).text());
    script.list("seeds = {", seeds, "}");
    script.line("rows = []");
    script.line("for seed in seeds.values():");
    script.line("    torch.manual_seed(seed)");
    script.line("    rows.append(" + drawn_matrix(name_of(e.weights.embedding), 1, e.input.dim) + ")");
    script.line(table + " = torch.cat(rows)");
    script.forget_generator();
}

void write_mask_rules(Script& script, const Experiment& e) {
    for (const MaskRule& rule : e.weighting.mask) {
        if (has_argument_for_each(rule)) {
            std::vector<std::string> each;
            for (const std::int64_t argument : rule.arguments) each.push_back(std::to_string(argument));
            script.list("each = torch.tensor([", each, "])");
        }
        script.line("mask &= " + mask_kind(rule.kind).torch(rule));
    }
    if (!e.is_given("mask")) return;
    script.tensor("custom_mask", e.weights.given.at("mask").values(), false);
    script.line("mask &= custom_mask != 0");
}

std::string cut_text(const Experiment& e) {
    const std::string pieces = e.input.tokenizer == TokenizerKind::characters   ? "into characters"
                               : e.input.tokenizer == TokenizerKind::whitespace ? "at blanks"
                                                                                : "into words";
    return "cut " + pieces + " and case-folded";
}

std::string order_text(const Experiment& e) {
    return e.input.vocabulary == VocabularyOrder::alphabetical ? "alphabetical order" : "order of appearance";
}

std::string stable_text(const Experiment& e) {
    return "Each word has its own seed (a hash of " + e.weights.seed.text() +
           " and the word), so that its row does not depend on the rest of the text.";
}

std::string seed_text(const ProjectionSeed& seed) {
    switch (seed.kind) {
        case ProjectionSeed::Kind::same: return "drawn from the experiment's seed";
        case ProjectionSeed::Kind::proceed: return "drawn where the generator stopped before";
        case ProjectionSeed::Kind::own: return "drawn from a separate seed";
    }
    return {};
}

}  // namespace attnscope
