#include "core/tensor/scratch.h"

#include <utility>

namespace attnscope {
namespace {

constexpr std::size_t k_largest_left = std::size_t{1} << 20;  ///< numbers of one matrix

/// What this thread's matrices left, the last one at the end.
std::vector<std::vector<float>>& left_memory() {
    thread_local std::vector<std::vector<float>> memory;
    return memory;
}

}  // namespace

Scratch::Scratch(Eigen::Index rows, Eigen::Index columns) : rows_(rows), columns_(columns) {
    std::vector<std::vector<float>>& memory = left_memory();
    if (!memory.empty()) {
        numbers_ = std::move(memory.back());
        memory.pop_back();
    }
    const auto size = static_cast<std::size_t>(rows * columns);
    if (numbers_.size() < size) numbers_ = std::vector<float>(size);
}

Scratch::~Scratch() {
    if (numbers_.size() <= k_largest_left) left_memory().push_back(std::move(numbers_));
}

}  // namespace attnscope
