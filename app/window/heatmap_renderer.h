// Heatmaps inside ImGui's windows: matrices as textures, colored by the graphics card.
#pragma once

#include <imgui.h>

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "app/window/heatmap_tiles.h"
#include "core/gpu/gl.h"
#include "core/picture/color.h"
#include "core/picture/theme.h"

namespace attnscope {

using ColorTable = std::array<Rgb8, 256>;

struct HeatmapLook {
    enum class Style {
        colors,  ///< each value by the color table
        dots,    ///< not zero: a dot; zero: hatched
    };
    Style style = Style::colors;
    int table = 0;   ///< a color map's place in colormaps(), or from HeatmapRenderer::add_table
    double min = 0;  ///< as ColorScale: min < max, both finite
    double max = 1;
    float scale = 1;    ///< of the interface: widths of gaps, hatch and marks
    float opacity = 1;  ///< of the whole, over what is behind
    bool gaps = true;   ///< a pixel of background between cells that are large enough
};

/// A cell's color is ColorScale's, its marks are those of exported pictures. Cells are nowhere
/// smaller than a pixel: where the matrix has more, a drawn cell stands for the strongest of a block
/// (pooled_cells). What is uploaded is bounded by the pixels in sight, not by the matrix. An OpenGL context
/// is current at construction, in every call, and when the frame is drawn.
class HeatmapRenderer {
public:
    /// Throws Error(backend) if the built-in shaders do not build.
    explicit HeatmapRenderer(const Theme& theme);

    void set_theme(const Theme& theme) { theme_ = &theme; }
    /// A number for HeatmapLook::table, beyond those of colormaps().
    int add_table(const ColorTable& table);

    /// Before the first draw of a frame. Takes shaders that were saved since; those that do not build leave
    /// the last good ones.
    void begin_frame();
    /// Why saved shaders are not in use: file, line and what the compiler says; empty if they are.
    std::string problem() const { return problem_.empty() ? tiles_.problem() : problem_; }
    /// The whole matrix from `top_left` to `bottom_right` (pixels, may reach far beyond the clip rectangle,
    /// within which it is drawn).
    void draw(ImDrawList& list, const HeatmapSource& source, ImVec2 top_left, ImVec2 bottom_right,
              const HeatmapLook& look);
    /// The table itself, one step above the other or side by side, its first step below or left.
    void draw_table(ImDrawList& list, int table, ImVec2 top_left, ImVec2 bottom_right, bool upright = true);

    const HeatmapTiles& tiles() const { return tiles_; }

    /// A matrix on screen: where its cells stand.
    struct Drawn {
        std::shared_ptr<const void> owner;  ///< HeatmapSource::owner
        int rows, columns;                  ///< as drawn
        bool transposed;
        ImVec2 top_left, bottom_right;  ///< of the whole matrix
        ImVec2 clip_min, clip_max;      ///< it is seen within this rectangle
    };
    /// What was drawn since begin_frame(), in order.
    std::span<const Drawn> drawn() const { return drawn_; }

private:
    struct Uniforms {
        GLint display, rectangle, cells, table, first_values, origin, cell, count, last, anchor, gap, scale,
            opacity;
        GLint gap_color, masked, hatch, nan, plus_infinity, minus_infinity, mark, dot_background, dot;
    };
    using TextOf = std::string (*)(std::string_view shader);
    struct Program {
        Program(TextOf text_of, std::span<const std::string> defines);
        gl::Shader shader;
        Uniforms at{};
    };
    /// One for each thing that a tile's cells may need.
    struct Programs {
        explicit Programs(TextOf text_of);
        Program colors, hatched_colors, marked_colors, dots;
    };
    struct Piece {
        const HeatmapTiles::Tile* tile;
        std::array<float, 4> rectangle;
        std::array<float, 2> origin;
        std::array<int, 2> last;
    };
    /// A matrix on screen; its cells after pooling.
    struct Placed {
        double left, top, right, bottom;
        double cell_width, cell_height;
        Pooling pooling;
    };
    /// What the draw list hands back when it is drawn.
    struct Record {
        HeatmapRenderer* renderer;
        HeatmapLook look;
        std::array<float, 256> first_values;  ///< ColorScale's
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
    std::vector<Piece> pieces_in_sight(const ImDrawList& list, const HeatmapSource& source,
                                       const Placed& placed);

    std::unique_ptr<Programs> programs_;
    std::uint64_t shaders_stamp_;
    std::string problem_;
    gl::VertexArray no_vertices_;
    std::vector<gl::Texture2D> tables_;
    Matrix falling_;  ///< 255 … 0
    Matrix rising_;
    HeatmapTiles tiles_;
    std::deque<Record> records_;
    std::vector<Drawn> drawn_;
    const Theme* theme_;
};

}  // namespace attnscope
