#include "core/session/questions.h"

#include <algorithm>
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
void sweep_of(Presentation& presentation, Sweep sweep) {
    presentation.view = ViewKind::sweep;
    presentation.sweep = sweep;
    presentation.focus("weights"_stage);
}

void of_seeds(Presentation& presentation) { sweep_of(presentation, Sweep::seed); }
void of_normalizers(Presentation& presentation) { sweep_of(presentation, Sweep::normalizer); }

void step_of_noir(Presentation& presentation) {
    presentation.view = ViewKind::alignment;
    presentation.lock("alignment"_stage, Cell{2, 1});
}

void output_of_you(Presentation& presentation) { presentation.lock("context"_stage, Cell{1, 3}); }

constexpr std::array k_questions = {
    Question{
        "Which word does this word attend to most?",
        "The locked row is that of “you”. Its bars in the inspector say which word gets most of it: “to”, "
        "0.856. Point at another token to see its row, click it to lock it.",
        "scaled-dot-product", "", as_it_is},
    Question{"Why is this cell so high?",
             "The inspector adds up q · k term by term, divides by √d_k, subtracts the row's maximum, takes "
             "exp and divides by the row's sum: the last number is the cell. Beside it is the second-largest "
             "of the row: its score is 1.81 lower, so its weight is exp(1.81) = 6.1 times smaller.",
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
        "Each asks for something else: head 1 for the noun that a pronoun stands for, 2 for an adjective's "
        "noun, 3 for a verb's subject, 4 for the word before, 5 for the same word. An even row has nothing "
        "to ask for. Shift+click a head to compare it.",
        "designed-heads", "", in_view<ViewKind::heads>},
    Question{"Is this pattern real, or an artifact of the seed?",
             "The same sentence with weights from nine seeds, their mean and their spread. What comes from "
             "one seed fades in the mean: “you” attends to “to” with 0.856 here, with 0.346 ± 0.410 over "
             "all. A pattern that stays does not come from the seed.",
             "scaled-dot-product", "", of_seeds},
    Question{
        "How does softmax turn scores into weights?",
        "By three steps, column by column: subtract the row's maximum, take exp, divide by the row's sum. "
        "“translate” is 1.81 below the maximum: exp(−1.81) = 0.164, and 0.164 ÷ 1.17 = 0.140. Space plays "
        "them; change the temperature and watch the bars.",
        "scaled-dot-product", "", in_view<ViewKind::step>},
    Question{"What is the output vector made of?",
             "A cell of the context is the sum of the values in its column, each times the weight of its "
             "word. The inspector lists the products, and says what the whole row consists of: mostly the "
             "value of “to”.",
             "scaled-dot-product", "", output_of_you},
    Question{
        "How do dot-product and additive scores differ?",
        "A compares query and key by their dot product, divided by √d_k: scores from −21.3 to 23.0, which "
        "softmax turns into nearly all or nothing. B does so by a small network with tanh, as Bahdanau did: "
        "scores from −0.66 to 0.69, so its weights are nearly even.",
        "scaled-dot-product", "additive score", compared},
    Question{
        "What does padding do?",
        "Padding fills short sentences up to a common length. In B the second half of the keys is padding: "
        "masked, so that it gets no weight whatever stands there. The other words share what it had.",
        "scaled-dot-product", "padding mask", compared},
    Question{"How does a decoder align with its source?",
             "Each step of the decoder is a row: its weights say which source word it reads. “noir” reads "
             "“black”, against the order of the words. Play, or click a step.",
             "bahdanau-alignment", "", step_of_noir},
    Question{
        "What is the difference between soft and hard, global and local attention?",
        "Global attention considers all words: softmax shares a row's weight among them, hard gives all of "
        "it to one, sparsemax to few. Local attention considers a window: local-m at the query's own place, "
        "local-p at a place that it predicts.",
        "scaled-dot-product", "", of_normalizers},
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

const Question* question_with_note(std::string_view note) {
    const auto found = std::ranges::find_if(k_questions, [&](const Question& each) {
        return note.size() == each.text.size() + 1 + each.look.size() && note.starts_with(each.text) &&
               note.ends_with(each.look);
    });
    return found == k_questions.end() ? nullptr : &*found;
}

}  // namespace attnscope
