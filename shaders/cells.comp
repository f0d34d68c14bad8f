#version 430 core
// One thread per cell of the result, computed from the same cell of the operands; a define selects the formula.
// Operands of one head are used for every head (u_…_head is 0).

layout(local_size_x = GROUP) in;

layout(std430, binding = 0) restrict readonly buffer A { float a[]; };
layout(std430, binding = 1) restrict readonly buffer B { float b[]; };
layout(std430, binding = 2) restrict readonly buffer C { float c[]; };
layout(std430, binding = 3) restrict writeonly buffer Result { float result[]; };

uniform uint u_a, u_b, u_c, u_result;                      // index of the first number of each
uniform uint u_a_head, u_b_head, u_c_head, u_result_head;  // distance from one head to the next
uniform uint u_rows, u_columns;
uniform uint u_width;      // HIDDEN, HIDDEN_SCORE: units per cell; RBF_SCORE: features; ROTARY: columns of a head; COLUMN: columns of the matrix
uniform uint u_height;     // COLUMN: the column's index; ABLATE_TO_MEAN: rows of the matrix
uniform uint u_first_row, u_first_column;  // ALIBI_BIAS: the place in the matrix of the first cell here
uniform float u_x, u_y;

const float k_minus_infinity = uintBitsToFloat(0xff800000u), k_nan = uintBitsToFloat(0x7fc00000u);

// x (1 + erf(x / √2)) / 2 (Hendrycks and Gimpel 2016); erf by Abramowitz and Stegun 1964, 7.1.26 (|error| ≤ 1.5e-7),
// near 0 by its series, whose relative error stays small.
float erf(float x) {
    float magnitude = abs(x);
    if (magnitude < 0.3) {
        float square = x * x;
        return 1.1283791671 * x *
               (1.0 + square * (-1.0 / 3.0 + square * (0.1 + square * (-1.0 / 42.0 + square * (1.0 / 216.0)))));
    }
    float t = 1.0 / (1.0 + 0.3275911 * magnitude);
    float sum = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))));
    return sign(x) * (1.0 - sum * exp(-magnitude * magnitude));
}

// A driver's own tanh may be accurate to a few digits only.
float tanh_of(float x) {
    float magnitude = abs(x);
    if (isnan(x)) return x;
    if (magnitude < 0.3) {
        float square = x * x;
        return x * (1.0 + square * (-1.0 / 3.0 + square * (2.0 / 15.0 + square * (-17.0 / 315.0 + square * (62.0 / 2835.0)))));
    }
    return sign(x) * (magnitude > 15.0 ? 1.0 : 1.0 - 2.0 / (exp(2.0 * magnitude) + 1.0));
}

float formula(uint head, uint row, uint column) {
    uint cell = row * u_columns + column;
    uint at_a = u_a + head * u_a_head + cell, at_b = u_b + head * u_b_head + cell;
#if defined(IDENTITY)
    return a[at_a];
#elif defined(COLUMN)  // a: the matrix; the result is one column of it
    return a[u_a + head * u_a_head + row * u_width + u_height];
#elif defined(ADD)
    return a[at_a] + b[at_b];
#elif defined(APPLY_WINDOW)  // softmax times Gaussian; a weight of 0 stays 0, whatever the Gaussian
    return a[at_a] == 0.0 ? 0.0 : a[at_a] * b[at_b];
#elif defined(SCALE)  // · factor ÷ divisor
    return a[at_a] * u_x / u_y;
#elif defined(DROPOUT)  // weights · keep ÷ kept
    return a[at_a] * b[at_b] / u_x;
#elif defined(ABLATE_TO_ZERO)  // b: 1 for an ablated head
    return b[u_b + head * u_b_head] == 0.0 ? a[at_a] : 0.0;
#elif defined(ABLATE_TO_MEAN)  // b: 1 for an ablated head; c: the whole matrices of a, u_height rows
    if (b[u_b + head * u_b_head] == 0.0) return a[at_a];
    float sum = 0.0;
    for (uint i = 0u; i < u_height; ++i) sum += c[u_c + head * u_c_head + i * u_columns + column];
    return sum / float(u_height);
#elif defined(MASKED_FILL)  // −∞ where the mask is 0
    return b[at_b] == 0.0 ? k_minus_infinity : a[at_a];
#elif defined(WEIGHT)  // a: scores, −∞ where closed; b: the largest of each whole row, and its sum of exponentials
    float x = a[at_a], largest = b[u_b + head * u_b_head + 2u * row], sum = b[u_b + head * u_b_head + 2u * row + 1u];
    if (x == k_minus_infinity) return 0.0;
    if (isnan(x) || isnan(largest) || isinf(largest)) return k_nan;
    return exp(min(x, largest) - largest) / sum;  // rounded differently, a score may exceed its row's largest
#elif defined(EXPONENTIAL)
    return exp(a[at_a]);
#elif defined(RELU)
    return isnan(a[at_a]) ? a[at_a] : max(a[at_a], 0.0);
#elif defined(GELU)
    return 0.5 * a[at_a] * (1.0 + erf(a[at_a] * 0.70710678));
#elif defined(SHARPEN)
    return a[at_a] * u_x;
#elif defined(COSINE)  // a: q · k, b: |q|, c: |k|
    return a[at_a] / max(b[u_b + head * u_b_head + row] * c[u_c + head * u_c_head + column], 1e-8);
#elif defined(RBF_SCORE)  // a: queries, b: keys, u_width features; u_x = 2σ²
    float square = 0.0;
    for (uint k = 0u; k < u_width; ++k) {
        float apart = a[u_a + head * u_a_head + row * u_width + k] - b[u_b + head * u_b_head + column * u_width + k];
        square = fma(apart, apart, square);
    }
    return -square / u_x;
#elif defined(HIDDEN)  // a: the queries' part, b: the keys' part, u_width units; the columns are the keys' units side by side
    uint key = column / u_width, unit = column % u_width;
    return tanh_of(a[u_a + head * u_a_head + row * u_width + unit] + b[u_b + head * u_b_head + key * u_width + unit]);
#elif defined(HIDDEN_SCORE)  // a: the hidden units, b: one number per unit
    float sum = 0.0;
    for (uint unit = 0u; unit < u_width; ++unit)
        sum = fma(a[u_a + head * u_a_head + cell * u_width + unit], b[u_b + unit], sum);
    return sum;
#elif defined(ROTARY)  // a: heads × rows × width, b: sin and cos of each row's pairs (Su et al. 2021, eq. 15)
    uint pairs = u_width / 2u;
#if defined(HALF)
    uint pair = column % pairs, mate = column < pairs ? column + pairs : column - pairs;
    bool first = column < pairs;
#elif defined(INTERLEAVED)
    uint pair = column / 2u, mate = column ^ 1u;
    bool first = column % 2u == 0u;
#else
#error "no layout of the rotated pairs is defined"
#endif
    float own = a[at_a], other = a[at_a - column + mate];
    float sine = b[u_b + 2u * (row * pairs + pair)], cosine = b[u_b + 2u * (row * pairs + pair) + 1u];
    return first ? own * cosine - other * sine : other * sine + own * cosine;
#elif defined(ALIBI_BIAS)  // a: one slope per head (Press et al. 2022, §3)
    return -a[u_a + head * u_a_head] * abs(float(int(u_first_row + row) - int(u_first_column + column)));
#elif defined(GAUSSIAN_WINDOW)  // a: centers; u_x = D (Luong et al. 2015, eq. 10)
    float distance = float(column) - a[u_a + head * u_a_head + row];
    float deviation = u_x / 2.0;
    return exp(-distance * distance / (2.0 * deviation * deviation));
#else
#error "no formula is defined"
#endif
}

void main() {
    uint cells = u_rows * u_columns;
    uint head = gl_WorkGroupID.z;
    for (uint i = gl_GlobalInvocationID.x; i < cells; i += gl_NumWorkGroups.x * GROUP)
        result[u_result + head * u_result_head + i] = formula(head, i / u_columns, i % u_columns);
}
