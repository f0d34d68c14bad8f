#include "core/graph/weighted_sum_cells.h"

#include <algorithm>
#include <span>
#include <stop_token>
#include <utility>
#include <variant>

#include "core/canceled.h"
#include "core/op/weighted_sum.h"

namespace attnscope {
namespace {

class WeightedSumCells : public StageCells {
public:
    using StageCells::StageCells;

protected:
    /// All rows read some keys before any reads the next ones, first to find the sums of the weights' rows,
    /// if they are unknown: keys and values do not come from the memory again for each row.
    void read_rows(int head, std::span<const int> rows, MatrixView out,
                   const std::stop_token& cancel) const override {
        const auto& sum = std::get<op::WeightedSum>(*op_);
        const Shape& weights = inputs_[0]->shape();
        if (const auto* const cells = dynamic_cast<const StageCells*>(buffers_[0]->on_demand()))
            cells->find_sums(std::min(head, weights.heads - 1), rows, cancel);
        out.setZero();
        for (int first = 0; first < weights.columns; first += sum.k_keys_at_once) {
            stop_if_canceled(cancel);
            for (Eigen::Index i = 0; i < out.rows(); ++i) {
                const Region row{rows[static_cast<std::size_t>(i)], 0, 1, shape_.columns};
                sum.add_keys({buffers_, head, row}, first, {out.row(i).data(), 1, out.cols()});
            }
        }
    }

    double row_work() const override {
        return static_cast<double>(inputs_[0]->shape().columns) * shape_.columns;
    }
};

}  // namespace

std::shared_ptr<const OnDemandValues> weighted_sum_cells(StageParts parts) {
    return std::make_shared<const WeightedSumCells>(std::move(parts));
}

}  // namespace attnscope
