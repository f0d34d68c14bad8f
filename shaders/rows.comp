#version 430 core
// One work group per row of each head: formulas whose results depend on the whole row, selected by a define.

layout(local_size_x = GROUP) in;

layout(std430, binding = 0) restrict readonly buffer A { float a[]; };
layout(std430, binding = 1) restrict readonly buffer B { float b[]; };  // LAYER_NORM: gain
layout(std430, binding = 2) restrict readonly buffer C { float c[]; };  // LAYER_NORM: shift
layout(std430, binding = 3) restrict writeonly buffer Result { float result[]; };

uniform uint u_a, u_b, u_c, u_result;
uniform uint u_a_head, u_result_head;
uniform uint u_columns;
uniform double u_epsilon;

const float k_minus_infinity = uintBitsToFloat(0xff800000u);
const float k_nan = uintBitsToFloat(0x7fc00000u);

uint thread() { return gl_LocalInvocationID.x; }
uint first_of_row() { return u_a + gl_WorkGroupID.z * u_a_head + gl_WorkGroupID.x * u_columns; }
uint first_of_result() { return u_result + gl_WorkGroupID.z * u_result_head + gl_WorkGroupID.x * u_columns; }

// Some drivers move reads of shared memory across a barrier alone.
void meet() {
    memoryBarrierShared();
    barrier();
}

#ifdef LAYER_NORM
#define NUMBER double
#else
#define NUMBER float
#endif
shared NUMBER numbers[GROUP];
shared float more_numbers[GROUP];
shared uint marks[GROUP];

NUMBER sum_of(NUMBER own) {
    numbers[thread()] = own;
    meet();
    for (uint apart = GROUP / 2u; apart > 0u; apart /= 2u) {
        if (thread() < apart) numbers[thread()] += numbers[thread() + apart];
        meet();
    }
    NUMBER sum = numbers[0];
    meet();
    return sum;
}

uint any_of(uint own) {
    marks[thread()] = own;
    meet();
    for (uint apart = GROUP / 2u; apart > 0u; apart /= 2u) {
        if (thread() < apart) marks[thread()] |= marks[thread() + apart];
        meet();
    }
    uint any = marks[0];
    meet();
    return any;
}

// Merges maximum and sum of exp(x − maximum) of two parts of a row.
vec2 joined(vec2 p, vec2 q) {
    float largest = max(p.x, q.x);
    if (largest == k_minus_infinity) return vec2(largest, 0.0);
    float left = p.y > 0.0 ? p.y * exp(p.x - largest) : 0.0;
    float right = q.y > 0.0 ? q.y * exp(q.x - largest) : 0.0;
    return vec2(largest, left + right);
}

vec2 joined_of(vec2 own) {
    numbers[thread()] = own.x;
    more_numbers[thread()] = own.y;
    meet();
    for (uint apart = GROUP / 2u; apart > 0u; apart /= 2u) {
        if (thread() < apart) {
            uint other = thread() + apart;
            vec2 both = joined(vec2(numbers[thread()], more_numbers[thread()]), vec2(numbers[other], more_numbers[other]));
            numbers[thread()] = both.x;
            more_numbers[thread()] = both.y;
        }
        meet();
    }
    vec2 whole = vec2(numbers[0], more_numbers[0]);
    meet();
    return whole;
}

const uint k_has_nan = 1u, k_has_plus_infinity = 2u;

// Maximum and sum of a row's open cells in one pass; x is NaN if an open cell is NaN, +∞ if one is +∞.
vec2 maximum_and_sum() {
    vec2 own = vec2(k_minus_infinity, 0.0);
    uint found = 0u;
    for (uint j = thread(); j < u_columns; j += GROUP) {
        float x = a[first_of_row() + j];
        if (isnan(x)) found |= k_has_nan;
        else if (isinf(x) && x > 0.0) found |= k_has_plus_infinity;
        else if (x != k_minus_infinity) own = joined(own, vec2(x, 1.0));
    }
    found = any_of(found);
    vec2 whole = joined_of(own);
    if ((found & k_has_nan) != 0u) return vec2(k_nan, 1.0);
    if ((found & k_has_plus_infinity) != 0u) return vec2(-k_minus_infinity, 1.0);
    return whole;
}

void main() {
    uint from = first_of_row(), to = first_of_result();
#if defined(SOFTMAX)  // exp(x − max) / Σ over the open cells; closed cells (−∞) become 0
    vec2 row = maximum_and_sum();
    bool spoilt = isnan(row.x) || isinf(row.x) && row.x > 0.0;
    for (uint j = thread(); j < u_columns; j += GROUP) {
        float x = a[from + j];
        float weight = spoilt ? k_nan : exp(x - row.x) / row.y;
        result[to + j] = x == k_minus_infinity ? 0.0 : weight;
    }
#elif defined(LOG_SOFTMAX)
    vec2 row = maximum_and_sum();
    bool spoilt = isnan(row.x) || isinf(row.x);
    float log_sum = row.x + log(row.y);
    for (uint j = thread(); j < u_columns; j += GROUP) result[to + j] = spoilt ? k_nan : a[from + j] - log_sum;
#elif defined(HARDMAX)  // 1 at the maximum, the first if several tie
    vec2 row = maximum_and_sum();
    uint own = 0xffffffffu;
    for (uint j = thread(); j < u_columns; j += GROUP)
        if (a[from + j] == row.x) own = min(own, j);
    marks[thread()] = own;
    meet();
    for (uint apart = GROUP / 2u; apart > 0u; apart /= 2u) {
        if (thread() < apart) marks[thread()] = min(marks[thread()], marks[thread() + apart]);
        meet();
    }
    for (uint j = thread(); j < u_columns; j += GROUP) {
        bool closed = a[from + j] == k_minus_infinity;
        result[to + j] = closed ? 0.0 : isnan(row.x) ? k_nan : j == marks[0] ? 1.0 : 0.0;
    }
#elif defined(SPARSEMAX)  // max(x − τ, 0), Σ = 1 (Martins and Astudillo 2016); τ by Newton's steps from below
    vec2 row = maximum_and_sum();
    bool spoilt = isnan(row.x) || isinf(row.x) && row.x > 0.0;
    float tau = -1.0, above = 0.0;  // relative to the maximum
    for (uint step = 0u; !spoilt && step < u_columns; ++step) {
        float own = 0.0, own_above = 0.0;
        for (uint j = thread(); j < u_columns; j += GROUP) {
            float x = a[from + j];
            if (x == k_minus_infinity || x - row.x <= tau) continue;
            own += x - row.x;
            own_above += 1.0;
        }
        float sum = sum_of(own), now_above = sum_of(own_above);
        if (now_above == above) break;
        above = now_above;
        tau = (sum - 1.0) / above;
    }
    for (uint j = thread(); j < u_columns; j += GROUP) {
        float x = a[from + j];
        result[to + j] = x == k_minus_infinity ? 0.0 : spoilt ? k_nan : max(x - row.x - tau, 0.0);
    }
#elif defined(LAYER_NORM)  // (x − mean) / √(variance + ε) · gain + shift (Ba et al. 2016, eq. 4)
    // In double: the mean may be far larger than the spread of the row's numbers.
    double own = 0.0lf;
    for (uint j = thread(); j < u_columns; j += GROUP) own += double(a[from + j]);
    double mean = sum_of(own) / double(u_columns);
    own = 0.0lf;
    for (uint j = thread(); j < u_columns; j += GROUP) own += (double(a[from + j]) - mean) * (double(a[from + j]) - mean);
    double deviation = sqrt(sum_of(own) / double(u_columns) + u_epsilon);
    for (uint j = thread(); j < u_columns; j += GROUP)
        result[to + j] = float((double(a[from + j]) - mean) / deviation * double(b[u_b + j]) + double(c[u_c + j]));
#elif defined(LARGEST)  // one number: NaN if there is one, −∞ if there is nothing else
    vec2 row = maximum_and_sum();
    if (thread() == 0u) result[u_result + gl_WorkGroupID.z * u_result_head + gl_WorkGroupID.x] = row.x;
#elif defined(NORM)  // one number: √Σx²
    float own = 0.0;
    for (uint j = thread(); j < u_columns; j += GROUP) own += a[from + j] * a[from + j];
    float norm = sqrt(sum_of(own));
    if (thread() == 0u) result[u_result + gl_WorkGroupID.z * u_result_head + gl_WorkGroupID.x] = norm;
#else
#error "no formula is defined"
#endif
}
