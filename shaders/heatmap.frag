#version 330 core
// The cells of one tile of a matrix: a color of the table for a value, hatching where the mask is closed, a mark for
// non-finite values. Everything is decided at the pixel's center, so that a cell's center has exactly its color. HATCH:
// some cells are closed; MARKS: some are not finite. Without these defines their code is left out, since a software
// renderer executes all branches for all pixels. DOTS: a nonzero cell is a dot, a zero cell hatched.

uniform vec2 u_display;    // pixels
uniform sampler2D u_cells;  // one texel per cell
uniform sampler2D u_table;  // 256 × 1
uniform float u_first_values[256];  // the smallest value of each entry of the table
uniform vec2 u_origin;     // top left corner of the tile's first cell, pixels from the top left
uniform vec2 u_cell;       // size of a cell, pixels
uniform ivec2 u_count;     // columns, rows of the tile
uniform ivec2 u_last;      // the matrix's last column and row, counted within the tile
uniform vec2 u_anchor;     // the matrix's top left corner, whole pixels: the hatching moves with it
uniform float u_gap;       // pixels between cells
uniform float u_scale;     // scale of the interface
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

const float k_largest = 3.402823466e+38;  // the value of a closed cell is its negative

const float k_smallest_dot = 4.0;   // pixels; a smaller open cell is filled
const float k_smallest_mark = 8.0;  // pixels; a smaller cell is filled with its mark's color
const float k_largest_mark = 48.0;  // pixels; a mark grows no larger

vec3 hatched(vec2 pixel) {
    float spacing = floor(6.0 * u_scale + 0.5);
    float width = max(floor(u_scale + 0.5), 1.0);
    vec2 at = floor(pixel) - u_anchor;
    return mod(at.x + at.y, spacing) < width ? u_hatch : u_masked;
}

// Blends the colors inside and around a shape, for a pixel at distance `outside` from its edge, negative inside.
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

// Side of the square that a cell's mark occupies, in pixels.
float mark_side() { return min(min(u_cell.x, u_cell.y) - u_gap, k_largest_mark * u_scale); }

vec3 dot_color(vec2 from_center) {
    float side = mark_side();
    if (side < k_smallest_dot) return u_dot_background;
    return shape(length(from_center) - max(1.5, side / 10.0), u_dot, u_dot_background);
}

// The color of a non-finite value.
vec3 marked(float value, vec2 from_center) {
    float side = mark_side();
    bool plain = side < k_smallest_mark;
    if (isnan(value)) return plain ? u_nan : cross_mark(from_center, side);
    bool up = value > 0.0;
    vec3 around = up ? u_plus_infinity : u_minus_infinity;
    return plain ? around : triangle_mark(from_center, side, up ? 1.0 : -1.0, around);
}

// The last entry that does not start above the value: guessed by division, corrected by comparison, so that the
// driver's rounding does not show.
int step_of(float value) {
    float width = (u_first_values[255] - u_first_values[0]) / 255.0;
    int i = clamp(int(clamp((value - u_first_values[0]) / width, 0.0, 255.0)), 0, 255);
    while (i > 0 && value < u_first_values[i]) --i;
    while (i < 255 && value >= u_first_values[i + 1]) ++i;
    return i;
}

vec3 cell_color(float value, vec2 pixel, vec2 from_center) {
#ifdef DOTS
    return value == 0.0 || value == -k_largest ? hatched(pixel) : dot_color(from_center);
#endif
#ifdef HATCH
    if (value == -k_largest) return hatched(pixel);
#endif
#ifdef MARKS
    if (isnan(value) || abs(value) > k_largest) return marked(value, from_center);
#endif
    return texelFetch(u_table, ivec2(step_of(value), 0), 0).rgb;
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
    float value = texelFetch(u_cells, cell, 0).r;
    color = vec4(cell_color(value, pixel, inside - u_cell * 0.5), u_opacity);
}
