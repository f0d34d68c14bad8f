// A matrix for what a block of rows computes on the way.
#pragma once

#include <vector>

#include "core/tensor/tensor.h"

namespace attnscope {

/// rows × columns, uninitialized, in memory of this thread that earlier ones left, up to 4 MiB each: once
/// those that live at the same time have been as large, a new one allocates nothing. For one thread.
class Scratch {
public:
    Scratch(Eigen::Index rows, Eigen::Index columns);
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    MatrixView view() { return {numbers_.data(), rows_, columns_}; }

private:
    std::vector<float> numbers_;
    Eigen::Index rows_, columns_;
};

}  // namespace attnscope
