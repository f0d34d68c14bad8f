// A fake graphics card that fails when a test tells it to.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <future>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/graph/backend.h"
#include "core/op/op.h"

namespace attnscope::test {

/// Zeros that cannot be read, as on a card that is lost after it has computed them.
class LostValues : public DeviceValues {
public:
    explicit LostValues(const Shape& shape) : shape_(shape) {}
    const Shape& shape() const override { return shape_; }
    void read(int, int, int, float*) const override { throw Error(ErrorKind::backend, "the card is lost"); }
    Eigen::VectorXf column(int, int) const override { throw Error(ErrorKind::backend, "the card is lost"); }
    ValueRange range(int) const override {
        ValueRange range;
        range.finite = range.zero = shape_.head_size();
        return range;
    }
    std::vector<float> row_largest(int) const override {
        return std::vector<float>(static_cast<std::size_t>(shape_.rows));
    }
    std::vector<float> column_largest(int) const override {
        return std::vector<float>(static_cast<std::size_t>(shape_.columns));
    }
    std::shared_ptr<const DeviceValues> mean() const override {
        return std::make_shared<LostValues>(
            Shape{.heads = 1, .rows = shape_.rows, .columns = shape_.columns});
    }

private:
    Shape shape_;
};

/// Zeros whose mean over the heads is not there before somebody allows it.
class SlowMean : public LostValues {
public:
    SlowMean(const Shape& shape, std::shared_future<void> allowed)
        : LostValues(shape), allowed_(std::move(allowed)) {}
    void read(int, int, int count, float* rows) const override {
        std::fill_n(rows, count * shape().columns, 0.0f);
    }
    Eigen::VectorXf column(int, int) const override { return Eigen::VectorXf::Zero(shape().rows); }
    std::shared_ptr<const DeviceValues> mean() const override {
        allowed_.wait();
        return std::make_shared<SlowMean>(Shape{.heads = 1, .rows = shape().rows, .columns = shape().columns},
                                          allowed_);
    }

private:
    std::shared_future<void> allowed_;
};

/// Leaves every operation to the processor but those that `computes` takes.
class FakeBackend : public Backend {
public:
    using Computes = std::function<std::shared_ptr<const DeviceValues>(const Op&, const Shape&)>;
    explicit FakeBackend(Computes computes = {}) : computes_(std::move(computes)) {}

    std::string card() const override { return "gpu"; }
    bool computes(const Op& op) const override {
        return !std::holds_alternative<op::Drawn>(op) && !std::holds_alternative<op::TokenRows>(op) &&
               !std::holds_alternative<op::DropoutMask>(op);
    }
    std::shared_ptr<const DeviceValues> compute(const Op& op, std::span<const Buffer* const> inputs,
                                                std::stop_token) override {
        ++operations;
        std::vector<Shape> read;
        for (const Buffer* input : inputs) {
            read.push_back(input->shape());
            // Its own thread would wait for itself.
            if (input->is_waiting()) ADD_FAILURE() << "a card is given values that are not computed";
        }
        return computes_ ? computes_(op, shapes(op, read).front()) : nullptr;
    }
    std::size_t memory() const override { return free_bytes; }
    bool is_lost() const override { return lost; }

    std::atomic<int> operations = 0;
    std::size_t free_bytes = std::size_t{1} << 40;
    std::atomic<bool> lost = false;

private:
    Computes computes_;
};

}  // namespace attnscope::test
