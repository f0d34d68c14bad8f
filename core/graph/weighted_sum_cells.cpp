#include "core/graph/weighted_sum_cells.h"

#include <span>
#include <utility>
#include <variant>

#include "core/canceled.h"

namespace attnscope {
namespace {

class WeightedSumCells : public StageCells {
public:
    using StageCells::StageCells;

protected:
    /// All rows read some keys before any reads the next ones, so that keys and values come from the memory
    /// once.
    void read_rows(int head, std::span<const int> rows, MatrixView out,
                   const std::stop_token& cancel) const override {
        const auto& sum = std::get<op::WeightedSum>(*op_);
        out.setZero();
        for (int first = 0; first < inputs_[0]->shape().columns; first += sum.k_keys_at_once) {
            stop_if_canceled(cancel);
            for (Eigen::Index i = 0; i < out.rows(); ++i) {
                const Region row{rows[static_cast<std::size_t>(i)], 0, 1, shape_.columns};
                sum.add_keys({buffers_, head, row}, first, {out.row(i).data(), 1, out.cols()});
            }
        }
    }
};

}  // namespace

std::shared_ptr<const OnDemandValues> weighted_sum_cells(StageParts parts) {
    return std::make_shared<const WeightedSumCells>(std::move(parts));
}

}  // namespace attnscope
