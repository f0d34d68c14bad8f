#version 430 core
// One thread per column of each head. The softmax over the queries takes two passes: GATHER merges some rows into the
// maximum and sum of the rows before; WEIGH divides by those of all rows. LARGEST: the maximum of each column.

layout(local_size_x = GROUP) in;

layout(std430, binding = 0) restrict readonly buffer A { float a[]; };
layout(std430, binding = 1) restrict buffer Columns { float columns[]; };  // maximum, sum and NaN mark of each column; with LARGEST the maximum
layout(std430, binding = 3) restrict writeonly buffer Result { float result[]; };

uniform uint u_a, u_b, u_result;
uniform uint u_a_head, u_b_head, u_result_head;
uniform uint u_rows, u_columns;
uniform uint u_first_row;  // 0: nothing was gathered before

const float k_minus_infinity = uintBitsToFloat(0xff800000u);
const float k_nan = uintBitsToFloat(0x7fc00000u);

void main() {
    uint column = gl_GlobalInvocationID.x, head = gl_WorkGroupID.z;
    if (column >= u_columns) return;
    uint at = u_a + head * u_a_head + column, own = u_b + head * u_b_head + NUMBERS * column;
#if defined(LARGEST)  // NaN if there is one, −∞ if there is nothing else
    float largest = u_first_row > 0u ? columns[own] : k_minus_infinity;
    for (uint i = 0u; i < u_rows; ++i) {
        float x = a[at + i * u_columns];
        if (isnan(x) || x > largest) largest = isnan(largest) ? largest : x;
    }
    columns[own] = largest;
#elif defined(GATHER)
    float largest = k_minus_infinity, sum = 0.0, spoilt = 0.0;
    if (u_first_row > 0u) {
        largest = columns[own];
        sum = columns[own + 1u];
        spoilt = columns[own + 2u];
    }
    for (uint i = 0u; i < u_rows; ++i) {
        float x = a[at + i * u_columns];
        if (x == k_minus_infinity) continue;
        if (isnan(x) || isinf(x)) {
            spoilt = 1.0;
        } else if (x > largest) {
            sum = (sum > 0.0 ? sum * exp(largest - x) : 0.0) + 1.0;
            largest = x;
        } else {
            sum += exp(x - largest);
        }
    }
    columns[own] = largest;
    columns[own + 1u] = sum;
    columns[own + 2u] = spoilt;
#elif defined(WEIGH)
    for (uint i = 0u; i < u_rows; ++i) {
        float x = a[at + i * u_columns];
        float weight = columns[own + 2u] != 0.0 ? k_nan : exp(x - columns[own]) / columns[own + 1u];
        result[u_result + head * u_result_head + i * u_columns + column] = x == k_minus_infinity ? 0.0 : weight;
    }
#else
#error "no pass is defined"
#endif
}
