// Mask rules: which query may attend to which key. One small type behind one table.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/experiment/experiment.h"
#include "core/tensor/tensor.h"

namespace attnscope {

/// One kind of mask: all that is known of it. Rules are written `name` or `name:argument,…`.
struct MaskKind {
    MaskForm choice;
    std::string_view summary;
    std::string_view arguments;  ///< "" or how they are written after the colon: "K[,K…]"
    std::string_view label;      ///< in the panel, in the field's terms
    bool is_common;              ///< the panel shows it from the start
    /// The arguments of a rule that the panel switches on for a sentence of so many tokens.
    std::vector<std::int64_t> (*first)(int tokens);
    /// Throws Error(bad_input) unless the rule's own arguments make sense (before any sentence is known).
    void (*check)(const MaskRule& rule);
    /// Throws Error(bad_input), naming both sizes, unless the rule fits N queries.
    void (*check_fit)(const MaskRule& rule, int queries);
    /// Whether query i may attend to key j, both from 0.
    bool (*open)(const MaskRule& rule, int i, int j);
    /// Which pairs of a region it leaves open; exact.
    Coverage (*coverage)(const MaskRule& rule, const Region& region);
    /// When query i may attend to key j, in words: "j ≤ i".
    std::string (*condition)(const MaskRule& rule);
    /// The rule in PyTorch: i is a column of queries and j a row of keys, both from 0, `each` a tensor of the
    /// arguments where there is one for each query.
    std::string (*torch)(const MaskRule& rule);
    /// The define of shaders/mask.comp that computes the rule from its arguments; followed by _EACH where
    /// there is an argument for each query.
    const char* shader;
    /// The open pairs of a region that it leaves partly open; nullptr: they are counted by halving it.
    std::size_t (*count)(const MaskRule& rule, const Region& region) = nullptr;
    bool may_have_each = false;  ///< takes one argument for all queries, or one for each
};

/// `causal`       j ≤ i, from the top left corner even when N and M differ
/// `valid:K[,K…]` j < K: one length for all queries, or one per query
/// `window:L,R`   i − L ≤ j ≤ i + R
/// `dilated:STEP` STEP divides i − j (Beltagy et al. 2020, §3.1; Child et al. 2019, §4.2, strided)
/// `prefix:K`     j ≤ i or j < K: causal, but for a prefix (Raffel et al. 2020, §3.2.1)
std::span<const MaskKind> mask_kinds();
const MaskKind& mask_kind(MaskForm choice);
/// What the option takes, for --help: "none|causal|…|file:PATH".
std::string_view mask_arguments();
/// Whether the rule has an argument for each query.
bool has_argument_for_each(const MaskRule& rule);

/// Parses "causal" or "valid:2,3". Throws Error(bad_input) listing the accepted rules, and `also`, which the
/// caller accepts besides.
MaskRule parse_mask_rule(std::string_view text, std::string_view also = {});
std::string mask_rule_text(const MaskRule& rule);

}  // namespace attnscope
