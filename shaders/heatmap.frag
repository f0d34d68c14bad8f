#version 330 core
// The cells of one tile of a matrix: a color of the table for a value, a hatch for what the mask closes, a mark for
// what is not finite. Everything is decided by the pixel's centre, so that a cell's centre has exactly its color.
// HATCH: some cells are closed; MARKS: some have marks. Without them their work is left out, since a driver that draws
// on the CPU does all branches for all pixels.

uniform vec2 u_display;    // pixels
uniform usampler2D u_codes;  // one texel per cell: below 256 a step of the table
uniform sampler2D u_table;   // 256 × 1
uniform vec2 u_origin;     // top left corner of the tile's first cell, pixels from the top left
uniform vec2 u_cell;       // size of a cell, pixels
uniform ivec2 u_count;     // columns, rows of the tile
uniform ivec2 u_last;      // the matrix's last column and row, counted in the tile
uniform vec2 u_anchor;     // the hatch moves with the matrix: its top left corner, whole pixels
uniform float u_gap;       // pixels between cells
uniform float u_scale;     // of the interface
uniform float u_opacity;
uniform vec3 u_gap_color;
uniform vec3 u_masked;
uniform vec3 u_hatch;
uniform vec3 u_nan;
uniform vec3 u_plus_infinity;
uniform vec3 u_minus_infinity;
uniform vec3 u_mark;
uniform vec3 u_dot_background;
uniform vec3 u_dot;

out vec4 color;

const uint k_closed = 256u;
const uint k_nan = 257u;
const uint k_plus_infinity = 258u;
const uint k_minus_infinity = 259u;
const uint k_open = 260u;

const float k_smallest_dot = 4.0;   // pixels; a smaller open cell is plain
const float k_smallest_mark = 8.0;  // pixels; a smaller cell has its mark's color alone
const float k_largest_mark = 48.0;  // and a larger one no larger mark

vec3 hatched(vec2 pixel) {
    float spacing = floor(6.0 * u_scale + 0.5);
    float width = max(floor(u_scale + 0.5), 1.0);
    vec2 at = floor(pixel) - u_anchor;
    return mod(at.x + at.y, spacing) < width ? u_hatch : u_masked;
}

// `outside` in pixels from the edge of a shape, negative inside it.
vec3 shape(float outside, vec3 inside, vec3 around) { return mix(inside, around, clamp(outside + 0.5, 0.0, 1.0)); }

vec3 cross_mark(vec2 from_center, float side) {
    vec2 at = abs(from_center);
    float reach = side * 0.22;
    float half_width = max(1.25, side / 16.0) * 0.5;
    return shape(max(abs(at.x - at.y) * 0.7071 - half_width, max(at.x, at.y) - reach), u_mark, u_nan);
}

// `up` is 1 with the point above, -1 below.
vec3 triangle_mark(vec2 from_center, float side, float up, vec3 around) {
    float reach = side * 0.24;
    float above_base = reach * 0.8 - from_center.y * up;
    float half_width = reach * (1.0 - above_base / (reach * 1.6));
    return shape(max((abs(from_center.x) - half_width) * 0.85, -above_base), u_mark, around);
}

// For a cell with a mark.
vec3 marked(uint code, vec2 inside) {
    float side = min(min(u_cell.x, u_cell.y) - u_gap, k_largest_mark * u_scale);
    vec2 from_center = inside - u_cell * 0.5;
    bool plain = side < k_smallest_mark;
    if (code == k_open) {
        if (side < k_smallest_dot) return u_dot_background;
        return shape(length(from_center) - max(1.5, side / 10.0), u_dot, u_dot_background);
    }
    if (code == k_nan) return plain ? u_nan : cross_mark(from_center, side);
    bool up = code == k_plus_infinity;
    vec3 around = up ? u_plus_infinity : u_minus_infinity;
    return plain ? around : triangle_mark(from_center, side, up ? 1.0 : -1.0, around);
}

vec3 cell_color(uint code, vec2 pixel, vec2 inside) {
#ifdef HATCH
    if (code == k_closed) return hatched(pixel);
#endif
#ifdef MARKS
    if (code > k_closed) return marked(code, inside);
#endif
    return texelFetch(u_table, ivec2(code, 0), 0).rgb;
}

void main() {
    vec2 pixel = vec2(gl_FragCoord.x, u_display.y - gl_FragCoord.y);
    vec2 at = pixel - u_origin;
    ivec2 cell = clamp(ivec2(floor(at / u_cell)), ivec2(0), u_count - 1);
    vec2 inside = at - vec2(cell) * u_cell;
    bvec2 in_gap = lessThanEqual(u_cell - inside, vec2(u_gap));
    if ((in_gap.x && cell.x != u_last.x) || (in_gap.y && cell.y != u_last.y)) {
        color = vec4(u_gap_color, u_opacity);
        return;
    }
    uint code = texelFetch(u_codes, cell, 0).r;
    color = vec4(cell_color(code, pixel, inside), u_opacity);
}
