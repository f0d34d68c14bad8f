#include "app/heatmap/heatmap_renderer.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "app/platform/imgui_compat.h"
#include "core/error.h"
#include "core/picture/color_scale.h"
#include "core/picture/colormap.h"

namespace attnscope {

namespace {

constexpr double k_smallest_gapped_cell = 6;
// Keys without an owner; others' keys without one are content hashes.
constexpr std::uint64_t k_falling_key = 0x66616c6c;
constexpr std::uint64_t k_rising_key = 0x72697365;

void set_color(GLint at, Rgb8 color) {
    glUniform3f(at, static_cast<float>(color.red) / 255, static_cast<float>(color.green) / 255,
                static_cast<float>(color.blue) / 255);
}

}  // namespace

HeatmapRenderer::Program::Program(const ShaderSource& shaders, std::span<const std::string> defines)
    : shader({"heatmap.vert", shaders.text("heatmap.vert")}, {"heatmap.frag", shaders.text("heatmap.frag")},
             defines) {
    const auto find = [&](const char* name) { return shader.uniform(name); };
    at = {.display = find("u_display"),
          .rectangle = find("u_rectangle"),
          .cells = find("u_cells"),
          .table = find("u_table"),
          .first_values = find("u_first_values"),
          .origin = find("u_origin"),
          .cell = find("u_cell"),
          .count = find("u_count"),
          .last = find("u_last"),
          .anchor = find("u_anchor"),
          .gap = find("u_gap"),
          .scale = find("u_scale"),
          .opacity = find("u_opacity"),
          .gap_color = find("u_gap_color"),
          .masked = find("u_masked"),
          .hatch = find("u_hatch"),
          .nan = find("u_nan"),
          .plus_infinity = find("u_plus_infinity"),
          .minus_infinity = find("u_minus_infinity"),
          .mark = find("u_mark"),
          .dot_background = find("u_dot_background"),
          .dot = find("u_dot")};
}

HeatmapRenderer::Programs::Programs(const ShaderSource& shaders)
    : colors(shaders, {}),
      hatched_colors(shaders, std::vector<std::string>{"HATCH"}),
      marked_colors(shaders, std::vector<std::string>{"HATCH", "MARKS"}),
      dots(shaders, std::vector<std::string>{"DOTS"}) {}

/// Takes the current shaders if they build; otherwise the previous ones stay, at first the built-in ones.
void HeatmapRenderer::build_programs() {
    try {
        programs_ = std::make_unique<Programs>(shaders_);
        problem_.clear();
    } catch (const Error& error) {
        problem_ = error.what();
        if (!programs_) programs_ = std::make_unique<Programs>(ShaderSource());
    }
}

std::uint64_t HeatmapRenderer::stamp_of_shaders() const {
    return (shaders_.stamp("heatmap.vert") * 31 + shaders_.stamp("heatmap.frag")) * 31 +
           shaders_.stamp("tile.comp");
}

HeatmapRenderer::HeatmapRenderer(const Theme& theme, ShaderSource shaders)
    : shaders_(std::move(shaders)),
      shaders_stamp_(stamp_of_shaders()),
      falling_(256, 1),
      rising_(1, 256),
      tiles_(shaders_),
      theme_(&theme) {
    build_programs();
    for (int i = 0; i < 256; ++i) falling_(255 - i, 0) = rising_(0, i) = static_cast<float>(i);
    for (const Colormap& map : colormaps()) add_table(map.colors);
}

int HeatmapRenderer::add_table(const ColorTable& table) {
    std::vector<std::uint8_t> rgba;
    rgba.reserve(1024);
    for (const Rgb8& color : table) rgba.insert(rgba.end(), {color.red, color.green, color.blue, 255});
    tables_.emplace_back(gl::Texture2D::Format::rgba8, 256, 1);
    tables_.back().upload(std::span<const std::uint8_t>(rgba));
    return static_cast<int>(tables_.size()) - 1;
}

void HeatmapRenderer::begin_frame() {
    records_.clear();
    drawn_.clear();
    tiles_.begin_frame();
    const std::uint64_t before = std::exchange(shaders_stamp_, stamp_of_shaders());
    if (shaders_stamp_ == before) return;
    tiles_.forget();
    build_programs();
}

std::vector<HeatmapRenderer::Piece> HeatmapRenderer::pieces_in_sight(ImDrawList& list,
                                                                     const HeatmapSource& source,
                                                                     const Placed& placed) {
    constexpr int k_size = HeatmapTiles::k_size;
    const double left = std::max<double>(placed.left, list.GetClipRectMin().x);
    const double top = std::max<double>(placed.top, list.GetClipRectMin().y);
    const double right = std::min<double>(placed.right, list.GetClipRectMax().x);
    const double bottom = std::min<double>(placed.bottom, list.GetClipRectMax().y);
    if (right <= left || bottom <= top) return {};

    const int last_row = pooled_size(source.drawn_rows(), placed.pooling.rows) - 1;
    const int last_column = pooled_size(source.drawn_columns(), placed.pooling.columns) - 1;
    const double tile_width = placed.cell_width * k_size;
    const double tile_height = placed.cell_height * k_size;
    const auto tile_at = [](double distance, double size, int last) {
        return std::clamp(static_cast<int>(std::floor(distance / size)), 0, last / k_size);
    };
    std::vector<Piece> pieces;
    const int last_tile_row = tile_at(bottom - placed.top, tile_height, last_row);
    const int last_tile_column = tile_at(right - placed.left, tile_width, last_column);
    for (int r = tile_at(top - placed.top, tile_height, last_row); r <= last_tile_row; ++r) {
        for (int c = tile_at(left - placed.left, tile_width, last_column); c <= last_tile_column; ++c) {
            // Neighbors compute their common edge identically, so that no pixel is drawn twice or left out.
            const double x = placed.left + c * tile_width;
            const double y = placed.top + r * tile_height;
            const double end_x = std::min(right, placed.left + (c + 1) * tile_width);
            const double end_y = std::min(bottom, placed.top + (r + 1) * tile_height);
            const std::array<float, 4> rectangle{static_cast<float>(std::max(left, x)),
                                                 static_cast<float>(std::max(top, y)),
                                                 static_cast<float>(end_x), static_cast<float>(end_y)};
            const HeatmapTiles::Tile* tile = tiles_.tile(source, placed.pooling, r, c);
            if (!tile && source.is_over_another) continue;
            if (!tile) {
                const Rgb8 plain = theme_->raised;
                list.AddRectFilled({rectangle[0], rectangle[1]}, {rectangle[2], rectangle[3]},
                                   IM_COL32(plain.red, plain.green, plain.blue, 255));
                continue;
            }
            pieces.push_back({.tile = tile,
                              .rectangle = rectangle,
                              .origin = {static_cast<float>(x), static_cast<float>(y)},
                              .last = {last_column - c * k_size, last_row - r * k_size}});
        }
    }
    return pieces;
}

void HeatmapRenderer::draw(ImDrawList& list, const HeatmapSource& source, const Extent& whole,
                           const HeatmapLook& look) {
    assert(look.table >= 0 && look.table < static_cast<int>(tables_.size()));
    if (source.rows <= 0 || source.columns <= 0) return;
    const double cell_width = (whole.right - whole.left) / source.drawn_columns();
    const double cell_height = (whole.bottom - whole.top) / source.drawn_rows();
    if (!(cell_width > 0) || !(cell_height > 0)) return;
    const Pooling pooling = pooling_for(cell_width, cell_height);
    const Placed placed{.left = whole.left,
                        .top = whole.top,
                        .right = whole.right,
                        .bottom = whole.bottom,
                        .cell_width = std::ldexp(cell_width, pooling.columns),
                        .cell_height = std::ldexp(cell_height, pooling.rows),
                        .pooling = pooling};
    std::vector<Piece> pieces = pieces_in_sight(list, source, placed);
    if (pieces.empty()) return;
    records_.push_back(
        {.renderer = this,
         .look = look,
         .first_values = ColorScale{nullptr, look.min, look.max, look.spacing}.first_values(),
         .cell = {static_cast<float>(placed.cell_width), static_cast<float>(placed.cell_height)},
         .anchor = {static_cast<float>(std::floor(whole.left)), static_cast<float>(std::floor(whole.top))},
         .pieces = std::move(pieces)});
    drawn_.push_back({.owner = source.owner,
                      .rows = source.drawn_rows(),
                      .columns = source.drawn_columns(),
                      .transposed = source.transposed,
                      .top_left = {static_cast<float>(whole.left), static_cast<float>(whole.top)},
                      .bottom_right = {static_cast<float>(whole.right), static_cast<float>(whole.bottom)},
                      .clip_min = list.GetClipRectMin(),
                      .clip_max = list.GetClipRectMax()});
    list.AddCallback(on_draw, &records_.back());
    list.AddCallback(compat::reset_render_state(), nullptr);
}

void HeatmapRenderer::draw_table(ImDrawList& list, int table, ImVec2 top_left, ImVec2 bottom_right,
                                 bool upright) {
    const Matrix& ramp = upright ? falling_ : rising_;
    const ConstMatrixView values(ramp.data(), ramp.rows(), ramp.cols());
    const HeatmapSource source = HeatmapSource::of(values, upright ? k_falling_key : k_rising_key);
    draw(list, source, {top_left.x, top_left.y, bottom_right.x, bottom_right.y},
         {.table = table, .min = 0, .max = 256, .gaps = false});
}

void HeatmapRenderer::on_draw(const ImDrawList*, const ImDrawCmd* command) {
    const auto& record = *static_cast<const Record*>(command->UserCallbackData);
    record.renderer->render(record, command->ClipRect);
}

void HeatmapRenderer::set_uniforms(const Program& program, const Record& record, ImVec2 display) const {
    const HeatmapLook& look = record.look;
    const Uniforms& at = program.at;
    const double smallest = std::min(record.cell[0], record.cell[1]);
    const bool gaps = look.gaps && smallest >= k_smallest_gapped_cell * look.scale;
    glUniform2f(at.display, display.x, display.y);
    glUniform1i(at.cells, 0);
    glUniform1i(at.table, 1);
    glUniform1fv(at.first_values, static_cast<GLsizei>(record.first_values.size()),
                 record.first_values.data());
    glUniform2fv(at.cell, 1, record.cell.data());
    glUniform2fv(at.anchor, 1, record.anchor.data());
    glUniform1f(at.gap, gaps ? std::max(1.0F, std::floor(look.scale + 0.5F)) : 0.0F);
    glUniform1f(at.scale, look.scale);
    glUniform1f(at.opacity, look.opacity);
    set_color(at.gap_color, theme_->background);
    set_color(at.masked, theme_->masked);
    set_color(at.hatch, theme_->hatch);
    set_color(at.nan, theme_->nan);
    set_color(at.plus_infinity, theme_->plus_infinity);
    set_color(at.minus_infinity, theme_->minus_infinity);
    set_color(at.mark, theme_->on_light);
    set_color(at.dot_background, theme_->raised);
    set_color(at.dot, theme_->secondary);
}

void HeatmapRenderer::render(const Record& record, const ImVec4& clip) const {
    const ImVec2 display = ImGui::GetDrawData()->DisplaySize;
    const int left = std::max(0, static_cast<int>(clip.x));
    const int top = std::max(0, static_cast<int>(clip.y));
    const int width = static_cast<int>(clip.z) - left;
    const int height = static_cast<int>(clip.w) - top;
    if (width <= 0 || height <= 0) return;
    glScissor(left, static_cast<int>(display.y) - top - height, width, height);

    no_vertices_.bind();
    // ImGui's backend may have left its own samplers bound.
    glBindSampler(0, 0);
    glBindSampler(1, 0);
    tables_[static_cast<std::size_t>(record.look.table)].bind(1);
    draw_pieces(record, HeatmapTiles::Needs::colors);
    draw_pieces(record, HeatmapTiles::Needs::hatch);
    draw_pieces(record, HeatmapTiles::Needs::marks);
}

const HeatmapRenderer::Program& HeatmapRenderer::program_for(const HeatmapLook& look,
                                                             HeatmapTiles::Needs needs) const {
    if (look.style == HeatmapLook::Style::dots) return programs_->dots;
    if (needs == HeatmapTiles::Needs::colors) return programs_->colors;
    return needs == HeatmapTiles::Needs::hatch ? programs_->hatched_colors : programs_->marked_colors;
}

void HeatmapRenderer::draw_pieces(const Record& record, HeatmapTiles::Needs needs) const {
    const auto applies = [&](const Piece& piece) { return piece.tile->needs == needs; };
    if (std::none_of(record.pieces.begin(), record.pieces.end(), applies)) return;
    const Program& program = program_for(record.look, needs);
    program.shader.use();
    set_uniforms(program, record, ImGui::GetDrawData()->DisplaySize);
    for (const Piece& piece : record.pieces) {
        if (!applies(piece)) continue;
        const gl::Texture2D& texture = piece.tile->texture;
        texture.bind(0);  // also leaves unit 0 active, as ImGui's backend expects
        glUniform4fv(program.at.rectangle, 1, piece.rectangle.data());
        glUniform2fv(program.at.origin, 1, piece.origin.data());
        glUniform2i(program.at.count, texture.width(), texture.height());
        glUniform2iv(program.at.last, 1, piece.last.data());
        glDrawArrays(GL_TRIANGLE_STRIP, 0, 4);
    }
}

}  // namespace attnscope
