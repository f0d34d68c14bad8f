// The kernels on the graphics card, under GpuBackend: each cuts its work into dispatches that are short and
// see no more of a storage than the driver allows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/gpu/device.h"
#include "core/gpu/programs.h"
#include "core/gpu/stopwatch.h"
#include "core/gpu/values.h"

namespace attnscope {

/// Thrown where a matrix that every row needs is larger than a storage block: the processor has to do it.
struct DoesNotFit {};

struct GpuOptions {
    std::size_t block_bytes = 0;  ///< of a storage that a shader sees; 0: the driver's limit
    double slice_seconds = 0.01;  ///< that one dispatch is meant to take
    std::size_t free_bytes = 0;   ///< of the card's memory; 0: what the driver says, each time
    int tile = 0;                 ///< of a product's result, a side: 32 or 128; 0: by the driver's limits
    std::size_t guard = 0;        ///< numbers of a pattern around each tensor, for tests
    bool timed = false;           ///< each dispatch by the card's own clock, for measurements
};

/// What a shader calls u_x, u_y, u_window, u_width and u_height.
struct GpuNumbers {
    float x = 0, y = 0;
    double window = 0;
    std::uint32_t width = 0, height = 0;
};

/// On the device's thread only. All throw Cancelled when `cancel` asks for it, Error(backend) if the card is
/// lost or a shader does not compile.
class GpuKernels {
public:
    GpuKernels(GpuDevice& device, const GpuOptions& options) : device_(device), options_(options) {}

    /// What the card spent on dispatches since the last call; 0 where GpuOptions::timed is off.
    std::uint64_t take_nanoseconds() { return std::exchange(nanoseconds_, 0); }

    /// What stops the kernels that follow.
    void set_cancel(std::stop_token cancel) { cancel_ = std::move(cancel); }

    /// C = A B, or A Bᵀ, plus a row of numbers if there is one. A h × n × k, B h × k × m or h × m × k, C h ×
    /// n × m; one head of A or B serves all.
    void product(const GpuMatrices& A, const GpuMatrices& B, bool transposed, const GpuMatrices* bias,
                 const GpuMatrices& C);

    /// An operand of the others: its rows go with the result's, or all of it is needed for each.
    struct Operand {
        GpuMatrices of;
        bool whole = false;
    };
    /// `file` with the define `kind` ("ADD"), a thread for each cell of the result; operands in the order of
    /// the shader's bindings. `work` is what a cell takes, in multiply-adds.
    void cells(std::string_view file, const std::vector<std::string>& kind,
               const std::vector<Operand>& operands, const GpuMatrices& result,
               const GpuNumbers& numbers = {}, double work = 1);
    /// rows.comp: a work group for each row of the first operand.
    void rows(const std::string& kind, const std::vector<Operand>& operands, const GpuMatrices& result);
    /// The softmax over the rows of each column.
    void softmax_over_rows(const GpuMatrices& masked, const GpuMatrices& weights, const GpuMatrices& scratch);
    /// Head h's columns of x (n × h·w) as rows of their own (h × n × w), or back.
    void split(const GpuMatrices& x, const GpuMatrices& heads);
    void join(const GpuMatrices& heads, const GpuMatrices& x);

    ValueRange range(const GpuMatrices& values, int head);
    /// The largest of each row, n × 1; NaN where there is one. Not cut short by the cancelling of others'
    /// work.
    void rows_largest(const GpuMatrices& values, const GpuMatrices& largest);
    /// The largest of each column, 1 × m. Likewise.
    void columns_largest(const GpuMatrices& values, const GpuMatrices& largest);
    /// One column, n × 1. Likewise.
    void column(const GpuMatrices& values, int column, const GpuMatrices& to);
    /// h × n × m: n × m. Likewise.
    void mean_over_heads(const GpuMatrices& values, const GpuMatrices& mean);

    const GpuPrograms& programs() const { return programs_; }

private:
    /// Some rows of one head, or some whole heads.
    struct Part {
        std::size_t head, heads, row, rows;
    };
    /// Rows are cut in multiples of `tile` where a block holds as many: a work group takes as long for less.
    void for_parts(GpuProgram& program, const Shape& shape, std::size_t widest_row, std::size_t whole_head,
                   double work_per_row, const std::function<void(const Part&)>& dispatch,
                   std::size_t tile = 1);
    void bind(GpuProgram& program, int binding, const char* name, const Operand& operand, const Part& part);
    /// columns.comp, with so many numbers for each column as `of_columns` has rows.
    void columns(const char* pass, const GpuMatrices& values, const GpuMatrices& of_columns,
                 const GpuMatrices& result);
    void regroup(const char* kind, const GpuMatrices& from, const GpuMatrices& to, const Shape& heads,
                 const Shape& joined);
    std::size_t block_floats() const;
    int group() const;
    GpuStopwatch* stopwatch();
    std::vector<std::string> tile_for(const Shape& C) const;

    GpuDevice& device_;
    GpuOptions options_;
    GpuPrograms programs_;
    std::stop_token cancel_;
    std::unique_ptr<gl::Storage> range_scratch_;
    std::unique_ptr<GpuStopwatch> stopwatch_;  ///< of one dispatch; nullptr where none is timed
    std::uint64_t nanoseconds_ = 0;
};

}  // namespace attnscope
