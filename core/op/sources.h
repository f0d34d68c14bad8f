// Operations without inputs: constants that the experiment defines.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/image/image.h"
#include "core/op/formula.h"
#include "core/op/proof.h"
#include "core/op/torch.h"
#include "core/op/work.h"

namespace attnscope::op {

/// Each token's row in its table, −1 for a target that is none; n × 1.
struct TokenRows {
    std::vector<int> rows;

    static constexpr std::string_view k_no_gradient = "whole numbers";

    Shape shape(Shapes) const { return matrix(static_cast<int>(rows.size()), 1); }
    std::string formula(const Symbols&) const { return "each token's row in its table"; }
    void forward(const Work& in, Tensor& out) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const TokenRows&) const = default;
};

/// A custom matrix, used instead of a computed or drawn one. Equal only for the same matrix.
struct Custom {
    std::shared_ptr<const Matrix> values;
    Shape as;  ///< the heads of `values` are stacked

    static constexpr std::string_view k_no_gradient = "a custom matrix does not depend on any other";

    Shape shape(Shapes) const { return as; }
    std::string formula(const Symbols&) const { return "custom"; }
    std::string caption(const Symbols&) const { return "custom"; }
    std::string sentence() const { return "A custom matrix: its numbers are not computed."; }
    void forward(const Work& in, Tensor& out) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const Custom&) const = default;
};

/// Rows of the last of `draws`, which a generator seeded with `seed` draws one after the other.
struct Drawn {
    Seed seed;
    std::vector<Draw> draws;
    int first_row = 0;
    int rows = 0;  ///< 0: all

    static constexpr std::string_view k_no_gradient = "drawn numbers are constants";

    Shape shape(Shapes) const { return matrix(rows > 0 ? rows : draws.back().rows, draws.back().columns); }
    std::string formula(const Symbols& in) const;
    void forward(const Work& in, Tensor& out) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const Drawn&) const = default;
};

/// The table of a `stable` vocabulary: each word's row (1 × columns) is drawn by its own generator,
/// seeded by word_seed(). words × columns.
struct StableTable {
    Seed seed;
    std::vector<std::string> words;
    int columns;
    Initialization initialization;

    static constexpr std::string_view k_no_gradient = "drawn numbers are constants";

    Shape shape(Shapes) const { return matrix(static_cast<int>(words.size()), columns); }
    std::string formula(const Symbols&) const { return "one row per word, each row from its own generator"; }
    void forward(const Work& in, Tensor& out) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const StableTable&) const = default;
};

/// The features of each word, as lexicon_table() gives them; words × columns.
struct LexiconTable {
    std::vector<std::string> words;
    int columns;

    static constexpr std::string_view k_no_gradient = "the features do not depend on any other matrix";

    Shape shape(Shapes) const { return matrix(static_cast<int>(words.size()), columns); }
    std::string formula(const Symbols&) const { return "one row per word, one column per feature"; }
    std::string caption(const Symbols&) const { return "designed"; }
    void forward(const Work& in, Tensor& out) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const LexiconTable&) const = default;
};

/// A matrix of rows × columns equal numbers.
struct Constant {
    int rows, columns;
    float value;

    static constexpr std::string_view k_no_gradient = "a constant";

    Shape shape(Shapes) const { return matrix(rows, columns); }
    std::string formula(const Symbols&) const {
        return value == 1 ? "ones" : value == 0 ? "zeros" : number_text(value);
    }
    void forward(const Work& in, Tensor& out) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const Constant&) const = default;
};

/// The patches of an image, as cut by image_patches(); grid² × 3·patch_size². Equal only for the same image.
struct Patches {
    std::shared_ptr<const Image> image;
    int grid;
    int patch_size;

    static constexpr std::string_view k_no_gradient = "pixels are constants";

    Shape shape(Shapes) const { return matrix(grid * grid, 3 * patch_size * patch_size); }
    std::string formula(const Symbols&) const { return "red, green and blue of each patch's pixels, 0 … 1"; }
    void forward(const Work& in, Tensor& out) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const Patches&) const = default;
};

/// 1 with probability 1 − p, else 0, drawn as Tensor.bernoulli_(1 − p); h × N × M.
struct DropoutMask {
    Seed seed;
    double p;
    Shape as;

    static constexpr std::string_view k_no_gradient = "drawn numbers are constants";

    Shape shape(Shapes) const { return as; }
    std::string formula(const Symbols&) const {
        return "1 (kept) with probability 1 − p = " + number_text(1 - p);
    }
    void forward(const Work& in, Tensor& out) const;
    void explain(Proof& proof, const Cell& cell) const;
    void torch(TorchLines& py) const;
    bool operator==(const DropoutMask&) const = default;
};

}  // namespace attnscope::op
