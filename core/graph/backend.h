// The interface of whatever computes operations other than the CPU.
#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <string>

#include "core/tensor/buffer.h"

namespace attnscope {

struct Op;

/// Computes operations on a graphics card.
class Backend {
public:
    virtual ~Backend() = default;

    /// The name of the device, as its driver reports it.
    virtual std::string card() const = 0;
    /// Whether compute() supports the operation; the CPU computes the others.
    virtual bool computes(const Op& op) const = 0;
    /// The operation's result; nullptr if the CPU has to compute it after all. Copies inputs to the device as
    /// needed. Throws Canceled; Error(backend) if it cannot go on, Error(too_large) if the result does not
    /// fit.
    virtual std::shared_ptr<const DeviceValues> compute(const Op& op, std::span<const Buffer* const> inputs,
                                                        std::stop_token cancel) = 0;
    /// A problem that the user should know of although work goes on, such as an edited shader that does not
    /// compile. Empty: none.
    virtual std::string complaint() const { return ""; }
    /// Whether it can never compute again, because the card was reset.
    virtual bool is_lost() const { return false; }
    /// Bytes that are free on the device now; 0 if it has no memory of its own.
    virtual std::size_t memory() const = 0;
};

}  // namespace attnscope
