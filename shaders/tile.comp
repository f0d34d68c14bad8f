#version 430 core
// A tile of a heatmap, from a matrix on the card: each texel represents a block of cells, pooled as by pooled_cells in
// app/heatmap/heatmap_source.cpp: NaN if an open one is, else +∞, else the value of largest magnitude (of two the
// positive one), else −∞; k_closed where the mask closes all of them.

#ifdef THREADS  // one work group per texel
layout(local_size_x = THREADS) in;
shared float numbers[THREADS];
#else
layout(local_size_x = SIDE, local_size_y = SIDE) in;
#endif

layout(std430, binding = 0) restrict readonly buffer A { float a[]; };
layout(std430, binding = 1) restrict readonly buffer Open { float open_cells[]; };
layout(r32f, binding = 0) restrict writeonly uniform image2D tile;

uniform uint u_a, u_open;                        // index of the first number of the matrix and of the mask
uniform uint u_rows, u_columns;                  // rows of the matrix here, and its columns
uniform uint u_column;                           // the matrix column at which the first texel starts
uniform uint u_block_rows, u_block_columns;      // cells per texel
uniform uint u_tile_rows, u_tile_columns;        // texels here, in the matrix's orientation
uniform uint u_first;                            // the first row of the texture here (column, if transposed)

const float k_infinity = uintBitsToFloat(0x7f800000u);
const float k_closed = -uintBitsToFloat(0x7f7fffffu);

bool is_nan(float x) { return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u; }

// The value that represents both; k_closed is not a value.
float stronger(float p, float q) {
    if (p == k_closed || q == k_closed) return p == k_closed ? q : p;
    if (is_nan(p) || is_nan(q)) return uintBitsToFloat(0x7fc00000u);
    if (p == k_infinity || q == k_infinity) return k_infinity;
    if (p == -k_infinity) return q;
    if (q == -k_infinity) return p;
    if (abs(p) != abs(q)) return abs(p) > abs(q) ? p : q;
    return max(p, q);
}

float cell(uint row, uint column) {
    uint at = row * u_columns + column;
#ifdef MASK
    if (open_cells[u_open + at] == 0.0) return k_closed;
#endif
    float value = a[u_a + at];
    // A number equal to the mark of a closed cell is replaced by its neighboring float.
    return value == k_closed ? -uintBitsToFloat(0x7f7ffffeu) : value;
}

void put(uvec2 texel, float value) {
    ivec2 place = ivec2(texel.x, u_first + texel.y);
#ifdef TRANSPOSED
    place = place.yx;
#endif
    imageStore(tile, place, vec4(value));
}

void main() {
#ifdef THREADS
    uvec2 texel = gl_WorkGroupID.xy;
#else
    uvec2 texel = gl_GlobalInvocationID.xy;
    if (texel.x >= u_tile_columns || texel.y >= u_tile_rows) return;
#endif
    uint first_row = texel.y * u_block_rows, first_column = u_column + texel.x * u_block_columns;
    uint rows = min(u_block_rows, u_rows - first_row), columns = min(u_block_columns, u_columns - first_column);
    float strongest = k_closed;
#ifdef THREADS
    uint thread = gl_LocalInvocationID.x;
    for (uint i = thread; i < rows * columns; i += THREADS)
        strongest = stronger(strongest, cell(first_row + i / columns, first_column + i % columns));
    numbers[thread] = strongest;
    for (uint apart = THREADS / 2u; apart > 0u; apart /= 2u) {
        // Some drivers move reads of shared memory across a barrier alone.
        memoryBarrierShared();
        barrier();
        if (thread < apart) numbers[thread] = stronger(numbers[thread], numbers[thread + apart]);
    }
    if (thread == 0u) put(texel, numbers[0]);
#else
    for (uint row = first_row; row < first_row + rows; ++row)
        for (uint column = first_column; column < first_column + columns; ++column)
            strongest = stronger(strongest, cell(row, column));
    put(texel, strongest);
#endif
}
