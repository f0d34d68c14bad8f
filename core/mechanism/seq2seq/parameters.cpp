#include "core/mechanism/seq2seq/parameters.h"

#include <array>
#include <cmath>

#include "core/op/normalizers.h"

namespace attnscope {
namespace {

using Sizes = Seq2seqSizes;
using How = Seq2seqParameter::Draw;
using Part = Seq2seqParameter::Part;

int one(const Sizes&) { return 1; }
int source_words(const Sizes& s) { return s.source_words; }
int target_words(const Sizes& s) { return s.target_words; }
int embedding(const Sizes& s) { return s.embedding; }
int encoder(const Sizes& s) { return s.encoder; }
int encoder_gates(const Sizes& s) { return 3 * s.encoder; }
int annotation(const Sizes& s) { return s.annotation; }
int decoder(const Sizes& s) { return s.decoder; }
int decoder_gates(const Sizes& s) { return 3 * s.decoder; }
int decoder_input(const Sizes& s) { return s.decoder_input; }
int hidden(const Sizes& s) { return s.hidden; }
int output_input(const Sizes& s) { return s.decoder + s.embedding + s.annotation; }

constexpr std::array k_parameters = {
    Seq2seqParameter{"E_src", Part::source_table, source_words, embedding, How::table, nullptr},
    Seq2seqParameter{"E_tgt", Part::target_table, target_words, embedding, How::table, nullptr},
    Seq2seqParameter{"enc_fwd.W_ih", Part::encoder, encoder_gates, embedding, How::recurrent, encoder},
    Seq2seqParameter{"enc_fwd.W_hh", Part::encoder, encoder_gates, encoder, How::recurrent, encoder},
    Seq2seqParameter{"enc_fwd.b_ih", Part::encoder, one, encoder_gates, How::recurrent, encoder},
    Seq2seqParameter{"enc_fwd.b_hh", Part::encoder, one, encoder_gates, How::recurrent, encoder},
    Seq2seqParameter{"enc_bwd.W_ih", Part::backward_encoder, encoder_gates, embedding, How::recurrent,
                     encoder},
    Seq2seqParameter{"enc_bwd.W_hh", Part::backward_encoder, encoder_gates, encoder, How::recurrent, encoder},
    Seq2seqParameter{"enc_bwd.b_ih", Part::backward_encoder, one, encoder_gates, How::recurrent, encoder},
    Seq2seqParameter{"enc_bwd.b_hh", Part::backward_encoder, one, encoder_gates, How::recurrent, encoder},
    Seq2seqParameter{"W_init", Part::decoder, decoder, encoder, How::linear, nullptr},
    Seq2seqParameter{"b_init", Part::decoder, one, decoder, How::bias, encoder},
    Seq2seqParameter{"W_a", Part::alignment, hidden, decoder, How::linear, nullptr},
    Seq2seqParameter{"U_a", Part::alignment, hidden, annotation, How::linear, nullptr},
    Seq2seqParameter{"v_a", Part::alignment, one, hidden, How::linear, nullptr},
    Seq2seqParameter{"dec.W_ih", Part::decoder, decoder_gates, decoder_input, How::recurrent, decoder},
    Seq2seqParameter{"dec.W_hh", Part::decoder, decoder_gates, decoder, How::recurrent, decoder},
    Seq2seqParameter{"dec.b_ih", Part::decoder, one, decoder_gates, How::recurrent, decoder},
    Seq2seqParameter{"dec.b_hh", Part::decoder, one, decoder_gates, How::recurrent, decoder},
    Seq2seqParameter{"W_out", Part::decoder, target_words, output_input, How::linear, nullptr},
    Seq2seqParameter{"b_out", Part::decoder, one, target_words, How::bias, output_input},
    Seq2seqParameter{"W_p", Part::center, hidden, decoder, How::linear, nullptr},
    Seq2seqParameter{"v_p", Part::center, one, hidden, How::linear, nullptr},
};

}  // namespace

Seq2seqSizes seq2seq_sizes(const Experiment& experiment, int source_words, int target_words) {
    const Seq2seq& seq2seq = experiment.seq2seq;
    const int d = experiment.input.dim;
    const int annotation = seq2seq.reads_backward() ? 2 * seq2seq.encoder_size : seq2seq.encoder_size;
    const bool current = queries_current(seq2seq.alignment_state);
    return {.source_words = source_words,
            .target_words = target_words,
            .embedding = d,
            .encoder = seq2seq.encoder_size,
            .annotation = annotation,
            .decoder = seq2seq.decoder_size,
            .decoder_input = current ? d : d + annotation,
            .hidden = experiment.weighting.hidden};
}

bool is_used(Part part, const Experiment& experiment) {
    const bool aligns = experiment.seq2seq.aligns();
    switch (part) {
        case Part::backward_encoder: return experiment.seq2seq.reads_backward();
        case Part::alignment: return aligns;
        case Part::center: return aligns && predicts_window(experiment.weighting.normalizer);
        case Part::source_table:
        case Part::target_table:
        case Part::encoder:
        case Part::decoder: break;
    }
    return true;
}

std::span<const Seq2seqParameter> seq2seq_parameters() { return k_parameters; }

const Seq2seqParameter* find_seq2seq_parameter(std::string_view name) {
    for (const Seq2seqParameter& parameter : k_parameters)
        if (parameter.name == name) return &parameter;
    return nullptr;
}

Draw draw_of(const Seq2seqParameter& parameter, const Seq2seqSizes& sizes, Initialization embedding) {
    const int rows = parameter.rows(sizes), columns = parameter.columns(sizes);
    switch (parameter.draw) {
        case Seq2seqParameter::Draw::table: return attnscope::Draw::by(embedding, rows, columns);
        case Seq2seqParameter::Draw::linear: break;
        case Seq2seqParameter::Draw::recurrent:
        case Seq2seqParameter::Draw::bias:
            return attnscope::Draw::by_fan(parameter.fan(sizes), rows, columns);
    }
    return attnscope::Draw::by(Initialization::linear, rows, columns);
}

}  // namespace attnscope
