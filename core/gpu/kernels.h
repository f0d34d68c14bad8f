// The compute kernels of GpuBackend, which run the shaders of shaders/. Operations on cells and on rows are
// defines of cells.comp and rows.comp, named as the operations; products, heads, masks, centers, blocks
// and the softmax over the queries (columns.comp) have a file each. Each kernel splits its work into
// dispatches that are short, about 10 ms, and bind no more storage than the driver allows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/gpu/device.h"
#include "core/gpu/programs.h"
#include "core/gpu/rooms.h"
#include "core/gpu/stopwatch.h"
#include "core/tensor/buffer.h"

namespace attnscope {

/// Thrown if a matrix that every row needs is larger than a storage block: the CPU has to compute the
/// operation.
struct DoesNotFit {};

struct GpuOptions {
    std::size_t block_bytes = 0;  ///< limit of a storage block; 0: the driver's limit
    double slice_seconds = 0.01;  ///< target duration of one dispatch
    std::size_t free_bytes = 0;   ///< free memory of the card; 0: what the driver reports, each time
    int tile = 0;                 ///< side of a tile of a product: 32 or 128; 0: by the driver's limits
    bool timed = false;           ///< measure each dispatch by the card's own clock
    GpuAllocator allocate = exact_room;  ///< makes room for tensors
    ShaderSource shaders = {};
};

/// The uniforms u_x, u_y, u_window, u_width and u_height of a shader, and where in its matrix the result
/// begins.
struct GpuNumbers {
    float x = 0, y = 0;
    double window = 0;
    std::uint32_t width = 0, height = 0;
    std::uint32_t row = 0, column = 0;
};

/// For the device's thread only. All throw Canceled if `cancel` requests it, Error(backend) if the card is
/// lost or a shader does not compile.
class GpuKernels {
public:
    GpuKernels(GpuDevice& device, const GpuOptions& options)
        : device_(device), options_(options), programs_(options.shaders), rooms_([this](std::size_t numbers) {
              try {
                  return options_.allocate(numbers);
              } catch (const Error& error) {
                  if (error.kind() == ErrorKind::too_large) device_.forgive();
                  throw;
              }
          }) {}
    GpuKernels(const GpuKernels&) = delete;
    GpuKernels& operator=(const GpuKernels&) = delete;

    /// The time that the card spent on dispatches since the last call; 0 if GpuOptions::timed is off.
    std::uint64_t take_nanoseconds() { return std::exchange(nanoseconds_, 0); }

    /// What the tensors of this card lie in.
    GpuRooms& rooms() { return rooms_; }
    const GpuRooms& rooms() const { return rooms_; }

    /// Sets the token that cancels the following kernels.
    void set_cancel(std::stop_token cancel) { cancel_ = std::move(cancel); }

    /// C = A B, or A Bᵀ, plus a row vector if there is one. A h × n × k, B h × k × m or h × m × k, C h × n ×
    /// m; one head of A or B is used for all heads.
    void product(const GpuMatrices& A, const GpuMatrices& B, bool transposed, const GpuMatrices* bias,
                 const GpuMatrices& C);

    /// An operand of the other kernels: read in step with the result's rows, or `whole` for each of them.
    struct Operand {
        GpuMatrices of;
        bool whole = false;
    };
    /// Runs `file` with the define `kind` ("ADD"), one thread per cell of the result; operands in the order
    /// of the shader's bindings. `work` is the cost per cell, in multiply-adds.
    void cells(std::string_view file, const std::vector<std::string>& kind,
               const std::vector<Operand>& operands, const GpuMatrices& result,
               const GpuNumbers& numbers = {}, double work = 1);
    /// Runs rows.comp: one work group per row of the first operand; `epsilon` for LAYER_NORM.
    void rows(const std::string& kind, const std::vector<Operand>& operands, const GpuMatrices& result,
              std::optional<double> epsilon = std::nullopt);
    /// The softmax over the rows of each column.
    void softmax_over_rows(const GpuMatrices& masked, const GpuMatrices& weights, const GpuMatrices& scratch);
    /// Splits head h's columns of x (n × h·w) into rows of their own (h × n × w); join() does the reverse.
    void split(const GpuMatrices& x, const GpuMatrices& heads);
    void join(const GpuMatrices& heads, const GpuMatrices& x);

    /// Runs blocks.comp with the define `kind`: a number for each block of rows × columns cells of one
    /// matrix. `largest`: the result of "LARGEST", which "EXPONENTIAL" reads. `work` is the cost per cell of
    /// the matrix, in multiply-adds.
    void blocks(const std::string& kind, const GpuMatrices& values, int rows, int columns,
                const GpuMatrices& largest, const GpuMatrices& result, double work);

    ValueRange range(const GpuMatrices& values, int head);
    /// The maximum of each row, n × 1; NaN if the row contains one. Not affected by set_cancel().
    void rows_largest(const GpuMatrices& values, const GpuMatrices& largest);
    /// The maximum of each column, 1 × m; NaN if the column contains one. Not affected by set_cancel().
    void columns_largest(const GpuMatrices& values, const GpuMatrices& largest);
    /// One column, n × 1. Not affected by set_cancel().
    void column(const GpuMatrices& values, int column, const GpuMatrices& to);
    /// The mean of h × n × m over the heads, n × m. Not affected by set_cancel().
    void mean_over_heads(const GpuMatrices& values, const GpuMatrices& mean);

    const GpuPrograms& programs() const { return programs_; }

private:
    /// Some rows of one head, or several whole heads.
    struct Part {
        std::size_t head, heads, row, rows;
    };
    /// Rows are split at multiples of `tile` if a block holds that many: a work group takes as long for
    /// fewer.
    void for_parts(GpuProgram& program, const Shape& shape, std::size_t widest_row, std::size_t whole_head,
                   double work_per_row, const std::function<void(const Part&)>& dispatch,
                   std::size_t tile = 1);
    void bind(GpuProgram& program, int binding, const char* name, const Operand& operand, const Part& part);
    /// Runs columns.comp, with as many numbers per column as `of_columns` has rows.
    void columns(const char* pass, const GpuMatrices& values, const GpuMatrices& of_columns,
                 const GpuMatrices& result);
    void regroup(const char* kind, const GpuMatrices& from, const GpuMatrices& to, const Shape& heads,
                 const Shape& joined);
    std::size_t block_floats() const;
    int group() const;
    GpuStopwatch* stopwatch();
    /// The square of cells that a group computes at once, and the shader's defines.
    struct Tile {
        std::size_t side;
        std::vector<std::string> defines;
    };
    Tile tile_for(const Shape& C) const;

    GpuDevice& device_;
    GpuOptions options_;
    GpuPrograms programs_;
    GpuRooms rooms_;
    std::stop_token cancel_;
    std::unique_ptr<GpuStopwatch> stopwatch_;  ///< for one dispatch; nullptr if timing is off
    std::uint64_t nanoseconds_ = 0;
};

}  // namespace attnscope
