#version 430 core
// C = A V over the open cells only (closed = −∞), where V is not finite: 0 · NaN is not 0. One thread per number.

layout(local_size_x = GROUP) in;

layout(std430, binding = 0) restrict readonly buffer A { float a[]; };
layout(std430, binding = 1) restrict readonly buffer Closed { float closed[]; };
layout(std430, binding = 2) restrict readonly buffer V { float v[]; };
layout(std430, binding = 3) restrict writeonly buffer Result { float result[]; };

uniform uint u_a, u_b, u_c, u_result;
uniform uint u_a_head, u_b_head, u_c_head, u_result_head;
uniform uint u_rows, u_columns;
uniform uint u_width;  // number of keys

const float k_minus_infinity = uintBitsToFloat(0xff800000u);

void main() {
    uint head = gl_WorkGroupID.z;
    for (uint i = gl_GlobalInvocationID.x; i < u_rows * u_columns; i += gl_NumWorkGroups.x * GROUP) {
        uint row = i / u_columns, column = i % u_columns;
        float sum = 0.0;
        for (uint j = 0u; j < u_width; ++j) {
            uint cell = head * u_a_head + row * u_width + j;
            if (closed[u_b + head * u_b_head + row * u_width + j] == k_minus_infinity) continue;
            sum += a[u_a + cell] * v[u_c + head * u_c_head + j * u_columns + column];
        }
        result[u_result + head * u_result_head + i] = sum;
    }
}
