#include "core/gpu/values.h"

#include <algorithm>

#include "core/gpu/kernels.h"

namespace attnscope {
namespace {

/// A long copy pauses for other work after this many numbers.
constexpr std::size_t k_copied_at_once = std::size_t{1} << 22;

}  // namespace

GpuValues::GpuValues(std::shared_ptr<GpuDevice> device, std::shared_ptr<GpuKernels> kernels,
                     const Shape& shape)
    : device_(std::move(device)),
      kernels_(std::move(kernels)),
      shape_(shape),
      room_(kernels_->rooms().take(shape.size())) {}

GpuValues::~GpuValues() {
    device_->post([room = std::move(room_), kernels = std::move(kernels_)]() mutable {
        kernels->rooms().give_back(std::move(room));
    });
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
        const GpuScratch copy(kernels_->rooms(), {.rows = shape_.rows, .columns = 1});
        kernels_->column(matrix(head), column, copy.matrices());
        copy.read(to);
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
        const GpuScratch column(kernels_->rooms(), {.rows = shape_.rows, .columns = 1});
        kernels_->rows_largest(matrix(head), column.matrices());
        column.read(largest);
        device_->check();
    });
    return largest;
}

std::vector<float> GpuValues::column_largest(int head) const {
    std::vector<float> largest(static_cast<std::size_t>(shape_.columns));
    device_->run_soon([&] {
        const GpuScratch row(kernels_->rooms(), {.rows = 1, .columns = shape_.columns});
        kernels_->columns_largest(matrix(head), row.matrices());
        row.read(largest);
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
