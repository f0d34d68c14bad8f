// An option that applies changes a stage, and one that does not apply changes none: for every option of the
// table.
#include "core/session/applies.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <sstream>

#include "core/error.h"
#include "core/graph/stage_table.h"
#include "core/learn/training_run.h"
#include "core/mechanism/evaluate.h"
#include "core/mechanism/mechanisms.h"
#include "core/mechanism/transformer/parameters.h"
#include "core/session/examples.h"
#include "tests/option_values.h"
#include "tests/sanitized.h"

namespace attnscope {
namespace {

struct Base {
    std::string name;
    Experiment experiment;
};

Matrix numbers(int rows, int columns) {
    Matrix matrix(rows, columns);
    for (Eigen::Index i = 0; i < matrix.size(); ++i)
        matrix.data()[i] = 0.3f + 0.7f * static_cast<float>((i * 7 + 3) % 11 - 5);
    return matrix;
}

/// Flags as the command line takes them, and what is given, over the default experiment made small.
Experiment with(const std::vector<std::pair<const char*, const char*>>& flags,
                const std::vector<std::tuple<const char*, int, int>>& given = {}) {
    Session session;
    session.experiment.input.text = "one word and another";
    session.experiment.input.dim = 8;
    for (const auto& [name, value] : flags) set_from_text(session, *find_option(name), value);
    for (const auto& [name, rows, columns] : given) {
        Matrix values = numbers(rows, columns);
        const std::string_view of = name;
        if (of == "mask" || of == "dropout_keep") values = (values.array() > 0).cast<float>();
        session.experiment.weights.custom.insert_or_assign(name, CustomMatrix(std::move(values)));
    }
    return session.experiment;
}

/// The experiment with all its parameters custom, and the words of these stages.
Experiment all_custom(Experiment e, const std::vector<std::pair<const char*, StageKey>>& words) {
    const Trace trace = evaluate(e);
    for (const StagePtr& stage : trace.parameters())
        e.weights.set_custom(custom_name(stage->key()), stage->buffer.host().head(0));
    for (const auto& [name, stage] : words)
        e.weights.set_custom(name, trace.find(stage)->buffer.host().head(0).transpose());
    return e;
}

constexpr std::tuple<const char*, int, int> k_Q{"query", 4, 6}, k_K{"key", 5, 6}, k_V{"value", 5, 4};

std::vector<Base> all_bases() {
    std::vector<Base> all = {
        {"attention", with({})},
        {"without projections", with({{"projection", "none"}})},
        {"only W_o is projected",
         with({{"projection", "none"}, {"output-projection", "true"}, {"projection-bias", "true"}})},
        {"one dimension", with({{"dim", "1"}})},
        {"two sentences", with({{"text2", "three keys here"}})},
        {"stable", with({{"vocabulary", "stable"}})},
        {"lexicon", with({{"vocabulary", "lexicon"}})},
        {"lexicon without projections", with({{"vocabulary", "lexicon"}, {"projection", "none"}})},
        {"lexicon and learned positions", with({{"vocabulary", "lexicon"}, {"position", "learned"}})},
        {"mha with biases", with({{"projection", "mha"}, {"projection-bias", "true"}, {"heads", "2"}})},
        {"own sizes", with({{"projection", "linear"}, {"key-size", "4"}, {"output-projection", "true"}})},
        {"rope", with({{"position", "rope"}})},
        {"alibi", with({{"position", "alibi"}, {"heads", "4"}})},
        {"additive", with({{"score", "additive"}})},
        {"additive after the projections", with({{"score", "general"},
                                                 {"score-seed", "continue"},
                                                 {"projection", "none"},
                                                 {"projection-seed", "continue"}})},
        {"cosine", with({{"score", "cosine"}})},
        {"seeds of their own",
         with({{"score", "concat"}, {"projection-seed", "5"}, {"score-seed", "6"}, {"block-seed", "7"}})},
        {"hard", with({{"normalizer", "hard"}})},
        {"sparsemax", with({{"normalizer", "sparsemax"}})},
        {"local-m", with({{"normalizer", "local-m"}})},
        {"local-p", with({{"normalizer", "local-p"}})},
        {"dropout", with({{"dropout", "0.5"}})},
        {"dropout in evaluation", with({{"dropout", "0.5"}, {"training", "false"}})},
        {"dropout of given cells", with({}, {{"dropout_keep", 4, 4}})},
        {"block", with({{"block", "pre-norm"}})},
        {"block that continues",
         with({{"block", "post-norm"}, {"block-seed", "continue"}, {"score-seed", "continue"}})},
        {"image", with({{"image", "drawn"}, {"grid", "2"}, {"patch-size", "2"}})},
        {"image that all continue after", with({{"image", "drawn"},
                                                {"grid", "2"},
                                                {"patch-size", "2"},
                                                {"image-seed", "continue"},
                                                {"projection-seed", "continue"}})},
        {"given embedding", with({}, {{"embedding", 4, 6}})},
        {"given embedding of the keys", with({}, {{"embedding_kv", 5, 8}})},
        {"given both embeddings",
         with({{"projection", "none"}, {"scale", "none"}}, {{"embedding", 4, 6}, {"embedding_kv", 5, 6}})},
        {"given weights", with({}, {{"W_q", 8, 8}, {"W_k", 8, 8}, {"W_v", 8, 8}})},
        {"given score weights", with({{"score", "general"}}, {{"W_score", 8, 8}})},
        {"given W_o", with({}, {{"W_o", 8, 8}})},
        {"given Q, K, V", with({}, {k_Q, k_K, k_V})},
        {"given Q, K, V, with W_o", with({{"output-projection", "true"}}, {k_Q, k_K, k_V})},
        {"given Q, K, V, additive", with({{"score", "additive"}}, {k_Q, k_K, k_V})},
        {"given Q, K, V of one column", with({}, {{"query", 4, 1}, {"key", 5, 1}, {"value", 5, 1}})},
        {"given query", with({}, {{"query", 3, 8}})},
        {"given scores", with({{"scale", "none"}}, {{"scores", 4, 5}})},
        {"given scores and rope", with({{"scale", "none"}, {"position", "rope"}}, {{"scores", 4, 5}})},
        {"given scores and values",
         with({{"scale", "none"}, {"output-projection", "true"}}, {{"scores", 4, 5}, k_V})},
        {"seq2seq", with({{"mechanism", "seq2seq"}})},
        {"seq2seq of two sentences", with({{"mechanism", "seq2seq"}, {"text2", "three words here"}})},
        {"seq2seq, greedy", with({{"mechanism", "seq2seq"}, {"decode", "greedy"}, {"max-steps", "4"}})},
        {"seq2seq without attention",
         with({{"mechanism", "seq2seq"}, {"decoder-attention", "none"}, {"normalizer", "local-m"}})},
        {"seq2seq, forward and local",
         with({{"mechanism", "seq2seq"}, {"encoder", "forward"}, {"normalizer", "local-p"}})},
        {"seq2seq, stable", with({{"mechanism", "seq2seq"}, {"vocabulary", "stable"}})},
        {"seq2seq, lexicon", with({{"mechanism", "seq2seq"}, {"vocabulary", "lexicon"}})},
        {"seq2seq with all that attention has", with({{"block", "pre-norm"},
                                                      {"score", "cosine"},
                                                      {"position", "rope"},
                                                      {"dropout", "0.5"},
                                                      {"image", "drawn"},
                                                      {"heads", "2"},
                                                      {"output-projection", "true"},
                                                      {"mechanism", "seq2seq"}})},
        {"transformer", with({{"mechanism", "transformer"}})},
        {"transformer with a feed-forward layer", with({{"mechanism", "transformer"},
                                                        {"feed-forward-size", "5"},
                                                        {"position", "learned"},
                                                        {"norm", "after"},
                                                        {"tied", "true"}})},
        {"transformer, rope and local", with({{"mechanism", "transformer"},
                                              {"position", "rope"},
                                              {"normalizer", "local-m"},
                                              {"heads", "2"},
                                              {"norm", "none"}})},
        {"transformer with an ablated head",
         with({{"mechanism", "transformer"}, {"heads", "2"}, {"ablate", "1.2"}})},
        {"an ablated head", with({{"heads", "2"}, {"ablate", "1.2"}})},
        {"transformer with targets", with({{"mechanism", "transformer"}, {"objective", "position"}})},
        {"rbf", with({{"score", "rbf"}})},
        {"transformer, lexicon", with({{"mechanism", "transformer"}, {"vocabulary", "lexicon"}})},
        {"transformer of given matrices",
         all_custom(with({{"mechanism", "transformer"}, {"words", "a and another one word"}}),
                    {{"tokens", "tokens"_stage}, {"targets", "tokens"_stage}})},
        {"seq2seq of given matrices",
         all_custom(
             with({{"mechanism", "seq2seq"}, {"text2", "three words here"}}),
             {{"src", "source"_stage}, {"tgt_in", "fed_tokens"_stage}, {"tgt_out", "target_tokens"_stage}})},
        {"seq2seq of given words", with({{"mechanism", "seq2seq"}, {"text2", "three words here"}})},
    };
    all.back().experiment.weights.custom.insert_or_assign("src", CustomMatrix(Matrix::Constant(1, 3, 2)));
    for (const std::string& name : example_names()) {
        // What a run has learned hides what it was drawn from; a change of that starts the run again.
        Experiment experiment = untrained(load_example(name).experiment);
        if (experiment.input.dim > 64) continue;  // the same at another size is too slow to try so often
        all.push_back({name, std::move(experiment)});
    }
    return all;
}

const std::vector<Base>& bases() {
    static const std::vector<Base> bases = all_bases();
    return bases;
}

/// All stages alike, to the bit.
bool same_numbers(const Trace& a, const Trace& b) {
    return std::ranges::equal(a.records, b.records, [](const StageRecord& x, const StageRecord& y) {
        const auto bits = [](const StageRecord& record) {
            return std::span(record.stage->buffer.host().values());
        };
        return x.stage->name() == y.stage->name() && x.stage->shape() == y.stage->shape() &&
               std::memcmp(bits(x).data(), bits(y).data(), bits(x).size_bytes()) == 0;
    });
}

/// What came of the other values of an option.
struct Tried {
    std::string counts;    ///< one that changes a stage, or nothing
    bool ignored = false;  ///< some change none
    bool refused = false;  ///< some do not fit what is given, and say so
};

bool is_valid(const Experiment& experiment) {
    try {
        check(experiment);
        return true;
    } catch (const Error&) {
        return false;
    }
}

Tried try_values(const Option& option, const Base& base, const Trace& trace) {
    Tried tried;
    for (const std::string& value : test::other_values(option, base.experiment)) {
        Session changed;
        changed.experiment = base.experiment;
        set_from_text(changed, option, value);
        if (changed.experiment == base.experiment || !is_valid(changed.experiment)) continue;
        try {
            if (!same_numbers(evaluate(changed.experiment), trace)) return {"\"" + value + "\""};
            tried.ignored = true;
        } catch (const Error&) {
            tried.refused = true;
        }
    }
    return tried;
}

TEST(AppliesTest, AnOptionAppliesExactlyWhereItChangesANumber) {
    std::size_t row = 0;
    for (const Base& base : bases()) {
        if (!test::is_visited(row++, 4)) continue;
        const Trace trace = evaluate(base.experiment);
        for (const Option& option : options()) {
            if (!option.in_experiment() || option.type == OptionType::matrices) continue;
            if (option.section == OptionSection::training)
                continue;  // changes a run, no trace of it: the test below
            const std::string reason = why_unused(option, base.experiment);
            const Tried tried = try_values(option, base, trace);
            const std::string what = base.name + ": --" + std::string(option.name);
            if (!tried.counts.empty()) {
                EXPECT_EQ(reason, "") << what << " " << tried.counts << " makes a difference";
            } else if (tried.ignored && !tried.refused) {
                EXPECT_NE(reason, "") << what << " makes no difference";
            }
        }
    }
}

/// The numbers of all stages behind the weights, these included: what a choice finally changes.
std::string result_of(const Trace& trace) {
    std::string bytes;
    const StageKey weights = main_stage(trace).key();
    bool reached = false;
    for (const StagePtr& stage : trace.stages()) {
        reached |= stage->key().stage == weights.stage;
        if (!reached) continue;
        const auto values = stage->buffer.host().values();
        bytes.append(reinterpret_cast<const char*>(values.data()), values.size_bytes());
    }
    return bytes;
}

TEST(AppliesTest, EveryValueOfAChoiceGivesAnotherResult) {
    const std::set<std::string_view> bases_here = {"transformer", "transformer with a feed-forward layer",
                                                   "defaults",    "seq2seq",
                                                   "multi-head",  "causal"};
    int compared = 0;
    for (const Base& base : bases()) {
        if (!bases_here.contains(base.name)) continue;
        for (const Option& option : options()) {
            const bool is_choice =
                option.type == OptionType::text && option.argument.find('|') != std::string_view::npos;
            if (!option.in_experiment() || !is_choice || option.section == OptionSection::training) continue;
            if (!why_unused(option, base.experiment).empty()) continue;
            if (option.name == "tokenizer") continue;  // texts without punctuation are cut alike by two
            std::map<std::string, std::string> value_of;
            for (const std::string& value : test::other_values(option, base.experiment)) {
                Session changed;
                changed.experiment = base.experiment;
                try {
                    set_from_text(changed, option, value);
                    if (!is_valid(changed.experiment)) continue;
                    const auto [first, is_new] =
                        value_of.emplace(result_of(evaluate(changed.experiment)), value);
                    EXPECT_TRUE(is_new) << base.name << ": " << option.name << " " << value << " gives what "
                                        << first->second << " gives";
                    ++compared;
                } catch (const Error&) {  // a value that does not fit
                }
            }
        }
    }
    EXPECT_GT(compared, 50);
}

TEST(AppliesTest, TheTableSaysAlwaysOfWhatAlwaysAppliesAndOfNothingElse) {
    for (const Option& option : options()) {
        if (!option.in_experiment()) continue;
        const bool sometimes_not = std::ranges::any_of(
            bases(), [&](const Base& base) { return !why_unused(option, base.experiment).empty(); });
        EXPECT_EQ(sometimes_not, !when_used(option).empty()) << option.name;
    }
}

TEST(AppliesTest, AMechanismSaysOfEachOptionAloneWhetherItIsAlwaysSometimesOrNeverUsed) {
    for (const Mechanism* mechanism : mechanisms())
        for (const OptionRule& rule : mechanism->options) {
            const std::string_view name = rule.option.text();
            const Option* option = find_option(name);
            ASSERT_NE(option, nullptr) << name;
            const std::string what = std::string(name_of(mechanism->choice)) + ": " + std::string(name);
            EXPECT_EQ(std::ranges::count(mechanism->options, name,
                                         [](const OptionRule& each) { return each.option.text(); }),
                      1)
                << what;
            bool used = false, unused = false;
            for (const Base& base : bases())
                if (base.experiment.mechanism == mechanism->choice)
                    (why_unused(*option, base.experiment).empty() ? used : unused) = true;
            EXPECT_EQ(used, !rule.is_never_used()) << what;
            EXPECT_EQ(unused, rule.why_unused != nullptr) << what;
        }
}

/// A part of a condition's words: "score is additive or concat".
struct Clause {
    const Option* choice;
    std::set<std::string> values;
    bool is_denied;  ///< "is not", "is neither"
};

std::vector<Clause> clauses_of(const std::string& words) {
    std::vector<std::string> all;
    std::istringstream in(words);
    for (std::string word; in >> word;) {
        if (word.ends_with(',')) word.pop_back();
        all.push_back(word == "on" ? "true" : word);
    }
    const auto is_value = [](const Option& option, const std::string& word) {
        if (option.type == OptionType::boolean) return word == "true";
        return ("|" + std::string(option.argument) + "|").find("|" + word + "|") != std::string::npos;
    };
    std::vector<Clause> clauses;
    for (std::size_t i = 0; i + 2 < all.size(); ++i) {
        const Option* option = find_option(all[i]);
        if (!option || all[i + 1] != "is") continue;
        Clause clause{option, {}, all[i + 2] == "not" || all[i + 2] == "neither"};
        for (std::size_t at = i + (clause.is_denied ? 3 : 2); at < all.size(); ++at)
            if (is_value(*option, all[at]))
                clause.values.insert(all[at]);
            else if (all[at] != "or" && all[at] != "nor")
                break;
        if (!clause.values.empty()) clauses.push_back(clause);
    }
    return clauses;
}

std::string value_of(const Option& option, const Experiment& e) {
    Session session;
    session.experiment = e;
    const Json value = option.get(session);
    return value.is_string() ? value.get<std::string>() : value.dump();
}

/// A new value of a choice that a condition is about is named in its words, or they are false.
TEST(AppliesTest, AConditionNamesEveryValueForWhichTheOptionApplies) {
    const std::vector<Base> bases = all_bases();
    int checked = 0;
    for (const Mechanism* mechanism : mechanisms())
        for (const OptionRule& rule : mechanism->options) {
            const Option& option = *find_option(rule.option.text());
            // "The score has weights" is no setting, and would do alone.
            if (rule.option == OptionName("score-seed")) continue;
            const std::vector<Clause> clauses = clauses_of(std::string(rule.when));
            for (const Clause& clause : clauses) {
                SCOPED_TRACE(
                    fmt::format("{} {}: {}", name_of(mechanism->choice), option.name.text(), rule.when));
                std::set<std::string> applies, all;
                for (const Base& base : bases) {
                    if (base.experiment.mechanism != mechanism->choice ||
                        !base.experiment.weights.custom.empty())
                        continue;
                    const auto holds_without = [&](const Clause& other) {
                        const std::string now = value_of(*other.choice, base.experiment);
                        return other.values.contains(now) != other.is_denied;
                    };
                    // Parts that "and" joins are needed together; of those that "or" joins one would do.
                    const bool all_needed = rule.when.find(" and ") != rule.when.npos;
                    const bool differs = std::ranges::any_of(clauses, [&](const Clause& other) {
                        return &other != &clause && holds_without(other) != all_needed;
                    });
                    if (differs) continue;
                    for (const std::string& value : test::other_values(*clause.choice, base.experiment)) {
                        Session session;
                        session.experiment = base.experiment;
                        try {
                            set_from_text(session, *clause.choice, value);
                        } catch (const Error&) {
                            continue;
                        }
                        all.insert(value);
                        if (why_unused(option, session.experiment).empty()) applies.insert(value);
                    }
                }
                for (const std::string& value : all)
                    EXPECT_EQ(applies.contains(value), clause.values.contains(value) != clause.is_denied)
                        << value;
                checked += static_cast<int>(all.size());
            }
        }
    EXPECT_GT(checked, 40);
}

TEST(AppliesTest, WhenAnOptionIsUsedIsSaidOfItsMechanisms) {
    const std::pair<const char*, const char*> texts[] = {
        {"mechanism", ""},
        {"words", "no custom matrix replaces the words"},
        {"sharpening", "mechanism is attention, and score is cosine"},
        {"position", "mechanism is attention or transformer"},
        {"mask",
         "mechanism is attention or transformer; or mechanism is seq2seq, and decoder-attention is additive"},
        {"rope-layout", "mechanism is attention or transformer, and position is rope"},
        {"dropout-seed", "mechanism is attention, and training is on and dropout > 0"},
        {"score-seed", "mechanism is attention, and the score has weights or normalizer is local-p"},
        {"task", "mechanism is seq2seq or transformer"},
        {"batch", "a task is chosen"},
        {"colormap", ""},
        {"cell-size", "exported pictures"}};
    for (const auto& [name, text] : texts) EXPECT_EQ(when_used(*find_option(name)), text) << name;
    for (const Option& option : options())
        EXPECT_NE(when_used(option), "never") << option.name << " has no row";
}

TEST(AppliesTest, TheOptionsOfExportsAreThoseWhoseNoteSaysSo) {
    for (const Option& option : options())
        EXPECT_EQ(is_of_exports(option), when_used(option).starts_with("exported")) << option.name;
    EXPECT_TRUE(is_of_exports(*find_option("dpi")));
    EXPECT_FALSE(is_of_exports(*find_option("mass")));
}

TEST(AppliesTest, AnOptionOfTrainingAppliesExactlyWhereItChangesARun) {
    const std::pair<const char*, const char*> values[] = {
        {"task", "reverse"},  {"corpus", "to be or not to be that is"},
        {"optimizer", "sgd"}, {"learning-rate", "0.5"},
        {"momentum", "0.5"},  {"weight-decay", "0.5"},
        {"clip", "0.001"},    {"warm-up", "7"},
        {"decay", "7"},       {"batch", "3"},
        {"data-seed", "9"},   {"train-ablated", "1.1"}};
    std::set<std::string_view> tried = {"step"};  // names a step of the run, and changes none
    for (const TaskKind task : {TaskKind::copy, TaskKind::next_word})
        for (const OptimizerKind optimizer : {OptimizerKind::sgd, OptimizerKind::adamw}) {
            if (test::k_sanitized && task != TaskKind::copy) continue;
            Session session;
            session.experiment = task_experiment(task);
            session.experiment.input.dim = 8;
            session.experiment.training.optimizer.kind = optimizer;
            const Experiment base = at_step(session.experiment, 3);
            for (const auto& [name, value] : values) {
                Session changed = session;
                set_from_text(changed, *find_option(name), value);
                tried.insert(name);
                if (changed.experiment == session.experiment) continue;
                const bool differs = at_step(changed.experiment, 3).weights != base.weights;
                EXPECT_EQ(why_unused(*find_option(name), session.experiment).empty(), differs)
                    << name << " of " << name_of(task) << " with " << name_of(optimizer);
            }
        }
    for (const Option& option : options())
        if (option.section == OptionSection::training) {
            EXPECT_TRUE(tried.contains(option.name)) << option.name;
            EXPECT_NE(why_unused(option, Experiment{}), "") << option.name;
        }
}

TEST(AppliesTest, AReasonBeginsWithASmallLetterOrASymbol) {
    for (const Base& base : bases())
        for (const Option& option : options()) {
            const std::string reason = why_unused(option, base.experiment);
            const bool symbol = reason.starts_with("W_o ") || reason.starts_with("Q, K and V ");
            EXPECT_TRUE(reason.empty() || symbol || std::islower(static_cast<unsigned char>(reason[0])))
                << reason;
        }
}

TEST(AppliesTest, EvaluationWithoutDropoutCanBeLeft) {
    const Experiment e = with({{"training", "false"}});
    EXPECT_EQ(why_unused(*find_option("training"), e), "");
    EXPECT_NE(why_unused(*find_option("dropout"), e), "");
}

}  // namespace
}  // namespace attnscope
