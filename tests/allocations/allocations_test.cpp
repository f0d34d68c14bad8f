// What an evaluation asks of the system once others of the same shapes have run. The allocator's functions
// are replaced by some that count, in the whole process, so this is a program of its own.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <string>
#include <vector>

#include "core/cpu/row_blocks.h"
#include "core/experiment/experiment.h"
#include "core/graph/graph.h"
#include "core/graph/run.h"
#include "core/mechanism/evaluate.h"
#include "core/mechanism/mechanisms.h"
#include "core/memory.h"

namespace {

std::atomic<bool> counting = false;
std::atomic<int> calls = 0;

void count() {
    if (counting.load(std::memory_order_relaxed)) calls.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

// glibc's own functions under the names that are left when its allocator is replaced. oneDNN takes 17 kB by
// posix_memalign for what it packs of each product, which is not counted.
extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* old, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) {
    count();
    return __libc_malloc(size);
}
void* calloc(std::size_t number, std::size_t size) {
    count();
    return __libc_calloc(number, size);
}
void* realloc(void* old, std::size_t size) {
    count();
    return __libc_realloc(old, size);
}
void* memalign(std::size_t alignment, std::size_t size) {
    count();
    return __libc_memalign(alignment, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
    count();
    return __libc_memalign(alignment, size);
}
}

namespace attnscope {
namespace {

Experiment sentence_of(int tokens, int dim, int heads) {
    Experiment e;
    e.input.text.clear();
    for (int i = 0; i < tokens; ++i) e.input.text += "w" + std::to_string(i % 97) + " ";
    e.input.dim = dim;
    e.attention.heads = heads;
    return e;
}

/// Evaluates with one seed after another, as a person drags it, and tells of the last evaluations.
class Drag {
public:
    Drag(const Experiment& experiment, const EvaluateOptions& options)
        : experiment_(experiment), options_(options) {}

    /// Allocations of the graph's run: of its stages, not of the words and the graph's own nodes.
    int allocations() {
        int found = 0;
        Trace trace;
        for (int seed = 1; seed <= k_evaluations; ++seed) {
            experiment_.weights.seed = seed;
            const Graph graph = build(experiment_);
            with_threads(options_.threads, [&] {
                calls = 0;
                counting = true;
                Trace next = run(graph, trace, options_);
                counting = false;
                found = calls;
                trace = std::move(next);
            });
        }
        return found;
    }

    /// Pages of memory that a whole evaluation touched for the first time: the fewest of the last ones, as
    /// the system takes pages back now and then.
    long fresh_pages() {
        long fewest = std::numeric_limits<long>::max();
        Trace trace;
        for (int seed = 1; seed <= k_evaluations; ++seed) {
            experiment_.weights.seed = seed;
            const long before = page_faults();
            trace = evaluate(experiment_, trace, options_);
            if (seed > k_evaluations / 2) fewest = std::min(fewest, page_faults() - before);
        }
        return fewest;
    }

private:
    static constexpr int k_evaluations = 16;  // memory is as it stays after some ten

    static long page_faults() {
        rusage usage{};
        getrusage(RUSAGE_SELF, &usage);
        return usage.ru_minflt;
    }

    Experiment experiment_;
    EvaluateOptions options_;
};

class AllocationsTest : public testing::Test {
protected:
    static void SetUpTestSuite() { keep_freed_memory(); }
};

/// Pages of small vectors, for which the C library keeps memory by thread.
constexpr long k_few_pages = 8;

/// What is kept: every head, or as the window does, one with ranges.
const std::vector<Watched>& kinds() {
    static const std::vector<Watched> all = {{}, {.ranges = true, .head = 0}};
    return all;
}

TEST_F(AllocationsTest, ABlockOfDotProductsAllocatesNothingOfOurs) {
    for (const int threads : {1, 2})
        for (const Watched& watched : kinds()) {
            const EvaluateOptions options{.threads = threads, .watched = watched};
            const int few = Drag(sentence_of(128, 64, 8), options).allocations();
            const int many = Drag(sentence_of(1024, 64, 8), options).allocations();
            // Each thread has rows of its own: of scores, scaled and masked ones, weights, and lists of them.
            constexpr int k_of_a_thread = 8;
            EXPECT_LE(many, few + (threads - 1) * k_of_a_thread)
                << threads << " threads, ranges " << watched.ranges;
        }
}

TEST_F(AllocationsTest, ABlockOfAnyScoreAndNormalizationAllocatesNothingOfOurs) {
    for (const auto& [score, name] : choices<Score>())
        for (const auto& [normalizer, normalizer_name] : choices<Normalization>()) {
            const auto allocations = [&](int tokens) {
                Experiment e = sentence_of(tokens, 16, 2);
                e.attention.score = score;
                e.weighting.normalizer = normalizer;
                return Drag(e, {.threads = 1}).allocations();
            };
            EXPECT_LE(allocations(384), allocations(96)) << name << ", " << normalizer_name;
        }
}

TEST_F(AllocationsTest, ANewSeedTouchesNoFreshMemory) {
    for (const Experiment& e : {sentence_of(8, 16, 1), sentence_of(64, 64, 8), sentence_of(1024, 64, 8)})
        for (const Watched& watched : kinds())
            EXPECT_LE(Drag(e, {.watched = watched}).fresh_pages(), k_few_pages)
                << e.attention.heads << " heads, d " << e.input.dim << ", ranges " << watched.ranges;
}

TEST_F(AllocationsTest, NoScoreAndNoNormalizationTouchesFreshMemory) {
    for (const auto& [score, name] : choices<Score>())
        for (const auto& [normalizer, normalizer_name] : choices<Normalization>()) {
            Experiment e = sentence_of(96, 32, 2);
            e.attention.score = score;
            e.weighting.normalizer = normalizer;
            EXPECT_LE(Drag(e, {}).fresh_pages(), k_few_pages) << name << ", " << normalizer_name;
        }
}

}  // namespace
}  // namespace attnscope
