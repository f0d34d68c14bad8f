// Who computes operations, if not the processor.
#pragma once

#include <memory>
#include <span>
#include <stop_token>
#include <string>

#include "core/op/op.h"

namespace attnscope {

class Backend {
public:
    virtual ~Backend() = default;

    /// "gpu": as --backend and Trace::backend have it.
    virtual std::string_view name() const = 0;
    /// What computes, by the driver's own name, for a person to read.
    virtual std::string card() const { return std::string(name()); }
    /// Whether compute() takes such an operation; the others are the processor's.
    virtual bool computes(const Op& op) const = 0;
    /// The operation's result; nullptr for one that is left to the processor after all. Copies inputs to
    /// where it needs them. Throws Cancelled when asked to; Error(backend) if it cannot go on,
    /// Error(too_large) if the result does not fit.
    virtual std::shared_ptr<const DeviceValues> compute(const Op& op, std::span<const Buffer* const> inputs,
                                                        std::stop_token cancel) = 0;
    /// What a person has to know although it goes on: a shader that they edit does not compile. Empty:
    /// nothing.
    virtual std::string complaint() const { return ""; }
    /// Whether it will never compute again: the card was reset.
    virtual bool is_lost() const { return false; }
    /// Bytes that are free there now; 0 if it has no memory of its own.
    virtual std::size_t memory() const = 0;
};

}  // namespace attnscope
