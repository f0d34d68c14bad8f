// Heatmaps inside ImGui's windows: matrices as textures, colored by the graphics card. The color of every
// cell, closed ones included, is decided in shaders/heatmap.frag; Figure::fill (core/picture/cell_color.cpp)
// decides the same for pictures.
#pragma once

#include <imgui.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/heatmap/heatmap_tiles.h"
#include "core/gpu/gl.h"
#include "core/picture/color.h"
#include "core/picture/presentation.h"
#include "core/picture/theme.h"

namespace attnscope {

using ColorTable = std::array<Rgb8, 256>;

/// Where a whole matrix stands, in pixels. Magnified, it ends so far from the screen that a float would be
/// off by cells.
struct Extent {
    double left, top, right, bottom;
};

struct HeatmapLook {
    enum class Style {
        colors,  ///< each value in the color that the table assigns
        dots,    ///< nonzero: a dot; zero: hatched
    };
    Style style = Style::colors;
    int table = 0;   ///< a color map's index in colormaps(), or from HeatmapRenderer::add_table
    double min = 0;  ///< range and spacing as in ColorScale: min < max, both finite
    double max = 1;
    ColorSpacing spacing = ColorSpacing::linear;
    float scale = 1;    ///< of the interface: scales the widths of gaps, hatching and marks
    float opacity = 1;  ///< of the heatmap over its background
    bool gaps = true;   ///< a background pixel between cells that are large enough
};

/// Cell colors are those of ColorScale, marks those of exported pictures. Cells are never smaller than a
/// pixel: where the matrix has more cells, a drawn one stands for the strongest of a block (pooled_cells).
/// The amount uploaded is bounded by the visible pixels, not by the matrix. Where values are not known yet,
/// the theme's raised surface is drawn. An OpenGL context must be current at construction, in every call, and
/// when the frame is drawn.
class HeatmapRenderer {
public:
    /// Throws Error(backend) if the built-in shaders do not build.
    HeatmapRenderer(const Theme& theme, ShaderSource shaders);

    void set_theme(const Theme& theme) { theme_ = &theme; }
    /// Adds a color table; returns its number for HeatmapLook::table.
    int add_table(const ColorTable& table);

    /// Call before the first draw of a frame. Loads shaders that changed on disk; if they do not build, the
    /// last good ones stay.
    void begin_frame();
    /// Why changed shaders are not in use (file, line and compiler message); empty if they are.
    std::string problem() const { return problem_.empty() ? tiles_.problem() : problem_; }
    /// Draws the whole matrix, which may extend far beyond the clip rectangle, within which it is drawn.
    void draw(ImDrawList& list, const HeatmapSource& source, const Extent& whole, const HeatmapLook& look);
    /// Draws the color table itself, stacked upwards or side by side, its first step at the bottom or left.
    void draw_table(ImDrawList& list, int table, ImVec2 top_left, ImVec2 bottom_right, bool upright = true);

    const HeatmapTiles& tiles() const { return tiles_; }

    /// A matrix on screen, and where its cells are.
    struct Drawn {
        std::shared_ptr<const void> owner;  ///< HeatmapSource::owner
        int rows, columns;                  ///< as drawn
        bool transposed;
        ImVec2 top_left, bottom_right;  ///< of the whole matrix
        ImVec2 clip_min, clip_max;      ///< the visible part
    };
    /// The matrices drawn since begin_frame(), in order.
    std::span<const Drawn> drawn() const { return drawn_; }

private:
    struct Uniforms {
        GLint display, rectangle, cells, table, first_values, origin, cell, count, last, anchor, gap, scale,
            opacity;
        GLint gap_color, masked, hatch, nan, plus_infinity, minus_infinity, mark, dot_background, dot;
    };
    struct Program {
        Program(const ShaderSource& shaders, std::span<const std::string> defines);
        gl::Shader shader;
        Uniforms at{};
    };
    /// One program for each combination of what a tile's cells may need.
    struct Programs {
        explicit Programs(const ShaderSource& shaders);
        Program colors, hatched_colors, marked_colors, dots;
    };
    struct Piece {
        const HeatmapTiles::Tile* tile;
        std::array<float, 4> rectangle;
        std::array<float, 2> origin;
        std::array<int, 2> last;
    };
    /// A matrix on screen, with its cells after pooling.
    struct Placed {
        double left, top, right, bottom;
        double cell_width, cell_height;
        Pooling pooling;
    };
    /// Data passed through the draw list to the callback that draws.
    struct Record {
        HeatmapRenderer* renderer;
        HeatmapLook look;
        std::array<float, 256> first_values;  ///< as in ColorScale
        std::array<float, 2> cell;
        std::array<float, 2> anchor;
        std::vector<Piece> pieces;
    };
    static void on_draw(const ImDrawList* list, const ImDrawCmd* command);
    void render(const Record& record, const ImVec4& clip) const;
    const Program& program_for(const HeatmapLook& look, HeatmapTiles::Needs needs) const;
    void draw_pieces(const Record& record, HeatmapTiles::Needs needs) const;
    void set_uniforms(const Program& program, const Record& record, ImVec2 display) const;
    void build_programs();
    std::uint64_t stamp_of_shaders() const;
    std::vector<Piece> pieces_in_sight(ImDrawList& list, const HeatmapSource& source, const Placed& placed);

    ShaderSource shaders_;
    std::unique_ptr<Programs> programs_;
    std::uint64_t shaders_stamp_;
    std::string problem_;
    gl::VertexArray no_vertices_;
    std::vector<gl::Texture2D> tables_;
    Matrix falling_;  ///< the values 255 … 0
    Matrix rising_;
    HeatmapTiles tiles_;
    std::deque<Record> records_;
    std::vector<Drawn> drawn_;
    const Theme* theme_;
};

}  // namespace attnscope
