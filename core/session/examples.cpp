#include "core/session/examples.h"

#include "core/error.h"
#include "core/session/embedded_examples.h"
#include "core/session/options.h"

namespace attnscope {
namespace {

constexpr std::string_view k_first = "First steps", k_masks = "Masks", k_scores = "Score and weighting",
                           k_heads = "Heads", k_learned = "Learned by this program",
                           k_pictures = "Words and pictures";

constexpr ExampleCard k_cards[] = {
    {"scalar-self-attention", k_first, "Three numbers attend to each other",
     "Check every weight with a pocket calculator: a score is a product of two numbers."},
    {"self-attention", k_first, "Self-attention without projections",
     "See why each word attends mostly to itself."},
    {"scaled-dot-product", k_first, "Scaled dot-product attention",
     "Read, term by term, why “you” gives 86 % of its weight to “to”."},
    {"single-query", k_first, "One query", "One row of weights: a matrix of queries is many of these."},
    {"scalar-cross-attention", k_first, "Cross-attention",
     "Queries of one sequence become averages of the values of another."},
    {"designed-heads", k_heads, "What “it” refers to",
     "Watch “it” find the cat, by features that we designed."},
    {"multi-head", k_heads, "Four heads, four questions",
     "Go from the adjective's noun to the verb's subject, and see the mean blur them."},
    {"transformer-heads", k_heads, "Eight heads that can be read",
     "A pronoun's noun, a verb's object, what is negated: one head for each."},
    {"bahdanau-alignment", k_learned, "Alignment of a translation",
     "Watch the lines of “black” and “cat” cross on their way to French."},
    {"encoder-decoder", k_learned, "Before attention",
     "See a whole sentence squeezed into one vector: all lines meet in one point."},
    {"learned-induction", k_learned, "Induction heads",
     "See a head find what followed the same letter last time, and predict it."},
    {"learned-reverse", k_learned, "Reversing twelve letters",
     "Play the training, and the antidiagonal appears out of noise."},
    {"causal", k_masks, "Causal mask",
     "See each row divide its weight among its own word and those before it."},
    {"valid-length", k_masks, "Padding",
     "Drag the valid length: padding gets no weight, whatever its values."},
    {"masked-softmax", k_masks, "A length for each query",
     "Closed cells are exactly 0, and every row still sums to 1."},
    {"dot-product-pooling", k_scores, "Equal keys",
     "Predict the context: it is the plain mean of the open values."},
    {"additive-pooling", k_scores, "Additive score", "See a hidden layer of tanh units make a score."},
    {"soft-and-hard", k_scores, "Soft and hard attention",
     "Lower the temperature until one key has the whole weight."},
    {"global-and-local", k_scores, "Local attention",
     "Each query predicts where to look, and sees only a window around it."},
    {"scalar-softmax-axis", k_scores, "Softmax over queries",
     "Columns sum to 1 instead of rows: see what that does to a query."},
    {"image-attention", k_pictures, "Words attend to a picture",
     "“sun” finds yellow patches, “house” the red roof: weights laid over the image."},
};

}  // namespace

std::span<const ExampleCard> example_cards() { return k_cards; }

std::vector<std::string> example_names() {
    std::vector<std::string> names;
    for (const EmbeddedFile& file : embedded_examples()) names.emplace_back(file.name);
    return names;
}

Session load_example(std::string_view name) {
    for (const EmbeddedFile& file : embedded_examples())
        if (file.name == name) return session_from_json(file.text, "example " + std::string(name));
    const std::vector<std::string> names = example_names();
    const std::string near = nearest_name(name, names);
    throw Error(ErrorKind::bad_input,
                "there is no example \"" + std::string(name) + "\"" +
                    (near.empty() ? ": `attnscope examples` lists them" : "; did you mean " + near + "?"));
}

const std::vector<NamedExample>& all_examples() {
    static const std::vector<NamedExample> examples = [] {
        std::vector<NamedExample> found;
        for (const std::string& name : example_names()) found.push_back({name, load_example(name)});
        return found;
    }();
    return examples;
}

const NamedExample* example_with_note(std::string_view note) {
    for (const NamedExample& example : all_examples())
        if (example.session.note == note) return &example;
    return nullptr;
}

}  // namespace attnscope
