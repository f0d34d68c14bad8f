#include "core/graph/row_pass.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <mutex>
#include <optional>
#include <utility>

#include "core/cpu/row_blocks.h"
#include "core/op/op.h"

namespace attnscope {
namespace {

using Clock = std::chrono::steady_clock;

/// Finds the chains of a graph, from its first node to its last.
class Chains {
public:
    Chains(const Graph& graph, const std::function<bool(int node)>& may_join)
        : graph_(graph),
          may_join_(may_join),
          places_(graph.nodes.size(), Place::open),
          shapes_(graph.nodes.size()) {
        for (const GraphValue& value : graph.values) shapes_[index(value.node)] = &value.shape;
    }

    std::vector<std::vector<int>> passes() {
        for (int node = 0; node < count(); ++node)
            if (places_[index(node)] != Place::done) add_chain(node);
        return std::move(passes_);
    }

private:
    enum class Place {
        open,
        in_chain,
        after,  ///< reads the chain without being of it, or another such node
        done,
    };

    static std::size_t index(int node) { return static_cast<std::size_t>(node); }
    int count() const { return static_cast<int>(graph_.nodes.size()); }
    const GraphNode& node_at(int node) const { return graph_.nodes[index(node)]; }
    const GraphValue& value_at(int value) const { return graph_.values[index(value)]; }

    /// Adds the chain that begins with a node, after all that it reads.
    void add_chain(int first) {
        std::vector<int> chain = {first};
        places_[index(first)] = Place::in_chain;
        if (joins_any(first)) extend(chain);
        for (int between = first + 1; between < chain.back(); ++between)
            if (places_[index(between)] == Place::open) place({between});
        place(std::move(chain));
        std::ranges::replace(places_, Place::after, Place::open);
    }

    void extend(std::vector<int>& chain) {
        constexpr int k_reach = 8;  // nodes between two of a chain: the mask, dropout's mask
        for (int next = chain[0] + 1; next < count() && next <= chain.back() + k_reach; ++next) {
            const bool reads_after = reads_any(next, Place::after);
            if (!reads_after && !reads_any(next, Place::in_chain)) continue;
            const bool joins =
                !reads_after && joins_any(next) && same_rows(chain[0], next) && reads_rows_of_chain(next);
            places_[index(next)] = joins ? Place::in_chain : Place::after;
            if (joins) chain.push_back(next);
        }
    }

    void place(std::vector<int> pass) {
        for (const int node : pass) places_[index(node)] = Place::done;
        passes_.push_back(std::move(pass));
    }

    bool joins_any(int node) const {
        if (!may_join_(node)) return false;
        std::vector<Shape> inputs;
        for (const int input : node_at(node).inputs) inputs.push_back(value_at(input).shape);
        return work_per_row(*node_at(node).op, inputs) <= RowLoop::k_heavy;
    }

    bool same_rows(int a, int b) const {
        const Shape &left = *shapes_[index(a)], &right = *shapes_[index(b)];
        return left.heads == right.heads && left.rows == right.rows;
    }

    bool reads_any(int node, Place place) const {
        return std::ranges::any_of(node_at(node).inputs,
                                   [&](int input) { return places_[index(value_at(input).node)] == place; });
    }

    /// Whether every input that is a result of the chain is read row by row.
    bool reads_rows_of_chain(int node) const {
        const GraphNode& own = node_at(node);
        for (std::size_t i = 0; i < own.inputs.size(); ++i)
            if (places_[index(value_at(own.inputs[i]).node)] == Place::in_chain && !reads_rows(*own.op, i))
                return false;
        return true;
    }

    const Graph& graph_;
    const std::function<bool(int node)>& may_join_;
    std::vector<Place> places_;         ///< by node
    std::vector<const Shape*> shapes_;  ///< by node
    std::vector<std::vector<int>> passes_;
};

}  // namespace

std::vector<std::vector<int>> row_passes(const Graph& graph, const std::function<bool(int node)>& may_join) {
    return Chains(graph, may_join).passes();
}

namespace {

/// The heads of a result of row_passes() that were not kept.
class OmittedRows : public OmittedHeads {
public:
    OmittedRows(std::shared_ptr<const Op> op, std::vector<StagePtr> inputs, RowLoop loop)
        : op_(std::move(op)), inputs_(std::move(inputs)), loop_(std::move(loop)) {}

    int rows_per_block() const override { return static_cast<int>(loop_.rows_per_block()); }

    void compute(int head, int index, MatrixView out) const override {
        const RowBlock block = loop_.block(head * loop_.blocks_per_head() + index);
        std::vector<op::RowInput> inputs;
        std::vector<std::shared_ptr<const Matrix>> held;
        for (std::size_t i = 0; i < inputs_.size(); ++i) {
            const Buffer& input = inputs_[i]->buffer;
            inputs.push_back({&input, {}});
            const int own = std::min(head, input.shape().heads - 1);
            if (!reads_rows(*op_, i) || !input.is_omitted(own)) continue;
            held.push_back(input.omitted_block(own, index));
            inputs.back().rows.emplace(held.back()->data(), held.back()->rows(), held.back()->cols());
        }
        rows(*op_, {inputs, block}, out);
    }

private:
    const std::shared_ptr<const Op> op_;
    const std::vector<StagePtr> inputs_;
    const RowLoop loop_;
};

/// Whether values of this head are kept.
bool keeps(const PassNode& node, const Shape& shape, int head, const Watched& watched) {
    if (!is_of_pairs(*node.key.stage) || node.is_read_outside) return true;
    return (!watched.stage || watched.stage == node.key.stage) &&
           (!watched.head || head == std::min(*watched.head, shape.heads - 1));
}

/// The result of a node while blocks of it are computed, each by one thread.
struct PartialResult {
    Shape shape;
    std::optional<Tensor> all = {};                ///< if every head is kept
    std::vector<std::optional<Tensor>> kept = {};  ///< else by head; empty if it waits
    HeadFacts facts = {};
    std::vector<ValueRange> ranges = {};  ///< by block
    std::unique_ptr<std::atomic<std::int64_t>> nanoseconds =
        std::make_unique<std::atomic<std::int64_t>>(0);  ///< of all threads

    PartialResult(const PassNode& node, const Shape& of, const Watched& watched) : shape(of) {
        if (node.waits) return;
        std::vector<bool> is_kept;
        for (int head = 0; head < shape.heads; ++head) is_kept.push_back(keeps(node, shape, head, watched));
        if (std::ranges::find(is_kept, false) == is_kept.end()) {
            all.emplace(shape);
            return;
        }
        kept.resize(is_kept.size());
        for (std::size_t head = 0; head < is_kept.size(); ++head)
            if (is_kept[head]) kept[head].emplace(Shape{.rows = shape.rows, .columns = shape.columns});
    }

    /// Where the block's rows are kept; nullopt: nowhere.
    std::optional<MatrixView> rows_of(const RowBlock& block) {
        if (all) return block.of(all->head(block.head));
        std::optional<Tensor>& own = kept[static_cast<std::size_t>(block.head)];
        return own ? std::optional(block.of(own->head(0))) : std::nullopt;
    }
};

class Pass {
public:
    Pass(const std::vector<PassNode>& nodes, const EvaluateOptions& options)
        : nodes_(nodes), options_(options) {
        for (const PassNode& node : nodes_) {
            std::vector<Shape> inputs;
            for (const PassNode::Input& input : node.inputs)
                inputs.push_back(input.stage ? input.stage->shape() : result(input).shape);
            results_.emplace_back(node, shapes(*node.op, inputs)[0], options_.watched);
            loop_.work_per_row =
                std::min(loop_.work_per_row + work_per_row(*node.op, inputs), RowLoop::k_heavy);
        }
        loop_.heads = results_[0].shape.heads;
        loop_.rows = results_[0].shape.rows;
        loop_.cancel = options_.cancel;
        for (std::size_t n = 0; n < nodes_.size(); ++n) expect_facts(n);
    }

    std::vector<PassResult> run() {
        const Clock::time_point start = Clock::now();
        if (!std::ranges::all_of(nodes_, &PassNode::waits))
            for_row_blocks(loop_, [&](RowBlock block) { compute(block); });
        const double milliseconds = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
        double total = 1;  // never 0
        for (const PartialResult& each : results_) total += static_cast<double>(*each.nanoseconds);
        std::vector<PassResult> made;
        for (std::size_t n = 0; n < nodes_.size(); ++n) {
            std::vector<StagePtr> inputs;
            for (const PassNode::Input& input : nodes_[n].inputs)
                inputs.push_back(input.stage ? input.stage
                                             : made[static_cast<std::size_t>(input.earlier)].stage);
            const double share = static_cast<double>(*results_[n].nanoseconds) / total;
            StagePtr stage = std::make_shared<const Stage>(nodes_[n].key, buffer(n, inputs));
            made.push_back({std::move(stage), std::move(inputs), milliseconds * share});
        }
        return made;
    }

private:
    const PartialResult& result(const PassNode::Input& input) const {
        return results_[static_cast<std::size_t>(input.earlier)];
    }

    void expect_facts(std::size_t n) {
        PartialResult& own = results_[n];
        if (!options_.watched.ranges || nodes_[n].waits) return;
        own.ranges.resize(static_cast<std::size_t>(loop_.heads * loop_.blocks_per_head()));
        if (nodes_[n].key.stage->role == StageRole::masked_scores)
            own.facts.row_largest.assign(static_cast<std::size_t>(loop_.heads),
                                         std::vector<float>(static_cast<std::size_t>(loop_.rows)));
    }

    void compute(const RowBlock& block) {
        std::byte bytes[k_bytes_of_a_block];  // so that these lists allocate nothing
        std::pmr::monotonic_buffer_resource memory(bytes, sizeof bytes);
        std::pmr::vector<ConstMatrixView> rows_of(&memory);
        std::pmr::vector<op::RowInput> inputs(&memory);
        rows_of.reserve(nodes_.size());
        PassingRows passing = take_memory();
        for (std::size_t n = 0; n < nodes_.size(); ++n) {
            if (nodes_[n].waits) {
                rows_of.emplace_back(nullptr, 0, 0);
                continue;
            }
            const Clock::time_point start = Clock::now();
            inputs.clear();
            for (const PassNode::Input& input : nodes_[n].inputs) {
                if (input.stage)
                    inputs.push_back({&input.stage->buffer, {}});
                else
                    inputs.push_back({nullptr, rows_of[static_cast<std::size_t>(input.earlier)]});
            }
            PartialResult& own = results_[n];
            const std::optional<MatrixView> kept = own.rows_of(block);
            if (!kept && !passing[n])
                passing[n].emplace(
                    Shape{.rows = static_cast<int>(loop_.rows_per_block()), .columns = own.shape.columns});
            const MatrixView out =
                kept ? *kept : MatrixView(passing[n]->values().data(), block.count, own.shape.columns);
            rows(*nodes_[n].op, {inputs, block}, out);
            rows_of.emplace_back(out.data(), out.rows(), out.cols());
            find_facts(own, block, rows_of.back());
            *own.nanoseconds += std::chrono::nanoseconds(Clock::now() - start).count();
        }
        give_back(std::move(passing));
    }

    /// Memory for the rows of a block that are not kept, by node; allocated where it is needed first.
    using PassingRows = std::vector<std::optional<Tensor>>;

    /// Memory of a block that has ended, if there is one.
    PassingRows take_memory() {
        const std::lock_guard lock(mutex_);
        if (idle_.empty()) return PassingRows(nodes_.size());
        PassingRows memory = std::move(idle_.back());
        idle_.pop_back();
        return memory;
    }
    void give_back(PassingRows memory) {
        const std::lock_guard lock(mutex_);
        idle_.push_back(std::move(memory));
    }

    void find_facts(PartialResult& own, const RowBlock& block, const ConstMatrixView& rows) const {
        if (own.ranges.empty()) return;
        const Eigen::Index index =
            block.head * loop_.blocks_per_head() + block.first / loop_.rows_per_block();
        own.ranges[static_cast<std::size_t>(index)] =
            range_of({rows.data(), static_cast<std::size_t>(rows.size())});
        if (own.facts.row_largest.empty()) return;
        float* const largest =
            own.facts.row_largest[static_cast<std::size_t>(block.head)].data() + block.first;
        for (Eigen::Index i = 0; i < rows.rows(); ++i) largest[i] = largest_of_row(rows, i);
    }

    Buffer buffer(std::size_t n, const std::vector<StagePtr>& inputs) {
        PartialResult& own = results_[n];
        for (std::size_t i = 0; i < own.ranges.size(); ++i) {
            if (i % static_cast<std::size_t>(loop_.blocks_per_head()) == 0) own.facts.ranges.emplace_back();
            own.facts.ranges.back() = united(own.facts.ranges.back(), own.ranges[i]);
        }
        if (own.all) return {std::move(*own.all), std::move(own.facts)};
        return {own.shape, std::move(own.kept),
                std::make_shared<const OmittedRows>(nodes_[n].op, inputs, loop_without_cancel()),
                std::move(own.facts)};
    }

    /// Enough for views of ten operations with five inputs each; a longer pass would allocate.
    static constexpr std::size_t k_bytes_of_a_block = 4096;

    RowLoop loop_without_cancel() const { return {loop_.heads, loop_.rows, loop_.work_per_row}; }

    const std::vector<PassNode>& nodes_;
    const EvaluateOptions& options_;
    std::vector<PartialResult> results_;
    RowLoop loop_;
    std::mutex mutex_;
    std::vector<PassingRows> idle_;  ///< at most one for each thread
};

}  // namespace

std::vector<PassResult> run_pass(const std::vector<PassNode>& nodes, const EvaluateOptions& options) {
    return Pass(nodes, options).run();
}

}  // namespace attnscope
