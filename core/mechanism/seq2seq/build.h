// Sequence to sequence: builds the graph of an experiment.
#pragma once

#include <array>
#include <map>
#include <string>
#include <vector>

#include "core/experiment/experiment.h"
#include "core/graph/graph.h"
#include "core/mechanism/seq2seq/parameters.h"
#include "core/op/op.h"

namespace attnscope {

/// The rows of E_tgt before those of the words.
inline constexpr int k_bos = 0, k_eos = 1, k_special_words = 2;

/// Used once, by build(). Bahdanau et al. 2015, with PyTorch's GRUs. Each sentence has a vocabulary of its
/// own. In E_tgt the target's words follow `<bos>` (row 0) and `<eos>` (row 1), and it has as many rows as
/// words can be predicted; E_src has at least `table_size` rows.
class Seq2seqBuilder {
public:
    explicit Seq2seqBuilder(const Experiment& experiment) : e_(experiment) {}

    /// Throws Error(bad_input) for an experiment without tokens or whose shapes do not fit.
    Graph build();

private:
    bool is_custom(CustomName name) const { return e_.is_custom(name); }
    bool is_greedy() const { return attnscope::is_greedy(e_.seq2seq.decode); }
    bool aligns() const { return e_.seq2seq.aligns(); }
    bool reads_backward() const { return e_.seq2seq.reads_backward(); }
    /// The largest possible number of steps.
    int steps() const { return is_greedy() ? e_.seq2seq.max_steps : static_cast<int>(fed_.size()); }

    // words.cpp: from text to rows of the tables.
    void read_source();
    void read_target();
    std::vector<int> custom_words(CustomName of, int rows) const;

    Seq2seqSizes sizes() const;
    Op drawn(const Seq2seqParameter& parameter) const;
    Value parameter(CustomName name);
    /// W_ih, W_hh, b_ih, b_hh of a GRU.
    using GruNames = std::array<CustomName, 4>;
    std::vector<Value> gru_parameters(const GruNames& names);
    void encode_source();
    Value encode(const GruNames& names, const std::vector<StageKey>& stages, Direction direction);
    void start_decoder();
    op::DecoderRule decoder_rule() const;
    std::vector<Value> decoder_inputs();
    void feed();
    void decode_target();
    void predict();
    void add_loss();

    const Experiment& e_;
    GraphBuilder builder_;
    std::vector<std::string> source_words_,
        target_words_;                         ///< folded, by row; empty if they do not come from the text
    std::vector<int> source_, fed_, targets_;  ///< targets_: empty if there are no targets
    int source_rows_ = 0, target_rows_ = 0;
    std::map<std::string, Value, std::less<>> parameters_;
    Value X_, annotations_, last_state_, initial_state_, keys_, fed_tokens_, words_, context_, state_,
        log_probs_;
};

/// "fed→target" for each step, or "fed→picked" where there are no targets; empty if the words do not come
/// from the text.
std::vector<std::string> step_labels(const Trace& trace);

}  // namespace attnscope
