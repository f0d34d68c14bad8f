#include "core/io/recipe_script.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

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
    // 1. is a float to Python, 1 is none.
    return text.find_first_of(".e") == std::string::npos ? text + "." : text;
}

/// Items with commas between them; each line of it begins with `indent` and is not too long.
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

void Script::section(const std::string& comment) {
    text_ += "\n";
    std::istringstream words(comment);
    std::string line = "#";
    for (std::string word; words >> word;) {
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

void Script::draw(const Draw& draw) {
    line(draw.target + " = " + draw.call);
    now_.draws.push_back(draw);
}

void Script::reach(const GeneratorState& state) {
    const auto is_start = [](const std::vector<Draw>& start, const std::vector<Draw>& all) {
        return start.size() <= all.size() && std::equal(start.begin(), start.end(), all.begin());
    };
    if (!known_ || now_.seed != state.seed || !is_start(now_.draws, state.draws)) seed(state.seed);
    for (std::size_t i = now_.draws.size(); i < state.draws.size(); ++i)
        line(state.draws[i].call + "  # " + state.draws[i].target + ": drawn before, and not used here");
    now_ = state;
}

std::string quoted(std::string_view text) { return nlohmann::json(text).dump(); }

std::string python_number(double value) {
    std::array<char, 32> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
    return {digits.data(), end.ptr};
}

std::string linear_weight(int out, int in) {
    return "torch.nn.Linear(" + std::to_string(in) + ", " + std::to_string(out) + ", bias=False).weight";
}

}  // namespace attnscope
