// The text of a training's PyTorch script and, where PyTorch is installed, its losses.
#include "core/recipe/training_recipe.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "core/error.h"
#include "core/files/file.h"
#include "core/session/options.h"
#include "core/utf8.h"
#include "tests/option_values.h"
#include "tests/python.h"
#include "tests/recipe_text.h"
#include "tests/sanitized.h"

namespace attnscope {
namespace {

using namespace test;

struct Case {
    TaskKind task;
    void (*change)(Experiment&) = [](Experiment&) {};

    Experiment experiment() const {
        Experiment e = task_experiment(task);
        change(e);
        return e;
    }
};

std::string script_of(const Experiment& e, int steps = 2) {
    return training_recipe(TrainingRun(e, 1), steps);
}

void expect_in_order(const std::string& script, const std::vector<std::string>& lines) {
    std::size_t last = 0;
    for (const std::string& line : lines) {
        const std::size_t found = script.find(line + "\n", last);
        ASSERT_NE(found, std::string::npos) << line << "\n" << script;
        last = found;
    }
}

/// A sentence of the script: what is read, and the targets.
std::string line_of(const std::vector<int>& read, const std::vector<int>& targets) {
    return fmt::format("        ([{}], [{}]),", fmt::join(read, ", "), fmt::join(targets, ", "));
}

// ---- The text

TEST(TrainingRecipeTest, HoldsTheModelTheSentencesAndTheOptimizerOfAStack) {
    const Experiment e = task_experiment(TaskKind::induction);
    Generator generator(e.training.data_seed);
    const std::vector<TaskSentence> drawn =
        draw_sentences(task_of(TaskKind::induction).open(e.training).draw, generator, 17);
    expect_in_order(
        script_of(e),
        {"words = [\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \"h\", \"i\", \"j\", \"k\", \"l\", "
         "\"m\", \"n\", "
         "\"o\", \"p\"]",
         "class Layer(torch.nn.Module):",
         "        self.ln1 = torch.nn.LayerNorm(32, eps=1e-05)",
         "        self.W_q = torch.nn.Linear(32, 32, bias=False)",
         "        self.W_o = torch.nn.Linear(32, 32, bias=False)",
         "        scores = scores / 16**0.5",
         "        x = x + self.attend(self.ln1(x))",
         "class Model(torch.nn.Module):",
         "        self.E = torch.nn.Parameter(torch.randn(16, 32))",
         "        self.layers = torch.nn.ModuleList(Layer() for _ in range(2))",
         "        self.ln_f = torch.nn.LayerNorm(32, eps=1e-05)",
         "        self.W_out = torch.nn.Linear(32, 16, bias=False)",
         "        self.P = torch.nn.Parameter(torch.randn(24, 32))",
         "        x = x + self.P[: x.shape[1]]",
         "batches = [",
         "    [  # step 1",
         line_of(drawn[0].tokens, drawn[0].targets),
         line_of(drawn[15].tokens, drawn[15].targets),
         "    [  # step 2",
         line_of(drawn[16].tokens, drawn[16].targets),
         "torch.manual_seed(123)",
         "model = Model()",
         "optimizer = torch.optim.AdamW(",
         "    model.parameters(), lr=0.01, weight_decay=0.01, betas=(0.9, 0.999), eps=1e-08",
         "    loss.backward()",
         "    optimizer.step()",
         "    print(json.dumps({\"losses\": losses}))"});
}

TEST(TrainingRecipeTest, HoldsTheModelTheSentencesAndTheOptimizerOfATranslator) {
    const Experiment e = task_experiment(TaskKind::translate);
    Generator generator(e.training.data_seed);
    const TaskSentences sentences = task_of(TaskKind::translate).open(e.training);
    const TaskSentence first = draw_sentences(sentences.draw, generator, 1).front();
    const std::size_t source_words = sentences.source_words.size(), words = sentences.words.size() + 2;
    const std::string script = script_of(e);
    EXPECT_TRUE(contains(script, "source_words = [\n    \"the\", \"a\", \"cat\",")) << script;
    EXPECT_TRUE(contains(script, "target_words = [\n    \"<bos>\", \"<eos>\", \"le\", \"la\",")) << script;
    expect_in_order(
        script,
        {fmt::format("        self.E_src = torch.nn.Parameter(torch.randn({}, 32))", source_words),
         fmt::format("        self.E_tgt = torch.nn.Parameter(torch.randn({}, 32))", words),
         "        self.encoder = torch.nn.GRU(32, 32, batch_first=True, bidirectional=True)",
         "        self.W_init = torch.nn.Linear(32, 32)",
         "        self.W_a = torch.nn.Linear(32, 32, bias=False)",
         "        self.U_a = torch.nn.Linear(64, 32, bias=False)",
         "        self.v_a = torch.nn.Linear(32, 1, bias=False)",
         "        self.dec = torch.nn.GRUCell(96, 32)",
         fmt::format("        self.W_out = torch.nn.Linear(128, {})", words),
         "            e = e.masked_fill(~is_word, -inf)", "            alpha = e.softmax(dim=-1)",
         "            c = alpha @ h", "            s = self.dec(torch.cat([y, c], dim=-1), s)",
         line_of(first.source, first.targets), "torch.manual_seed(7)", "optimizer = torch.optim.Adam(",
         "    model.parameters(), lr=0.005, weight_decay=0, betas=(0.9, 0.999), eps=1e-08",
         "    torch.nn.utils.clip_grad_norm_(model.parameters(), 5)"});
}

TEST(TrainingRecipeTest, HoldsOnlyWhatApplies) {
    struct Step {
        const char* code;  ///< absent by default
        Case of;
    };
    constexpr TaskKind stack = TaskKind::reverse, translator = TaskKind::translate;
    const Step steps[] = {
        {"torch.rand(", {stack, [](Experiment& e) { e.weights.embedding = Initialization::uniform; }}},
        {"mask &= j <= i", {stack, [](Experiment& e) { e.weighting.mask = {{MaskForm::causal}}; }}},
        {"scores = scores.masked_fill(~mask[: x.shape[1], : x.shape[1]], -inf)",
         {stack, [](Experiment& e) { e.weighting.mask = {{MaskForm::causal}}; }}},
        {"scores / 32**0.5 / 2", {stack, [](Experiment& e) { e.weighting.temperature = 2; }}},
        {"positions = torch", {stack, [](Experiment& e) { e.attention.position = Position::sinusoidal; }}},
        {"q, k = rotate(q), rotate(k)",
         {stack, [](Experiment& e) { e.attention.position = Position::rope; }}},
        {"unflatten(-1, (4, 8))", {stack, [](Experiment& e) { e.attention.heads = 4; }}},
        {"self.W_1 = torch.nn.Linear(32, 5)",
         {stack, [](Experiment& e) { e.attention.feed_forward_size = 5; }}},
        {"x = self.ln1(x + self.attend(x))",
         {stack, [](Experiment& e) { e.transformer.norm = Norm::after; }}},
        {"x = x + self.attend(x)", {stack, [](Experiment& e) { e.transformer.norm = Norm::none; }}},
        {"x @ self.E.T", {stack, [](Experiment& e) { e.transformer.tied = true; }}},
        {"        torch.nn.Linear(32, 12, bias=False)  # drawn",
         {stack, [](Experiment& e) { e.transformer.tied = true; }}},
        {"torch.optim.SGD(", {stack, [](Experiment& e) { e.training.optimizer.kind = OptimizerKind::sgd; }}},
        {"if step <= 3:  # the warm-up", {stack, [](Experiment& e) { e.training.optimizer.warm_up = 3; }}},
        {"math.cos", {stack, [](Experiment& e) { e.training.optimizer.decay = 3; }}},
        {"clip_grad_norm_", {stack, [](Experiment& e) { e.training.optimizer.clip = 1; }}},
        {"torch.nn.GRU(32, 32, batch_first=True)\n        torch.nn.GRUCell(32, 32)  # drawn",
         {translator, [](Experiment& e) { e.seq2seq.encoder = Encoder::forward; }}},
        {"c = torch.cat([*last], dim=-1)",
         {translator, [](Experiment& e) { e.seq2seq.decoder_attention = DecoderAttention::none; }}},
        {"s = self.dec(y, s)",
         {translator, [](Experiment& e) { e.seq2seq.alignment_state = AlignmentState::current; }}},
        {"e = e / 2", {translator, [](Experiment& e) { e.weighting.temperature = 2; }}},
    };
    for (const Step& step : steps) {
        EXPECT_FALSE(contains(script_of(Case{step.of.task}.experiment()), step.code)) << step.code;
        const std::string script = script_of(step.of.experiment());
        EXPECT_TRUE(contains(script, step.code)) << step.code << "\n" << script;
    }
}

TEST(TrainingRecipeTest, NoLineButASentenceIsLongerThanAHundredCharacters) {
    for (const Task& task : tasks()) {
        std::istringstream lines(script_of(task_experiment(task.choice)));
        for (std::string line; std::getline(lines, line);)
            EXPECT_TRUE(count_code_points(line) <= 100 || line.starts_with("        ([")) << line;
    }
}

TEST(TrainingRecipeTest, IsTheSameWhereverTheRunStands) {
    TrainingRun run(task_experiment(TaskKind::sort), 1);
    const std::string script = training_recipe(run, 2);
    run.go_to(1);
    EXPECT_EQ(training_recipe(run, 2), script);
    EXPECT_EQ(script_of(run.experiment()), script);
}

TEST(TrainingRecipeTest, RefusesWhatItDoesNotWrite) {
    struct Refused {
        Case of;
        const char* words;
    };
    const Refused refused[] = {
        {{TaskKind::reverse,
          [](Experiment& e) {
              e.weighting.mask = {{MaskForm::window, {1, 1}}};
          }},
         "a training script cannot have mask window: use causal or none"},
        {{TaskKind::reverse,
          [](Experiment& e) { e.weights.custom.emplace("mask", CustomMatrix(Matrix::Ones(12, 12))); }},
         "a training script cannot have a custom mask: use causal or none"},
        {{TaskKind::reverse, [](Experiment& e) { e.weighting.normalizer = Normalization::sparsemax; }},
         "a training script cannot have normalizer sparsemax: use softmax"},
        {{TaskKind::reverse, [](Experiment& e) { e.input.vocabulary = VocabularyOrder::stable; }},
         "a training script cannot have vocabulary stable: use another order"},
        {{TaskKind::translate, [](Experiment& e) { e.weighting.mask = {{MaskForm::causal}}; }},
         "a training script cannot have mask causal: use none"},
        {{TaskKind::translate, [](Experiment& e) { e.weighting.normalizer = Normalization::local_p; }},
         "a training script cannot have normalizer local-p: use softmax"},
    };
    for (const Refused& each : refused) {
        try {
            script_of(each.of.experiment());
            ADD_FAILURE() << each.words;
        } catch (const Error& error) {
            EXPECT_EQ(error.kind(), ErrorKind::bad_input);
            EXPECT_STREQ(error.what(), each.words);
        }
    }
}

/// The script says the model a second time: no setting that changes a run may be missing in it.
TEST(TrainingRecipeTest, EverySettingThatChangesARunChangesItsScriptOrIsRefused) {
    constexpr int k_steps = 2;
    std::set<std::string_view> written;
    std::size_t visited = 0;
    for (const TaskKind task : {TaskKind::copy, TaskKind::next_word, TaskKind::translate})
        for (const OptimizerKind optimizer : {OptimizerKind::sgd, OptimizerKind::adam}) {
            Session base;
            base.experiment = task_experiment(task);
            base.experiment.input.dim = 8;
            base.experiment.training.batch = 2;
            base.experiment.training.optimizer.kind = optimizer;
            const auto parameters = at_step(base.experiment, k_steps).weights.custom;
            const std::string script = script_of(base.experiment, k_steps);
            for (const Option& option : options()) {
                if (!option.in_experiment() || option.type == OptionType::matrices) continue;
                for (const std::string& value : other_values(option, base.experiment)) {
                    if (!test::is_visited(visited++, 13)) continue;
                    Session changed = base;
                    try {
                        set_from_text(changed, option, value);
                        if (!can_be_trained(changed.experiment)) continue;
                        if (at_step(changed.experiment, k_steps).weights.custom == parameters) continue;
                        EXPECT_NE(script_of(changed.experiment, k_steps), script)
                            << name_of(task) << ": " << option.name << " " << value;
                        written.insert(option.name);
                    } catch (const Error&) {  // a value that does not fit, or that no script has
                    }
                }
            }
        }
    for (const Option& option : options()) {
        const bool is_of_runs = option.section == OptionSection::training && option.name != "step";
        EXPECT_TRUE(test::k_sanitized || !is_of_runs || written.contains(option.name)) << option.name;
    }
    EXPECT_GT(written.size(), test::k_sanitized ? 10U : 25U);
}

TEST(TrainingRecipeTest, RefusesMoreTokensThanAScriptHolds) {
    Experiment e = task_experiment(TaskKind::copy);
    e.training.batch = 1000;  // 24,000 tokens and targets a step
    EXPECT_NO_THROW(script_of(e, 41));
    try {
        script_of(e, 42);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), ErrorKind::too_large);
        EXPECT_STREQ(error.what(), "a script holds at most 1000000 tokens and targets: use at most 41 steps");
    }
}

// ---- The losses, by PyTorch

constexpr int k_steps = 20;
/// Largest relative difference of a loss. Both sides are float32, or double rounded to it, each summing in
/// its own order: 3e-7 was measured.
constexpr double k_tolerance = 1e-5;

const Case k_cases[] = {
    {TaskKind::translate},
    {TaskKind::translate,
     [](Experiment& e) {
         e.seq2seq.decoder_attention = DecoderAttention::none;
         e.training.optimizer.clip = 0.1;
     }},
    {TaskKind::translate,
     [](Experiment& e) {
         e.seq2seq.encoder = Encoder::forward;
         e.seq2seq.alignment_state = AlignmentState::current;
         e.input.dim = 12;
         e.seq2seq.encoder_size = 7;
         e.seq2seq.decoder_size = 9;
         e.weighting.hidden = 5;
         e.weighting.temperature = 0.5;
     }},
    {TaskKind::translate,
     [](Experiment& e) {
         e.seq2seq.encoder = Encoder::forward;
         e.seq2seq.decoder_attention = DecoderAttention::none;
         e.training.optimizer.weight_decay = 0.1;
     }},
    {TaskKind::dates},
    {TaskKind::induction},
    {TaskKind::reverse},
    {TaskKind::reverse,
     [](Experiment& e) {
         e.training.optimizer = {.kind = OptimizerKind::sgd,
                                 .learning_rate = 0.5,
                                 .momentum = 0.9,
                                 .weight_decay = 0.01,
                                 .clip = 0.1,
                                 .warm_up = 5,
                                 .decay = 10};
     }},
    {TaskKind::sort},
    {TaskKind::reverse,
     [](Experiment& e) {
         e.attention.position = Position::rope;
         e.attention.heads = 2;
         e.attention.scale = {.kind = Scale::Kind::number, .number = 0.3};
         e.transformer.norm = Norm::none;
         e.transformer.tied = true;
         e.training.optimizer.warm_up = 30;
     }},
    {TaskKind::recall,
     [](Experiment& e) {
         e.attention.position = Position::rope;
         e.attention.rope_layout = RopeLayout::half;
         e.attention.scale.kind = Scale::Kind::none;
         e.weights.embedding = Initialization::xavier;
     }},
    {TaskKind::next_word,
     [](Experiment& e) {
         e.attention.position = Position::sinusoidal;
         e.attention.activation = Activation::gelu;
         e.transformer.norm = Norm::after;
         e.training.data_seed = 5;
         e.training.optimizer.decay = 15;
     }},
    {TaskKind::next_character,
     [](Experiment& e) {
         e.transformer.tied = true;
         e.weights.seed = 9;
     }},
};

class TrainingRecipeTorchTest : public test::TorchTest {};

TEST_F(TrainingRecipeTorchTest, PrintsTheLossesOfTheRun) {
    std::string arguments = ATTNSCOPE_SOURCE_DIR "/tests/run_recipes.py";
    for (std::size_t i = 0; i < std::size(k_cases); ++i) {
        const std::string file = folder_.file(fmt::format("{}.py", i));
        write_file(file, script_of(k_cases[i].experiment(), k_steps));
        arguments += " " + file;
    }
    const std::string out = folder_.file("out");
    EXPECT_EQ(test::run_python(arguments, out), 0) << read_file(out + ".err");
    std::istringstream lines(read_file(out));
    double worst = 0;
    for (std::size_t i = 0; i < std::size(k_cases); ++i) {
        SCOPED_TRACE(fmt::format("case {}, {}", i, name_of(k_cases[i].task)));
        std::string line;
        ASSERT_TRUE(std::getline(lines, line));
        const auto losses = nlohmann::json::parse(line).at("losses").get<std::vector<double>>();
        TrainingRun run(k_cases[i].experiment());
        run.go_to(k_steps);
        ASSERT_EQ(losses.size(), run.records().size());
        for (std::size_t step = 0; step < losses.size(); ++step) {
            const double loss = run.records()[step].loss, difference = std::abs(losses[step] - loss) / loss;
            worst = std::max(worst, difference);
            EXPECT_LE(difference, k_tolerance) << "step " << step + 1 << ": " << losses[step] << ", " << loss;
        }
    }
    RecordProperty("largest_relative_difference", fmt::format("{:.1e}", worst));
}

TEST_F(TrainingRecipeTorchTest, WithoutJsonItPrintsALineForEachStep) {
    const std::string file = folder_.file("training.py"), out = folder_.file("out");
    write_file(file, script_of(task_experiment(TaskKind::sort)));
    ASSERT_EQ(test::run_python(file, out), 0) << read_file(out + ".err");
    const std::string printed = read_file(out);
    EXPECT_TRUE(printed.starts_with("step 1: loss ")) << printed;
    EXPECT_TRUE(contains(printed, "\nstep 2: loss ")) << printed;
}

}  // namespace
}  // namespace attnscope
