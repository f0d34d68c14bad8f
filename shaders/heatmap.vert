#version 330 core
// One rectangle of a heatmap, from the vertex number alone.

uniform vec2 u_display;  // pixels
uniform vec4 u_rectangle;  // left, top, right, bottom in pixels from the top left corner

void main() {
    vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1);
    vec2 at = mix(u_rectangle.xy, u_rectangle.zw, corner);
    gl_Position = vec4(at.x / u_display.x * 2.0 - 1.0, 1.0 - at.y / u_display.y * 2.0, 0.0, 1.0);
}
