#include "core/experiment/masks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/error.h"

namespace attnscope {
namespace {

constexpr std::int64_t k_max_length = 1'000'000'000;

void no_arguments(const MaskRule& rule) {
    if (!rule.arguments.empty())
        throw Error(ErrorKind::bad_input,
                    fmt::format("mask {0} takes no numbers: write just {0}", name_of(rule.kind)));
}

void check_lengths(const MaskRule& rule) {
    if (rule.arguments.empty())
        throw Error(ErrorKind::bad_input,
                    "mask valid needs a length: write valid:K or valid:K,K,… with one per query");
    for (const std::int64_t length : rule.arguments)
        if (length < 0 || length > k_max_length)
            throw Error(ErrorKind::bad_input,
                        fmt::format("mask valid:{} is not a length: use 0 or more", length));
}

void check_window(const MaskRule& rule) {
    if (rule.arguments.size() != 2)
        throw Error(ErrorKind::bad_input,
                    "mask window needs two numbers, how far to the left and to the right: write window:L,R");
    for (const std::int64_t reach : rule.arguments)
        if (reach < 0 || reach > k_max_length)
            throw Error(ErrorKind::bad_input,
                        fmt::format("mask window reaches {} tokens: use 0 or more on either side", reach));
}

void check_step(const MaskRule& rule) {
    if (rule.arguments.size() != 1 || rule.arguments[0] < 1 || rule.arguments[0] > k_max_length)
        throw Error(ErrorKind::bad_input, "mask dilated needs a step of 1 or more: write dilated:STEP");
}

void check_prefix(const MaskRule& rule) {
    if (rule.arguments.size() != 1 || rule.arguments[0] < 0 || rule.arguments[0] > k_max_length)
        throw Error(ErrorKind::bad_input, "mask prefix needs a length of 0 or more: write prefix:K");
}

void fits_always(const MaskRule&, int) {}

void one_length_per_query(const MaskRule& rule, int queries) {
    const auto given = rule.arguments.size();
    if (given != 1 && given != static_cast<std::size_t>(queries))
        throw Error(ErrorKind::bad_input,
                    fmt::format("mask valid has {} lengths for {} queries: use one for all, or one per query",
                                given, queries));
}

std::int64_t length_of(const MaskRule& rule, int i) {
    return rule.arguments.size() == 1 ? rule.arguments[0] : rule.arguments[static_cast<std::size_t>(i)];
}

std::string number(const MaskRule& rule, std::size_t i = 0) { return std::to_string(rule.arguments[i]); }

std::vector<std::int64_t> no_numbers(int) { return {}; }

Coverage coverage_of(bool all, bool none) {
    return all ? Coverage::all : none ? Coverage::none : Coverage::some;
}

int last_query(const Region& region) { return region.end_row() - 1; }
int last_key(const Region& region) { return region.end_column() - 1; }

Coverage causal_coverage(const MaskRule&, const Region& in) {
    return coverage_of(last_key(in) <= in.row, in.column > last_query(in));
}

Coverage valid_coverage(const MaskRule& rule, const Region& in) {
    std::int64_t shortest = length_of(rule, in.row), longest = shortest;
    for (int i = in.row; has_argument_for_each(rule) && i < in.end_row(); ++i) {
        shortest = std::min(shortest, length_of(rule, i));
        longest = std::max(longest, length_of(rule, i));
    }
    return coverage_of(last_key(in) < shortest, in.column >= longest);
}

Coverage window_coverage(const MaskRule& rule, const Region& in) {
    const std::int64_t left = rule.arguments[0], right = rule.arguments[1];
    return coverage_of(last_query(in) - left <= in.column && last_key(in) <= in.row + right,
                       last_key(in) < in.row - left || in.column > last_query(in) + right);
}

/// The differences i − j of a region are all whole numbers from the smallest to the largest.
Coverage dilated_coverage(const MaskRule& rule, const Region& in) {
    const std::int64_t step = rule.arguments[0];
    const std::int64_t smallest = std::int64_t{in.row} - last_key(in),
                       largest = std::int64_t{last_query(in)} - in.column;
    const std::int64_t past = ((smallest % step) + step) % step;  // a multiple of the step
    const bool any = past == 0 || smallest + (step - past) <= largest;
    return coverage_of(step == 1 || (any && smallest == largest), !any);
}

/// The open cells on the diagonals whose i − j the step divides.
std::size_t dilated_count(const MaskRule& rule, const Region& in) {
    const std::int64_t step = rule.arguments[0], rows = in.rows, columns = in.columns;
    std::int64_t difference = std::int64_t{in.row} - last_key(in), count = 0;
    difference += (step - ((difference % step) + step) % step) % step;
    for (; difference <= std::int64_t{last_query(in)} - in.column; difference += step) {
        const std::int64_t shift =
            difference - (std::int64_t{in.row} - in.column);  // of the row at the first key
        count += std::min(rows, columns + shift) - std::max(std::int64_t{0}, shift);
    }
    return static_cast<std::size_t>(count);
}

Coverage prefix_coverage(const MaskRule& rule, const Region& in) {
    const std::int64_t length = rule.arguments[0];
    return coverage_of(last_key(in) <= in.row || last_key(in) < length,
                       in.column > last_query(in) && in.column >= length);
}

constexpr std::array k_kinds = {
    MaskKind{MaskForm::causal, "each query sees itself and the keys before it", "", "Causal", true,
             no_numbers, no_arguments, fits_always, [](const MaskRule&, int i, int j) { return j <= i; },
             causal_coverage, [](const MaskRule&) { return std::string("j ≤ i"); },
             [](const MaskRule&) { return std::string("j <= i"); }, "CAUSAL"},
    MaskKind{MaskForm::valid, "the first K keys are valid, the rest is padding", "K[,K…]", "Padding", true,
             [](int tokens) { return std::vector<std::int64_t>{std::max(1, tokens - 2)}; }, check_lengths,
             one_length_per_query, [](const MaskRule& rule, int i, int j) { return j < length_of(rule, i); },
             valid_coverage,
             [](const MaskRule& rule) {
                 return has_argument_for_each(rule) ? "j within each query's length"
                                                    : "j among the first " + number(rule);
             },
             [](const MaskRule& rule) {
                 return has_argument_for_each(rule) ? "j < each[:, None]" : "j < " + number(rule);
             },
             "VALID", nullptr, true},
    MaskKind{MaskForm::window, "each query sees its neighbors only, L to the left and R to the right", "L,R",
             "Window", false,
             [](int) {
                 return std::vector<std::int64_t>{1, 1};
             },
             check_window, fits_always,
             [](const MaskRule& rule, int i, int j) {
                 return i - rule.arguments[0] <= j && j <= i + rule.arguments[1];
             },
             window_coverage,
             [](const MaskRule& rule) { return "i − " + number(rule) + " ≤ j ≤ i + " + number(rule, 1); },
             [](const MaskRule& rule) {
                 return "(i - " + number(rule) + " <= j) & (j <= i + " + number(rule, 1) + ")";
             },
             "WINDOW"},
    MaskKind{MaskForm::dilated, "each query sees every STEPth key, counted from its own", "STEP", "Dilated",
             false, [](int) { return std::vector<std::int64_t>{2}; }, check_step, fits_always,
             [](const MaskRule& rule, int i, int j) { return (i - j) % rule.arguments[0] == 0; },
             dilated_coverage, [](const MaskRule& rule) { return number(rule) + " divides i − j"; },
             [](const MaskRule& rule) { return "(i - j) % " + number(rule) + " == 0"; }, "DILATED",
             dilated_count},
    MaskKind{MaskForm::prefix, "causal, and the first K keys are open to every query", "K", "Prefix", false,
             [](int) { return std::vector<std::int64_t>{2}; }, check_prefix, fits_always,
             [](const MaskRule& rule, int i, int j) { return j <= i || j < rule.arguments[0]; },
             prefix_coverage,
             [](const MaskRule& rule) { return "(j ≤ i or j among the first " + number(rule) + ")"; },
             [](const MaskRule& rule) { return "(j <= i) | (j < " + number(rule) + ")"; }, "PREFIX"},
};
static_assert(is_table_of<MaskForm>(k_kinds));
static_assert(std::ranges::all_of(k_kinds,
                                  [](const MaskKind& kind) {
                                      return kind.first && kind.check && kind.check_fit && kind.open &&
                                             kind.coverage && kind.condition && kind.torch && kind.shader;
                                  }),
              "every kind of mask has all of its functions");

/// The rules as they are written, "none" first.
std::string known_kinds(std::string_view separator) {
    std::string text = "none";
    for (const MaskKind& kind : k_kinds)
        text += fmt::format("{}{}{}{}", separator, name_of(kind.choice), kind.arguments.empty() ? "" : ":",
                            kind.arguments);
    return text;
}

}  // namespace

std::span<const MaskKind> mask_kinds() { return k_kinds; }

std::string_view mask_arguments() {
    static const std::string arguments = known_kinds("|") + "|file:PATH";
    return arguments;
}

const MaskKind& mask_kind(MaskForm choice) { return k_kinds[static_cast<std::size_t>(choice)]; }

bool has_argument_for_each(const MaskRule& rule) {
    return mask_kind(rule.kind).may_have_each && rule.arguments.size() != 1;
}

MaskRule parse_mask_rule(std::string_view text, std::string_view also) {
    const std::size_t colon = text.find(':');
    MaskRule rule;
    const auto refuse = [&] {
        return Error(ErrorKind::bad_input, "mask \"" + message_text(text, k_longest_quotation) +
                                               "\" is not a rule: use " + known_kinds(", ") +
                                               (also.empty() ? "" : ", " + std::string(also)));
    };
    const std::optional<MaskForm> kind = find_choice<MaskForm>(text.substr(0, colon));
    if (!kind) throw refuse();
    rule.kind = *kind;
    if (colon != std::string_view::npos) {
        const char* at = text.data() + colon + 1;
        const char* const end = text.data() + text.size();
        while (true) {
            std::int64_t number = 0;
            const auto [next, error] = std::from_chars(at, end, number);
            if (error != std::errc{}) throw refuse();
            rule.arguments.push_back(number);
            if (next == end) break;
            if (*next != ',') throw refuse();
            at = next + 1;
        }
    }
    mask_kind(rule.kind).check(rule);
    return rule;
}

std::string mask_rule_text(const MaskRule& rule) {
    std::string text(name_of(rule.kind));
    char separator = ':';
    for (const std::int64_t argument : rule.arguments) {
        text += fmt::format("{}{}", separator, argument);
        separator = ',';
    }
    return text;
}

}  // namespace attnscope
