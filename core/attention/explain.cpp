#include "core/attention/explain.h"

#include <array>
#include <charconv>
#include <cmath>

#include "core/attention/masks.h"
#include "core/attention/stages.h"

namespace attnscope {
namespace {

std::string short_number(double value, int precision) {
    std::array<char, 48> text;
    const auto end =
        std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed, precision);
    return {text.data(), end.ptr};
}

/// A number in a label: as few digits as tell it.
std::string label_number(double value) {
    std::array<char, 48> text;
    return {text.data(),
            std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::general, 6).ptr};
}

constexpr const char* k_no_weights = "nothing is open to this query: its weights are zeros";
constexpr const char* k_no_context = "nothing is open to this query: its context is zero";

struct Question {
    const Trace& trace;
    const Stage& stage;
    int head;
    int row;
    int column;

    float at(const char* name) const { return trace.find(name)->buffer.at(head, row, column); }
};

/// Whether the softmax of a head leaves out key j of this row.
bool is_closed(const Question& q, int head, int j) {
    return q.trace.find("masked")->buffer.at(head, q.row, j) == -INFINITY;
}

/// A head's own block of a stage that may have no heads.
int head_of(const Stage& stage, int head) { return stage.shape().heads > 1 ? head : 0; }

/// Σ_k left(row, k) · right(column, k), or right(k, column) if the right operand does not stand transposed.
void add_products(Proof& proof, const Question& q, const Stage& left, int left_row, const Stage& right,
                  int right_index, bool transposed) {
    const int n = left.shape().columns;
    const Axis axis = left.info->columns == Axis::key_token ? Axis::key_token : Axis::feature;
    for (int k = 0; k < n; ++k) {
        const float a = left.buffer.at(head_of(left, q.head), left_row, k);
        const float b = transposed ? right.buffer.at(head_of(right, q.head), right_index, k)
                                   : right.buffer.at(head_of(right, q.head), k, right_index);
        const bool closed = axis == Axis::key_token && is_closed(q, q.head, k);
        proof.terms.push_back({q.trace.label(axis, k), a, b, closed});
        proof.terms_sum += proof.terms.back().product();
    }
}

void explain_scores(Proof& proof, const Question& q) {
    const Stage* Q = operand(q.trace, "query");
    const Stage* K = operand(q.trace, "key");
    if (!Q || !K) {
        proof.remark = "the scores are given";
        return;
    }
    proof.terms_title = "q · k, term by term";
    add_products(proof, q, *Q, q.row, *K, q.column, true);
    proof.terms_result = q.at("scores");
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

void explain_scaled(Proof& proof, const Question& q) {
    explain_scores(proof, q);
    const Experiment& e = q.trace.experiment;
    proof.steps.push_back({proof.terms.empty() ? "score" : "q · k", q.at("scores")});
    proof.steps.push_back(
        {scale_label(q) + (e.temperature == 1 ? "" : " ÷ T " + label_number(e.temperature)), q.at("scaled")});
}

bool closed(const Question& q) { return is_closed(q, q.head, q.column); }

bool nothing_open(const Question& q, int head) {
    return (q.trace.find("masked")->buffer.host().head(head).row(q.row).array() == -INFINITY).all();
}

std::string closed_remark(const Question& q) {
    const Stage* mask = q.trace.find("mask");
    if (mask->buffer.at(0, q.row, q.column) != 0) return "closed: the score is −∞";
    std::vector<MaskRule> closing;
    for (const MaskRule& rule : q.trace.experiment.mask)
        if (!find_mask_kind(rule.kind)->open(rule, q.row, q.column)) closing.push_back(rule);
    return "closed by the mask: " + mask_caption(closing);
}

void explain_masked(Proof& proof, const Question& q) {
    explain_scaled(proof, q);
    if (closed(q)) {
        proof.remark = closed_remark(q);
        proof.steps.push_back({"masked", -INFINITY});
    }
}

void explain_weights(Proof& proof, const Question& q) {
    explain_masked(proof, q);
    const auto row = q.trace.find("masked")->buffer.host().head(q.head).row(q.row);
    if (nothing_open(q, q.head)) {
        proof.remark = k_no_weights;
        proof.steps.push_back({"weight", q.at("weights")});
        return;
    }
    if (!closed(q)) {
        const float largest = row.maxCoeff<Eigen::PropagateNaN>();
        double sum = 0;
        for (Eigen::Index j = 0; j < row.size(); ++j)
            if (row(j) != -INFINITY) sum += std::exp(static_cast<double>(row(j)) - largest);
        const double difference = static_cast<double>(row(q.column)) - largest;
        proof.steps.push_back({"− row max " + short_number(largest, 3), difference});
        proof.steps.push_back({"exp", std::exp(difference)});
        proof.steps.push_back({"÷ row sum " + short_number(sum, 4), q.at("weights")});
    } else {
        proof.steps.push_back({"weight", q.at("weights")});
    }
}

void explain_linear(Proof& proof, const Question& q) {
    const Stage* x = operand(q.trace, q.stage.info->left);
    const Stage* W = operand(q.trace, q.stage.info->above);
    const std::string name(q.stage.name());
    const std::string letter(1, name[0]);
    if (!W) {
        proof.remark =
            q.trace.experiment.given.contains(name) ? "given" : "no projection: the same as the embedding";
        return;
    }
    proof.terms_title = (letter == "o" ? "c · w" : "x · w") + std::string(", term by term");
    add_products(proof, q, *x, q.row, *W, q.column, true);
    proof.terms_result = proof.value;
    const auto bias = q.trace.experiment.given.find("b_" + letter);
    if (bias != q.trace.experiment.given.end()) {
        const float b = bias->second.values().data()[q.column];
        proof.steps.push_back({letter == "o" ? "c · w" : "x · w", proof.value - b});
        proof.steps.push_back({"+ b " + label_number(b), proof.value});
    }
}

void explain_context(Proof& proof, const Question& q) {
    proof.terms_title = "weight × value, token by token";
    add_products(proof, q, *operand(q.trace, "weights"), q.row, *operand(q.trace, "value"), q.column, false);
    proof.terms_result = proof.value;
    if (nothing_open(q, q.head)) proof.remark = k_no_context;
}

void explain_embedding(Proof& proof, const Question& q) {
    const Stage* tokens = q.trace.find("tokens");
    if (!tokens) {
        proof.remark = "given";
        return;
    }
    const int id = static_cast<int>(tokens->buffer.at(0, q.row, 0));
    proof.remark = "row " + std::to_string(id) + " of the table, dimension " + std::to_string(q.column + 1) +
                   ", drawn with seed " + q.trace.experiment.seed.text();
}

void explain_tokens(Proof& proof, const Question& q) {
    proof.remark = "\"" + q.trace.rows[std::size_t(q.row)] + "\" is word " +
                   std::to_string(static_cast<int>(proof.value)) + " of the vocabulary, counted from 0";
}

void explain_mask(Proof& proof, const Question& q) {
    const bool open = proof.value != 0;
    proof.remark = open ? "open: this query may look at this key" : closed_remark(q);
}

void explain_block(Proof& proof, const Question& q) {
    const int width = q.stage.shape().columns;
    proof.remark = "column " + std::to_string(q.head * width + q.column + 1) + " of the whole, in head " +
                   std::to_string(q.head + 1);
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
    Explanation{"embedding", explain_embedding},
    Explanation{"embedding_kv", explain_parameter},
    Explanation{"query", explain_linear},
    Explanation{"key", explain_linear},
    Explanation{"value", explain_linear},
    Explanation{"query_heads", explain_block},
    Explanation{"key_heads", explain_block},
    Explanation{"value_heads", explain_block},
    Explanation{"scores", explain_scores},
    Explanation{"scaled", explain_scaled},
    Explanation{"mask", explain_mask},
    Explanation{"masked", explain_masked},
    Explanation{"weights", explain_weights},
    Explanation{"context", explain_context},
    Explanation{"concat", explain_concat},
    Explanation{"output", explain_linear},
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
    double sum = 0;
    for (int h = 0; h < heads; ++h) {
        const float value = q.stage.buffer.at(h, q.row, q.column);
        sum += value;
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
    const Stage* masked = q.trace.find("masked");
    const bool by_key = q.stage.info->columns == Axis::key_token;
    proof.row_title = q.trace.label(q.stage.info->rows, q.row);
    for (int j = 0; j < q.stage.shape().columns; ++j) {
        const bool bar_closed =
            by_key && masked && masked->buffer.at(std::max(q.head, 0), q.row, j) == -INFINITY;
        proof.row.push_back(
            {q.trace.label(q.stage.info->columns, j), values.at(std::max(q.head, 0), q.row, j), bar_closed});
    }
    if (q.stage.info->unit == Unit::probability) proof.summary = summarise(q, proof);
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
