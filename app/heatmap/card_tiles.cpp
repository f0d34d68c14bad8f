#include "app/heatmap/card_tiles.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "core/gpu/values.h"

namespace attnscope {
namespace {

constexpr int k_side = 8;              ///< invocations along a side of a work group
constexpr std::size_t k_threads = 64;  ///< invocations per texel
/// How many cells one dispatch reads: a few milliseconds on a slow card.
constexpr std::size_t k_most_cells = std::size_t{1} << 25;

std::uint32_t word(std::size_t n) { return static_cast<std::uint32_t>(n); }
std::uint32_t groups_for(int texels) { return word(static_cast<std::size_t>(texels + k_side - 1) / k_side); }

std::size_t limit(GLenum name) {
    GLint64 value = 0;
    glGetInteger64v(name, &value);
    return static_cast<std::size_t>(std::max<GLint64>(value, 1));
}

/// The values of one head, starting at a row.
struct Rows {
    const GpuValues* values;
    int head;
    std::size_t first, count, columns;
};

/// Binds the rows' block of the buffer; returns where the rows begin in the part that the shader sees.
std::uint32_t bind(GLuint binding, const Rows& rows, std::size_t aligned) {
    const GpuMatrices matrices = rows.values->matrices();
    const std::size_t first = matrices.first +
                              static_cast<std::size_t>(rows.head) * matrices.shape.head_size() +
                              rows.first * rows.columns;
    const std::size_t begin = first / aligned * aligned;
    glBindBufferRange(GL_SHADER_STORAGE_BUFFER, binding, matrices.storage->id(),
                      static_cast<GLintptr>(begin * sizeof(float)),
                      static_cast<GLsizeiptr>((first - begin + rows.count * rows.columns) * sizeof(float)));
    return word(first - begin);
}

}  // namespace

void CardTiles::begin_frame() {
    while (!reading_.empty() && reading_.front().done->wait(0)) reading_.pop_front();
}

bool CardTiles::fill(const gl::Texture2D& texture, const HeatmapSource& source, Pooling pooling,
                     Region range) {
    const auto* values = dynamic_cast<const GpuValues*>(source.card_values.values.get());
    const auto* open = dynamic_cast<const GpuValues*>(source.card_open.values.get());
    if (!values || (source.open && !open)) return false;
    if (source.transposed) {
        std::swap(pooling.rows, pooling.columns);
        std::swap(range.row, range.column);
        std::swap(range.rows, range.columns);
    }
    if (block_floats_ == 0) {
        aligned_floats_ =
            std::max<std::size_t>(limit(GL_SHADER_STORAGE_BUFFER_OFFSET_ALIGNMENT) / sizeof(float), 1);
        block_floats_ = limit(GL_MAX_SHADER_STORAGE_BLOCK_SIZE) / sizeof(float) - aligned_floats_;
    }
    const auto columns = static_cast<std::size_t>(source.columns),
               rows = static_cast<std::size_t>(source.rows);
    const std::size_t block_rows = std::size_t{1} << pooling.rows;
    const std::size_t row_of_texels = block_rows * columns;
    if (row_of_texels > block_floats_) return false;
    const int at_once = static_cast<int>(
        std::clamp<std::size_t>(std::min(block_floats_, k_most_cells) / row_of_texels, 1, k_tile_size));

    // One invocation per texel, or many for a texel that stands for many cells.
    const bool many = (block_rows << pooling.columns) >= k_threads;
    std::vector<std::string> defines{many ? fmt::format("THREADS {}", k_threads)
                                          : fmt::format("SIDE {}", k_side)};
    if (open) defines.emplace_back("MASK");
    if (source.transposed) defines.emplace_back("TRANSPOSED");
    GpuProgram& program = programs_.get("tile.comp", defines);
    program.use();
    glBindImageTexture(0, texture.id(), 0, GL_FALSE, 0, GL_WRITE_ONLY, GL_R32F);
    for (int done = 0; done < range.rows; done += at_once) {
        const int some = std::min(at_once, range.rows - done);
        const std::size_t first = static_cast<std::size_t>(range.row + done) * block_rows;
        const std::size_t count = std::min(static_cast<std::size_t>(some) * block_rows, rows - first);
        program.set("u_a",
                    bind(0, {values, source.card_values.head, first, count, columns}, aligned_floats_));
        if (open)
            program.set("u_open",
                        bind(1, {open, source.card_open.head, first, count, columns}, aligned_floats_));
        program.set("u_columns", word(columns));
        program.set("u_rows", word(count));
        program.set("u_column", word(static_cast<std::size_t>(range.column) << pooling.columns));
        program.set("u_block_rows", word(block_rows));
        program.set("u_block_columns", word(std::size_t{1} << pooling.columns));
        program.set("u_tile_rows", word(static_cast<std::size_t>(some)));
        program.set("u_tile_columns", word(static_cast<std::size_t>(range.columns)));
        program.set("u_first", word(static_cast<std::size_t>(done)));
        glDispatchCompute(many ? word(static_cast<std::size_t>(range.columns)) : groups_for(range.columns),
                          many ? word(static_cast<std::size_t>(some)) : groups_for(some), 1);
    }
    glMemoryBarrier(GL_TEXTURE_FETCH_BARRIER_BIT);
    glBindImageTexture(0, 0, 0, GL_FALSE, 0, GL_WRITE_ONLY, GL_R32F);
    // A buffer that stays bound here would not be freed when its owner is gone.
    for (const GLuint binding : {0U, 1U}) glBindBufferBase(GL_SHADER_STORAGE_BUFFER, binding, 0);
    glBindBuffer(GL_SHADER_STORAGE_BUFFER, 0);
    reading_.push_back({std::make_unique<gl::Fence>(), source.card_values.values, source.card_open.values});
    return true;
}

}  // namespace attnscope
