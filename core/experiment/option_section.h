// The groups of settings, in the order of the computation: of the panel, the flags' help and docs/options.md.
#pragma once

#include "core/choice.h"

namespace attnscope {

enum class OptionSection {
    input,
    embedding,
    image,
    position,
    projections,
    heads,
    score,
    mask,
    softmax,
    output,
    block,
    transformer,
    seq2seq,
    custom,
    training,
    presentation,  ///< what affects the picture only
};
constexpr auto choice_names(OptionSection) {
    using enum OptionSection;
    return std::to_array<ChoiceName<OptionSection>>({{input, "Input"},
                                                     {embedding, "Embedding"},
                                                     {image, "Image"},
                                                     {position, "Position"},
                                                     {projections, "Projections"},
                                                     {heads, "Heads"},
                                                     {score, "Score"},
                                                     {mask, "Mask"},
                                                     {softmax, "Softmax"},
                                                     {output, "Output"},
                                                     {block, "Block"},
                                                     {transformer, "Transformer"},
                                                     {seq2seq, "Sequence to sequence"},
                                                     {custom, "Custom matrices"},
                                                     {training, "Training"},
                                                     {presentation, "Presentation"}});
}

}  // namespace attnscope
