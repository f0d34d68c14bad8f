#include "app/panels/inspector_terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/ui/widgets.h"
#include "core/number_text.h"
#include "core/picture/color_scale.h"

namespace attnscope {
namespace {

/// A weight that is hardly there is "< 0.001".
std::string factors_text(const ProofTerm& term, bool by_token) {
    const auto text = [&](double value) { return by_token ? reading_text(value) : cell_text(value); };
    return text(term.left) + " × " + text(term.right);
}

/// Decimals that give the largest product three significant digits, at least three.
int decimals_of(const std::vector<ProofTerm>& terms) {
    double largest = 0;
    for (const ProofTerm& term : terms)
        if (std::isfinite(term.product())) largest = std::max(largest, std::abs(term.product()));
    if (largest == 0 || largest >= 0.1) return 3;
    return std::min(9, 2 - static_cast<int>(std::floor(std::log10(largest))));
}

/// Positions of the parts of a term's line; if there is no room, the factors are below it.
struct TermPlaces {
    float label_width, factors_right, bars_left, bars_right;  ///< there are no bars where these are equal
    bool two_lines;
};

TermPlaces places_of(const Column& c, const std::vector<ProofTerm>& terms, bool by_token, int decimals) {
    float labels = 0, factors = 0, products = 0;
    for (std::size_t i = 0; i < std::min(terms.size(), k_measured); ++i) {
        labels = std::max(labels, text_width(c.ui.fonts.mono_small, terms[i].label));
        factors = std::max(factors, text_width(c.ui.fonts.mono_small, factors_text(terms[i], by_token)));
        products =
            std::max(products, text_width(c.ui.fonts.mono_small, fixed_text(terms[i].product(), decimals)));
    }
    const float gap = c.ui.px(8), liked = std::clamp(labels, c.ui.px(22), c.ui.px(by_token ? 72 : 22)),
                least = std::min(c.ui.px(by_token ? 28 : 14), liked);
    const float label =
        std::clamp(c.width() - factors - products - 3 * gap - c.ui.px(k_least_bars), least, liked);
    TermPlaces at{label, c.left + label + gap + factors, 0, 0, false};
    const float left = at.factors_right + gap, right = c.right - products - gap;
    if (right - left >= c.ui.px(k_least_bars)) {
        at.bars_left = left;
        at.bars_right = right;
    } else if (right < at.factors_right) {
        at = {c.width() - products - gap, c.right, 0, 0, true};
    }
    return at;
}

}  // namespace

void terms(Desk& desk, const Column& c, const Proof& proof, const std::string& of, const ListLength& length) {
    if (proof.terms.empty()) return;
    // The order of the terms goes below their sum if both do not fit on one line.
    const std::string &sum = proof.terms_title.sum, &order = proof.terms_title.order;
    const std::string title = of + proof.terms_title.text();
    const bool is_cut = !order.empty() && text_width(c.ui.fonts.section, title) > c.width();
    heading(c, is_cut ? of + sum + "," : title, "");
    if (is_cut) {
        draw_text(c.list, c.ui.fonts.section, {c.left, c.y() - c.ui.px(6)}, ink(c.ui.theme.secondary), order,
                  Align::left, c.width());
        c.advance(16);
    }
    double smallest = 0, largest = 0;
    for (const ProofTerm& term : proof.terms) {
        smallest = std::min(smallest, term.product());
        largest = std::max(largest, term.product());
    }
    const Colormap& map = diverging_colormap();
    const double magnitude = std::max({largest, -smallest, 1e-30});
    const bool by_token = proof.terms.front().label != "1";
    const int decimals = decimals_of(proof.terms);
    const TermPlaces at = places_of(c, proof.terms, by_token, decimals);
    const BarScale scale = bar_scale(at.bars_left, at.bars_right, smallest, largest);
    const auto count = static_cast<int>(proof.terms.size());
    const auto product = [&](int i) { return proof.terms[static_cast<std::size_t>(i)].product(); };
    const std::vector<int> shown = shown_entries(
        count, desk.state.whole_row, -1,
        [&](int i) { return std::isnan(product(i)) ? INFINITY : std::abs(product(i)); }, length);
    clipped(static_cast<int>(shown.size()), c.ui.px(at.two_lines ? 34 : 19), [&](int i, float y) {
        const ProofTerm& term = proof.terms[std::size_t(shown[std::size_t(i)])];
        draw_text(c.list, c.ui.fonts.mono_small, {c.left, y + c.ui.px(2)}, ink(c.ui.theme.faint), term.label,
                  Align::left, at.label_width);
        draw_text(c.list, c.ui.fonts.mono_small, {at.factors_right, y + c.ui.px(at.two_lines ? 16 : 2)},
                  ink(c.ui.theme.secondary), factors_text(term, by_token), Align::right);
        if (at.bars_right > at.bars_left)
            bar(c, scale, y + c.ui.px(3), c.ui.px(12), term.product(),
                ColorScale{&map, -magnitude, magnitude}.color(term.product()));
        draw_text(c.list, c.ui.fonts.mono_small, {c.right, y + c.ui.px(2)}, ink(c.ui.theme.text),
                  fixed_text(term.product(), decimals), Align::right);
        explain_label(c,
                      fmt::format("{}: {} × {} = {}", term.label, exact_text(term.left),
                                  exact_text(term.right), exact_text(term.product())),
                      y, c.width(), at.two_lines ? 34 : 19);
    });
    double others = proof.terms_sum;
    for (const int i : shown) others -= product(i);
    rest_of_list(desk, c, (of + "all terms").c_str(), count,
                 fmt::format("{} others: {}", count - std::ssize(shown), value_text(others)), length);
    c.list->AddLine({c.left, c.y() + 1}, {c.right, c.y() + 1}, ink(c.ui.theme.line));
    c.advance(3);
    line(c, {"sum", proof.terms_result, "All terms added up"}, false);
}

void terms_of_both(Desk& desk, const Column& c, const Proof& a, const Proof& b) {
    const auto same_term = [](const ProofTerm& of_a, const ProofTerm& of_b) {
        return of_a.label == of_b.label && of_a.left == of_b.left && of_a.right == of_b.right &&
               of_a.closed == of_b.closed;
    };
    if (a.terms_title.sum == b.terms_title.sum && std::ranges::equal(a.terms, b.terms, same_term))
        return terms(desk, c, a, "A and B: ");
    terms(desk, c, a, "A: ", k_two_lists);
    terms(desk, c, b, "B: ", k_two_lists);
}

}  // namespace attnscope
