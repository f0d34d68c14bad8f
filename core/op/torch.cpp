#include "core/op/torch.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/utf8.h"

namespace attnscope::op {
namespace {

constexpr std::size_t k_width = 100;

std::string element(float value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    const std::string text = fmt::format("{:.9g}", value);
    // In Python 1. is a float, 1 is not.
    return text.find_first_of(".e") == std::string::npos ? text + "." : text;
}

/// Items separated by commas, in lines that start with `indent` and are not too long.
std::string broken(std::span<const std::string> items, const std::string& indent) {
    std::string text, line;
    for (std::size_t i = 0; i < items.size(); ++i) {
        const bool last = i + 1 == items.size();
        const std::string item = items[i] + (last ? "" : ",");
        const std::size_t behind = last ? 2 : 0;  // "],"
        if (!line.empty() &&
            indent.size() + count_code_points(line) + 1 + count_code_points(item) + behind > k_width) {
            text += indent + line + "\n";
            line.clear();
        }
        line += (line.empty() ? "" : " ") + item;
    }
    return text + indent + line;
}

}  // namespace

TorchLines TorchLines::part(std::vector<TorchVariable> on, TorchVariable into) const {
    TorchLines lines = part();
    lines.inputs = std::move(on);
    lines.results = {std::move(into)};
    return lines;
}

void TorchLines::append(const TorchLines& part) {
    code += part.code;
    functions.insert(functions.end(), part.functions.begin(), part.functions.end());
}

std::string TorchLines::sizes(std::size_t i) const {
    const Shape& shape = results[i].shape;
    return (shape.heads > 1 ? fmt::format("{}, ", shape.heads) : "") +
           fmt::format("{}, {}", shape.rows, shape.columns);
}

void TorchLines::comment(std::string_view words) { code += python_comment(words); }

void TorchLines::list(const std::string& head, std::span<const std::string> items, const std::string& tail) {
    const std::string one_line = fmt::format("{}{}{}", head, fmt::join(items, ", "), tail);
    code += count_code_points(one_line) <= k_width ? one_line
                                                   : head + "\n" + broken(items, "    ") + ",\n" + tail;
    code += "\n";
}

void TorchLines::tensor(const TorchVariable& variable, const Matrix& values) {
    const auto row = [&](Eigen::Index i) {
        std::vector<std::string> items;
        for (const float value : values.row(i))
            items.push_back(variable.whole ? fmt::format("{}", value) : element(value));
        return items;
    };
    // A module's parameter keeps its place; its values are replaced.
    const bool of_module = variable.name.find('.') != std::string::npos;
    const std::string head = variable.name + (of_module ? ".data" : "") + " = torch.tensor([";
    if (variable.vector) return list(head, row(0), "])");
    code += head + "\n";
    for (Eigen::Index i = 0; i < values.rows(); ++i) {
        std::string text = broken(row(i), "     ");
        text[4] = '[';
        code += text + "],\n";
    }
    code += "])\n";
}

std::string python_comment(std::string_view words) {
    std::istringstream stream{std::string(words)};
    std::string text, line = "#";
    for (std::string word; stream >> word;) {
        if (count_code_points(line) + 1 + count_code_points(word) > k_width) {
            text += line + "\n";
            line = "#";
        }
        line += " " + word;
    }
    return text + line + "\n";
}

std::string python_string(std::string_view text) { return nlohmann::json(text).dump(); }

std::string python_indented(std::string_view lines) {
    std::istringstream stream{std::string(lines)};
    std::string text;
    for (std::string line; std::getline(stream, line);) text += "    " + line + "\n";
    return text;
}

}  // namespace attnscope::op
