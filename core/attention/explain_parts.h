// What proofs of several files share: the question, and the parts that an answer is made of.
#pragma once

#include <string>

#include "core/attention/explain.h"

namespace attnscope::proofs {

inline constexpr const char* k_no_weights = "nothing is open to this query: its weights are zeros";
inline constexpr const char* k_no_context = "nothing is open to this query: its context is zero";

/// A cell of a stage of attention, in one head (from 0; −1: the mean).
struct Question {
    const Trace& trace;
    const Stage& stage;
    int head;
    int row;
    int column;

    float at(const char* name) const { return trace.find(name)->buffer.at(head, row, column); }
};

/// With so many digits after the point.
std::string short_number(double value, int precision);
/// A number in a label: as few digits as tell it.
std::string label_number(double value);

/// A head's own block of a stage that may have no heads.
int head_of(const Stage& stage, int head);
/// Whether the softmax of a head leaves out key j of this row.
bool is_closed(const Question& q, int head, int j);
/// Whether it leaves out all of them.
bool nothing_open(const Question& q, int head);
/// The rules that close this cell, in the words of the mask's caption.
std::string closed_remark(const Question& q);

/// Σ_k left(row, k) · right(column, k), or right(k, column) if the right operand does not stand transposed.
void add_products(Proof& proof, const Question& q, const Stage& left, int left_row, const Stage& right,
                  int right_index, bool transposed);

// explain_scores.cpp: from the score function to the weights.
void explain_hidden(Proof& proof, const Question& q);
void explain_scores(Proof& proof, const Question& q);
void explain_scaled(Proof& proof, const Question& q);
void explain_slopes(Proof& proof, const Question& q);
void explain_bias(Proof& proof, const Question& q);
void explain_biased(Proof& proof, const Question& q);
void explain_center(Proof& proof, const Question& q);
void explain_masked(Proof& proof, const Question& q);
void explain_gauss(Proof& proof, const Question& q);
void explain_weights(Proof& proof, const Question& q);
void explain_dropped(Proof& proof, const Question& q);

}  // namespace attnscope::proofs
