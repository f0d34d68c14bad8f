#include "core/op/gradient_proof.h"

#include <fmt/format.h>

namespace attnscope::op {
namespace {

std::string label_of(const GradientCell& cell, SumOver over, int k) {
    switch (over) {
        case SumOver::columns: return cell.words.column_label(0, k);
        case SumOver::rows: return cell.words.row_label(0, k);
        case SumOver::numbers: break;
    }
    return std::to_string(k + 1);
}

}  // namespace

void add_products(Proof& proof, const GradientCell& cell, SumOver over, int h, const Eigen::RowVectorXf& left,
                  const Eigen::RowVectorXf& right) {
    const bool many = cell.first_head() != cell.last_head();
    for (Eigen::Index k = 0; k < left.size(); ++k)
        proof.add_term((many ? fmt::format("h{} ", h + 1) : "") + label_of(cell, over, static_cast<int>(k)),
                       left(k), right(k));
}

void add_numbers(Proof& proof, const GradientCell& cell, SumOver over, int h,
                 const Eigen::RowVectorXf& numbers) {
    add_products(proof, cell, over, h, Eigen::RowVectorXf::Ones(numbers.size()), numbers);
}

void pass_on(Proof& proof, const GradientCell& cell, int h, int row, int column) {
    proof.add_step(cell.words.gradient(0), cell.d(h, row, column));
}

void add_score_products(Proof& proof, const GradientCell& cell, std::string_view keys) {
    const bool of_query = cell.input == 0;
    proof.terms_title = {fmt::format("{} · {}", cell.words.gradient(0), of_query ? keys : "q"),
                         of_query ? "key by key" : "query by query"};
    for (int h = cell.first_head(); h <= cell.last_head(); ++h)
        add_products(proof, cell, of_query ? SumOver::columns : SumOver::rows, h,
                     of_query ? cell.d_row(h, cell.row) : cell.d_column(h, cell.row),
                     cell.in_column(1 - cell.input, h, cell.column));
}

}  // namespace attnscope::op
