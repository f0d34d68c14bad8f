#include "core/learn/batch.h"

#include <algorithm>
#include <vector>

#include "core/error.h"
#include "core/graph/gradient.h"
#include "core/graph/stage_table.h"
#include "core/mechanism/evaluate.h"
#include "core/mechanism/transformer/build.h"

namespace attnscope {
namespace {

/// The positions of an example that have a target.
int count_targets(const Example& example) {
    for (const char* name : {"targets", "tgt_out"})
        if (const auto found = example.find(name); found != example.end())
            return static_cast<int>((found->second.array() >= 0).count());
    return 0;
}

/// The name in given_names() of a parameter's stage.
std::string given_name(const Stage& stage) {
    return stage.info == "table"_stage ? "E" : std::string(stage.name());
}

std::vector<int> whole_numbers(const Matrix& row) {
    std::vector<int> numbers;
    for (const float value : row.reshaped()) numbers.push_back(static_cast<int>(value));
    return numbers;
}

/// Examples that are computed together, in the batch's order.
using Group = std::vector<const Example*>;

/// The sentences of a transformer by their length; sequence to sequence takes one at a time.
std::vector<Group> groups_of(const Experiment& model, std::span<const Example> batch) {
    std::vector<Group> groups;
    for (const Example& example : batch) {
        const auto fits = [&](const Group& group) {
            return model.mechanism == MechanismKind::transformer &&
                   group.front()->at("tokens").cols() == example.at("tokens").cols();
        };
        const auto group = std::ranges::find_if(groups, fits);
        if (group != groups.end())
            group->push_back(&example);
        else
            groups.push_back({&example});
    }
    return groups;
}

Trace trace_of(Experiment& e, const Group& group, const std::stop_token& cancel) {
    if (group.size() == 1) {
        for (const auto& [name, values] : *group.front())
            e.weights.given.insert_or_assign(name, GivenMatrix(values));
        return evaluate(e, {}, {.threads = 1, .cancel = cancel});
    }
    for (const auto& [name, values] : *group.front()) e.weights.given.erase(name);
    std::vector<TokenSentence> sentences;
    for (const Example* each : group)
        sentences.push_back({whole_numbers(each->at("tokens")), whole_numbers(each->at("targets"))});
    return evaluate(TransformerBuilder(e, sentences).build(), {.threads = 1, .cancel = cancel});
}

}  // namespace

BatchResult batch_gradients(const Experiment& model, const Parameters& parameters,
                            std::span<const Example> batch, const std::stop_token& cancel) {
    Experiment e = model;
    for (const auto& [name, values] : parameters) e.weights.given.insert_or_assign(name, GivenMatrix(values));
    BatchResult result;
    for (const auto& [name, values] : parameters)
        result.gradients.emplace(name, Matrix::Zero(values.rows(), values.cols()));
    const auto targets_of = [](const Group& group) {
        int count = 0;
        for (const Example* each : group) count += count_targets(*each);
        return count;
    };
    const std::vector<Group> groups = groups_of(model, batch);
    for (const Group& group : groups) result.targets += targets_of(group);
    if (result.targets == 0) throw Error(ErrorKind::bad_input, "no position of the batch has a target");
    for (const Group& group : groups) {
        const double share = static_cast<double>(targets_of(group)) / result.targets;
        if (share == 0) continue;
        const Trace trace = trace_of(e, group, cancel);
        result.loss += share * trace.find("loss"_stage)->buffer.at(0, 0, 0);
        for (const StagePtr& stage : gradients(trace, cancel)) {
            const auto sum = result.gradients.find(given_name(*stage));
            if (sum != result.gradients.end())
                sum->second += static_cast<float>(share) * stage->buffer.host().head(0);
        }
    }
    result.norm = norm_of(result.gradients);
    return result;
}

}  // namespace attnscope
