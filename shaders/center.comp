#version 430 core
// The center of each query's window, M · sigmoid(v_p · tanh(W_p q)) (Luong et al. 2015, eq. 9), in double: the Gaussian
// of a narrow window amplifies the center's error, and a mask ends at the window's edge.

layout(local_size_x = GROUP) in;

layout(std430, binding = 0) restrict readonly buffer A { float a[]; };  // Q
layout(std430, binding = 1) restrict readonly buffer B { float b[]; };  // W_p, u_height × u_width
layout(std430, binding = 2) restrict readonly buffer C { float c[]; };  // v_p
layout(std430, binding = 3) restrict writeonly buffer Result { float result[]; };

uniform uint u_a, u_b, u_c, u_result;
uniform uint u_a_head, u_result_head;
uniform uint u_rows, u_width, u_height;
uniform float u_x;  // M, the number of keys

// 2^k e^r with |r| ≤ ln 2 / 2, where Taylor terms beyond the thirteenth are below a double's last bit.
double exp_of(double x) {
    x = clamp(x, -700.0lf, 700.0lf);
    double k = floor(x * 1.4426950408889634lf + 0.5lf);
    double r = x - k * 0.69314718036912382lf - k * 1.9082149292705877e-10lf;  // ln 2 in two parts
    double sum = 1.0lf;
    for (int n = 13; n > 0; --n) sum = 1.0lf + sum * r / double(n);
    return ldexp(sum, int(k));
}

double tanh_of(double x) {
    double magnitude = abs(x);
    return sign(x) * (magnitude > 20.0lf ? 1.0lf : 1.0lf - 2.0lf / (exp_of(2.0lf * magnitude) + 1.0lf));
}

void main() {
    uint head = gl_WorkGroupID.z;
    for (uint row = gl_GlobalInvocationID.x; row < u_rows; row += gl_NumWorkGroups.x * GROUP) {
        double x = 0.0lf;
        for (uint unit = 0u; unit < u_height; ++unit) {
            double sum = 0.0lf;
            for (uint i = 0u; i < u_width; ++i)
                sum += double(b[u_b + unit * u_width + i]) * double(a[u_a + head * u_a_head + row * u_width + i]);
            x += double(c[u_c + unit]) * (isnan(sum) ? sum : tanh_of(sum));
        }
        result[u_result + head * u_result_head + row] = float(isnan(x) ? x : double(u_x) / (1.0lf + exp_of(-x)));
    }
}
