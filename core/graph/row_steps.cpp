#include "core/graph/row_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "core/graph/explain.h"
#include "core/graph/formula.h"
#include "core/graph/stage_table.h"
#include "core/number_text.h"
#include "core/op/normalizers.h"
#include "core/op/op.h"
#include "core/utf8.h"

namespace attnscope {
namespace {

using Kind = RowStep::Kind;

bool is_of_chain(const StageInfo& info) {
    return info.role == StageRole::scores || info.role == StageRole::masked_scores ||
           info.role == StageRole::weights;
}

/// The stages from the scores to these weights, each computed from the one before, cell by cell.
std::vector<const StageRecord*> chain(const Trace& trace, const StageRecord& weights) {
    std::vector<const StageRecord*> found;
    if (std::holds_alternative<op::Decode>(*weights.op)) {  // all of them are results of one operation
        for (const StageRecord* each : trace.results_of(weights))
            if (is_of_chain(*each->stage->info)) found.push_back(each);
        return found;
    }
    for (const StageRecord* each = &weights; each && is_of_pairs(*each->stage->info);) {
        found.insert(found.begin(), each);
        const int before = operands(*each->op, 0).same_as;
        each = before < 0 ? nullptr : trace.record(each->inputs[static_cast<std::size_t>(before)]->key());
    }
    return found;
}

/// The softmax that makes weights of scores; a decoder contains it. nullopt: another operation makes them.
std::optional<op::Softmax> softmax_of(const StageRecord& record) {
    if (const auto* softmax = std::get_if<op::Softmax>(record.op.get())) return *softmax;
    const auto* decode = std::get_if<op::Decode>(record.op.get());
    if (!decode) return std::nullopt;
    const Op normalize = normalizer_of(decode->rule.normalizer).op(SoftmaxAxis::keys);
    const auto* softmax = std::get_if<op::Softmax>(&normalize);
    return softmax ? std::optional(*softmax) : std::nullopt;
}

class Writer {
public:
    Writer(const Trace& trace, const StageRecord& weights, int head, int row)
        : trace_(trace), weights_(weights), chain_(chain(trace, weights)) {
        out_.head = head;
        out_.row = row;
        // The scores that become weights are the stage before the first weights.
        const auto first = std::ranges::find(chain_, StageRole::weights, role_of);
        normalized_ = first == chain_.end() ? nullptr : *first;
        logits_ = first == chain_.end() || first == chain_.begin() ? nullptr : *std::prev(first);
        if (normalized_) softmax_ = softmax_of(*normalized_);
        const Eigen::RowVectorXf last = row_of(logits_ ? *logits_ : weights);
        for (const float each : last) out_.closed.push_back(logits_ && each == -INFINITY);
    }

    RowSteps write() {
        for (const StageRecord* each : chain_) add_stage(*each);
        const std::vector<double>& last = out_.steps.back().numbers;
        out_.weights = last;
        const Proof proof = explain(trace_, *weights_.stage, out_.head, out_.row, 0);
        if (logits_ && !over_queries() && std::ranges::all_of(out_.closed, std::identity{}))
            out_.remark = proof.remark;
        add_values();
        return std::move(out_);
    }

private:
    static StageRole role_of(const StageRecord* record) { return record->stage->info->role; }
    bool over_queries() const { return softmax_ && is_over_queries(softmax_->axis); }
    int head_of(const Stage& stage) const { return std::clamp(out_.head, 0, stage.shape().heads - 1); }
    Eigen::RowVectorXf row_of(const StageRecord& record) const {
        return record.stage->buffer.row(head_of(*record.stage), out_.row);
    }
    std::vector<double> numbers_of(const StageRecord& record) const {
        const Eigen::RowVectorXf row = row_of(record);
        return {row.begin(), row.end()};
    }
    std::ptrdiff_t closed_keys() const { return std::ranges::count(out_.closed, true); }

    RowStep step_of(const Stage& stage, Kind kind, std::string sentence) const {
        return {.title = stage_heading(*stage.info),
                .symbol = std::string(stage.info->symbol),
                .caption = caption(trace_, stage),
                .formula = formula(trace_, stage),
                .sentence = std::move(sentence),
                .kind = kind,
                .stage = &stage};
    }

    void add_stage(const StageRecord& record) {
        if (&record == normalized_ && logits_) return add_normalizer(record);
        const Stage& stage = *record.stage;
        const bool scale = is_scale(record);
        const bool raw = &record == chain_.front() || (scale && stage.info->role == StageRole::scores);
        const Kind kind = stage.info->unit == Unit::probability ? Kind::weights
                          : raw                                 ? Kind::scores
                                                                : Kind::signed_;
        RowStep step = step_of(stage, kind, sentence_of(record));
        step.numbers = numbers_of(record);
        if (kind == Kind::weights) step.total = sum_text(step.numbers);
        if (&record == logits_ && softmax_ && !over_queries()) step.total = "max " + cell_text(largest());
        out_.steps.push_back(std::move(step));
    }

    bool is_scale(const StageRecord& record) const {
        return std::holds_alternative<op::Scale>(*record.op) ||
               (std::holds_alternative<op::Decode>(*record.op) && role_of(&record) == StageRole::scores);
    }
    float largest() const { return op::SoftmaxLine(row_of(*logits_).transpose()).largest; }
    static std::string sum_text(const std::vector<double>& numbers) {
        return "Σ " + cell_text(std::accumulate(numbers.begin(), numbers.end(), 0.0));
    }

    std::string sentence_of(const StageRecord& record) const {
        if (role_of(&record) == StageRole::masked_scores) return mask_sentence(record);
        return sentence(trace_, *record.stage);
    }

    std::string mask_sentence(const StageRecord& record) const {
        const auto closed = closed_keys();
        if (closed == 0) return "The mask leaves every key open: the scores stay as they are.";
        const int first = static_cast<int>(std::ranges::find(out_.closed, true) - out_.closed.begin());
        const std::string why = explain(trace_, *record.stage, out_.head, out_.row, first).remark;
        return fmt::format("{} of {} keys {}: a score of −∞ becomes a weight of exactly 0 ({}).", closed,
                           out_.keys(), closed == 1 ? "is closed" : "are closed", why);
    }

    /// A softmax in three steps, each with its own numbers; of another normalizer its weights alone.
    void add_normalizer(const StageRecord& record) {
        RowStep step = step_of(*record.stage, Kind::weights, "");
        step.numbers = numbers_of(record);
        step.total = sum_text(step.numbers);
        if (softmax_)
            add_softmax(step);
        else
            step.sentence =
                capitalized(std::string(normalizer_of(trace_.experiment.weighting.normalizer).summary)) + ".";
        out_.steps.push_back(std::move(step));
    }

    /// The two steps before the weights, and what is said of these.
    void add_softmax(RowStep& weights) {
        const char* const line = over_queries() ? "column" : "row";
        const bool dead = std::ranges::all_of(out_.closed, std::identity{});
        RowStep less{.title = fmt::format("− {} max", line),
                     .symbol = "− max",
                     .caption = fmt::format("x − {} max", line),
                     .formula = fmt::format("x − {} max", line),
                     .sentence = "",
                     .kind = Kind::signed_};
        RowStep exp{.title = "exp",
                    .symbol = "exp",
                    .caption = "exp( x − max )",
                    .formula = fmt::format("exp( x − {} max )", line),
                    .sentence =
                        "exp turns score differences into ratios: 1 below the maximum gives 0.37 times its "
                        "weight, 2 below 0.14 times.",
                    .kind = Kind::exponentials};
        const Eigen::RowVectorXf x = row_of(*logits_);
        const op::SoftmaxLine own(x.transpose());
        for (int j = 0; j < out_.keys(); ++j) {
            const bool closed = out_.closed[static_cast<std::size_t>(j)];
            const op::SoftmaxLine of =
                over_queries() && !closed
                    ? op::SoftmaxLine(logits_->stage->buffer.column(head_of(*logits_->stage), j))
                    : own;
            less.numbers.push_back(closed ? -INFINITY : of.difference(x(j)));
            exp.numbers.push_back(closed ? 0 : of.exponential(x(j)));
        }
        const std::string maximum = cell_text(own.largest), sum = cell_text(own.sum);
        weights.caption = fmt::format("÷ {} sum", line);
        if (over_queries()) {
            less.sentence =
                "Subtract the maximum of each key's column: this softmax runs over the queries, and "
                "no exp overflows.";
            weights.sentence =
                "Divide by the sum of each key's column: the weights of a key sum to 1 over the "
                "queries, the weights of a row need not.";
        } else if (dead) {
            less.sentence = exp.sentence = weights.sentence = capitalized(fully_masked_remark()) + ".";
        } else if (std::isnan(own.largest)) {
            less.sentence = exp.sentence = weights.sentence =
                "A score of this row is NaN, and so are the row's maximum, its sum and the weights of all "
                "open keys.";
        } else {
            less.sentence = fmt::format(
                "Subtract the row's maximum {} so that no exp overflows; the weights do not change.",
                maximum);
            exp.total = "Σ " + sum;
            weights.sentence = fmt::format("Divide by the row's sum {}, so that the weights sum to 1.", sum);
        }
        out_.steps.push_back(std::move(less));
        out_.steps.push_back(std::move(exp));
    }

    /// The values that the weights weight, and their sum.
    void add_values() {
        const StageRecord* context = nullptr;
        for (const StageRecord& each : trace_.records)
            if (each.stage->layer == weights_.stage->layer && role_of(&each) == StageRole::context)
                context = &each;
        if (!context) return;
        const bool decodes = std::holds_alternative<op::Decode>(*context->op);
        out_.values = operands(trace_, *context->stage).above;
        const std::string symbol(weights_.stage->info->symbol), value(out_.values->info->symbol);
        out_.steps.push_back({.title = "weight × " + std::string(decodes ? "annotation" : "value"),
                              .symbol = symbol + "·" + value,
                              .caption = symbol + " · " + value,
                              .formula = symbol + " · " + value + ", key by key",
                              .sentence = "Multiply each key's " +
                                          std::string(decodes ? "annotation" : "value") +
                                          " by its weight: a key with little weight adds little.",
                              .kind = Kind::products});
        RowStep sum =
            step_of(*context->stage, Kind::sum,
                    fmt::format("Add up the rows, feature by feature: the sum is the context of “{}”. {}",
                                trace_.row_label(*weights_.stage, out_.row), after_context(decodes)));
        sum.numbers = numbers_of(*context);
        out_.steps.push_back(std::move(sum));
    }

    /// What the context is used for.
    std::string after_context(bool decodes) const {
        if (decodes) return "The decoder's next word depends on it.";
        const int heads = weights_.stage->shape().heads;
        const bool projected = trace_.find(StageKey("output"_stage, weights_.stage->layer)) != nullptr;
        if (heads > 1)
            return fmt::format("The contexts of all {} heads beside each other{}.", heads,
                               projected ? ", times W_o, are the output" : " are the output");
        return projected ? "Times W_o it is the output." : "It is the output.";
    }

    const Trace& trace_;
    const StageRecord& weights_;
    const std::vector<const StageRecord*> chain_;
    const StageRecord* normalized_;
    const StageRecord* logits_;
    std::optional<op::Softmax> softmax_;
    RowSteps out_;
};

}  // namespace

const Stage* last_weights(const Trace& trace, int layer) {
    const Stage* found = nullptr;
    for (const StageRecord& record : trace.records) {
        const Stage& stage = *record.stage;
        const bool weighs = stage.info->unit == Unit::probability && !stage.info->mask.empty();
        if (weighs && (stage.layer == 0 || stage.layer == layer)) found = &stage;
    }
    return found;
}

std::optional<double> weight_of_score(const Trace& trace, const Stage& scores, int head, int row,
                                      int column) {
    const StageRole role = scores.info->role;
    if (scores.part != StageKey::Part::value ||
        (role != StageRole::scores && role != StageRole::masked_scores))
        return std::nullopt;
    const Stage* weights = last_weights(trace, std::max(1, scores.layer));
    if (!weights || (head < 0 && weights->shape().heads > 1)) return std::nullopt;
    return weights->buffer.at(std::clamp(head, 0, weights->shape().heads - 1), row, column);
}

const Stage* scores_before(const Trace& trace, const Stage& weights) {
    if (weights.info->role != StageRole::weights || weights.part != StageKey::Part::value) return nullptr;
    const Stage* found = nullptr;
    for (const StageRecord& record : trace.records) {
        const Stage& stage = *record.stage;
        if (&stage == &weights) break;
        if (stage.info->role == StageRole::scores && stage.layer == weights.layer &&
            stage.part == StageKey::Part::value && stage.shape() == weights.shape())
            found = &stage;
    }
    return found;
}

RowSteps row_steps(const Trace& trace, const Stage& weights, int head, int row) {
    return Writer(trace, *trace.record(weights.key()), head, row).write();
}

std::vector<double> value_of_key(const RowSteps& of, int key) {
    const Eigen::RowVectorXf value =
        of.values->buffer.row(std::min(of.head, of.values->shape().heads - 1), key);
    return {value.begin(), value.end()};
}

std::vector<double> weighted_value(const RowSteps& of, int key) {
    const auto j = static_cast<std::size_t>(key);
    std::vector<double> products = value_of_key(of, key);
    for (double& each : products)
        each = ProofTerm{"", static_cast<float>(of.weights[j]), static_cast<float>(each), of.closed[j]}
                   .product();
    return products;
}

}  // namespace attnscope
