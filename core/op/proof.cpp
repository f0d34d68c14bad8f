#include "core/op/proof.h"

#include <fmt/format.h>

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

std::string fully_masked_remark(std::string_view zeros) {
    return fmt::format("every key is masked for this query: {}", zeros);
}

std::string number_text(double value) { return fmt::format("{:.6g}", value); }

std::string number_text(double value, int digits) { return fmt::format("{:.{}f}", value, digits); }

}  // namespace attnscope
