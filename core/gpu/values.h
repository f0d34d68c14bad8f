// Values of a stage on the graphics card.
#pragma once

#include <memory>
#include <vector>

#include "core/gpu/device.h"
#include "core/gpu/rooms.h"
#include "core/tensor/buffer.h"

namespace attnscope {

class GpuKernels;

/// A stage's tensor. It keeps its device alive; its room is given back on the device's thread.
class GpuValues : public DeviceValues {
public:
    /// An uninitialized tensor in room of the kernels, whose allocator may throw. On the device's thread.
    GpuValues(std::shared_ptr<GpuDevice> device, std::shared_ptr<GpuKernels> kernels, const Shape& shape);
    ~GpuValues() override;
    GpuValues(const GpuValues&) = delete;
    GpuValues& operator=(const GpuValues&) = delete;

    const Shape& shape() const override { return shape_; }
    void read(int head, int first, int count, float* rows) const override;
    Eigen::VectorXf column(int head, int column) const override;
    ValueRange range(int head) const override;
    std::vector<float> row_largest(int head) const override;
    std::vector<float> column_largest(int head) const override;
    std::shared_ptr<const DeviceValues> mean() const override;

    GpuMatrices matrices() const { return matrices_in(room_, shape_); }
    GpuDevice* device() const { return device_.get(); }

private:
    GpuMatrices matrix(int head) const;

    std::shared_ptr<GpuDevice> device_;
    std::shared_ptr<GpuKernels> kernels_;
    Shape shape_;
    GpuRoom room_;
};

}  // namespace attnscope
