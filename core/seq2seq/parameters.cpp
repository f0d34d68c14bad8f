#include "core/seq2seq/parameters.h"

#include <array>
#include <cmath>

namespace attnscope {
namespace {

using Sizes = Seq2seqSizes;
using Draw = Seq2seqParameter::Draw;

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
    Seq2seqParameter{"E_src", source_words, embedding, Draw::table, nullptr},
    Seq2seqParameter{"E_tgt", target_words, embedding, Draw::table, nullptr},
    Seq2seqParameter{"enc_fwd.W_ih", encoder_gates, embedding, Draw::recurrent, encoder},
    Seq2seqParameter{"enc_fwd.W_hh", encoder_gates, encoder, Draw::recurrent, encoder},
    Seq2seqParameter{"enc_fwd.b_ih", one, encoder_gates, Draw::recurrent, encoder},
    Seq2seqParameter{"enc_fwd.b_hh", one, encoder_gates, Draw::recurrent, encoder},
    Seq2seqParameter{"enc_bwd.W_ih", encoder_gates, embedding, Draw::recurrent, encoder},
    Seq2seqParameter{"enc_bwd.W_hh", encoder_gates, encoder, Draw::recurrent, encoder},
    Seq2seqParameter{"enc_bwd.b_ih", one, encoder_gates, Draw::recurrent, encoder},
    Seq2seqParameter{"enc_bwd.b_hh", one, encoder_gates, Draw::recurrent, encoder},
    Seq2seqParameter{"W_init", decoder, encoder, Draw::linear, nullptr},
    Seq2seqParameter{"b_init", one, decoder, Draw::bias, encoder},
    Seq2seqParameter{"W_a", hidden, decoder, Draw::linear, nullptr},
    Seq2seqParameter{"U_a", hidden, annotation, Draw::linear, nullptr},
    Seq2seqParameter{"v_a", one, hidden, Draw::linear, nullptr},
    Seq2seqParameter{"dec.W_ih", decoder_gates, decoder_input, Draw::recurrent, decoder},
    Seq2seqParameter{"dec.W_hh", decoder_gates, decoder, Draw::recurrent, decoder},
    Seq2seqParameter{"dec.b_ih", one, decoder_gates, Draw::recurrent, decoder},
    Seq2seqParameter{"dec.b_hh", one, decoder_gates, Draw::recurrent, decoder},
    Seq2seqParameter{"W_out", target_words, output_input, Draw::linear, nullptr},
    Seq2seqParameter{"b_out", one, target_words, Draw::bias, output_input},
    Seq2seqParameter{"W_p", hidden, decoder, Draw::linear, nullptr},
    Seq2seqParameter{"v_p", one, hidden, Draw::linear, nullptr},
};

/// torch.nn.GRU's parameter: U(−1/√h, 1/√h) whatever its shape.
Matrix draw_recurrent(Generator& generator, int rows, int columns, int states) {
    const double bound = 1.0 / std::sqrt(static_cast<double>(states));
    Matrix matrix(rows, columns);
    generator.uniform({matrix.data(), static_cast<std::size_t>(matrix.size())}, -bound, bound);
    return matrix;
}

}  // namespace

std::span<const Seq2seqParameter> seq2seq_parameters() { return k_parameters; }

const Seq2seqParameter* find_seq2seq_parameter(std::string_view name) {
    for (const Seq2seqParameter& parameter : k_parameters)
        if (parameter.name == name) return &parameter;
    return nullptr;
}

std::map<std::string, Matrix> draw_seq2seq(Generator& generator, const Seq2seqSizes& sizes,
                                           const Initializer& embedding_rule, bool tables) {
    std::map<std::string, Matrix> drawn;
    for (const Seq2seqParameter& parameter : k_parameters) {
        const int rows = parameter.rows(sizes), columns = parameter.columns(sizes);
        Matrix matrix;
        switch (parameter.draw) {
            case Draw::table:
                if (!tables) continue;
                matrix.resize(rows, columns);
                embedding_rule.fill(generator, MatrixView(matrix.data(), rows, columns));
                break;
            case Draw::recurrent:
                matrix = draw_recurrent(generator, rows, columns, parameter.fan(sizes));
                break;
            case Draw::linear: matrix = draw_linear(generator, rows, columns); break;
            case Draw::bias: matrix = draw_linear_bias(generator, columns, parameter.fan(sizes)); break;
        }
        drawn.emplace(parameter.name, std::move(matrix));
    }
    return drawn;
}

}  // namespace attnscope
