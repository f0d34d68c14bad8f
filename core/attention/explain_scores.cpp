// Why a score, a masked score or a weight has its value.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "core/attention/explain_parts.h"
#include "core/attention/masks.h"
#include "core/attention/normalizers.h"
#include "core/attention/stages.h"

namespace attnscope::proofs {
namespace {

/// Adds the product left × right.
void add_term(Proof& proof, std::string label, float left, float right) {
    proof.terms.push_back({std::move(label), left, right, false});
    proof.terms_sum += proof.terms.back().product();
}

/// v · (the hidden units of this query and key), unit by unit.
void add_hidden_terms(Proof& proof, const Question& q, const char* v) {
    proof.terms_title = std::string(v) + " · tanh(…), unit by unit";
    const Stage& hidden = *q.trace.find("score_hidden");
    const Stage& weights = *q.trace.find(v);
    const int depth = hidden.shape().depth;
    for (int k = 0; k < depth; ++k)
        add_term(proof, std::to_string(k + 1), weights.buffer.at(0, 0, k),
                 hidden.buffer.at(q.head, q.row, q.column * depth + k));
}

/// (q W) · k, W standing between them; each (q W)_c is rounded to float32.
void add_general_terms(Proof& proof, const Question& q, const Stage& Q, const Stage& K) {
    proof.terms_title = "(q W) · k, term by term";
    const ConstMatrixView W = q.trace.find("W_score")->buffer.host().head(0);
    const Eigen::RowVectorXf projected = Q.buffer.row(head_of(Q, q.head), q.row) * W;
    for (int c = 0; c < K.shape().columns; ++c)
        add_term(proof, q.trace.label(Axis::feature, c), projected(c),
                 K.buffer.at(head_of(K, q.head), q.column, c));
}

double norm_of(const Stage& stage, int head, int row) {
    return stage.buffer.row(head_of(stage, head), row).cast<double>().norm();
}

/// The cosine's steps after q · k: ÷ the norms, × β.
void add_cosine_steps(Proof& proof, const Question& q, const Stage& Q, const Stage& K) {
    const double norms = norm_of(Q, q.head, q.row) * norm_of(K, q.head, q.column);
    proof.terms_result = proof.terms_sum;
    proof.steps.push_back({"q · k", proof.terms_sum});
    proof.steps.push_back({"÷ |q| |k| " + short_number(std::max(norms, 1e-8), 3), q.at("cosine")});
}

/// What the sum of the terms is called among the steps.
std::string score_label(const Question& q, const Proof& proof) {
    if (proof.terms.empty()) return "score";
    return q.trace.experiment.score == Score::dot ? "q · k" : "score";
}

std::string scale_label(const Question& q) {
    const Experiment& e = q.trace.experiment;
    const Stage* K = operand(q.trace, "key");
    switch (e.scale.kind) {
        case Scale::Kind::sqrt: return "÷ √" + std::to_string(K ? K->shape().columns : 1);
        case Scale::Kind::none: return "× 1";
        case Scale::Kind::number: return "× " + label_number(e.scale.number);
    }
    return {};
}

bool closed(const Question& q) { return is_closed(q, q.head, q.column); }

/// The softmax of this cell along its row (or its column, where the weights sum over the queries).
void add_softmax_steps(Proof& proof, const Question& q, const char* stage) {
    const Buffer& masked = q.trace.find("masked")->buffer;
    const bool over_queries = q.trace.experiment.over_queries();
    const Eigen::VectorXf cells =
        over_queries ? masked.column(q.head, q.column) : Eigen::VectorXf(masked.row(q.head, q.row));
    const float largest = cells.maxCoeff<Eigen::PropagateNaN>();
    double sum = 0;
    for (const float x : cells)
        if (x != -INFINITY) sum += std::exp(static_cast<double>(x) - largest);
    const double difference = static_cast<double>(cells(over_queries ? q.row : q.column)) - largest;
    const std::string line = over_queries ? "column" : "row";
    proof.steps.push_back({"− " + line + " max " + short_number(largest, 3), difference});
    proof.steps.push_back({"exp", std::exp(difference)});
    proof.steps.push_back({"÷ " + line + " sum " + short_number(sum, 4), q.at(stage)});
}

}  // namespace

std::string short_number(double value, int precision) {
    std::array<char, 48> text;
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, precision);
    return {text.data(), end.ptr};
}

std::string label_number(double value) {
    std::array<char, 48> text;
    return {text.data(),
            std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 6).ptr};
}

bool is_closed(const Question& q, int head, int j) {
    return q.trace.find("masked")->buffer.at(head, q.row, j) == -INFINITY;
}

int head_of(const Stage& stage, int head) { return stage.shape().heads > 1 ? head : 0; }

void add_products(Proof& proof, const Question& q, const Stage& left, int left_row, const Stage& right,
                  int right_index, bool transposed) {
    const int n = left.shape().columns;
    const Axis columns = left.info->columns;
    const Axis axis = columns == Axis::key_token || columns == Axis::pixel ? columns : Axis::feature;
    const Eigen::VectorXf of_left = left.buffer.row(head_of(left, q.head), left_row);
    const Eigen::VectorXf of_right =
        transposed ? Eigen::VectorXf(right.buffer.row(head_of(right, q.head), right_index))
                   : right.buffer.column(head_of(right, q.head), right_index);
    for (int k = 0; k < n; ++k) {
        const float a = of_left(k), b = of_right(k);
        const bool closed = axis == Axis::key_token && is_closed(q, q.head, k);
        proof.terms.push_back({q.trace.label(axis, k), a, b, closed});
        proof.terms_sum += proof.terms.back().product();
    }
}

void explain_scores(Proof& proof, const Question& q) {
    const Stage* Q = operand(q.trace, "query");
    const Stage* K = operand(q.trace, "key");
    const Score score = q.trace.experiment.score;
    if (!Q || !K) {
        proof.remark = "the scores are given";
        return;
    }
    if (score == Score::additive || score == Score::concat) {
        add_hidden_terms(proof, q, score == Score::additive ? "v_a" : "v_c");
    } else if (score == Score::general) {
        add_general_terms(proof, q, *Q, *K);
    } else if (score == Score::location) {
        proof.terms_title = "row j of W_loc · q, term by term";
        add_products(proof, q, *Q, q.row, *q.trace.find("W_loc"), q.column, true);
    } else {
        proof.terms_title = "q · k, term by term";
        add_products(proof, q, *Q, q.row, *K, q.column, true);
    }
    proof.terms_result = q.at("scores");
    if (score != Score::cosine) return;
    add_cosine_steps(proof, q, *Q, *K);
    if (q.stage.name() == "cosine") return;
    proof.steps.push_back({"× β " + label_number(q.trace.experiment.sharpening), q.at("scores")});
}

void explain_scaled(Proof& proof, const Question& q) {
    explain_scores(proof, q);
    const Experiment& e = q.trace.experiment;
    if (e.score != Score::cosine || proof.steps.empty())
        proof.steps.push_back({score_label(q, proof), q.at("scores")});
    proof.steps.push_back(
        {scale_label(q) + (e.temperature == 1 ? "" : " ÷ T " + label_number(e.temperature)), q.at("scaled")});
}

void explain_biased(Proof& proof, const Question& q) {
    explain_scaled(proof, q);
    if (!q.trace.find("biased")) return;
    double bias = 0;
    if (q.trace.find("bias")) bias += q.at("bias");
    if (const Stage* given = q.trace.find("mask_additive")) bias += given->buffer.at(0, q.row, q.column);
    proof.steps.push_back({"+ bias " + label_number(bias), q.at("biased")});
}

bool nothing_open(const Question& q, int head) {
    return (q.trace.find("masked")->buffer.row(head, q.row).array() == -INFINITY).all();
}

std::string closed_remark(const Question& q) {
    const Experiment& e = q.trace.experiment;
    const Stage* mask = q.trace.find("mask");
    const int mask_head = std::min(std::max(q.head, 0), mask->shape().heads - 1);
    if (mask->buffer.at(mask_head, q.row, q.column) != 0) return "closed: the score is −∞";
    std::vector<std::string> closing;
    for (const MaskRule& rule : e.mask)
        if (!find_mask_kind(rule.kind)->open(rule, q.row, q.column))
            closing.push_back(mask_caption({&rule, 1}));
    const auto given = [&](const char* name) { return e.given.at(name).values()(q.row, q.column); };
    if (e.is_given("mask") && given("mask") == 0) closing.emplace_back("given");
    if (e.is_given("mask_additive") && given("mask_additive") == -INFINITY) closing.emplace_back("bias −∞");
    if (const Stage* center = q.trace.find("center")) {
        const int head = std::min(std::max(q.head, 0), center->shape().heads - 1);
        const double distance = q.column - static_cast<double>(center->buffer.at(head, q.row, 0));
        if (std::abs(distance) > e.local_window)
            closing.push_back("further than D = " + window_text(e.local_window) + " from the centre");
    }
    std::string text = "closed by the mask: ";
    for (std::size_t i = 0; i < closing.size(); ++i) text += (i ? " + " : "") + closing[i];
    return text;
}

void explain_masked(Proof& proof, const Question& q) {
    explain_biased(proof, q);
    if (closed(q)) {
        proof.remark = closed_remark(q);
        proof.steps.push_back({"masked", -INFINITY});
    }
}

void explain_weights(Proof& proof, const Question& q) {
    explain_masked(proof, q);
    const char* const stage = q.stage.name() == "align" ? "align" : "weights";
    if (nothing_open(q, q.head)) {
        proof.remark = k_no_weights;
        proof.steps.push_back({"weight", q.at(stage)});
    } else if (closed(q)) {
        proof.steps.push_back({"weight", q.at(stage)});
    } else if (q.trace.experiment.normalizer == Normalization::hard) {
        const float largest =
            q.trace.find("masked")->buffer.row(q.head, q.row).maxCoeff<Eigen::PropagateNaN>();
        proof.steps.push_back({"row max", largest});
        proof.steps.push_back(
            {q.at("weights") == 1 ? "the first largest: 1" : "not the first largest: 0", q.at("weights")});
    } else {
        const bool with_gauss = q.trace.find("gauss") && q.stage.name() != "align";
        add_softmax_steps(proof, q, with_gauss ? "align" : stage);
        if (with_gauss) proof.steps.push_back({"× gauss " + short_number(q.at("gauss"), 4), q.at("weights")});
    }
}

void explain_dropped(Proof& proof, const Question& q) {
    explain_weights(proof, q);
    const bool kept = q.at("dropout_keep") != 0;
    const double p = q.trace.experiment.dropout;
    proof.steps.push_back(
        {kept ? "kept, ÷ (1 − p) " + label_number(1 - p) : std::string("dropped"), q.at("weights_dropped")});
}

void explain_gauss(Proof& proof, const Question& q) {
    const Stage& center = *q.trace.find("center");
    const double p = center.buffer.at(head_of(center, q.head), q.row, 0);
    const double deviation = q.trace.experiment.local_window / 2.0;
    proof.steps.push_back({"j − p, p = " + short_number(p, 3), q.column - p});
    proof.steps.push_back({"² ÷ 2 (D ÷ 2)²", (q.column - p) * (q.column - p) / (2 * deviation * deviation)});
    proof.steps.push_back({"exp of its negative", proof.value});
}

void explain_center(Proof& proof, const Question& q) {
    proof.remark = q.trace.find("W_p") ? "M · sigmoid( v_p · tanh( W_p q ) ), M = " +
                                             std::to_string(q.trace.find("masked")->shape().columns)
                                       : "the query's own place, counted from 0";
}

void explain_bias(Proof& proof, const Question& q) {
    const double slope = q.trace.find("slopes")->buffer.at(0, q.head, 0);
    proof.steps.push_back({"|i − j|", std::abs(double(q.row - q.column))});
    proof.steps.push_back({"× −m, m = " + label_number(slope), proof.value});
}

void explain_slopes(Proof& proof, const Question& q) {
    proof.remark =
        "2^(−8 · " + std::to_string(q.row + 1) + " ÷ " + std::to_string(q.stage.shape().rows) + ")";
}

void explain_hidden(Proof& proof, const Question& q) {
    const int depth = q.stage.shape().depth;
    proof.remark = "unit " + std::to_string(q.column % depth + 1) + " of " + std::to_string(depth) +
                   ", tanh of the query's and the key's part";
    proof.steps.push_back({"before tanh", std::atanh(static_cast<double>(proof.value))});
    proof.steps.push_back({"tanh", proof.value});
}

}  // namespace attnscope::proofs
