#include "core/op/proof.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/number_text.h"

namespace attnscope {

double Proof::add_term(std::string label, float left, float right, bool closed) {
    terms.push_back({std::move(label), left, right, closed});
    terms_sum += terms.back().product();
    return terms.back().product();
}

double Proof::add_terms(const std::string& label, const Eigen::RowVectorXf& left,
                        const Eigen::RowVectorXf& right) {
    double sum = 0;
    for (Eigen::Index k = 0; k < left.size(); ++k)
        sum += add_term(fmt::format("{}{}", label.empty() ? "" : label + " ", k + 1), left(k), right(k));
    return sum;
}

void Proof::begin_with_score(double score) {
    if (!steps.empty()) return;
    add_step(name_of_sum(), score,
             terms_title.help.empty() ? "The score of this query and this key, before scaling and masking"
                                      : terms_title.help);
}

std::string mixture_text(std::span<const ProofTerm> terms, std::string_view symbol) {
    constexpr std::size_t k_most = 4;
    constexpr double k_enough = 0.95;
    const auto weight = [](const ProofTerm* term) { return std::abs(static_cast<double>(term->left)); };
    std::vector<const ProofTerm*> open;
    double all = 0;
    for (const ProofTerm& term : terms)
        if (!term.closed && term.left != 0 && std::isfinite(term.left)) {
            open.push_back(&term);
            all += weight(&term);
        }
    std::ranges::stable_sort(open, std::greater(), weight);
    std::string text;
    double said = 0, rest = 0;
    std::size_t count = 0;
    for (; count < std::min(open.size(), k_most) && said < k_enough * all; ++count) {
        const double left = open[count]->left;
        text += count == 0 ? (left < 0 ? "−" : "") : left < 0 ? " − " : " + ";
        text += fmt::format("{} {}({})", weight_text(std::abs(left)), symbol, open[count]->label);
        said += weight(open[count]);
    }
    for (std::size_t i = count; i < open.size(); ++i) rest += open[i]->left;
    if (count == open.size()) return text;
    const std::size_t others = open.size() - count;
    return text + fmt::format(" + {} other{}, {}", others, others == 1 ? "" : "s", reading_text(rest));
}

std::string fully_masked_remark(std::string_view zeros) {
    return fmt::format("every key is masked for this query: {}", zeros);
}

std::string number_text(double value) { return fmt::format("{:.6g}", value); }

std::string number_text(double value, int digits) { return fmt::format("{:.{}f}", value, digits); }

}  // namespace attnscope
