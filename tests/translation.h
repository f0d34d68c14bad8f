// A small encoder and decoder, the starting point of sequence-to-sequence tests.
#pragma once

#include "core/experiment/experiment.h"

namespace attnscope {

/// Four source words, three target words, and every size another.
inline Experiment translation() {
    Experiment e;
    e.mechanism = MechanismKind::seq2seq;
    e.text = "I am a student";
    e.text2 = "je suis étudiant";
    e.dim = 6;
    e.encoder_size = 5;
    e.decoder_size = 4;
    e.hidden = 7;
    return e;
}

}  // namespace attnscope
