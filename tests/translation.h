// A small encoder and decoder, the starting point of sequence-to-sequence tests.
#pragma once

#include "core/experiment/experiment.h"

namespace attnscope {

/// Four source words, three target words, and every size another.
inline Experiment translation() {
    Experiment e;
    e.mechanism = MechanismKind::seq2seq;
    e.input.text = "I am a student";
    e.input.text2 = "je suis étudiant";
    e.input.dim = 6;
    e.seq2seq.encoder_size = 5;
    e.seq2seq.decoder_size = 4;
    e.weighting.hidden = 7;
    return e;
}

}  // namespace attnscope
