// What the checks and sizes of an experiment need to know of its mechanism. All else is in its Mechanism
// (core/graph/mechanism.h).
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "core/experiment/choices.h"

namespace attnscope {

struct MechanismRule {
    MechanismKind choice;
    /// Whether it has as many heads as are set, rather than one.
    bool has_heads;
    /// Whether it is a stack: its heads belong to layers, and are together as wide as the embedding.
    bool has_layers;
    /// Whether its queries are steps, one after the other, so that only the CPU computes it.
    bool is_recurrent;
    /// Whether the patches of an image may provide its keys and values, in place of a second sentence.
    bool reads_image;
    /// The longest sentence. Where pairs of tokens can be computed on demand, it is a shelf of books.
    int most_tokens;
};

inline constexpr int k_max_tokens = 4096;
inline constexpr int k_max_long_tokens = 1'048'576;

inline constexpr std::array k_mechanism_rules = {
    MechanismRule{.choice = MechanismKind::attention,
                  .has_heads = true,
                  .has_layers = false,
                  .is_recurrent = false,
                  .reads_image = true,
                  .most_tokens = k_max_long_tokens},
    MechanismRule{.choice = MechanismKind::seq2seq,
                  .has_heads = false,
                  .has_layers = false,
                  .is_recurrent = true,
                  .reads_image = false,
                  .most_tokens = k_max_tokens},
    MechanismRule{.choice = MechanismKind::transformer,
                  .has_heads = true,
                  .has_layers = true,
                  .is_recurrent = false,
                  .reads_image = false,
                  .most_tokens = k_max_tokens},
};
static_assert(is_table_of<MechanismKind>(k_mechanism_rules));

constexpr const MechanismRule& mechanism_rule(MechanismKind kind) {
    return k_mechanism_rules[static_cast<std::size_t>(kind)];
}

/// Why the GPU does not compute a mechanism, in one line; empty if it does.
inline std::string why_on_cpu(MechanismKind kind) {
    return mechanism_rule(kind).is_recurrent ? std::string(name_of(kind)) + " always runs on the CPU" : "";
}

/// A set of mechanisms.
class MechanismSet {
public:
    constexpr MechanismSet(std::initializer_list<MechanismKind> kinds) {
        for (const MechanismKind kind : kinds) has_[static_cast<std::size_t>(kind)] = true;
    }
    static constexpr MechanismSet all() {
        MechanismSet set({});
        set.has_.fill(true);
        return set;
    }
    constexpr bool contains(MechanismKind kind) const { return has_[static_cast<std::size_t>(kind)]; }
    /// "seq2seq or transformer".
    std::string names(std::string_view between) const {
        std::string names;
        for (const auto& [kind, name] : choices<MechanismKind>())
            if (contains(kind)) names += std::string(names.empty() ? "" : between) + std::string(name);
        return names;
    }

private:
    std::array<bool, choices<MechanismKind>().size()> has_ = {};
};

}  // namespace attnscope
