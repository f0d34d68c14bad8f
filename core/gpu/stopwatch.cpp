#include "core/gpu/stopwatch.h"

#include <epoxy/gl.h>

namespace attnscope {

GpuStopwatch::GpuStopwatch() { glGenQueries(2, queries_); }
GpuStopwatch::~GpuStopwatch() { glDeleteQueries(2, queries_); }

void GpuStopwatch::start() { glQueryCounter(queries_[0], GL_TIMESTAMP); }
void GpuStopwatch::stop() { glQueryCounter(queries_[1], GL_TIMESTAMP); }

std::uint64_t GpuStopwatch::nanoseconds() const {
    GLuint64 begin = 0, end = 0;
    glGetQueryObjectui64v(queries_[0], GL_QUERY_RESULT, &begin);
    glGetQueryObjectui64v(queries_[1], GL_QUERY_RESULT, &end);
    return end > begin ? end - begin : 0;
}

}  // namespace attnscope
