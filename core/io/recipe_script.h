// What the recipes of all mechanisms share: the text of a Python script, and PyTorch's one generator in it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/attention/trace.h"

namespace attnscope {

/// One line that draws: `target = call`.
struct Draw {
    std::string target;  ///< one name, or several with commas
    std::string call;
    bool operator==(const Draw&) const = default;
};

/// Where the generator stands: its seed, and what was drawn since.
struct GeneratorState {
    Seed seed;
    std::vector<Draw> draws;
    bool operator==(const GeneratorState&) const = default;
};

/// The script as it grows.
class Script {
public:
    /// A comment, broken into lines.
    void comment(const std::string& words);
    /// A blank line and a comment.
    void section(const std::string& words) {
        text_ += "\n";
        comment(words);
    }
    void line(const std::string& code) { text_ += code + "\n"; }
    /// `name = torch.tensor([…])`: float32, nine significant digits; a matrix, or its one row.
    void tensor(const std::string& name, const Matrix& values, bool vector);
    /// `head`, the items with commas between them, `tail`; broken into lines if it is too long for one.
    void list(const std::string& head, std::span<const std::string> items, const std::string& tail);

    /// Brings the generator to `state`: with nothing if it is there, by drawing what is missing, or by
    /// seeding it anew.
    void reach(const GeneratorState& state);
    /// Draws from where the generator stands.
    void draw(const Draw& draw);
    void seed(const Seed& seed);
    /// After draws that nothing goes on from.
    void forget_generator() { known_ = false; }

    const std::string& text() const { return text_; }

private:
    std::string text_;
    GeneratorState now_;
    bool known_ = false;  ///< where the generator stands
};

/// A string in quotes, for Python.
std::string string_literal(std::string_view text);
/// The variable that holds a stage: its name; of a unit's parameter, torch.nn.GRUCell's (`dec.W_ih` is
/// `dec.weight_ih`).
std::string python_name(std::string_view stage);
/// The shortest that reads back as the same double.
std::string python_number(double value);
std::string text(int whole);
/// `torch.nn.Linear(in, out, bias=False).weight`.
std::string linear_weight(int out, int in);
/// The call that draws a matrix as the initialiser of that name does.
std::string drawn_matrix(std::string_view initializer, int out, int in);

// What the mechanisms have in common.
/// `name = ["…"]`, the words by row of their table.
void write_words(Script& script, const std::string& name, std::span<const std::string> words);
/// The sentence as a comment, unless it is long.
void write_sentence(Script& script, const std::string& sentence);
/// `name = torch.tensor([…])`: whole numbers, the rows of a table that `tokens` holds.
void write_tokens(Script& script, const std::string& name, const Stage& tokens);
/// `table = …`, each word's row from a generator of its own.
void write_stable_table(Script& script, const std::string& table, const Experiment& e,
                        std::span<const std::string> words);
/// Closes in `mask` what the rules and the given mask close; i and j are its rows and columns.
void write_mask_rules(Script& script, const Experiment& e);

// Phrases of comments.
/// "cut into words and case-folded".
std::string cut_text(const Experiment& e);
/// "alphabetical order": of the words in the table.
std::string order_text(const Experiment& e);
/// A sentence that says where write_stable_table() has its seeds from.
std::string stable_text(const Experiment& e);

/// How the generator comes to where some draws start, for a comment.
std::string seed_text(const ProjectionSeed& seed);

/// Each mechanism writes its stages and parameters as variables of their names. With one head there is no
/// head dimension, a parameter of one row is a vector, and `score_hidden` is queries × keys × hidden.
void write_attention(Script& script, const Trace& trace);
void write_seq2seq(Script& script, const Trace& trace);

/// The experiment's image, byte for byte or as the fewer pixels that attention sees, and `patches` from it;
/// needs base64 and zlib.
void write_patches(Script& script, const Experiment& experiment);

}  // namespace attnscope
