#version 430 core
// One number for each block of u_block_rows × u_block_columns cells of a matrix, fewer at its edges; a define selects which.
// −∞ is a closed pair, which does not count.

layout(local_size_x = GROUP) in;

layout(std430, binding = 0) restrict readonly buffer A { float a[]; };  // the matrix, u_height × u_width
layout(std430, binding = 1) restrict readonly buffer B { float b[]; };  // EXPONENTIAL: the largest of each block
layout(std430, binding = 3) restrict writeonly buffer Result { float result[]; };

uniform uint u_a, u_b, u_result;  // index of the first number of each
uniform uint u_rows, u_columns;   // of the result
uniform uint u_first_row;         // the row of blocks of the first row here
uniform uint u_width, u_height;   // of the matrix
uniform uint u_block_rows, u_block_columns;

const float k_infinity = uintBitsToFloat(0x7f800000u), k_minus_infinity = uintBitsToFloat(0xff800000u);

#if defined(DOMINANT)
// NaN before +∞ before the larger magnitude before −∞; of two equal magnitudes the positive one.
const float k_start = k_minus_infinity;
float joined(float most, float x, float largest) {
    if (isnan(most) || isnan(x)) return isnan(most) ? most : x;
    if (x == k_minus_infinity || most == k_infinity) return most;
    if (most == k_minus_infinity || x == k_infinity) return x;
    if (abs(x) == abs(most)) return max(x, most);
    return abs(x) > abs(most) ? x : most;
}
#elif defined(SUM)
const float k_start = 0.0;
float joined(float sum, float x, float largest) { return x == k_minus_infinity ? sum : sum + x; }
#elif defined(COUNT)
const float k_start = 0.0;
float joined(float count, float x, float largest) { return x == k_minus_infinity ? count : count + 1.0; }
#elif defined(LARGEST)
const float k_start = k_minus_infinity;
float joined(float most, float x, float largest) { return isnan(most) || !(isnan(x) || x > most) ? most : x; }
#elif defined(SMALLEST)
const float k_start = k_infinity;
float joined(float least, float x, float largest) { return x == k_minus_infinity || !(x < least) ? least : x; }
#elif defined(EXPONENTIAL)
const float k_start = 0.0;
float joined(float sum, float x, float largest) { return x == k_minus_infinity ? sum : sum + exp(x - largest); }
#else
#error "no fact has this name"
#endif

// Two parts of a block.
#if defined(SUM) || defined(COUNT) || defined(EXPONENTIAL)
float united(float a, float b) { return a + b; }
#else
float united(float a, float b) { return joined(a, b, 0.0); }
#endif

// THREADS neighboring threads share a block, so that a few large blocks keep a card busy, too.
shared float parts[GROUP];

void main() {
    uint cells = u_rows * u_columns;
    uint thread = gl_LocalInvocationID.x % THREADS, at_once = GROUP / THREADS;
    for (uint first = gl_WorkGroupID.x * at_once; first < cells; first += gl_NumWorkGroups.x * at_once) {
        uint cell = first + gl_LocalInvocationID.x / THREADS;
        float found = k_start, largest = 0.0;
        if (cell < cells) {
            uint row = (u_first_row + cell / u_columns) * u_block_rows, column = cell % u_columns * u_block_columns;
            uint rows = min(u_block_rows, u_height - row), columns = min(u_block_columns, u_width - column);
#ifdef EXPONENTIAL
            largest = b[u_b + cell];
#endif
            for (uint i = thread; i < rows * columns; i += THREADS)
                found = joined(found, a[u_a + (row + i / columns) * u_width + column + i % columns], largest);
        }
#if THREADS > 1
        parts[gl_LocalInvocationID.x] = found;
        for (uint half_of = uint(THREADS) / 2u; half_of > 0u; half_of /= 2u) {
            memoryBarrierShared();
            barrier();
            if (thread < half_of) {
                found = united(found, parts[gl_LocalInvocationID.x + half_of]);
                parts[gl_LocalInvocationID.x] = found;
            }
        }
        memoryBarrierShared();
        barrier();
#endif
        if (cell < cells && thread == 0u) result[u_result + cell] = found;
    }
}
