#include "core/gpu/values.h"

#include <algorithm>

#include "core/gpu/kernels.h"

namespace attnscope {
namespace {

/// A long copy pauses for other work after this many numbers.
constexpr std::size_t k_copied_at_once = std::size_t{1} << 22;

}  // namespace

GpuRoom exact_room(std::size_t numbers) { return {.storage = std::make_unique<gl::Storage>(numbers)}; }

GpuValues::GpuValues(std::shared_ptr<GpuDevice> device, std::shared_ptr<GpuKernels> kernels,
                     const Shape& shape)
    : device_(std::move(device)),
      kernels_(std::move(kernels)),
      shape_(shape),
      room_(kernels_->room_for(shape.size())) {}

GpuValues::~GpuValues() {
    // Freed with the task, on the device's thread.
    device_->post(
        [storage = std::shared_ptr<gl::Storage>(std::move(room_.storage)), kernels = std::move(kernels_)] {});
}

void GpuValues::read(int head, int first, int count, float* rows) const {
    const auto columns = static_cast<std::size_t>(shape_.columns);
    const std::size_t from = room_.first + static_cast<std::size_t>(head) * shape_.head_size() +
                             static_cast<std::size_t>(first) * columns;
    const std::size_t size = static_cast<std::size_t>(count) * columns;
    for (std::size_t done = 0; done < size; done += k_copied_at_once) {
        const std::size_t part = std::min(k_copied_at_once, size - done);
        device_->run_soon([&] {
            room_.storage->read(from + done, {rows + done, part});
            device_->check();
        });
    }
}

Eigen::VectorXf GpuValues::column(int head, int column) const {
    Eigen::VectorXf numbers(shape_.rows);
    const std::span<float> to(numbers.data(), static_cast<std::size_t>(shape_.rows));
    device_->run_soon([&] {
        gl::Storage copy(to.size());
        kernels_->column(matrix(head), column, {&copy, 0, {.heads = 1, .rows = shape_.rows, .columns = 1}});
        copy.read(0, to);
        device_->check();
    });
    return numbers;
}

ValueRange GpuValues::range(int head) const {
    ValueRange range;
    device_->run_soon([&] {
        range = kernels_->range(matrices(), head);
        device_->check();
    });
    return range;
}

GpuMatrices GpuValues::matrix(int head) const {
    GpuMatrices matrix = matrices();
    matrix.first += static_cast<std::size_t>(head) * shape_.head_size();
    matrix.shape.heads = 1;
    return matrix;
}

std::vector<float> GpuValues::row_largest(int head) const {
    std::vector<float> largest(static_cast<std::size_t>(shape_.rows));
    device_->run_soon([&] {
        gl::Storage column(largest.size());
        kernels_->rows_largest(matrix(head), {&column, 0, {.heads = 1, .rows = shape_.rows, .columns = 1}});
        column.read(0, largest);
        device_->check();
    });
    return largest;
}

std::vector<float> GpuValues::column_largest(int head) const {
    std::vector<float> largest(static_cast<std::size_t>(shape_.columns));
    device_->run_soon([&] {
        gl::Storage row(largest.size());
        kernels_->columns_largest(matrix(head),
                                  {&row, 0, {.heads = 1, .rows = 1, .columns = shape_.columns}});
        row.read(0, largest);
        device_->check();
    });
    return largest;
}

std::shared_ptr<const DeviceValues> GpuValues::mean() const {
    const Shape one{.heads = 1, .rows = shape_.rows, .columns = shape_.columns};
    std::shared_ptr<GpuValues> mean;
    device_->run_soon([&] {
        mean = std::make_shared<GpuValues>(device_, kernels_, one);
        kernels_->mean_over_heads(matrices(), mean->matrices());
        device_->check();
    });
    return mean;
}

}  // namespace attnscope
