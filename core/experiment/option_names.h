// The names of the options, checked by the compiler where the program names one.
#pragma once

#include <algorithm>
#include <iterator>
#include <ostream>
#include <string_view>

namespace attnscope {

/// In the order of options().
inline constexpr std::string_view k_option_names[] = {"text",
                                                      "text2",
                                                      "mechanism",
                                                      "tokenizer",
                                                      "vocabulary",
                                                      "words",
                                                      "words2",
                                                      "seed",
                                                      "dim",
                                                      "embedding",
                                                      "table-size",
                                                      "image",
                                                      "grid",
                                                      "patch-size",
                                                      "image-seed",
                                                      "position",
                                                      "context-length",
                                                      "rope-layout",
                                                      "projection",
                                                      "projection-seed",
                                                      "projection-bias",
                                                      "key-size",
                                                      "value-size",
                                                      "heads",
                                                      "score",
                                                      "hidden",
                                                      "score-seed",
                                                      "sharpening",
                                                      "bandwidth",
                                                      "scale",
                                                      "mask",
                                                      "temperature",
                                                      "normalizer",
                                                      "softmax-axis",
                                                      "local-window",
                                                      "dropout",
                                                      "dropout-seed",
                                                      "training",
                                                      "output-projection",
                                                      "ablate",
                                                      "ablation",
                                                      "block",
                                                      "activation",
                                                      "feed-forward-size",
                                                      "layer-norm-epsilon",
                                                      "block-seed",
                                                      "layers",
                                                      "norm",
                                                      "tied",
                                                      "objective",
                                                      "encoder",
                                                      "decoder-attention",
                                                      "alignment-state",
                                                      "decode",
                                                      "max-steps",
                                                      "encoder-size",
                                                      "decoder-size",
                                                      "given",
                                                      "task",
                                                      "corpus",
                                                      "optimizer",
                                                      "learning-rate",
                                                      "momentum",
                                                      "weight-decay",
                                                      "clip",
                                                      "warm-up",
                                                      "decay",
                                                      "batch",
                                                      "data-seed",
                                                      "train-ablated",
                                                      "step",
                                                      "view",
                                                      "stage",
                                                      "layer",
                                                      "gradients",
                                                      "head",
                                                      "head-names",
                                                      "range",
                                                      "color-spacing",
                                                      "pooling",
                                                      "colormap",
                                                      "theme",
                                                      "cell-size",
                                                      "max-cells",
                                                      "values",
                                                      "mass",
                                                      "decimals",
                                                      "title",
                                                      "compose",
                                                      "sweep",
                                                      "width",
                                                      "dpi",
                                                      "font-size",
                                                      "region",
                                                      "locked"};

/// The name of an option. A literal that is none of k_option_names does not compile.
class OptionName {
public:
    consteval OptionName(const char* text) : text_(text) {
        if (std::ranges::find(k_option_names, text_) == std::end(k_option_names))
            throw "no option has this name";
    }
    constexpr std::string_view text() const { return text_; }
    constexpr operator std::string_view() const { return text_; }
    friend constexpr bool operator==(OptionName, OptionName) = default;
    friend std::ostream& operator<<(std::ostream& out, OptionName name) { return out << name.text_; }

private:
    std::string_view text_;
};

}  // namespace attnscope
