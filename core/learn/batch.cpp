#include "core/learn/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "core/cpu/row_blocks.h"
#include "core/error.h"
#include "core/graph/gradient.h"
#include "core/graph/stage_table.h"
#include "core/learn/seq2seq_batch.h"
#include "core/mechanism/evaluate.h"
#include "core/mechanism/transformer/build.h"

namespace attnscope {
namespace {

/// Sentences of a part; more parts than this keep more cores busy, fewer make larger products.
constexpr std::size_t k_part = 8;

/// A model, and how its batches are computed.
struct Computation {
    const Experiment& model;  ///< with the parameters
    const Parameters& parameters;
    int targets;  ///< of the whole batch
    bool wants_gradients;
    std::stop_token cancel;
};

int count_targets(std::span<const TaskSentence> sentences) {
    int count = 0;
    for (const TaskSentence& each : sentences)
        count +=
            static_cast<int>(std::ranges::count_if(each.targets, [](int target) { return target >= 0; }));
    return count;
}

Matrix row_of(const std::vector<int>& numbers) {
    Matrix row(1, std::ssize(numbers));
    std::ranges::copy(numbers, row.data());
    return row;
}

void add(Parameters& sum, const Parameters& added) {
    for (const auto& [name, gradient] : added) {
        const auto [place, is_new] = sum.try_emplace(name, gradient);
        if (!is_new) place->second += gradient;
    }
}

/// The likeliest words and the loss of sentences whose rows of log p stand one after the other.
void count_right(const Trace& trace, std::span<const TaskSentence> sentences, BatchPart& part) {
    const ConstMatrixView log_probs = trace.find("log_probs"_stage)->buffer.head(0);
    Eigen::Index row = 0;
    for (const TaskSentence& sentence : sentences)
        for (const int target : sentence.targets) {
            Eigen::Index likely = 0;
            log_probs.row(row).maxCoeff(&likely);
            if (target >= 0) {
                part.loss -= log_probs(row, target);
                part.right += likely == target;
            }
            ++row;
        }
}

/// Weights that a head, from 0, has at the keys of sentences whose heads stand one after the other.
Mean pattern_of(const Tensor& weights, std::span<const TaskSentence> sentences, int heads, int head) {
    Mean mean;
    for (std::size_t s = 0; s < sentences.size(); ++s) {
        const std::vector<int>& keys = sentences[s].keys;
        const ConstMatrixView of_head = weights.head(static_cast<int>(s) * heads + head);
        for (std::size_t i = 0; i < keys.size(); ++i)
            if (keys[i] >= 0) mean.add(of_head(static_cast<Eigen::Index>(i), keys[i]));
    }
    return mean;
}

/// The gradients of a trace's mean loss, weighted by its share of the batch's targets.
void add_gradients(const Computation& of, const Trace& trace, std::span<const TaskSentence> sentences,
                   BatchPart& part) {
    const float share = static_cast<float>(count_targets(sentences)) / static_cast<float>(of.targets);
    if (!of.wants_gradients || share == 0) return;
    Parameters gradients;
    for (const StagePtr& stage : attnscope::gradients(trace, of.cancel)) {
        const std::string name = custom_name(stage->key());
        if (of.parameters.contains(name)) gradients.emplace(name, share * stage->buffer.head(0));
    }
    add(part.gradients, gradients);
}

/// Sentences of one length, in a stack.
BatchPart stack_part(const Computation& of, std::span<const TaskSentence> sentences) {
    std::vector<TokenSentence> tokens;
    for (const TaskSentence& each : sentences) tokens.push_back({each.tokens, each.targets});
    const Trace trace = evaluate(TransformerBuilder(of.model, tokens).build(), {.cancel = of.cancel});
    BatchPart part;
    count_right(trace, sentences, part);
    const int heads = of.model.attention.heads;
    for (int layer = 1; layer <= of.model.transformer.layers; ++layer)
        for (int head = 0; head < heads; ++head)
            part.patterns.push_back(
                pattern_of(trace.find({"weights"_stage, layer})->buffer.host(), sentences, heads, head));
    add_gradients(of, trace, sentences, part);
    return part;
}

/// One sentence, by a decoder whose settings computes_together() has no room for.
BatchPart single_part(const Computation& of, const TaskSentence& sentence) {
    Experiment e = of.model;
    e.seq2seq.decode = Decode::teacher;
    e.weights.set_custom("src", row_of(sentence.source));
    e.weights.set_custom("tgt_in", row_of(sentence.tokens));
    e.weights.set_custom("tgt_out", row_of(sentence.targets));
    const Trace trace = evaluate(e, {}, {.threads = 1, .cancel = of.cancel});
    BatchPart part;
    count_right(trace, {&sentence, 1}, part);
    if (const Stage* alignment = trace.find("alignment"_stage))
        part.patterns.push_back(pattern_of(alignment->buffer.host(), {&sentence, 1}, 1, 0));
    add_gradients(of, trace, {&sentence, 1}, part);
    return part;
}

void add(BatchPart& sum, const BatchPart& part) {
    sum.loss += part.loss;
    sum.right += part.right;
    sum.patterns.resize(std::max(sum.patterns.size(), part.patterns.size()));
    for (std::size_t i = 0; i < part.patterns.size(); ++i) {
        sum.patterns[i].sum += part.patterns[i].sum;
        sum.patterns[i].count += part.patterns[i].count;
    }
    add(sum.gradients, part.gradients);
}

BatchPart decoder_part(const Computation& of, std::span<const TaskSentence> sentences) {
    if (computes_together(of.model))
        return seq2seq_batch(of.model, of.parameters, sentences, of.targets, of.wants_gradients, of.cancel);
    BatchPart sum;
    for (const TaskSentence& sentence : sentences) add(sum, single_part(of, sentence));
    return sum;
}

/// Sentences of any lengths, in a stack for each length.
BatchPart stacks_part(const Computation& of, std::span<const TaskSentence> sentences) {
    BatchPart sum;
    std::vector<std::vector<TaskSentence>> lengths;
    for (const TaskSentence& sentence : sentences) {
        const auto same = std::ranges::find(lengths, sentence.tokens.size(),
                                            [](const auto& each) { return each.front().tokens.size(); });
        if (same == lengths.end())
            lengths.push_back({sentence});
        else
            same->push_back(sentence);
    }
    for (const std::vector<TaskSentence>& of_length : lengths) add(sum, stack_part(of, of_length));
    return sum;
}

BatchPart compute(const Computation& of, std::span<const TaskSentence> sentences) {
    switch (of.model.mechanism) {
        case MechanismKind::seq2seq: return decoder_part(of, sentences);
        case MechanismKind::transformer: return stacks_part(of, sentences);
        case MechanismKind::attention: break;  // which is not trained
    }
    throw std::logic_error("no task trains this mechanism");
}

BatchResult compute_batch(const Computation& of, std::span<const TaskSentence> batch, int threads) {
    if (of.targets == 0) throw Error(ErrorKind::bad_input, "no position of the batch has a target");
    const std::size_t count = parts_of_batch(batch.size());
    std::vector<BatchPart> parts(count);
    const RowLoop loop{.heads = static_cast<int>(count), .rows = 1, .work_per_row = 1e8, .cancel = of.cancel};
    with_threads(threads, [&] {
        for_row_blocks(loop, [&](const RowBlock& block) {
            const auto i = static_cast<std::size_t>(block.head);
            // Parts as equal as they can be.
            const std::size_t begin = i * batch.size() / count, end = (i + 1) * batch.size() / count;
            parts[i] = compute(of, batch.subspan(begin, end - begin));
        });
    });
    BatchPart sum;
    for (const BatchPart& part : parts) add(sum, part);
    BatchResult result{.loss = sum.loss / of.targets,
                       .targets = of.targets,
                       .accuracy = static_cast<double>(sum.right) / of.targets,
                       .patterns = std::move(sum.patterns),
                       .gradients = std::move(sum.gradients)};
    if (!of.wants_gradients) return result;
    for (const auto& [name, values] : of.parameters)
        result.gradients.try_emplace(name, Matrix::Zero(values.rows(), values.cols()));
    result.norm = norm_of(result.gradients);
    return result;
}

BatchResult run(const Experiment& model, const Parameters& parameters, std::span<const TaskSentence> batch,
                bool wants_gradients, const std::stop_token& cancel, int threads) {
    const Experiment e = with_parameters(model, parameters);
    try {
        return compute_batch({e, parameters, count_targets(batch), wants_gradients, cancel}, batch, threads);
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::too_large) throw;
        throw Error(ErrorKind::too_large,
                    fmt::format("{} sentences at once do not fit in memory: use a smaller batch or model",
                                std::min(batch.size(), k_part)));
    }
}

}  // namespace

std::size_t parts_of_batch(std::size_t sentences) { return (sentences + k_part - 1) / k_part; }

Experiment with_parameters(Experiment model, const Parameters& parameters) {
    for (const auto& [name, values] : parameters) model.weights.set_custom(name, values);
    return model;
}

BatchResult batch_gradients(const Experiment& model, const Parameters& parameters,
                            std::span<const TaskSentence> batch, const std::stop_token& cancel, int threads) {
    return run(model, parameters, batch, true, cancel, threads);
}

BatchResult batch_loss(const Experiment& model, const Parameters& parameters,
                       std::span<const TaskSentence> batch, const std::stop_token& cancel, int threads) {
    return run(model, parameters, batch, false, cancel, threads);
}

}  // namespace attnscope
