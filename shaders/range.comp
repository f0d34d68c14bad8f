#version 430 core
// The range of some numbers: for each work group the smallest and largest finite one, and the counts of finite, NaN,
// +∞, −∞ and zero, side by side.

layout(local_size_x = GROUP) in;

layout(std430, binding = 0) restrict readonly buffer A { float a[]; };
layout(std430, binding = 3) restrict writeonly buffer Result { uint result[]; };

uniform uint u_a, u_result, u_count;

const float k_infinity = uintBitsToFloat(0x7f800000u);

shared float smallest[GROUP], largest[GROUP];
shared uvec4 counts[GROUP];
shared uint zeros[GROUP];

// Some drivers move reads of shared memory across a barrier alone.
void meet() {
    memoryBarrierShared();
    barrier();
}

void main() {
    uint thread = gl_LocalInvocationID.x;
    float low = k_infinity, high = -k_infinity;
    uvec4 own = uvec4(0u);
    uint own_zeros = 0u;
    for (uint i = gl_GlobalInvocationID.x; i < u_count; i += gl_NumWorkGroups.x * GROUP) {
        float x = a[u_a + i];
        uint bits = floatBitsToUint(x);
        if ((bits & 0x7f800000u) != 0x7f800000u) {
            low = min(low, x);
            high = max(high, x);
            ++own.x;
            own_zeros += uint(x == 0.0);
        } else if ((bits & 0x007fffffu) != 0u) {
            ++own.y;
        } else if (bits < 0x80000000u) {
            ++own.z;
        } else {
            ++own.w;
        }
    }
    smallest[thread] = low;
    largest[thread] = high;
    counts[thread] = own;
    zeros[thread] = own_zeros;
    meet();
    for (uint apart = GROUP / 2u; apart > 0u; apart /= 2u) {
        if (thread < apart) {
            smallest[thread] = min(smallest[thread], smallest[thread + apart]);
            largest[thread] = max(largest[thread], largest[thread + apart]);
            counts[thread] += counts[thread + apart];
            zeros[thread] += zeros[thread + apart];
        }
        meet();
    }
    if (thread > 0u) return;
    uint at = u_result + 7u * gl_WorkGroupID.x;
    result[at] = floatBitsToUint(smallest[0]);
    result[at + 1u] = floatBitsToUint(largest[0]);
    for (uint k = 0u; k < 4u; ++k) result[at + 2u + k] = counts[0][k];
    result[at + 6u] = zeros[0];
}
