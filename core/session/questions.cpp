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

/// A, B and B − A of a stage, a cell locked.
void compared_at(Presentation& presentation, const StageKey& key, Cell cell) {
    presentation.view = ViewKind::compare;
    presentation.lock(key, cell);
}

void score_of_to(Presentation& presentation) { compared_at(presentation, "scaled"_stage, {1, 4}); }
void weight_of_sentence(Presentation& presentation) { compared_at(presentation, "weights"_stage, {1, 7}); }
void weight_of_pad(Presentation& presentation) { compared_at(presentation, "weights"_stage, {2, 4}); }
void weight_of_help(Presentation& presentation) { compared_at(presentation, "weights"_stage, {3, 2}); }

/// The weights at every value of a setting.
void sweep_of(Presentation& presentation, Sweep sweep) {
    presentation.view = ViewKind::sweep;
    presentation.sweep = sweep;
    presentation.focus("weights"_stage);
}

void of_seeds(Presentation& presentation) {
    sweep_of(presentation, Sweep::seed);
    presentation.lock("weights"_stage, Cell{2, 4});
}
void of_normalizers(Presentation& presentation) {
    sweep_of(presentation, Sweep::normalizer);
    presentation.lock("weights"_stage, Cell{1, 4});
}

void step_of_noir(Presentation& presentation) {
    presentation.view = ViewKind::alignment;
    presentation.lock("alignment"_stage, Cell{2, 1});
}

void steps_of_translate(Presentation& presentation) {
    presentation.view = ViewKind::step;
    presentation.lock("weights"_stage, Cell{1, 5});
}

void output_of_to(Presentation& presentation) {
    presentation.view = ViewKind::step;
    presentation.lock("context"_stage, Cell{4, 2});
}

/// Projections with which the scaled scores are small enough for the softmax to share.
void small_scores(Experiment& e) { e.attention.projection = Projection::xavier; }

void padded(Experiment& e) {
    small_scores(e);
    e.input.text = "Can you help me pad pad pad pad";
}

/// At a temperature at which the functions differ more.
void warm(Experiment& e) { e.weighting.temperature = 4; }

// The settings that questions are about; the first is brought into sight.
constexpr std::span<const OptionName> k_about_nothing;
constexpr OptionName k_about_scale[] = {"scale", "projection"};
constexpr OptionName k_about_mask[] = {"mask", "projection"};
constexpr OptionName k_about_heads[] = {"temperature", "heads"};
constexpr OptionName k_about_projection[] = {"projection"};
constexpr OptionName k_about_temperature[] = {"temperature"};
constexpr OptionName k_about_score[] = {"score"};
constexpr OptionName k_about_normalizer[] = {"normalizer", "temperature"};

constexpr std::array k_questions = {
    Question{
        "Which word does this word attend to most?",
        "“you” attends most to “to”: 0.856. Its row is locked; the inspector shows it as bars. Point at "
        "another token to see its row, click it to lock it. The matrices are random: question 6 asks what "
        "that means.",
        "scaled-dot-product", "", k_about_nothing, as_it_is},
    Question{"Why is this cell so high?",
             "The query of “you” and the key of “to” have the same sign in 15 of 16 features (in Q and Kᵀ "
             "both are nearly all blue, negative), so nearly all products, listed on the right, are "
             "positive: they add up to 53.9. Divided by √d_k that is 13.5, 1.81 more than the "
             "second-largest, “translate”; so its weight is exp(1.81) = 6.1 times that of “translate”.",
             "scaled-dot-product", "", k_about_nothing, as_it_is},
    Question{
        "What does dividing by √d_k do?",
        "A divides by √d_k = 4. B does not: for “you”, “sentence” leads “me” by 4.43 instead of 1.11, and "
        "gets 0.984 instead of 0.517. A score is a sum of 16 products, listed on the right, so its spread "
        "grows like √d_k: one product has a standard deviation of 1.12, the sum 4.83, divided 1.21. Without "
        "dividing, the larger d_k, the more one word takes nearly all the weight; and weights near 0 and 1 "
        "let almost no gradient through, so that the model hardly learns. (The projections are small here, "
        "Xavier, marked: with large ones A is as sharp as B.)",
        "scaled-dot-product", "no scaling", k_about_scale, weight_of_sentence, small_scores},
    Question{"What changes when a token may not see the future?",
             "In B the scores above the diagonal, of the later words, are set to −∞ (hatched) before the "
             "softmax, so their weights are 0. The visible words take over the weight of the masked ones in "
             "proportion, so each row still sums to 1: in the row of “me” the visible ones had 0.475 "
             "together, and each becomes 2.11 times as large. “Can” sees only itself.",
             "scaled-dot-product", "causal mask", k_about_mask, weight_of_help, small_scores},
    Question{
        "How do two heads differ?",
        "Each head has its own W_q, W_k and W_v, so it compares different features. These five are "
        "designed, not trained: head 1 leads from a pronoun to its noun (“it” → “cat”: 0.938), 2 from an "
        "adjective (“black” → “cat”), 3 from a verb to its subject (“cross” → “cat”), 4 to the word before, "
        "5 to the same word. Heads 2 and 3 have no use for “it”: equal weights, 1/12 each; in 4 and 5 "
        "another word scores higher than “cat”. The low temperature, 0.05, makes the rows sharp.",
        "designed-heads", "", k_about_heads, in_view<ViewKind::heads>},
    Question{
        "Is this pattern real, or an artifact of the seed?",
        "An artifact: it does not survive another seed, which draws other matrices. “help” attends to “to” "
        "with 0.946 here, over 32 seeds with 0.071 ± 0.179 (mean ± standard deviation), and in only 1 of "
        "them with more than 0.4. In most small pictures one or two columns win, but not always the same. "
        "Mainly "
        "the diagonal stays in the mean: a word gives itself 0.262, another one 0.105 (evenly 0.125). Nor "
        "is that language: W_q and W_k are all positive (uniform, marked), so a word's query and key mostly "
        "have a positive product.",
        "scaled-dot-product", "", k_about_projection, of_seeds},
    Question{
        "How does softmax turn scores into weights?",
        "By three steps, the columns “− row max”, “exp” and “weights”: subtract the row's maximum (which "
        "changes no weight, it only keeps exp from overflowing), take exp (a lead of 1.81 becomes a factor "
        "of 6.1), divide by the row's sum. “translate” is 1.81 below the maximum: exp(−1.81) = 0.164, and "
        "0.164 ÷ 1.17 = 0.140. Space plays them; change the temperature and watch the bars.",
        "scaled-dot-product", "", k_about_temperature, steps_of_translate},
    Question{
        "What is the output vector made of?",
        "The output (here the context, as W_o is off) is the sum of the words' values v = x W_v, each times "
        "its word's weight. For “to”: 0.449 times the value of “to” plus 0.550 times that of “translate”; "
        "the others get almost none. The last column shows each product, the value shaded behind it, and "
        "below them their sum. Feature 3, outlined, is added up at the bottom: −2.121 − 1.358 = −3.479.",
        "scaled-dot-product", "", k_about_nothing, output_of_to},
    Question{"How do dot-product and additive scores differ?",
             "A, dot-product: q · k ÷ √d_k, without weights of its own, is high where q and k are long and "
             "point the same way. It has no bound: here −21.3 to 23.0, so “you” gives “to” 0.856. B, "
             "additive: v_a·tanh(W_aq q + W_ak k), a small network that learns what matches what; q and k "
             "may differ in size. Untrained here, it ranks at random: “this” first (0.195), “to” last. As "
             "tanh stays within ±1, it cannot exceed Σ|v_a| = 1.78 (here −0.7 to 0.7, pale on A's range). "
             "With a larger v_a, trained (question 11), B is as sharp.",
             "scaled-dot-product", "additive score", k_about_score, score_of_to},
    Question{
        "What does padding do?",
        "A batch is one array, so its sentences must be equally long: here four words are padded to eight. "
        "In A “help” gives the padding tokens 0.931 of its weight, and mixes their values into its output; "
        "in B they are masked and get none, and the four words share the whole weight in proportion. The "
        "rows of “pad” are computed as well, but their outputs are not used.",
        "scaled-dot-product", "padding mask", k_about_mask, weight_of_pad, padded},
    Question{"How does a decoder align with its source?",
             "Each step of the decoder is a row. Its state before the step (s) is scored against the "
             "encoder's state of each source word (h): the scores (e). A softmax makes them weights (α); "
             "the sum of the h, each times its α, is the context (c), which with s and the word before "
             "gives the next. “noir” reads “black”, “chat” reads “cat”: French puts this adjective after "
             "its noun, so their lines cross. “le” and “une” read “cat” and “house”, whose gender they "
             "take. Trained on pairs of sentences alone. ↑ and ↓ go from step to step.",
             "bahdanau-alignment", "", k_about_nothing, step_of_noir},
    Question{
        "What is the difference between soft and hard, global and local attention?",
        "Soft or hard is how a row's weight is shared: softmax gives every word some (“you” gives “to” "
        "0.48, at temperature 4), hard all to the highest, without a gradient, sparsemax to a few (“to” "
        "0.73). Global or local is which words are seen: in these three all, in the last two those within 2 "
        "of a place ▴, which is cheaper on long texts. local-m: the query's own, so “to”, 3 away, gets "
        "none; local-p: a predicted one (here untrained), each weight cut by its distance (“me” to 0.05), "
        "so the row sums to 0.81.",
        "scaled-dot-product", "", k_about_normalizer, of_normalizers, warm},
};

}  // namespace

std::span<const Question> questions() { return k_questions; }

Session answer(const Question& question) {
    Session session = load_example(question.example);
    if (question.set) question.set(session.experiment);
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
