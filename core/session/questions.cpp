#include "core/session/questions.h"

#include <array>
#include <string>

#include "core/session/comparisons.h"
#include "core/session/examples.h"

namespace attnscope {
namespace {

void as_it_is(Presentation&) {}

template <ViewKind view>
void in_view(Presentation& presentation) {
    presentation.view = view;
}

/// A, B and B − A of the weights.
void compared(Presentation& presentation) {
    presentation.view = ViewKind::compare;
    presentation.focus("weights"_stage);
}

/// The weights at every value of a setting.
template <Sweep sweep>
void swept(Presentation& presentation) {
    presentation.view = ViewKind::sweep;
    presentation.sweep = sweep;
    presentation.focus("weights"_stage);
}

void output_of_you(Presentation& presentation) { presentation.lock("context"_stage, Cell{1, 3}); }

constexpr std::array k_questions = {
    Question{"Which word does this word attend to most?",
             "The locked row is that of “you”. Its bars in the inspector, and the line below the weights, "
             "say which word gets most of it. Point at another token to see its row, click it to lock it.",
             "scaled-dot-product", "", as_it_is},
    Question{"Why is this cell so high?",
             "The inspector adds up q · k term by term, divides by √d_k, subtracts the row's maximum, takes "
             "exp and divides by the row's sum: the last number is the cell. Beside it are the same steps of "
             "its rival, the word that comes next.",
             "scaled-dot-product", "", as_it_is},
    Question{"What does dividing by √d_k do?",
             "A divides the scores by √d_k, B does not. Larger scores make the softmax sharper: in B nearly "
             "every row gives all its weight to one word.",
             "scaled-dot-product", "no scaling", compared},
    Question{
        "What changes when a token may not see the future?",
        "In B the cells above the diagonal are masked. The weight that they had in A is shared among the "
        "remaining words, so each row still sums to 1.",
        "scaled-dot-product", "causal mask", compared},
    Question{
        "How do two heads differ?",
        "All heads are drawn on one color range, with a score for each simple pattern. Click a head to show "
        "it everywhere, Shift+click to compare it.",
        "designed-heads", "", in_view<ViewKind::heads>},
    Question{"Is this pattern real, or an artifact of the seed?",
             "The same sentence with weights from nine seeds, their mean and their spread. What comes from "
             "one seed "
             "fades in the mean, and its spread is as large as itself; a pattern that stays is real.",
             "scaled-dot-product", "", swept<Sweep::seed>},
    Question{
        "How does softmax turn scores into weights?",
        "Space plays the row of “you”: subtract its maximum, take exp, divide by the sum. A score 2 below "
        "the maximum gets exp(−2) = 0.14 of the maximum's weight. Change the temperature and watch the bars.",
        "scaled-dot-product", "", in_view<ViewKind::step>},
    Question{"What is the output vector made of?",
             "A cell of the context is the sum of the values in its column, each times the weight of its "
             "word. The inspector lists the products, and says what the whole row consists of: mostly the "
             "value of “to”.",
             "scaled-dot-product", "", output_of_you},
    Question{
        "How do dot-product and additive scores differ?",
        "A compares query and key by their dot product, B by a small network with tanh, whose scores are "
        "bounded: its weights are more even.",
        "scaled-dot-product", "additive score", compared},
    Question{
        "What does padding do?",
        "In B the second half of the keys is padding: masked, so that its words get no weight and change "
        "nothing in the output.",
        "scaled-dot-product", "padding mask", compared},
    Question{"How does a decoder align with its source?",
             "Each step of the decoder is a row: its weights say which source word it reads. Play, or click "
             "a step.",
             "bahdanau-alignment", "", in_view<ViewKind::alignment>},
    Question{
        "What is the difference between soft and hard, global and local attention?",
        "softmax shares each row's weight among all words, hard gives all of it to one. The local ones look "
        "only at a window: local-m at the query's own place, local-p at a place that it predicts. Click a "
        "value to see it large.",
        "scaled-dot-product", "", swept<Sweep::normalizer>},
};

}  // namespace

std::span<const Question> questions() { return k_questions; }

Session answer(const Question& question) {
    Session session = load_example(question.example);
    if (const ComparisonPreset* preset = find_comparison_preset(question.preset))
        session = with_preset(session, *preset).value_or(session);
    question.show(session.presentation);
    session.note = std::string(question.text) + " " + std::string(question.look);
    return session;
}

}  // namespace attnscope
