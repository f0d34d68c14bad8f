#version 430 core
// 1 where a query may attend to a key, else 0: each dispatch applies one rule of core/experiment/masks.h to what the rules
// before left open (FIRST: to an open mask).

layout(local_size_x = GROUP) in;

layout(std430, binding = 0) restrict readonly buffer A { float a[]; };  // VALID: the lengths; WITHIN: the centers; else the custom matrix
layout(std430, binding = 3) restrict buffer Result { float result[]; };

uniform uint u_a, u_a_head, u_result, u_result_head;
uniform uint u_rows, u_columns;
uniform uint u_first_row, u_first_column;  // the place in the matrix of the first cell here
uniform float u_x, u_y;
uniform double u_window;  // D

bool may_attend(uint head, uint row, uint column) {
    int i = int(u_first_row + row), j = int(u_first_column + column);
#if defined(CAUSAL)
    return j <= i;
#elif defined(WINDOW)
    return float(j) >= float(i) - u_x && float(j) <= float(i) + u_y;
#elif defined(VALID)
    return float(j) < u_x;
#elif defined(VALID_EACH)
    return float(j) < a[u_a + row];
#elif defined(DILATED)
    return abs(i - j) % int(u_x) == 0;
#elif defined(PREFIX)
    return j <= i || float(j) < u_x;
#elif defined(CUSTOM)
    return a[u_a + row * u_columns + column] != 0.0;
#elif defined(CUSTOM_BIAS)
    return floatBitsToUint(a[u_a + row * u_columns + column]) != 0xff800000u;  // −∞
#elif defined(WITHIN)  // |j − p| ≤ D in double; a center that is NaN is near nothing
    float center = a[u_a + head * u_a_head + row];
    return !isnan(center) && abs(double(j) - double(center)) <= u_window;
#elif defined(FIRST)
    return true;
#else
#error "no rule has this name"
#endif
}

void main() {
    uint cells = u_rows * u_columns;
    uint head = gl_WorkGroupID.z;
    for (uint i = gl_GlobalInvocationID.x; i < cells; i += gl_NumWorkGroups.x * GROUP) {
        uint at = u_result + head * u_result_head + i;
        float open = may_attend(head, i / u_columns, i % u_columns) ? 1.0 : 0.0;
#ifdef FIRST
        result[at] = open;
#else
        result[at] *= open;
#endif
    }
}
