#include "core/gpu/kernels.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <utility>

#include "core/graph/run_options.h"

namespace attnscope {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t k_most_groups = 65535;  ///< in one direction, supported by every driver
constexpr double k_longest_wait = 0.001;      ///< seconds between two checks for urgent work
constexpr std::size_t k_range_groups = 256;
constexpr std::size_t k_range_numbers = 7;
constexpr std::size_t k_range_at_once = std::size_t{1} << 24;  ///< numbers: some milliseconds on a slow card

std::size_t size(int n) { return static_cast<std::size_t>(n); }
std::uint32_t word(std::size_t n) { return static_cast<std::uint32_t>(n); }

std::uint32_t groups_for(std::size_t threads, std::size_t group) {
    return word(std::clamp<std::size_t>((threads + group - 1) / group, 1, k_most_groups));
}

}  // namespace

std::size_t GpuKernels::block_floats() const {
    const std::size_t bytes = options_.block_bytes ? options_.block_bytes : device_.info().block_bytes;
    // Alignment may require a block to start slightly before its first number; shaders address with 32 bits.
    const std::size_t slack = device_.info().block_alignment;
    return std::min<std::size_t>((bytes - std::min(slack, bytes / 2)) / sizeof(float), 0x7fffffff);
}

/// nullptr if timing is off.
GpuStopwatch* GpuKernels::stopwatch() {
    if (options_.timed && !stopwatch_) stopwatch_ = std::make_unique<GpuStopwatch>();
    return stopwatch_.get();
}

int GpuKernels::group() const { return std::min(256, device_.info().group_size); }

void GpuKernels::for_parts(GpuProgram& program, const Shape& shape, std::size_t widest_row,
                           std::size_t whole_head, double work_per_row,
                           const std::function<void(const Part&)>& dispatch, std::size_t tile) {
    const std::size_t rows = size(shape.rows), heads = size(shape.heads), block = block_floats();
    const std::size_t rows_in_block = block / std::max<std::size_t>(widest_row, 1);
    if (rows_in_block == 0 || whole_head > block) throw DoesNotFit{};
    GpuStopwatch* const watch = stopwatch();
    Part part{0, 0, 0, 0};
    while (part.head < heads) {
        stop_if_canceled(cancel_);
        const double wanted =
            std::max(1.0, program.rate * options_.slice_seconds / std::max(work_per_row, 1.0));
        const std::size_t at_once =
            std::min({rows_in_block, k_most_groups, static_cast<std::size_t>(std::min(wanted, 1e9))});
        const std::size_t most = std::min(rows_in_block, std::max(at_once / tile, std::size_t{1}) * tile);
        part.heads = part.row == 0 ? std::clamp<std::size_t>(most / rows, 1, heads - part.head) : 1;
        if (whole_head > 0) part.heads = std::min(part.heads, block / whole_head);
        part.rows = std::min(most, rows - part.row);
        if (part.heads > 1) part.rows = rows;

        const Clock::time_point start = Clock::now();
        program.use();
        if (watch) watch->start();
        dispatch(part);
        if (watch) watch->stop();
        glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT);
        const gl::Fence fence;
        while (!fence.wait(k_longest_wait)) device_.pause();
        if (watch) nanoseconds_ += watch->nanoseconds();
        device_.pause();
        const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
        // A dispatch that ends immediately says little about speed; a slow one must not be followed by a
        // slower one.
        const double work = work_per_row * static_cast<double>(part.heads * part.rows);
        const double measured = work / std::max(seconds, 1e-4);
        program.rate = std::clamp(measured, program.rate / 4, program.rate * 4);

        part.row += part.rows;
        if (part.row < rows) continue;
        part.head += part.heads;
        part.row = 0;
    }
}

/// Binds what `part` needs of the operand: u_<name> is the index where it starts, u_<name>_head the distance
/// between two heads.
void GpuKernels::bind(GpuProgram& program, int binding, const char* name, const Operand& operand,
                      const Part& part) {
    const Shape& shape = operand.of.shape;
    const std::size_t columns = size(shape.columns), head = shape.head_size();
    const bool shared = shape.heads == 1;
    const std::size_t row = operand.whole ? 0 : part.row;
    const std::size_t rows = operand.whole ? size(shape.rows) : part.rows;
    const std::size_t first = operand.of.first + (shared ? 0 : part.head * head) + row * columns;
    const std::size_t count = (shared || part.heads == 1) ? rows * columns : part.heads * head;
    const std::size_t aligned = std::max<std::size_t>(device_.info().block_alignment / sizeof(float), 1);
    const std::size_t begin = first / aligned * aligned;
    const std::size_t end = std::min(first + count + operand.of.reach, operand.of.storage->size());
    glBindBufferRange(GL_SHADER_STORAGE_BUFFER, static_cast<GLuint>(binding), operand.of.storage->id(),
                      static_cast<GLintptr>(begin * sizeof(float)),
                      static_cast<GLsizeiptr>(std::max<std::size_t>(end - begin, 1) * sizeof(float)));
    const std::string variable = std::string("u_") + name;
    program.set(variable.c_str(), word(first - begin));
    program.set((variable + "_head").c_str(), shared ? 0u : word(head));
}

GpuKernels::Tile GpuKernels::tile_for(const Shape& C) const {
    const GpuInfo& info = device_.info();
    constexpr std::size_t k_large = sizeof(float) * 2 * 16 * (128 + 1);
    const bool possible = info.group_size >= 256 && info.shared_bytes >= k_large;
    const bool pays = !info.is_software && C.rows >= 128 && C.columns >= 128;
    if (possible && (options_.tile ? options_.tile == 128 : pays))
        return {128, {"TILE 128", "SIDE 16", "CELLS 8", "DEPTH 16"}};
    return {32, {"TILE 32", "SIDE 8", "CELLS 4", "DEPTH 16"}};
}

void GpuKernels::product(const GpuMatrices& A, const GpuMatrices& B, bool transposed, const GpuMatrices* bias,
                         const GpuMatrices& C) {
    const std::size_t m = size(C.shape.columns), k = size(A.shape.columns);
    // If B is larger than a block, it is processed some rows at a time: columns of C if B is transposed, else
    // terms of its sums.
    const std::size_t b_row = size(B.shape.columns), b_rows = size(B.shape.rows);
    const std::size_t at_once = std::min(b_rows, std::max<std::size_t>(block_floats() / b_row, 1));
    for (std::size_t from = 0; from < b_rows; from += at_once) {
        const std::size_t some = std::min(at_once, b_rows - from);
        Tile tile = tile_for(C.shape);
        std::vector<std::string>& defines = tile.defines;
        const std::size_t side = tile.side;
        if (transposed) defines.emplace_back("TRANSPOSED");
        if (bias && (transposed || from == 0)) defines.emplace_back("BIAS");
        if (!transposed && from > 0) defines.emplace_back("ACCUMULATE");
        GpuProgram& program = programs_.get("product.comp", defines);
        const std::size_t columns = transposed ? some : m, terms = transposed ? k : some;
        const bool in_parts = some < b_rows;
        for_parts(
            program, C.shape, std::max(m, k), in_parts ? block_floats() : B.shape.head_size(),
            static_cast<double>(columns * std::max<std::size_t>(terms, 1)),
            [&](const Part& part) {
                bind(program, 0, "a", {A, false}, part);
                GpuMatrices B_part = B;
                if (in_parts) {
                    const std::size_t head = B.shape.heads == 1 ? 0 : part.head;
                    B_part.first += head * B.shape.head_size() + from * b_row;
                    B_part.shape.heads = 1;
                    B_part.shape.rows = static_cast<int>(some);
                }
                bind(program, 1, "b", {B_part, true}, part);
                bind(program, 2, "c", {C, false}, part);
                if (bias) bind(program, 3, "bias", {*bias, true}, part);
                program.set("u_a_row", word(k));
                program.set("u_b_row", word(b_row));
                program.set("u_c_row", word(m));
                program.set("u_n", word(part.rows));
                program.set("u_m", word(columns));
                program.set("u_k", word(terms));
                program.set("u_a_column", word(transposed ? 0 : from));
                program.set("u_c_column", word(transposed ? from : 0));
                glDispatchCompute(groups_for(columns, side), groups_for(part.rows, side), word(part.heads));
            },
            side);
    }
}

void GpuKernels::cells(std::string_view file, const std::vector<std::string>& kind,
                       const std::vector<Operand>& operands, const GpuMatrices& result,
                       const GpuNumbers& numbers, double work) {
    std::vector<std::string> defines = kind;
    defines.push_back(fmt::format("GROUP {}", group()));
    GpuProgram& program = programs_.get(file, defines);
    std::size_t widest = size(result.shape.columns), whole = 0;
    for (const Operand& operand : operands) {
        if (operand.whole)
            whole = std::max(whole, operand.of.shape.head_size());
        else
            widest = std::max(widest, size(operand.of.shape.columns));
    }
    constexpr const char* k_names[] = {"a", "b", "c"};
    for_parts(program, result.shape, widest, whole, work * result.shape.columns, [&](const Part& part) {
        for (std::size_t i = 0; i < operands.size(); ++i)
            bind(program, static_cast<int>(i), k_names[i], operands[i], part);
        bind(program, 3, "result", {result, false}, part);
        program.set("u_rows", word(part.rows));
        program.set("u_columns", word(size(result.shape.columns)));
        program.set("u_first_row", numbers.row + word(part.row));
        program.set("u_first_column", numbers.column);
        program.set("u_width", numbers.width);
        program.set("u_height", numbers.height);
        program.set("u_x", numbers.x);
        program.set("u_y", numbers.y);
        program.set("u_window", numbers.window);
        glDispatchCompute(groups_for(part.rows * size(result.shape.columns), size(group())), 1,
                          word(part.heads));
    });
}

void GpuKernels::rows(const std::string& kind, const std::vector<Operand>& operands,
                      const GpuMatrices& result, std::optional<double> epsilon) {
    const Shape& shape = operands.front().of.shape;
    // No more threads than columns, rounded to a power of two.
    const int threads =
        std::clamp(static_cast<int>(std::bit_floor(static_cast<unsigned>(shape.columns))), 1, group());
    GpuProgram& program = programs_.get("rows.comp", {kind, fmt::format("GROUP {}", threads)});
    constexpr const char* k_names[] = {"a", "b", "c"};
    constexpr double k_work = 16;
    for_parts(program, shape, size(std::max(shape.columns, result.shape.columns)), 0, k_work * shape.columns,
              [&](const Part& part) {
                  for (std::size_t i = 0; i < operands.size(); ++i)
                      bind(program, static_cast<int>(i), k_names[i], operands[i], part);
                  bind(program, 3, "result", {result, false}, part);
                  program.set("u_columns", word(size(shape.columns)));
                  if (epsilon) program.set("u_epsilon", *epsilon);
                  glDispatchCompute(word(part.rows), 1, word(part.heads));
              });
}

void GpuKernels::blocks(const std::string& kind, const GpuMatrices& values, int rows, int columns,
                        const GpuMatrices& largest, const GpuMatrices& result, double work) {
    // A thread reads 16 cells at least, and as many threads as a warp of any card share a block.
    constexpr std::size_t k_cells_of_thread = 16, k_most_threads = 32;
    const std::size_t cells = size(rows) * size(columns);
    const std::size_t threads = std::clamp<std::size_t>(std::bit_floor(cells / k_cells_of_thread), 1,
                                                        std::min(k_most_threads, size(group())));
    GpuProgram& program = programs_.get(
        "blocks.comp", {kind, fmt::format("GROUP {}", group()), fmt::format("THREADS {}", threads)});
    for_parts(program, result.shape, size(result.shape.columns), values.shape.size(),
              work * static_cast<double>(cells) * result.shape.columns, [&](const Part& part) {
                  bind(program, 0, "a", {values, true}, part);
                  bind(program, 1, "b", {largest, false}, part);
                  bind(program, 3, "result", {result, false}, part);
                  program.set("u_rows", word(part.rows));
                  program.set("u_columns", word(size(result.shape.columns)));
                  program.set("u_first_row", word(part.row));
                  program.set("u_width", word(size(values.shape.columns)));
                  program.set("u_height", word(size(values.shape.rows)));
                  program.set("u_block_rows", word(size(rows)));
                  program.set("u_block_columns", word(size(columns)));
                  glDispatchCompute(
                      groups_for(part.rows * size(result.shape.columns) * threads, size(group())), 1, 1);
              });
}

void GpuKernels::softmax_over_rows(const GpuMatrices& masked, const GpuMatrices& weights,
                                   const GpuMatrices& scratch) {
    columns("GATHER", masked, scratch, weights);
    columns("WEIGH", masked, scratch, weights);
}

void GpuKernels::columns(const char* pass, const GpuMatrices& values, const GpuMatrices& of_columns,
                         const GpuMatrices& result) {
    const int threads = std::min(64, group());
    const std::size_t numbers = of_columns.shape.head_size() / size(values.shape.columns);
    GpuProgram& program = programs_.get(
        "columns.comp", {pass, fmt::format("GROUP {}", threads), fmt::format("NUMBERS {}u", numbers)});
    constexpr double k_work = 16;
    for_parts(program, values.shape, size(values.shape.columns), of_columns.shape.head_size(),
              k_work * values.shape.columns, [&](const Part& part) {
                  bind(program, 0, "a", {values, false}, part);
                  bind(program, 1, "b", {of_columns, true}, part);
                  bind(program, 3, "result", {result, false}, part);
                  program.set("u_rows", word(part.rows));
                  program.set("u_columns", word(size(values.shape.columns)));
                  program.set("u_first_row", word(part.row));
                  glDispatchCompute(groups_for(size(values.shape.columns), size(threads)), 1,
                                    word(part.heads));
              });
}

void GpuKernels::split(const GpuMatrices& x, const GpuMatrices& heads) {
    regroup("SPLIT", x, heads, heads.shape, x.shape);
}

void GpuKernels::join(const GpuMatrices& heads, const GpuMatrices& x) {
    regroup("JOIN", heads, x, heads.shape, x.shape);
}

void GpuKernels::regroup(const char* kind, const GpuMatrices& from, const GpuMatrices& to, const Shape& heads,
                         const Shape& joined) {
    GpuProgram& program = programs_.get("heads.comp", {kind, fmt::format("GROUP {}", group())});
    for_parts(program, heads, size(joined.columns), 0, heads.columns, [&](const Part& part) {
        bind(program, 0, "a", {from, false}, part);
        bind(program, 3, "result", {to, false}, part);
        program.set("u_rows", word(part.rows));
        program.set("u_width", word(size(heads.columns)));
        program.set("u_columns", word(size(joined.columns)));
        program.set("u_first_head", word(part.head));
        glDispatchCompute(groups_for(part.rows * size(heads.columns), size(group())), 1, word(part.heads));
    });
}

namespace {

/// Suspends cancellation of the kernels while it lives.
class Uncanceled {
public:
    explicit Uncanceled(std::stop_token& cancel) : cancel_(cancel), before_(std::exchange(cancel, {})) {}
    ~Uncanceled() { cancel_ = std::move(before_); }
    Uncanceled(const Uncanceled&) = delete;
    Uncanceled& operator=(const Uncanceled&) = delete;

private:
    std::stop_token& cancel_;
    std::stop_token before_;
};

}  // namespace

void GpuKernels::rows_largest(const GpuMatrices& values, const GpuMatrices& largest) {
    const Uncanceled whole(cancel_);
    rows("LARGEST", {{values}}, largest);
}

void GpuKernels::columns_largest(const GpuMatrices& values, const GpuMatrices& largest) {
    const Uncanceled whole(cancel_);
    columns("LARGEST", values, largest, values);
}

void GpuKernels::column(const GpuMatrices& values, int column, const GpuMatrices& to) {
    const Uncanceled whole(cancel_);
    cells("cells.comp", {"COLUMN"}, {{values}}, to,
          {.width = word(size(values.shape.columns)), .height = word(size(column))});
}

void GpuKernels::mean_over_heads(const GpuMatrices& values, const GpuMatrices& mean) {
    const Uncanceled whole(cancel_);
    const GpuScratch sums[] = {{rooms_, mean.shape}, {rooms_, mean.shape}};
    GpuMatrices sum = values;
    sum.shape.heads = 1;
    for (int h = 1; h < values.shape.heads; ++h) {
        GpuMatrices head = values;
        head.first += size(h) * values.shape.head_size();
        head.shape.heads = 1;
        const GpuMatrices next = sums[h % 2].matrices();
        cells("cells.comp", {"ADD"}, {{sum}, {head}}, next);
        sum = next;
    }
    cells("cells.comp", {"SCALE"}, {{sum}}, mean, {.x = 1, .y = static_cast<float>(values.shape.heads)});
}

ValueRange GpuKernels::range(const GpuMatrices& values, int head) {
    const GpuScratch found(rooms_, {.rows = k_range_groups, .columns = k_range_numbers});
    GpuProgram& program = programs_.get("range.comp", {fmt::format("GROUP {}", group())});
    ValueRange whole;
    std::vector<float> parts(k_range_groups * k_range_numbers);
    const std::size_t count = values.shape.head_size(), block = std::min(block_floats(), k_range_at_once);
    GpuStopwatch* const watch = stopwatch();
    for (std::size_t from = 0; from < count; from += block) {
        const std::size_t some = std::min(block, count - from);
        const std::size_t groups = std::clamp<std::size_t>(some / size(group()), 1, k_range_groups);
        GpuMatrices line = values;
        line.first += static_cast<std::size_t>(head) * count + from;
        line.shape = {.heads = 1, .rows = 1, .columns = static_cast<int>(some)};
        program.use();
        bind(program, 0, "a", {line, true}, {0, 1, 0, 1});
        bind(program, 3, "result", {found.matrices(), true}, {0, 1, 0, 1});
        program.set("u_count", word(some));
        if (watch) watch->start();
        glDispatchCompute(word(groups), 1, 1);
        if (watch) watch->stop();
        glMemoryBarrier(GL_SHADER_STORAGE_BARRIER_BIT | GL_BUFFER_UPDATE_BARRIER_BIT);
        found.read(std::span(parts).first(groups * k_range_numbers));
        if (watch) nanoseconds_ += watch->nanoseconds();
        for (std::size_t g = 0; g < groups; ++g) {
            const float* part = parts.data() + g * k_range_numbers;
            const auto counted = [&](int i) { return std::size_t{std::bit_cast<std::uint32_t>(part[i])}; };
            if (counted(2) > 0) {
                whole.min = whole.finite ? std::min(whole.min, part[0]) : part[0];
                whole.max = whole.finite ? std::max(whole.max, part[1]) : part[1];
            }
            whole.finite += counted(2);
            whole.nan += counted(3);
            whole.plus_infinity += counted(4);
            whole.minus_infinity += counted(5);
            whole.zero += counted(6);
        }
        device_.pause();
    }
    return whole;
}

}  // namespace attnscope
