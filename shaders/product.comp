#version 430 core
// C = A B, or A Bᵀ, for each head: A n × k; B k × m, or m × k with TRANSPOSED; C n × m. BIAS adds a row of m numbers;
// ACCUMULATE adds the previous C. A work group computes a tile of TILE × TILE cells, a thread CELLS × CELLS of them
// (SIDE · CELLS = TILE, DEPTH divides TILE): both matrices pass through shared memory in slices of DEPTH.

layout(local_size_x = SIDE, local_size_y = SIDE) in;

layout(std430, binding = 0) restrict readonly buffer A { float a[]; };
layout(std430, binding = 1) restrict readonly buffer B { float b[]; };
layout(std430, binding = 2) restrict buffer C { float c[]; };
#ifdef BIAS
layout(std430, binding = 3) restrict readonly buffer Bias { float bias[]; };
uniform uint u_bias;
#endif

uniform uint u_a, u_b, u_c;                 // index of the first number of each
uniform uint u_a_head, u_b_head, u_c_head;  // distance from one head to the next
uniform uint u_a_row, u_b_row, u_c_row;     // distance from one row to the next
uniform uint u_a_column, u_c_column;        // the first column that is used
uniform uint u_n, u_m, u_k;

shared float a_slice[DEPTH][TILE + 1];
shared float b_slice[DEPTH][TILE + 1];

// Some drivers move reads of shared memory across a barrier alone.
void meet() {
    memoryBarrierShared();
    barrier();
}

const uint k_threads = SIDE * SIDE;

void load(uint first, uint n0, uint m0, uint thread) {
    uint a_first = u_a + gl_WorkGroupID.z * u_a_head + u_a_column;
    uint b_first = u_b + gl_WorkGroupID.z * u_b_head;
    for (uint i = thread; i < TILE * DEPTH; i += k_threads) {
        uint row = i / DEPTH, depth = i % DEPTH;
        bool inside = n0 + row < u_n && first + depth < u_k;
        a_slice[depth][row] = inside ? a[a_first + (n0 + row) * u_a_row + first + depth] : 0.0;
#ifdef TRANSPOSED
        inside = m0 + row < u_m && first + depth < u_k;
        b_slice[depth][row] = inside ? b[b_first + (m0 + row) * u_b_row + first + depth] : 0.0;
#else
        uint column = i % TILE;
        depth = i / TILE;
        inside = m0 + column < u_m && first + depth < u_k;
        b_slice[depth][column] = inside ? b[b_first + (first + depth) * u_b_row + m0 + column] : 0.0;
#endif
    }
}

void main() {
    uint n0 = gl_WorkGroupID.y * TILE, m0 = gl_WorkGroupID.x * TILE;
    uint x = gl_LocalInvocationID.x, y = gl_LocalInvocationID.y;
    float sums[CELLS][CELLS];
    for (uint i = 0u; i < CELLS; ++i)
        for (uint j = 0u; j < CELLS; ++j) sums[i][j] = 0.0;
    for (uint first = 0u; first < u_k; first += DEPTH) {
        load(first, n0, m0, gl_LocalInvocationIndex);
        meet();
        for (uint depth = 0u; depth < DEPTH; ++depth) {
            float left[CELLS], right[CELLS];
            // A thread's cells lie SIDE apart, so that neighboring threads read neighboring numbers.
            for (uint i = 0u; i < CELLS; ++i) left[i] = a_slice[depth][y + i * SIDE];
            for (uint j = 0u; j < CELLS; ++j) right[j] = b_slice[depth][x + j * SIDE];
            for (uint i = 0u; i < CELLS; ++i)
                for (uint j = 0u; j < CELLS; ++j) sums[i][j] = fma(left[i], right[j], sums[i][j]);
        }
        meet();
    }
    for (uint i = 0u; i < CELLS; ++i)
        for (uint j = 0u; j < CELLS; ++j) {
            uint row = n0 + y + i * SIDE, column = m0 + x + j * SIDE;
            if (row >= u_n || column >= u_m) continue;
            uint at = u_c + gl_WorkGroupID.z * u_c_head + row * u_c_row + u_c_column + column;
            float sum = sums[i][j];
#ifdef BIAS
            sum += bias[u_bias + u_c_column + column];
#endif
#ifdef ACCUMULATE
            sum += c[at];
#endif
            c[at] = sum;
        }
}
