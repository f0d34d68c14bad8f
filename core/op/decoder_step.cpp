#include "core/op/decoder_step.h"

#include <algorithm>

#include "core/canceled.h"

namespace attnscope {
namespace {

Row joined(const RowView& a, const RowView& b) {
    Row both(a.size() + b.size());
    both << a, b;
    return both;
}

void look(const Decoder& decoder, int i, const RowView& state, DecoderStep& step) {
    if (!decoder.alignment) {
        step.context = decoder.fixed_context;
        return;
    }
    step.alignment = align(*decoder.alignment, i, state);
    step.context = weighted_sum(step.alignment.weights, step.alignment.masked, decoder.annotations);
}

}  // namespace

DecoderStep decode_step(const Decoder& decoder, int i, const RowView& word, const RowView& state) {
    DecoderStep step;
    if (decoder.align_current) {
        step.gru = gru_step(decoder.gru, word, state);
        look(decoder, i, step.gru.state, step);
    } else {
        look(decoder, i, state, step);
        step.gru = gru_step(decoder.gru, joined(word, step.context), state);
    }
    return step;
}

std::vector<DecoderStep> decode(const Decoder& decoder, const ConstMatrixView& words,
                                const std::stop_token& cancel) {
    std::vector<DecoderStep> steps;
    Row state = decoder.initial_state.row(0);
    for (Eigen::Index i = 0; i < words.rows(); ++i) {
        stop_if_canceled(cancel);
        steps.push_back(decode_step(decoder, static_cast<int>(i), words.row(i), state));
        state = steps.back().gru.state;
    }
    return steps;
}

Row output_logits(const Vocabularies& vocabularies, const RowView& state, const RowView& word,
                  const RowView& context) {
    const Eigen::ArrayXd logits =
        product_in_double(vocabularies.W_out, joined(joined(state, word), context)) +
        vocabularies.b_out.row(0).transpose().cast<double>().array();
    return logits.cast<float>().matrix().transpose();
}

int largest(const RowView& row) {
    return static_cast<int>(std::max_element(row.data(), row.data() + row.size()) - row.data());
}

std::vector<int> decode_greedily(const Decoder& decoder, const Vocabularies& vocabularies, int first,
                                 int last, int max_steps, std::vector<DecoderStep>& steps,
                                 const std::stop_token& cancel) {
    std::vector<int> fed;
    Row state = decoder.initial_state.row(0);
    for (int picked = first; static_cast<int>(fed.size()) < max_steps;) {
        stop_if_canceled(cancel);
        fed.push_back(picked);
        const RowView word = vocabularies.embeddings.row(picked);
        steps.push_back(decode_step(decoder, static_cast<int>(fed.size()) - 1, word, state));
        state = steps.back().gru.state;
        picked = largest(output_logits(vocabularies, state, word, steps.back().context));
        if (picked == last) break;
    }
    return fed;
}

}  // namespace attnscope
