// Values of a stage on the graphics card.
#pragma once

#include <memory>

#include "core/attention/buffer.h"
#include "core/gpu/device.h"
#include "core/gpu/gl.h"

namespace attnscope {

class GpuPrograms;

/// A tensor in a storage buffer, row-major, one head after the other. It keeps its device alive; the buffer
/// is freed on the device's thread.
class GpuValues : public DeviceValues {
public:
    /// Not initialised. On the device's thread. Throws Error(too_large) if the card has no room.
    GpuValues(std::shared_ptr<GpuDevice> device, std::shared_ptr<GpuPrograms> programs, const Shape& shape);
    ~GpuValues() override;
    GpuValues(const GpuValues&) = delete;
    GpuValues& operator=(const GpuValues&) = delete;

    const Shape& shape() const override { return shape_; }
    void read(int head, int first, int count, float* rows) const override;
    ValueRange range(int head) const override;

    gl::Storage& storage() { return *storage_; }
    const gl::Storage& storage() const { return *storage_; }
    const GpuDevice* device() const { return device_.get(); }

private:
    std::shared_ptr<GpuDevice> device_;
    std::shared_ptr<GpuPrograms> programs_;
    Shape shape_;
    std::unique_ptr<gl::Storage> storage_;
};

}  // namespace attnscope
