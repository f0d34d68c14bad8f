#version 430 core
// SPLIT: head h takes columns h·width … (h+1)·width − 1 of a matrix as rows of its own (Vaswani et al. 2017, §3.2.2).
// JOIN: puts the heads side by side again.

layout(local_size_x = GROUP) in;

layout(std430, binding = 0) restrict readonly buffer A { float a[]; };
layout(std430, binding = 3) restrict writeonly buffer Result { float result[]; };

uniform uint u_a, u_a_head, u_result, u_result_head;
uniform uint u_rows, u_width;
uniform uint u_columns;     // of the joined matrix
uniform uint u_first_head;  // index of the first head here

void main() {
    uint head = gl_WorkGroupID.z;
    for (uint i = gl_GlobalInvocationID.x; i < u_rows * u_width; i += gl_NumWorkGroups.x * GROUP) {
        uint joined = (i / u_width) * u_columns + (u_first_head + head) * u_width + i % u_width;
#ifdef SPLIT
        result[u_result + head * u_result_head + i] = a[u_a + joined];
#elif defined(JOIN)
        result[u_result + joined] = a[u_a + head * u_a_head + i];
#else
#error "neither SPLIT nor JOIN is defined"
#endif
    }
}
