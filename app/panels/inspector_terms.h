// The terms of a proof: what a dot product or a weighted sum adds up.
#pragma once

#include "app/document/desk.h"
#include "app/panels/inspector_list.h"
#include "core/op/proof.h"

namespace attnscope {

/// The products of the sum, one a line with its factors and a bar, and the sum; of a long list the largest.
/// Nothing if the proof is not of a sum. `of` stands before the title: "A: ".
void terms(Desk& desk, const Column& c, const Proof& proof, const std::string& of = "",
           const ListLength& length = k_one_list);
/// The terms of both proofs; once, where they are the same.
void terms_of_both(Desk& desk, const Column& c, const Proof& a, const Proof& b);

}  // namespace attnscope
