// Mask rules: which query may look at which key. One small type behind one table.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/experiment.h"
#include "core/attention/tensor.h"

namespace attnscope {

/// A kind of mask rule, written `name` or `name:argument,…`.
struct MaskKind {
    std::string_view name;
    std::string_view summary;
    std::string_view arguments;  ///< empty, or the arguments as written after the colon: "K[,K…]"
    /// Throws Error(bad_input) unless the rule's own arguments are valid (before any sentence is known).
    void (*check)(const MaskRule& rule);
    /// Throws Error(bad_input), naming both sizes, unless the rule fits N queries.
    void (*check_fit)(const MaskRule& rule, int queries);
    /// Whether query i may look at key j, both from 0.
    bool (*open)(const MaskRule& rule, int i, int j);
};

/// `causal`       j ≤ i, from the top left corner even when N and M differ
/// `valid:K[,K…]` j < K: one length for all queries, or one per query
/// `window:L,R`   i − L ≤ j ≤ i + R
std::span<const MaskKind> mask_kinds();
const MaskKind* find_mask_kind(std::string_view name);

/// Parses "causal" or "valid:2,3". Throws Error(bad_input) listing the accepted rules, and `also`, which the
/// caller accepts besides.
MaskRule parse_mask_rule(std::string_view text, std::string_view also = {});
std::string mask_rule_text(const MaskRule& rule);

/// The N × M mask: 1 where all rules allow, else 0; all ones without a rule. Throws as MaskKind::check_fit.
Tensor mask_matrix(std::span<const MaskRule> rules, int queries, int keys);

/// "open where j ≤ i and j ≤ 5", for a title; i and j are counted from 1 as on screen.
std::string mask_formula(std::span<const MaskRule> rules);
/// "open", "causal", "causal + valid", for a thumbnail.
std::string mask_caption(std::span<const MaskRule> rules);

}  // namespace attnscope
