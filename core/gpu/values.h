// Values of a stage on the graphics card.
#pragma once

#include <memory>
#include <vector>

#include "core/gpu/device.h"
#include "core/gpu/gl.h"
#include "core/tensor/buffer.h"

namespace attnscope {

class GpuKernels;

/// heads × rows × columns in a storage buffer, row-major, one head after the other, starting at `first`.
struct GpuMatrices {
    gl::Storage* storage = nullptr;
    std::size_t first = 0;
    Shape shape;
};

/// A stage's tensor. It keeps its device alive; its memory is freed on the device's thread.
class GpuValues : public DeviceValues {
public:
    /// Uninitialized; a pattern of `guard` numbers lies before and after the values. On the device's thread.
    /// Throws Error(too_large) if the card's memory does not suffice.
    GpuValues(std::shared_ptr<GpuDevice> device, std::shared_ptr<GpuKernels> kernels, const Shape& shape,
              std::size_t guard);
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

    GpuMatrices matrices() const { return {storage_.get(), guard_, shape_}; }
    const GpuDevice* device() const { return device_.get(); }
    /// Whether the pattern around the values is intact.
    bool guards_are_whole() const;

private:
    GpuMatrices matrix(int head) const;

    std::shared_ptr<GpuDevice> device_;
    std::shared_ptr<GpuKernels> kernels_;
    Shape shape_;
    std::size_t guard_;
    std::unique_ptr<gl::Storage> storage_;
};

}  // namespace attnscope
