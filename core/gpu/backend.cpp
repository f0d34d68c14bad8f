#include "core/gpu/backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <concepts>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/gpu/values.h"
#include "core/op/op.h"

namespace attnscope {
namespace {

using Values = std::shared_ptr<const GpuValues>;
using Operand = GpuKernels::Operand;

/// A long copy pauses for other work after this many numbers.
constexpr std::size_t k_sent_at_once = std::size_t{1} << 22;
/// Cost per cell, in multiply-adds.
constexpr double k_double_work = 32;
constexpr std::int64_t k_far = 1 << 23;  ///< larger than every matrix, and exact in float32

/// Operations left to the CPU: those that read, draw, are small, or run step by step.
template <typename One>
concept on_processor =
    std::same_as<One, op::TokenRows> || std::same_as<One, op::Custom> || std::same_as<One, op::Drawn> ||
    std::same_as<One, op::StableTable> || std::same_as<One, op::LexiconTable> ||
    std::same_as<One, op::Constant> || std::same_as<One, op::Patches> || std::same_as<One, op::DropoutMask> ||
    std::same_as<One, op::Lookup> || std::same_as<One, op::SinusoidalPositions> ||
    std::same_as<One, op::AlibiSlopes> || std::same_as<One, op::QueryPlaces> ||
    std::same_as<One, op::CrossEntropy> || std::same_as<One, op::WeightedTotal> ||
    std::same_as<One, op::ArgMax> || std::same_as<One, op::GruEncoder> ||
    std::same_as<One, op::JoinColumns> || std::same_as<One, op::InitialState> ||
    std::same_as<One, op::LinearInDouble> || std::same_as<One, op::Decode> ||
    std::same_as<One, op::DecodeGreedily> || std::same_as<One, op::OutputLogits>;

/// Operations on pairs of which the card computes a region, too.
template <typename One>
concept on_regions = std::same_as<One, op::DotProduct> || std::same_as<One, op::GeneralScore> ||
    std::same_as<One, op::Cosine> || std::same_as<One, op::RbfScore> || std::same_as<One, op::Sharpen> ||
    std::same_as<One, op::Scale> || std::same_as<One, op::AlibiBias> || std::same_as<One, op::Add> ||
    std::same_as<One, op::Mask> || std::same_as<One, op::MaskedFill> || std::same_as<One, op::Softmax>;

/// Bytes of the card's memory for tensors to come; 0 as GpuDevice::free_memory(). On the device's thread.
std::size_t free_memory(const GpuDevice& device, const GpuKernels& kernels) {
    const std::size_t free = device.free_memory();
    return free > 0 ? free + kernels.rooms().kept_bytes() : 0;
}

/// One operation, on the device's thread: an overload for each that the card computes. An operation that is
/// neither here nor in on_processor does not compile.
class GpuOperation {
public:
    /// `region`: of the result, which then has its shape; nullptr: all.
    GpuOperation(std::shared_ptr<GpuDevice> device, std::shared_ptr<GpuKernels> kernels,
                 const GpuOptions& options, const Shape& shape, std::span<const Buffer* const> inputs,
                 const op::RegionWork* region = nullptr)
        : device_(std::move(device)),
          kernels_(std::move(kernels)),
          options_(options),
          inputs_(inputs),
          region_(region),
          result_(make(shape)) {}

    Values result() const { return result_; }

    void operator()(const on_processor auto&) {}
    void operator()(const op::Linear&) {
        const GpuMatrices bias = inputs_.size() > 2 ? input(2) : GpuMatrices{};
        kernels_->product(input(0), input(1), true, inputs_.size() > 2 ? &bias : nullptr, out());
    }
    void operator()(const op::Identity&) { kernels_->cells("cells.comp", {"IDENTITY"}, {{input(0)}}, out()); }
    void operator()(const op::Add&) { sum(); }
    void operator()(const op::AddBias&) { sum(); }
    void operator()(const op::SplitHeads& split) {
        if (!split.rotary) return kernels_->split(input(0), out());
        const Shape& shape = result_->shape();
        const GpuMatrices straight = scratch(shape);
        kernels_->split(input(0), straight);
        const GpuMatrices angles = copied(sinusoidal_positions(shape.rows, shape.columns));
        kernels_->cells("cells.comp", {"ROTARY", op::pairs_of(*split.rotary).shader}, {{straight}, {angles}},
                        out(), {.width = static_cast<std::uint32_t>(shape.columns)});
    }
    void operator()(const op::JoinHeads&) { kernels_->join(input(0), out()); }
    void operator()(const op::DotProduct&) { kernels_->product(queries(0), keys(1), true, nullptr, out()); }
    void operator()(const op::LocationScore&) { kernels_->product(input(0), input(1), true, nullptr, out()); }
    void operator()(const op::GeneralScore&) {
        const GpuMatrices Q = queries(0), W = of_head(2);
        Shape shape = Q.shape;
        shape.columns = W.shape.columns;
        const GpuMatrices QW = scratch(shape);
        kernels_->product(Q, W, false, nullptr, QW);
        kernels_->product(QW, keys(1), true, nullptr, out());
    }
    void operator()(const op::AdditiveHidden&) {
        const GpuMatrices bias = inputs_.size() > 4 ? input(4) : GpuMatrices{};
        hidden(projected(input(0), input(2), inputs_.size() > 4 ? &bias : nullptr),
               projected(input(1), input(3), nullptr));
    }
    void operator()(const op::ConcatHidden&) {
        const ConstMatrixView W = inputs_[2]->head(0);
        const int d = input(0).shape.columns;
        hidden(projected(input(0), copied(W.leftCols(d)), nullptr),
               projected(input(1), copied(W.rightCols(W.cols() - d)), nullptr));
    }
    void operator()(const op::HiddenScore&) {
        const GpuMatrices v = input(1);
        kernels_->cells("cells.comp", {"HIDDEN_SCORE"}, {{input(0)}, {v, true}}, out(),
                        {.width = static_cast<std::uint32_t>(v.shape.columns)}, v.shape.columns);
    }
    void operator()(const op::RbfScore& rbf) {
        const GpuMatrices Q = queries(0), K = keys(1);
        kernels_->cells("cells.comp", {"RBF_SCORE"}, {{Q}, {K, true}}, out(),
                        {.x = rbf.divisor(), .width = static_cast<std::uint32_t>(Q.shape.columns)},
                        Q.shape.columns);
    }
    void operator()(const op::Cosine&) { cosine(); }
    void operator()(const op::Sharpen& sharpen) {
        kernels_->cells("cells.comp", {"SHARPEN"}, {{input(0)}}, out(), {.x = sharpen.factor});
    }
    void operator()(const op::Scale& scale) {
        kernels_->cells("cells.comp", {"SCALE"}, {{input(0)}}, out(),
                        {.x = scale.factor(), .y = static_cast<float>(scale.temperature)});
    }
    void operator()(const op::AlibiBias&) {
        GpuMatrices slopes = input(0);
        slopes.shape = {.heads = slopes.shape.rows, .rows = 1, .columns = 1};
        if (region_) slopes = part_of(slopes, region_->head, 0, 1);
        kernels_->cells("cells.comp", {"ALIBI_BIAS"}, {{slopes, true}}, out(), at_region());
    }
    void operator()(const op::PredictedCenters& centers) {
        const GpuMatrices Q = input(0), W = input(1), v = input(2);
        kernels_->cells("center.comp", {}, {{Q}, {W, true}, {v, true}}, out(),
                        {.x = static_cast<float>(centers.keys),
                         .width = static_cast<std::uint32_t>(W.shape.columns),
                         .height = static_cast<std::uint32_t>(W.shape.rows)},
                        k_double_work * static_cast<double>(W.shape.head_size()));
    }
    void operator()(const op::Mask& mask) {
        const GpuNumbers at = at_region();
        kernels_->cells("mask.comp", {"FIRST"}, {}, out(), at);
        const auto number = [](std::int64_t n) { return static_cast<float>(std::clamp(n, -k_far, k_far)); };
        for (const MaskRule& rule : mask.rules) {
            const std::string shader = mask_kind(rule.kind).shader;
            Matrix numbers(static_cast<Eigen::Index>(rule.arguments.size()), 1);
            std::ranges::transform(rule.arguments, numbers.data(), number);
            if (has_argument_for_each(rule)) {
                const GpuMatrices each = copied(numbers);
                kernels_->cells("mask.comp", {shader + "_EACH"}, {{region_ ? of_queries(each) : each}}, out(),
                                at);
            } else {
                const auto argument = [&](Eigen::Index i) { return i < numbers.size() ? numbers(i, 0) : 0; };
                GpuNumbers own = at;
                own.x = argument(0);
                own.y = argument(1);
                kernels_->cells("mask.comp", {shader}, {}, out(), own);
            }
        }
        if (mask.custom) kernels_->cells("mask.comp", {"CUSTOM"}, {{copied(*mask.custom)}}, out());
        if (mask.bias) kernels_->cells("mask.comp", {"CUSTOM_BIAS"}, {{copied(*mask.bias)}}, out());
        if (!inputs_.empty())
            kernels_->cells("mask.comp", {"WITHIN"}, {{input(0)}}, out(), {.window = mask.window});
    }
    void operator()(const op::MaskedFill&) {
        kernels_->cells("cells.comp", {"MASKED_FILL"}, {{input(0)}, {input(1)}}, out());
    }
    void operator()(const op::Softmax& softmax) {
        if (region_) {
            const std::span<const RowSum> rows = region_->rows;
            Matrix sums(static_cast<Eigen::Index>(rows.size()), 2);
            for (Eigen::Index i = 0; i < sums.rows(); ++i) {
                const RowSum& row = rows[static_cast<std::size_t>(i)];
                sums.row(i) << row.largest, static_cast<float>(row.sum);
            }
            return kernels_->cells("cells.comp", {"WEIGHT"}, {{input(0)}, {copied(sums)}}, out(), {},
                                   op::k_exponential_work);
        }
        if (!is_over_queries(softmax.axis)) return kernels_->rows("SOFTMAX", {{input(0)}}, out());
        Shape columns = result_->shape();
        columns.rows = 3;
        kernels_->softmax_over_rows(input(0), out(), scratch(columns));
    }
    void operator()(const op::Sparsemax&) { kernels_->rows("SPARSEMAX", {{input(0)}}, out()); }
    void operator()(const op::Hardmax&) { kernels_->rows("HARDMAX", {{input(0)}}, out()); }
    void operator()(const op::GaussianWindow& gauss) {
        kernels_->cells("cells.comp", {"GAUSSIAN_WINDOW"}, {{input(0)}}, out(),
                        {.x = static_cast<float>(gauss.window)}, op::k_exponential_work);
    }
    void operator()(const op::ApplyWindow&) {
        kernels_->cells("cells.comp", {"APPLY_WINDOW"}, {{input(0)}, {input(1)}}, out());
    }
    void operator()(const op::Dropout& dropout) {
        kernels_->cells("cells.comp", {"DROPOUT"}, {{input(0)}, {input(1)}}, out(),
                        {.x = dropout.keep_probability});
    }
    void operator()(const op::WeightedSum&) {
        const GpuMatrices weights = input(0), masked = input(1), V = input(2);
        bool finite = true;
        for (int h = 0; h < V.shape.heads; ++h)
            finite = finite && kernels_->range(V, h).finite == V.shape.head_size();
        if (finite) return kernels_->product(weights, V, false, nullptr, out());
        kernels_->cells("sum_open.comp", {}, {{weights}, {masked}, {V, true}}, out(),
                        {.width = static_cast<std::uint32_t>(V.shape.rows)}, V.shape.rows);
    }
    void operator()(const op::Ablate& ablate) {
        const GpuMatrices C = input(0);
        Matrix ablated(C.shape.heads, 1);
        for (int h = 0; h < C.shape.heads; ++h) ablated(h, 0) = ablate.is_ablated(h) ? 1 : 0;
        GpuMatrices flags = copied(ablated);
        flags.shape = {.heads = C.shape.heads, .rows = 1, .columns = 1};
        const op::AblationRule& rule = op::rule_of(ablate.to);
        kernels_->cells("cells.comp", {rule.shader}, {{C}, {flags, true}, {C, true}}, out(),
                        {.height = static_cast<std::uint32_t>(C.shape.rows)},
                        rule.reads_all ? C.shape.rows : 1);
    }
    void operator()(const op::LayerNorm& norm) {
        kernels_->rows("LAYER_NORM", {{input(0)}, {input(1), true}, {input(2), true}}, out(), norm.epsilon);
    }
    void operator()(const op::Activate& activate) {
        const op::ActivationFunction& function = op::function_of(activate.activation);
        kernels_->cells("cells.comp", {function.shader}, {{input(0)}}, out(), {}, function.work);
    }
    void operator()(const op::Exponential&) {
        kernels_->cells("cells.comp", {"EXPONENTIAL"}, {{input(0)}}, out(), {}, op::k_exponential_work);
    }
    void operator()(const op::LogSoftmax&) { kernels_->rows("LOG_SOFTMAX", {{input(0)}}, out()); }

private:
    GpuMatrices out() const { return result_->matrices(); }
    GpuMatrices input(std::size_t i) { return on_card(*inputs_[i]); }

    /// Some rows of one head; a matrix of one head is that of all.
    static GpuMatrices part_of(GpuMatrices of, int head, int first_row, int rows) {
        const auto count = [](int n) { return static_cast<std::size_t>(n); };
        of.first += count(std::min(head, of.shape.heads - 1)) * of.shape.head_size() +
                    count(first_row) * count(of.shape.columns);
        of.shape = {.heads = 1, .rows = rows, .columns = of.shape.columns};
        return of;
    }
    GpuMatrices of_queries(const GpuMatrices& x) const {
        return part_of(x, region_->head, region_->region.row, region_->region.rows);
    }
    /// An input of a row for each query, for each key, or whole for each head: the rows that the region
    /// needs.
    GpuMatrices queries(std::size_t i) { return region_ ? of_queries(input(i)) : input(i); }
    GpuMatrices keys(std::size_t i) {
        if (!region_) return input(i);
        return part_of(input(i), region_->head, region_->region.column, region_->region.columns);
    }
    GpuMatrices of_head(std::size_t i) {
        const GpuMatrices x = input(i);
        return region_ ? part_of(x, region_->head, 0, x.shape.rows) : x;
    }
    /// Where the result begins, for formulas that read the places of query and key.
    GpuNumbers at_region() const {
        if (!region_) return {};
        return {.row = static_cast<std::uint32_t>(region_->region.row),
                .column = static_cast<std::uint32_t>(region_->region.column)};
    }

    std::shared_ptr<GpuValues> make(const Shape& shape) const {
        // Checked for each result: an evaluation that reuses stages of another trace cannot tell its needs in
        // advance.
        const std::size_t free = options_.free_bytes ? options_.free_bytes : free_memory(*device_, *kernels_);
        const std::size_t bytes = shape.size() * sizeof(float);
        if (free > 0 && bytes > free / 10 * 9 && !kernels_->rooms().has(shape.size()))
            throw Error(ErrorKind::too_large,
                        fmt::format("a matrix needs {} MiB of the GPU's memory and {} MiB are "
                                    "free: use a smaller experiment or backend cpu",
                                    bytes >> 20, free >> 20));
        return std::make_shared<GpuValues>(device_, kernels_, shape);
    }
    GpuMatrices scratch(const Shape& shape) {
        kept_.push_back(make(shape));
        return kept_.back()->matrices();
    }
    /// The tensor's numbers on the card.
    std::shared_ptr<GpuValues> uploaded(const Shape& shape, std::span<const float> numbers) {
        auto values = make(shape);
        const GpuMatrices to = values->matrices();
        for (std::size_t done = 0; done < numbers.size(); done += k_sent_at_once) {
            to.storage->write(to.first + done,
                              numbers.subspan(done, std::min(k_sent_at_once, numbers.size() - done)));
            device_->pause();
        }
        // Other threads may see it as soon as it is kept with its stage.
        const gl::Fence fence;
        while (!fence.wait(0.001)) device_->pause();
        return values;
    }
    GpuMatrices copied(const Matrix& matrix) {
        const Shape shape{.rows = static_cast<int>(matrix.rows()),
                          .columns = static_cast<int>(matrix.cols())};
        kept_.push_back(uploaded(shape, {matrix.data(), shape.size()}));
        return kept_.back()->matrices();
    }
    GpuMatrices on_card(const Buffer& buffer) {
        auto values = std::dynamic_pointer_cast<const GpuValues>(buffer.device());
        if (!values || values->device() != device_.get()) {
            values = uploaded(buffer.shape(), buffer.host().values());
            if (!buffer.is_on_device()) buffer.keep_on_device(values);
        }
        kept_.push_back(values);
        return values->matrices();
    }
    /// x Wᵀ + b in each head.
    GpuMatrices projected(const GpuMatrices& x, const GpuMatrices& W, const GpuMatrices* b) {
        Shape shape = x.shape;
        shape.columns = W.shape.rows;
        const GpuMatrices y = scratch(shape);
        kernels_->product(x, W, true, b, y);
        return y;
    }
    void sum() {
        GpuMatrices sum = input(0);
        for (std::size_t i = 1; i < inputs_.size(); ++i) {
            const GpuMatrices next = i + 1 < inputs_.size() ? scratch(result_->shape()) : out();
            kernels_->cells("cells.comp", {"ADD"}, {{sum}, {input(i)}}, next);
            sum = next;
        }
    }
    /// tanh of each query's part plus each key's part.
    void hidden(const GpuMatrices& of_queries, const GpuMatrices& of_keys) {
        kernels_->cells("cells.comp", {"HIDDEN"}, {{of_queries}, {of_keys, true}}, out(),
                        {.width = static_cast<std::uint32_t>(of_keys.shape.columns)}, op::k_exponential_work);
    }
    /// The sines and cosines of RoPE's angles.
    static Matrix sinusoidal_positions(int rows, int columns) {
        Tensor positions(op::matrix(rows, columns));
        DrawSequence draws;
        op::SinusoidalPositions{rows, columns}.forward({{}, draws}, positions);
        return positions.head(0);
    }
    /// q · k over |q| |k|.
    void cosine() {
        const GpuMatrices Q = queries(0), K = keys(1), dots = scratch(result_->shape());
        const auto norms_of = [&](const GpuMatrices& x) {
            Shape shape = x.shape;
            shape.columns = 1;
            const GpuMatrices norms = scratch(shape);
            kernels_->rows("NORM", {{x}}, norms);
            return norms;
        };
        kernels_->product(Q, K, true, nullptr, dots);
        const GpuMatrices of_queries = norms_of(Q), of_keys = norms_of(K);
        kernels_->cells("cells.comp", {"COSINE"}, {{dots}, {of_queries}, {of_keys, true}}, out());
    }

    std::shared_ptr<GpuDevice> device_;
    std::shared_ptr<GpuKernels> kernels_;
    GpuOptions options_;
    std::span<const Buffer* const> inputs_;
    const op::RegionWork* region_;
    std::vector<Values> kept_;  ///< until the operation ends
    std::shared_ptr<GpuValues> result_;
};

/// Runs work on the device's thread, until `cancel` requests its end; false if it does not fit there.
bool run_on_card(GpuDevice& device, GpuKernels& kernels, std::stop_token cancel,
                 const std::function<void()>& work) {
    bool fits = true;
    device.run([&] {
        kernels.set_cancel(std::move(cancel));
        try {
            work();
        } catch (const DoesNotFit&) {
            fits = false;
        } catch (const Error& error) {
            if (error.kind() == ErrorKind::too_large) device.forgive();
            throw;
        }
        device.check();
    });
    return fits;
}

}  // namespace

class GpuBackend::Regions : public RegionBackend {
public:
    Regions(std::shared_ptr<GpuDevice> device, std::shared_ptr<GpuKernels> kernels, const GpuOptions& options)
        : device_(std::move(device)), kernels_(std::move(kernels)), options_(options) {}
    ~Regions() override {
        device_->post([kernels = std::move(kernels_)] {});
    }
    Regions(const Regions&) = delete;
    Regions& operator=(const Regions&) = delete;

    /// Why the card could not go on; empty: it did not fail.
    std::string trouble() const {
        const std::lock_guard lock(mutex_);
        return trouble_;
    }

    bool computes(const Op& op) const override {
        if (const auto* mask = std::get_if<op::Mask>(&op)) return !mask->custom && !mask->bias;
        return std::visit([](const auto& one) { return on_regions<std::decay_t<decltype(one)>>; }, op);
    }

    std::shared_ptr<const DeviceValues> region(const Op& op, const op::RegionWork& in) override {
        if (has_failed_) return nullptr;
        const Shape shape{.heads = 1, .rows = in.region.rows, .columns = in.region.columns};
        Values result;
        run([&] {
            GpuOperation computed(device_, kernels_, options_, shape, in.inputs, &in);
            std::visit(computed, op);
            result = computed.result();
        });
        return result;
    }

    Matrix blocks(const DeviceValues& cells, BlockFact fact, int rows, int columns) override {
        const Shape& of = cells.shape();
        const Shape shape{.rows = (of.rows + rows - 1) / rows,
                          .columns = (of.columns + columns - 1) / columns};
        Matrix out(shape.rows, shape.columns);
        const bool fits = run([&] {
            const GpuMatrices x = dynamic_cast<const GpuValues&>(cells).matrices();
            const GpuScratch largest(kernels_->rooms(), shape), result(kernels_->rooms(), shape);
            const GpuMatrices to = result.matrices(), largest_to = largest.matrices();
            const auto find = [&](BlockFact each, const GpuMatrices& found, double work) {
                kernels_->blocks(std::string(name_of(each)), x, rows, columns, largest_to, found, work);
            };
            if (fact == BlockFact::exponential) find(BlockFact::largest, largest_to, 1);
            find(fact, to, fact == BlockFact::exponential ? op::k_exponential_work : 1);
            result.read({out.data(), shape.size()});
        });
        if (!fits) throw Error(ErrorKind::too_large, "a region is larger than a storage block of the GPU");
        return out;
    }

private:
    bool run(const std::function<void()>& work) {
        try {
            return run_on_card(*device_, *kernels_, {}, work);
        } catch (const Error& error) {
            if (error.kind() == ErrorKind::backend && !has_failed_.exchange(true)) {
                const std::lock_guard lock(mutex_);
                trouble_ = fmt::format("{} (computing parts of stages on the CPU)", error.what());
            }
            throw;
        }
    }

    std::shared_ptr<GpuDevice> device_;
    std::shared_ptr<GpuKernels> kernels_;
    const GpuOptions options_;
    std::atomic<bool> has_failed_ = false;  ///< it is not asked again
    mutable std::mutex mutex_;
    std::string trouble_;
};

GpuBackend::GpuBackend(std::unique_ptr<GlContext> context, const GpuOptions& options)
    : device_(std::make_shared<GpuDevice>(std::move(context))),
      kernels_(std::make_shared<GpuKernels>(*device_, options)),
      options_(options) {}

GpuBackend::~GpuBackend() {
    device_->post([kernels = std::move(kernels_)] {});
}

std::string GpuBackend::complaint() const {
    std::shared_ptr<Regions> regions;
    {
        const std::lock_guard lock(mutex_);
        regions = regions_.lock();
    }
    const std::string trouble = regions ? regions->trouble() : "";
    return trouble.empty() ? kernels_->programs().problem() : trouble;
}

std::string GpuBackend::card() const {
    return info().renderer + (info().is_software ? ", a software renderer on the CPU" : "");
}

std::size_t GpuBackend::memory() const {
    if (options_.free_bytes > 0) return options_.free_bytes;
    std::size_t free = 0;
    device_->run_soon([&] { free = free_memory(*device_, *kernels_); });
    return free;
}

std::uint64_t GpuBackend::take_nanoseconds() {
    std::uint64_t nanoseconds = 0;
    device_->run([&] { nanoseconds = kernels_->take_nanoseconds(); });
    return nanoseconds;
}

bool GpuBackend::computes(const Op& op) const {
    // Sentences computed together, as in training, stay on the processor.
    const auto is_of_batch = [](const auto& one) {
        if constexpr (requires { one.batch; }) return one.batch > 1;
        return false;
    };
    if (std::visit(is_of_batch, op)) return false;
    return std::visit([](const auto& one) { return !on_processor<std::decay_t<decltype(one)>>; }, op);
}

std::shared_ptr<const DeviceValues> GpuBackend::compute(const Op& op, std::span<const Buffer* const> inputs,
                                                        std::stop_token cancel) {
    std::vector<Shape> read;
    for (const Buffer* input : inputs) read.push_back(input->shape());
    const Shape shape = shapes(op, read).front();
    Values result;
    run_on_card(*device_, *kernels_, std::move(cancel), [&] {
        GpuOperation computed(device_, kernels_, options_, shape, inputs);
        std::visit(computed, op);
        result = computed.result();
    });
    return result;
}

std::shared_ptr<RegionBackend> GpuBackend::regions() const {
    const auto regions = std::make_shared<Regions>(device_, kernels_, options_);
    const std::lock_guard lock(mutex_);
    regions_ = regions;
    return regions;
}

}  // namespace attnscope
