// What the scripts of all mechanisms share: the text of a Python script, and the state of PyTorch's
// generator.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/trace.h"

namespace attnscope {

/// A line of code that draws: `target = call`.
struct DrawLine {
    std::string target;  ///< one name, or several with commas
    std::string call;
    bool operator==(const DrawLine&) const = default;
};

/// The state of the generator: its seed, and what has been drawn since.
struct GeneratorState {
    Seed seed;
    std::vector<DrawLine> draws;
    bool operator==(const GeneratorState&) const = default;
};

/// A script under construction.
class Script {
public:
    /// Adds a comment, wrapped.
    void comment(const std::string& words);
    /// Adds a blank line and a comment.
    void section(const std::string& words) {
        text_ += "\n";
        comment(words);
    }
    void line(const std::string& code) { text_ += code + "\n"; }
    /// Adds `name = torch.tensor([…])`: float32, nine significant digits; a matrix, or its single row.
    void tensor(const std::string& name, const Matrix& values, bool vector);
    /// Adds `head`, the items separated by commas, `tail`; wrapped if it is too long for one line.
    void list(const std::string& head, std::span<const std::string> items, const std::string& tail);

    /// Brings the generator to `state`: by nothing if it is there already, by drawing what is missing, or by
    /// seeding it again.
    void reach(const GeneratorState& state);
    /// Draws from the current state.
    void draw(const DrawLine& draw);
    void seed(const Seed& seed);
    /// Forgets the state, after draws from which nothing continues.
    void forget_generator() { known_ = false; }

    const std::string& text() const { return text_; }

private:
    std::string text_;
    GeneratorState now_;
    bool known_ = false;  ///< whether the state is known
};

/// A Python string literal.
std::string string_literal(std::string_view text);
/// The Python variable of a stage: its name; for a GRU's parameter that of torch.nn.GRUCell (`dec.W_ih` is
/// `dec.weight_ih`).
std::string python_name(std::string_view stage);
/// The shortest text that parses to the same double.
std::string python_number(double value);
std::string text(int whole);
/// `torch.nn.Linear(in, out, bias=False).weight`.
std::string linear_weight(int out, int in);
/// The call that draws a matrix with the initializer of that name.
std::string drawn_matrix(std::string_view initializer, int out, int in);

// Shared by the mechanisms.
/// `name = ["…"]`, the words by row of their table.
void write_words(Script& script, const std::string& name, std::span<const std::string> words);
/// The sentence as a comment, unless it is long.
void write_sentence(Script& script, const std::string& sentence);
/// `name = torch.tensor([…])`: whole numbers, the rows of a table that `tokens` holds.
void write_tokens(Script& script, const std::string& name, const Stage& tokens);
/// `table = …`, each word's row drawn by a generator of its own.
void write_stable_table(Script& script, const std::string& table, const Experiment& e,
                        std::span<const std::string> words);
/// Closes in `mask` what the rules and the custom mask close; i and j are its rows and columns.
void write_mask_rules(Script& script, const Experiment& e);

// Phrases for comments.
/// "cut into words and case-folded".
std::string cut_text(const Experiment& e);
/// "alphabetical order", for the words in the table.
std::string order_text(const Experiment& e);
/// A sentence on the seeds of write_stable_table().
std::string stable_text(const Experiment& e);

/// How the generator's state at the start of some draws comes about.
std::string seed_text(const ProjectionSeed& seed);

/// Each mechanism writes its stages and parameters as variables of the same names. With one head there is no
/// head dimension, a parameter of one row is a vector, and `score_hidden` is queries × keys × hidden.
void write_attention(Script& script, const Trace& trace);
void write_seq2seq(Script& script, const Trace& trace);

/// The experiment's image, byte for byte or as the fewer pixels that attention uses, and `patches` computed
/// from it; requires base64 and zlib.
void write_patches(Script& script, const Experiment& experiment);

}  // namespace attnscope
