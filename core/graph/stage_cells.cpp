#include "core/graph/stage_cells.h"

#include <algorithm>
#include <array>
#include <utility>
#include <variant>

#include "core/error.h"

namespace attnscope {
namespace {

/// The mean over the heads of other values, as Buffer::mean().
class MeanCells : public SurveyedCells {
public:
    MeanCells(std::shared_ptr<const SurveyedCells> of, const OnDemandSizes& sizes)
        : SurveyedCells({.heads = 1, .rows = of->shape().rows, .columns = of->shape().columns}, sizes),
          of_(std::move(of)) {}

    void read(int, const Region& region, MatrixView out) const override {
        Matrix one(region.rows, region.columns);
        Eigen::ArrayXXd sum = Eigen::ArrayXXd::Zero(region.rows, region.columns);
        for (int h = 0; h < of_->shape().heads; ++h) {
            of_->read(h, region, view_of(one));
            sum += one.array().cast<double>();
        }
        out = (sum / of_->shape().heads).cast<float>();
    }
    Coverage coverage(int, const Region& region) const override { return of_->coverage(0, region); }
    bool reads_columns(int) const override {
        for (int h = 0; h < of_->shape().heads; ++h)
            if (!of_->reads_columns(h)) return false;
        return true;
    }
    std::shared_ptr<const OnDemandValues> mean() const override { return shared_from_this(); }

protected:
    void close(int, const Region& region, Matrix& x) const override { of_->close(0, region, x); }
    int rows_of_tile() const override { return k_task_rows; }  // a card computes large regions of the heads
    Matrix made_sample(int, int count, const std::stop_token& cancel) const override {
        Eigen::ArrayXXd sum = Eigen::ArrayXXd::Zero(count, shape_.columns);
        for (int h = 0; h < of_->shape().heads; ++h)
            sum += of_->sample(h, count, cancel).array().cast<double>();
        return (sum / of_->shape().heads).cast<float>();
    }

private:
    const std::shared_ptr<const SurveyedCells> of_;
};

}  // namespace

StageCells::StageCells(StageParts parts)
    : SurveyedCells(parts.shape, parts.sizes),
      op_(std::move(parts.op)),
      inputs_(std::move(parts.inputs)),
      mask_(std::move(parts.mask)),
      card_(std::move(parts.card)) {
    for (const StagePtr& input : inputs_) buffers_.push_back(&input->buffer);
    if (!is_on_card() || (mask_ && !has_card(mask_->buffer))) card_ = nullptr;
}

StageCells::CardValues StageCells::on_card(int head, const Region& region) const {
    if (std::holds_alternative<op::MaskedFill>(*op_)) {
        const Buffer& mask = *buffers_[1];
        if (mask.coverage(std::min(head, mask.shape().heads - 1), region) == Coverage::all)
            return cells_of_input(0).on_card(head, region);
    }
    std::vector<Buffer> parts;
    std::vector<const Buffer*> inputs = buffers_;
    parts.reserve(inputs.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        if (!buffers_[i]->on_demand()) continue;
        const CardValues part =
            cells_of_input(i).on_card(std::min(head, buffers_[i]->shape().heads - 1), region);
        if (!part) return nullptr;
        inputs[i] = &parts.emplace_back(part);
    }
    const std::vector<RowSum> rows = sums_of_rows(head, region);
    return card_->region(*op_, {inputs, head, region, rows});
}

void StageCells::read(int head, const Region& region, MatrixView out) const {
    if (!read_on_card(head, region, out)) cells(*op_, {buffers_, head, region}, out);
}

Coverage StageCells::coverage(int head, const Region& region) const {
    if (!mask_) return Coverage::all;
    return mask_->buffer.coverage(std::min(head, mask_->shape().heads - 1), region);
}

bool StageCells::reads_columns(int) const {
    return !std::holds_alternative<op::WeightedSum>(*op_) && std::ranges::all_of(buffers_, reads_them);
}

std::shared_ptr<const OnDemandValues> StageCells::mean() const {
    if (shape().heads == 1) return shared_from_this();
    return std::make_shared<const MeanCells>(shared_from_this(), sizes_);
}

bool StageCells::done_on_card(const Region& region, const std::function<bool()>& work) const {
    // A row is here at once, and does not wait for regions of a survey.
    if (!card_ || region.rows == 1 || region.size() < sizes_.least_cells_on_card) return false;
    try {
        return work();
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::backend && error.kind() != ErrorKind::too_large) throw;
        return false;
    }
}

bool StageCells::read_on_card(int head, const Region& region, MatrixView out) const {
    return done_on_card(region, [&] {
        const CardValues values = on_card(head, region);
        if (values) values->read(0, 0, region.rows, out.data());
        return values != nullptr;
    });
}

StageCells::CardValues StageCells::closed_on_card(int head, const Region& region,
                                                  const CardValues& values) const {
    if (!mask_ || coverage(head, region) == Coverage::all || std::holds_alternative<op::MaskedFill>(*op_))
        return values;
    const auto& mask = dynamic_cast<const StageCells&>(*mask_->buffer.on_demand());
    const CardValues open = mask.on_card(std::min(head, mask.shape().heads - 1), region);
    if (!values || !open) return nullptr;
    const Buffer of_values(values), of_mask(open);
    const std::array<const Buffer*, 2> inputs{&of_values, &of_mask};
    return card_->region(Op{op::MaskedFill{}}, {inputs, 0, region});
}

PooledTotals StageCells::totals_on_card(const DeviceValues& open, int level) const {
    PooledTotals totals;
    totals.sum = card_->blocks(open, BlockFact::sum, 1 << level, 1 << level);
    totals.count = card_->blocks(open, BlockFact::count, 1 << level, 1 << level);
    return totals;
}

StageCells::PartFacts StageCells::facts_of(int head, const Region& part, Matrix& x) const {
    PartFacts facts;
    const bool done = done_on_card(part, [&] {
        const CardValues values = on_card(head, part);
        if (!values) return false;
        const CardValues open = closed_on_card(head, part, values);
        if (!open) return false;
        facts.range = values->range(0);
        facts.row_largest = values->row_largest(0);
        facts.dominant = card_->blocks(*open, BlockFact::dominant, 1 << kept_level_, 1 << kept_level_);
        facts.totals = totals_on_card(*open, kept_level_);
        return true;
    });
    return done ? facts : SurveyedCells::facts_of(head, part, x);
}

void StageCells::add_cells(int head, const Region& cells, Matrix& x, int level, PooledTile& tile,
                           Eigen::Index row, Eigen::Index column) const {
    if (!add_cells_on_card(head, cells, level, tile, row, column))
        SurveyedCells::add_cells(head, cells, x, level, tile, row, column);
}

bool StageCells::add_cells_on_card(int head, const Region& cells, int level, PooledTile& tile,
                                   Eigen::Index row, Eigen::Index column) const {
    return done_on_card(cells, [&] {
        const CardValues values = on_card(head, cells);
        const CardValues open = values ? closed_on_card(head, cells, values) : nullptr;
        if (!open) return false;
        const Eigen::Index rows = pooled(cells.rows, level), columns = pooled(cells.columns, level);
        if (tile.pool == Pool::mean) {
            const PooledTotals totals = totals_on_card(*open, level);
            tile.totals.sum.block(row, column, rows, columns) = totals.sum;
            tile.totals.count.block(row, column, rows, columns) = totals.count;
        } else {
            tile.dominant.block(row, column, rows, columns) =
                card_->blocks(*open, BlockFact::dominant, 1 << level, 1 << level);
        }
        return true;
    });
}

/// Row i of these needs row i of input 0 alone, so that its sample gives theirs.
Matrix StageCells::made_sample(int head, int count, const std::stop_token& cancel) const {
    const bool joins = std::holds_alternative<op::JoinHeads>(*op_);
    const bool reads_its_rows =
        joins || std::holds_alternative<op::Linear>(*op_) || std::holds_alternative<op::Ablate>(*op_);
    const OnDemandValues* const input = reads_its_rows ? buffers_[0]->on_demand() : nullptr;
    if (!input) return SurveyedCells::made_sample(head, count, cancel);
    Tensor sampled({.heads = input->shape().heads, .rows = count, .columns = input->shape().columns});
    for (int h = 0; h < sampled.shape().heads; ++h)
        if (joins || h == std::min(head, sampled.shape().heads - 1))
            sampled.head(h) = input->sample(h, count, cancel);
    const Buffer of_rows(std::move(sampled));
    std::vector<const Buffer*> inputs = buffers_;
    inputs[0] = &of_rows;
    Matrix out(count, shape_.columns);
    cells(*op_, {inputs, head, {0, 0, count, shape_.columns}}, view_of(out));
    return out;
}

int StageCells::columns_of_task() const {
    constexpr int k_on_card = 4096;  // fewer, larger requests
    return card_ ? k_on_card : SurveyedCells::columns_of_task();
}

void StageCells::close(int head, const Region& region, Matrix& x) const {
    if (!mask_) return;
    const Coverage open = coverage(head, region);
    if (open == Coverage::all || std::holds_alternative<op::MaskedFill>(*op_)) return;
    if (open == Coverage::none) {
        x.setConstant(k_closed);
        return;
    }
    const Matrix mask = mask_of(head, region);
    mask_rows(view_of(std::as_const(x)), view_of(mask), view_of(x));
}

Matrix StageCells::mask_of(int head, const Region& region) const {
    Matrix mask(region.rows, region.columns);
    mask_->buffer.read(std::min(head, mask_->shape().heads - 1), region, view_of(mask));
    return mask;
}

bool StageCells::reads_them(const Buffer* buffer) {
    for (int h = 0; buffer->on_demand() && h < buffer->shape().heads; ++h)
        if (!buffer->on_demand()->reads_columns(h)) return false;
    return true;
}

const StageCells& StageCells::cells_of_input(std::size_t i) const {
    return dynamic_cast<const StageCells&>(*buffers_[i]->on_demand());
}

bool StageCells::is_on_card() const {
    return card_ && card_->computes(*op_) && std::ranges::all_of(inputs_, [](const StagePtr& input) {
               return input->buffer.on_demand() ? has_card(input->buffer) : !grows_with_pairs(*input->info);
           });
}

bool StageCells::has_card(const Buffer& buffer) {
    const auto* cells = dynamic_cast<const StageCells*>(buffer.on_demand());
    return cells && cells->card_;
}

}  // namespace attnscope
