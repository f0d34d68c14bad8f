// Values of a stage on the graphics card.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "core/gpu/device.h"
#include "core/gpu/gl.h"
#include "core/tensor/buffer.h"

namespace attnscope {

class GpuKernels;

/// Room for a tensor in the card's memory, uninitialized.
struct GpuRoom {
    std::unique_ptr<gl::Storage> storage;
    std::size_t first = 0;  ///< where in the storage the tensor starts
    std::size_t reach = 0;  ///< numbers of the storage after its part of the tensor that a shader may see
};

/// Makes room for a tensor of so many numbers. Called on the device's thread. Throws Error(too_large) if the
/// card's memory does not suffice.
using GpuAllocator = std::function<GpuRoom(std::size_t numbers)>;

/// A storage of exactly that size, in which a shader sees nothing after its part of the tensor.
GpuRoom exact_room(std::size_t numbers);

/// heads × rows × columns in a storage buffer, row-major, one head after the other, starting at `first`.
struct GpuMatrices {
    gl::Storage* storage = nullptr;
    std::size_t first = 0;
    Shape shape;
    std::size_t reach = 0;  ///< see GpuRoom
};

/// A stage's tensor. It keeps its device alive; its memory is freed on the device's thread.
class GpuValues : public DeviceValues {
public:
    /// An uninitialized tensor in room that the allocator of the kernels makes, which may throw. On the
    /// device's thread.
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

    GpuMatrices matrices() const { return {room_.storage.get(), room_.first, shape_, room_.reach}; }
    GpuDevice* device() const { return device_.get(); }

private:
    GpuMatrices matrix(int head) const;

    std::shared_ptr<GpuDevice> device_;
    std::shared_ptr<GpuKernels> kernels_;
    Shape shape_;
    GpuRoom room_;
};

}  // namespace attnscope
