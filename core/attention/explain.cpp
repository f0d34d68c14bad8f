#include "core/attention/explain.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "core/attention/block.h"
#include "core/attention/explain_parts.h"
#include "core/attention/explain_seq2seq.h"
#include "core/attention/stages.h"

namespace attnscope {
namespace {

using namespace proofs;

void explain_position(Proof& proof, const Question& q) {
    const int d = q.stage.shape().columns, k = q.column / 2;
    const double angle = q.row * std::pow(10000.0, -2.0 * k / d);
    proof.steps.push_back({"p ÷ 10000^(" + std::to_string(2 * k) + " ÷ " + std::to_string(d) + ")", angle});
    proof.steps.push_back({q.column % 2 == 0 ? "sin" : "cos", proof.value});
}

/// a + b, cell by cell.
void add_sum_steps(Proof& proof, const Question& q, const Stage* a, const char* first, const Stage* b,
                   const char* second) {
    if (!a || !b) return;
    proof.steps.push_back({first, a->buffer.at(0, q.row, q.column)});
    proof.steps.push_back(
        {std::string("+ ") + second + " " + label_number(b->buffer.at(0, q.row, q.column)), proof.value});
}

void explain_positioned(Proof& proof, const Question& q) {
    const bool keys = q.stage.name() == "positioned_kv";
    add_sum_steps(proof, q, q.trace.find(keys ? "embedding_kv" : "embedding"), keys ? "y" : "x",
                  q.trace.find("position"), "PE");
}

const Stage* block_input(const Trace& trace) {
    const Stage* positioned = trace.find("positioned");
    return positioned ? positioned : trace.find("embedding");
}

void explain_residual(Proof& proof, const Question& q) {
    const bool first = q.stage.name() == "residual_1";
    const bool pre_norm = q.trace.experiment.block == "pre-norm";
    const Stage* output = q.trace.find("output");
    if (first)
        add_sum_steps(proof, q, block_input(q.trace), "x", output ? output : operand(q.trace, "concat"),
                      "attention");
    else
        add_sum_steps(proof, q, q.trace.find(pre_norm ? "residual_1" : "norm_1"), "x",
                      q.trace.find("feed_forward"), "feed-forward");
}

void explain_norm(Proof& proof, const Question& q) {
    const bool first = q.stage.name() == "norm_1", pre_norm = q.trace.experiment.block == "pre-norm";
    const Stage* x = first ? (pre_norm ? block_input(q.trace) : q.trace.find("residual_1"))
                           : q.trace.find(pre_norm ? "residual_1" : "residual_2");
    const std::string prefix = first ? "ln1" : "ln2";
    const Eigen::ArrayXd row = x->buffer.row(0, q.row).transpose().cast<double>();
    const double mean = row.mean();
    const double deviation = std::sqrt((row - mean).square().mean() + k_layer_norm_epsilon);
    const double centered = row(q.column) - mean;
    proof.steps.push_back({"x", row(q.column)});
    proof.steps.push_back({"− row mean " + short_number(mean, 4), centered});
    proof.steps.push_back({"÷ √(variance + ε) " + short_number(deviation, 4), centered / deviation});
    proof.steps.push_back({"× gain " + label_number(q.trace.find(prefix + "_g")->buffer.at(0, 0, q.column)) +
                               " + shift " +
                               label_number(q.trace.find(prefix + "_b")->buffer.at(0, 0, q.column)),
                           proof.value});
}

void explain_active(Proof& proof, const Question& q) {
    proof.steps.push_back({"x", q.trace.find("feed_forward_hidden")->buffer.at(0, q.row, q.column)});
    proof.steps.push_back({q.trace.experiment.activation, proof.value});
}

void explain_log_probs(Proof& proof, const Question& q) {
    const Eigen::ArrayXd row = q.trace.find("logits")->buffer.row(0, q.row).transpose().cast<double>();
    const double largest = row.maxCoeff();
    const double log_sum = largest + std::log((row - largest).exp().sum());
    proof.steps.push_back({"logit", row(q.column)});
    proof.steps.push_back({"− log Σ exp " + short_number(log_sum, 4), proof.value});
}

void explain_loss(Proof& proof, const Question& q) {
    proof.remark = q.trace.find("targets") ? "the mean of −log p of each query's target"
                                           : "the output's cells times the given weights, summed";
}

struct Linear {
    std::string_view stage;
    const char* product;  ///< how a term is called
    const char* bias;
};
constexpr Linear k_linear[] = {
    {"embedding_kv", "pixel · w", ""},
    {"query", "x · w", "b_q"},
    {"key", "x · w", "b_k"},
    {"value", "x · w", "b_v"},
    {"output", "c · w", "b_o"},
    {"logits", "x · w", "b_out"},
    {"feed_forward_hidden", "x · w", "b_1"},
    {"feed_forward", "x · w", "b_2"},
};

void explain_linear(Proof& proof, const Question& q) {
    const Stage* x = operand(q.trace, q.stage.info->left);
    const Stage* W = operand(q.trace, q.stage.info->above);
    const Linear& linear = *std::ranges::find(k_linear, q.stage.name(), &Linear::stage);
    if (!x || !W) {
        proof.remark = q.trace.experiment.is_given(q.stage.name())
                           ? "given"
                           : "no projection: the same as the embedding";
        return;
    }
    proof.terms_title = std::string(linear.product) + ", term by term";
    add_products(proof, q, *x, q.row, *W, q.column, true);
    proof.terms_result = proof.value;
    if (const Stage* bias = q.trace.find(linear.bias)) {
        const float b = bias->buffer.at(0, 0, q.column);
        proof.steps.push_back({linear.product, proof.value - b});
        proof.steps.push_back({"+ b " + label_number(b), proof.value});
    }
}

void explain_context(Proof& proof, const Question& q) {
    proof.terms_title = "weight × value, token by token";
    add_products(proof, q, *operand(q.trace, "weights"), q.row, *operand(q.trace, "value"), q.column, false);
    proof.terms_result = proof.value;
    if (nothing_open(q, q.head)) proof.remark = k_no_context;
}

void explain_patches(Proof& proof, const Question& q) {
    const std::string what = q.trace.label(Axis::pixel, q.column);
    proof.remark = "pixel " + what + " of patch " + q.trace.label(Axis::key_token, q.row) +
                   ", the mean over its area in the picture, 0 … 1";
}

void explain_embedding(Proof& proof, const Question& q) {
    if (q.stage.name() == "embedding_kv" && q.trace.find("patches")) return explain_linear(proof, q);
    const Stage* tokens = q.trace.find(q.stage.name() == "embedding" ? "tokens" : "tokens_kv");
    if (q.trace.experiment.is_given(q.stage.name()) || !tokens) {
        proof.remark = "given";
        return;
    }
    const int id = static_cast<int>(tokens->buffer.at(0, q.row, 0));
    proof.remark = "row " + std::to_string(id) + " of the table, dimension " + std::to_string(q.column + 1) +
                   ", drawn with seed " + q.trace.experiment.seed.text();
}

void explain_tokens(Proof& proof, const Question& q) {
    proof.remark = "\"" + q.trace.label(q.stage.info->rows, q.row) + "\" is word " +
                   std::to_string(static_cast<int>(proof.value)) + " of the vocabulary, counted from 0";
}

void explain_mask(Proof& proof, const Question& q) {
    const bool open = proof.value != 0;
    proof.remark = open ? "open: this query may look at this key" : closed_remark(q);
}

void explain_heads(Proof& proof, const Question& q) {
    const int width = q.stage.shape().columns;
    const std::string whole(q.stage.name().substr(0, q.stage.name().find('_')));
    const bool turned = q.trace.experiment.position == "rope" && whole != "value";
    if (!turned) {
        proof.remark = "column " + std::to_string(q.head * width + q.column + 1) + " of the whole, in head " +
                       std::to_string(q.head + 1);
        return;
    }
    const bool half = q.trace.experiment.rope_layout == "half";
    const int k = half ? q.column % (width / 2) : q.column / 2;
    const bool first = half ? q.column < width / 2 : q.column % 2 == 0;
    const auto cell = [&](int column) {
        return static_cast<double>(q.trace.find(whole)->buffer.at(0, q.row, q.head * width + column));
    };
    const double a = cell(half ? k : 2 * k), b = cell(half ? k + width / 2 : 2 * k + 1);
    const double angle = q.row * std::pow(10000.0, -2.0 * k / width);
    proof.steps.push_back(
        {"angle p · 10000^(−" + std::to_string(2 * k) + " ÷ " + std::to_string(width) + ")", angle});
    proof.steps.push_back({first ? "a cos" : "a sin", a * (first ? std::cos(angle) : std::sin(angle))});
    proof.steps.push_back({first ? "− b sin" : "+ b cos", proof.value});
    proof.remark = "a = " + short_number(a, 4) + ", b = " + short_number(b, 4) + ", turned by the place";
}

void explain_concat(Proof& proof, const Question& q) {
    const int width = q.trace.find("context")->shape().columns;
    proof.remark = "context of head " + std::to_string(q.column / width + 1) + ", column " +
                   std::to_string(q.column % width + 1);
}

void explain_parameter(Proof& proof, const Question& q) {
    proof.remark = q.trace.experiment.given.contains(std::string(q.stage.name())) ? "given" : "drawn";
}

struct Explanation {
    std::string_view stage;
    void (*explain)(Proof&, const Question&);
};

constexpr std::array k_explanations = {
    Explanation{"tokens", explain_tokens},
    Explanation{"tokens_kv", explain_tokens},
    Explanation{"patches", explain_patches},
    Explanation{"embedding", explain_embedding},
    Explanation{"embedding_kv", explain_embedding},
    Explanation{"embedding_v", explain_embedding},
    Explanation{"position", explain_position},
    Explanation{"positioned", explain_positioned},
    Explanation{"positioned_kv", explain_positioned},
    Explanation{"query", explain_linear},
    Explanation{"key", explain_linear},
    Explanation{"value", explain_linear},
    Explanation{"query_heads", explain_heads},
    Explanation{"key_heads", explain_heads},
    Explanation{"value_heads", explain_heads},
    Explanation{"score_hidden", explain_hidden},
    Explanation{"cosine", explain_scores},
    Explanation{"scores", explain_scores},
    Explanation{"scaled", explain_scaled},
    Explanation{"slopes", explain_slopes},
    Explanation{"bias", explain_bias},
    Explanation{"biased", explain_biased},
    Explanation{"center", explain_center},
    Explanation{"mask", explain_mask},
    Explanation{"masked", explain_masked},
    Explanation{"align", explain_weights},
    Explanation{"gauss", explain_gauss},
    Explanation{"weights", explain_weights},
    Explanation{"weights_dropped", explain_dropped},
    Explanation{"context", explain_context},
    Explanation{"concat", explain_concat},
    Explanation{"output", explain_linear},
    Explanation{"residual_1", explain_residual},
    Explanation{"residual_2", explain_residual},
    Explanation{"norm_1", explain_norm},
    Explanation{"norm_2", explain_norm},
    Explanation{"feed_forward_hidden", explain_linear},
    Explanation{"feed_forward_active", explain_active},
    Explanation{"feed_forward", explain_linear},
    Explanation{"logits", explain_linear},
    Explanation{"log_probs", explain_log_probs},
    Explanation{"loss", explain_loss},
};

/// What holds in every head holds for their mean.
void remark_on_mean(Proof& proof, const Question& q) {
    const std::string_view name = q.stage.name();
    const auto in_every_head = [&](const auto& holds) {
        for (int h = 0; h < q.stage.shape().heads; ++h)
            if (!holds(h)) return false;
        return true;
    };
    const bool empty =
        (name == "weights" || name == "context") && in_every_head([&](int h) { return nothing_open(q, h); });
    if (empty)
        proof.remark = name == "weights" ? k_no_weights : k_no_context;
    else if ((name == "masked" || name == "weights") &&
             in_every_head([&](int h) { return is_closed(q, h, q.column); }))
        proof.remark = closed_remark(q);
}

void explain_mean(Proof& proof, const Question& q) {
    const int heads = q.stage.shape().heads;
    for (int h = 0; h < heads; ++h) {
        const float value = q.stage.buffer.at(h, q.row, q.column);
        proof.steps.push_back({"head " + std::to_string(h + 1), value});
    }
    proof.steps.push_back({"÷ " + std::to_string(heads) + " heads", proof.value});
    remark_on_mean(proof, q);
}

RowSummary summarise(const Question& q, const Proof& proof) {
    RowSummary summary{0, 0, 0, 1};
    for (const ProofBar& bar : proof.row) {
        summary.sum += bar.value;
        if (bar.value > 0)
            summary.entropy -= static_cast<double>(bar.value) * std::log(static_cast<double>(bar.value));
        if (bar.value > proof.value) ++summary.rank;
    }
    summary.effective_tokens = summary.sum > 0 ? std::exp(summary.entropy) : 0;
    if (q.head >= 0 && q.stage.shape().heads > 1) {
        summary.head_rank = 1;
        for (int h = 0; h < q.stage.shape().heads; ++h)
            if (q.stage.buffer.at(h, q.row, q.column) > proof.value) ++summary.head_rank;
    }
    return summary;
}

void add_row(Proof& proof, const Question& q, const Buffer& values) {
    const Stage* masked =
        q.trace.find(q.trace.experiment.mechanism == "seq2seq" ? "alignment_masked" : "masked");
    const bool by_key = q.stage.info->columns == Axis::key_token;
    proof.row_title = q.trace.label(q.stage.info->rows, q.row);
    for (int j = 0; j < q.stage.shape().columns; ++j) {
        const bool bar_closed =
            by_key && masked && masked->buffer.at(std::max(q.head, 0), q.row, j) == -INFINITY;
        proof.row.push_back(
            {q.trace.label(q.stage.info->columns, j), values.at(std::max(q.head, 0), q.row, j), bar_closed});
    }
    constexpr std::array<std::string_view, 4> k_weights{"weights", "align", "alignment", "alignment_softmax"};
    if (std::ranges::find(k_weights, q.stage.name()) != k_weights.end()) proof.summary = summarise(q, proof);
}

}  // namespace

Proof explain(const Trace& trace, const Stage& stage, int head, int row, int column) {
    const bool mean = head < 0 && stage.shape().heads > 1;
    const Buffer& values = mean ? stage.buffer.mean() : stage.buffer;
    const Question question{trace, stage, mean ? -1 : std::clamp(head, 0, stage.shape().heads - 1), row,
                            column};
    Proof proof;
    // A stage without heads may belong to a head that the next stages have: the mask of head 3 is the mask.
    proof.value = values.at(std::max(question.head, 0), row, column);
    if (mean) {
        explain_mean(proof, question);
    } else if (trace.experiment.mechanism == "seq2seq") {
        explain_seq2seq(proof, trace, stage, row, column);
    } else {
        void (*how)(Proof&, const Question&) = explain_parameter;
        for (const Explanation& each : k_explanations)
            if (each.stage == stage.name()) how = each.explain;
        how(proof, question);
    }
    add_row(proof, question, values);
    return proof;
}

}  // namespace attnscope
