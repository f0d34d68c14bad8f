// The evaluation of one experiment of sequence to sequence, step by step in the order of the computation.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/attention/stage_builder.h"
#include "core/seq2seq/decoder.h"
#include "core/seq2seq/parameters.h"
#include "core/text/vocabulary.h"

namespace attnscope {

/// One use: run(). Bahdanau et al. 2015, with GRUs as PyTorch has them. The words of the target stand in
/// E_tgt behind `<bos>` (row 0) and `<eos>` (row 1), each sentence having a vocabulary of its own; E_src has
/// at least `table_size` rows, E_tgt as many as there are words to predict.
class Seq2seqEvaluation {
public:
    Seq2seqEvaluation(const Experiment& experiment, const Trace& previous, const EvaluateOptions& options)
        : e_(experiment), build_(previous, trace_, options), options_(options) {}

    Trace run();

private:
    bool is_given(std::string_view name) const { return e_.is_given(name); }
    bool is_greedy() const { return e_.decode == Decode::greedy; }
    bool aligns() const { return e_.decoder_attention == DecoderAttention::additive; }
    bool reads_backward() const { return e_.encoder == Encoder::bidirectional; }

    // evaluate_words.cpp: from text to rows of the tables.
    void read_words();
    void read_source();
    void read_target();
    void require_memory() const;
    std::vector<int> given_words(const char* name, int rows) const;
    StagePtr token_rows(const char* name, const std::vector<int>& words);
    StagePtr rows_of_table(const char* name, const StagePtr& words, const StagePtr& table);
    void label_steps();

    // evaluate_seq2seq.cpp: the computation.
    Seq2seqSizes sizes() const;
    StagePtr parameter(const std::string& name);
    const std::map<std::string, Matrix>& drawn();
    std::vector<StagePtr> gru_parameters(const std::string& prefix);
    void embed_source();
    StagePtr read(const std::string& side, Direction direction);
    void encode_source();
    void start_decoder();
    void feed();
    void decode_target();
    void add_alignment(const std::vector<StagePtr>& inputs, const std::string& text);
    void predict();
    void add_loss();
    const std::vector<DecoderStep>& steps();
    void run_decoder();
    std::string decoder_settings() const;
    std::vector<StagePtr> decoder_inputs() const;
    Vocabularies vocabularies() const;
    StagePtr step_rows(const char* name, const std::vector<StagePtr>& inputs, const std::string& text,
                       const std::function<const Row&(const DecoderStep&)>& part);

    const Experiment& e_;
    Trace trace_;
    StageBuilder build_;
    const EvaluateOptions& options_;

    std::vector<std::string> source_words_, target_words_;  ///< folded, by row; empty where not of the text
    std::vector<int> source_, fed_, wanted_;                ///< wanted: empty if nothing is to be predicted
    int source_rows_ = 0, target_rows_ = 0;
    std::map<std::string, Matrix> drawn_;
    std::map<std::string, StagePtr> parameters_;
    StagePtr X_, annotations_, last_state_, initial_state_, keys_, fed_stage_, words_, context_, state_,
        log_probs_;
    std::optional<std::vector<DecoderStep>> steps_;
};

/// trace_bytes of sequence to sequence: `queries` are the decoder's steps, `keys` the source words.
std::size_t seq2seq_trace_bytes(const Experiment& experiment, int queries, int keys);

}  // namespace attnscope
