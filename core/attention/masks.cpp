#include "core/attention/masks.h"

#include <array>
#include <charconv>

#include "core/error.h"

namespace attnscope {
namespace {

constexpr std::int64_t k_max_length = 1'000'000'000;

void no_arguments(const MaskRule& rule) {
    if (!rule.arguments.empty())
        throw Error(ErrorKind::bad_input, "mask " + rule.kind + " takes no numbers: write just " + rule.kind);
}

void check_lengths(const MaskRule& rule) {
    if (rule.arguments.empty())
        throw Error(ErrorKind::bad_input,
                    "mask valid needs a length: write valid:K or valid:K,K,… with one per query");
    for (const std::int64_t length : rule.arguments)
        if (length < 0 || length > k_max_length)
            throw Error(ErrorKind::bad_input,
                        "mask valid:" + std::to_string(length) + " is not a length: use 0 or more");
}

void check_window(const MaskRule& rule) {
    if (rule.arguments.size() != 2)
        throw Error(ErrorKind::bad_input,
                    "mask window needs two numbers, how far to the left and to the right: write window:L,R");
    for (const std::int64_t reach : rule.arguments)
        if (reach < 0 || reach > k_max_length)
            throw Error(ErrorKind::bad_input, "mask window reaches " + std::to_string(reach) +
                                                  " tokens: use 0 or more on either side");
}

void fits_always(const MaskRule&, int) {}

void one_length_per_query(const MaskRule& rule, int queries) {
    const auto given = rule.arguments.size();
    if (given != 1 && given != static_cast<std::size_t>(queries))
        throw Error(ErrorKind::bad_input, "mask valid has " + std::to_string(given) + " lengths for " +
                                              std::to_string(queries) +
                                              " queries: give one for all, or one for each");
}

std::int64_t length_of(const MaskRule& rule, int i) {
    return rule.arguments.size() == 1 ? rule.arguments[0] : rule.arguments[static_cast<std::size_t>(i)];
}

constexpr std::array k_kinds = {
    MaskKind{"causal", "each query sees itself and the keys before it", "", no_arguments, fits_always,
             [](const MaskRule&, int i, int j) { return j <= i; }},
    MaskKind{"valid", "the first K keys are valid, the rest is padding", "K[,K…]", check_lengths,
             one_length_per_query, [](const MaskRule& rule, int i, int j) { return j < length_of(rule, i); }},
    MaskKind{"window", "each query sees its neighbors only, L to the left and R to the right", "L,R",
             check_window, fits_always,
             [](const MaskRule& rule, int i, int j) {
                 return i - rule.arguments[0] <= j && j <= i + rule.arguments[1];
             }},
};

std::string known_kinds() {
    std::string text = "none";
    for (const MaskKind& kind : k_kinds)
        text +=
            ", " + std::string(kind.name) + (kind.arguments.empty() ? "" : ":" + std::string(kind.arguments));
    return text;
}

std::string join(std::span<const MaskRule> rules, std::string_view separator,
                 std::string (*spell)(const MaskRule&)) {
    std::string text;
    for (const MaskRule& rule : rules) text += (text.empty() ? "" : std::string(separator)) + spell(rule);
    return text;
}

std::string condition(const MaskRule& rule) {
    if (rule.kind == "causal") return "j ≤ i";
    if (rule.kind == "window")
        return "i − " + std::to_string(rule.arguments[0]) + " ≤ j ≤ i + " + std::to_string(rule.arguments[1]);
    return rule.arguments.size() == 1 ? "j ≤ " + std::to_string(rule.arguments[0])
                                      : "j ≤ each query's length";
}

}  // namespace

std::span<const MaskKind> mask_kinds() { return k_kinds; }

const MaskKind* find_mask_kind(std::string_view name) {
    for (const MaskKind& kind : k_kinds)
        if (kind.name == name) return &kind;
    return nullptr;
}

MaskRule parse_mask_rule(std::string_view text, std::string_view also) {
    const std::size_t colon = text.find(':');
    MaskRule rule{std::string(text.substr(0, colon)), {}};
    const auto refuse = [&] {
        return Error(ErrorKind::bad_input, "mask \"" + std::string(text) + "\" is not a rule: use " +
                                               known_kinds() +
                                               (also.empty() ? "" : ", " + std::string(also)));
    };
    const MaskKind* kind = find_mask_kind(rule.kind);
    if (!kind) throw refuse();
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
    kind->check(rule);
    return rule;
}

std::string mask_rule_text(const MaskRule& rule) {
    std::string text = rule.kind;
    char separator = ':';
    for (const std::int64_t argument : rule.arguments) {
        text += separator + std::to_string(argument);
        separator = ',';
    }
    return text;
}

Tensor mask_matrix(std::span<const MaskRule> rules, int queries, int keys) {
    Tensor mask({.heads = 1, .rows = queries, .columns = keys});
    MatrixView open = mask.head(0);
    open.setOnes();
    for (const MaskRule& rule : rules) {
        const MaskKind& kind = *find_mask_kind(rule.kind);
        kind.check_fit(rule, queries);
        for (int i = 0; i < queries; ++i)
            for (int j = 0; j < keys; ++j)
                if (!kind.open(rule, i, j)) open(i, j) = 0;
    }
    return mask;
}

std::string mask_formula(std::span<const MaskRule> rules) {
    return rules.empty() ? "all open: every query may look at every key"
                         : "open where " + join(rules, " and ", condition);
}

std::string mask_caption(std::span<const MaskRule> rules) {
    return rules.empty() ? "open" : join(rules, " + ", [](const MaskRule& rule) { return rule.kind; });
}

}  // namespace attnscope
