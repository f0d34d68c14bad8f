#include "core/experiment/custom_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/error.h"
#include "core/experiment/overridable.h"

namespace attnscope {
namespace {

/// What 1 and 0 mean where they are the only values allowed; empty for the other matrices.
std::string_view two_values(std::string_view name) {
    const OverridableMatrix* known = find_overridable(name);
    return known ? known->zero_or_one : "";
}

bool is_one_of_two(float value) { return value == 0 || value == 1; }

std::string text_of(float value) {
    std::array<char, 32> text;
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

}  // namespace

std::string why_not_custom(std::string_view name, float value) {
    const std::string_view words = two_values(name);
    if (words.empty() || is_one_of_two(value)) return "";
    return text_of(value) + ": " + std::string(words);
}

void check_custom_cells(std::string_view name, const Matrix& values, std::string_view source) {
    if (two_values(name).empty()) return;
    const float* const end = values.data() + values.size();
    const float* const other = std::find_if_not(values.data(), end, is_one_of_two);
    if (other == end) return;
    const Eigen::Index at = other - values.data();
    throw Error(ErrorKind::bad_input,
                fmt::format("{}: row {}, column {} is {}", source, at / values.cols() + 1,
                            at % values.cols() + 1, why_not_custom(name, *other)));
}

void check_custom_cells(const Experiment& experiment) {
    for (const auto& [name, matrix] : experiment.weights.custom)
        check_custom_cells(name, matrix.values(), name);
}

}  // namespace attnscope
