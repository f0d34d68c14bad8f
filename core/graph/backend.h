// The interface of whatever computes operations other than the CPU.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <stop_token>
#include <string>

#include "core/choice.h"
#include "core/op/region.h"
#include "core/tensor/buffer.h"

namespace attnscope {

struct Op;

/// What is found of the cells of a block. −∞ is a closed pair, which does not count.
enum class BlockFact {
    dominant,     ///< dominant(); −∞ if every cell is
    sum,          ///< Σ x
    count,        ///< how many cells count
    largest,      ///< NaN if there is one, −∞ if nothing counts
    smallest,     ///< +∞ if nothing counts
    exponential,  ///< Σ exp(x − largest)
};
/// The names are defines of shaders/blocks.comp.
constexpr auto choice_names(BlockFact) {
    using enum BlockFact;
    return std::to_array<ChoiceName<BlockFact>>({{dominant, "DOMINANT"},
                                                 {sum, "SUM"},
                                                 {count, "COUNT"},
                                                 {largest, "LARGEST"},
                                                 {smallest, "SMALLEST"},
                                                 {exponential, "EXPONENTIAL"}});
}

/// Computes regions of stages on demand on a graphics card. The stages share it, and it may outlive its
/// backend. Any thread may call it. Throws Error(backend) if the card cannot go on, Error(too_large) if a
/// region does not fit.
class RegionBackend {
public:
    virtual ~RegionBackend() = default;
    /// Whether region() supports the operation; the CPU computes the others.
    virtual bool computes(const Op& op) const = 0;
    /// The region of `in` of the operation's result, 1 × rows × columns; nullptr if the CPU has to compute it
    /// after all. Inputs of a cell for each pair are given as that region of theirs, others whole.
    virtual std::shared_ptr<const DeviceValues> region(const Op& op, const op::RegionWork& in) = 0;
    /// A fact of each block of rows × columns of region()'s cells, fewer at the edges.
    virtual Matrix blocks(const DeviceValues& cells, BlockFact fact, int rows, int columns) = 0;
};

/// Computes operations on a graphics card. What a trace computes later needs one that a shared_ptr owns; the
/// CPU computes it if that is gone.
class Backend : public std::enable_shared_from_this<Backend> {
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
    /// What computes regions of stages too large to be computed whole; nullptr: the CPU does.
    virtual std::shared_ptr<RegionBackend> regions() const { return nullptr; }
    /// A problem that the user should know of although work goes on: an edited shader that does not compile,
    /// or that the newest regions() failed. Empty: none.
    virtual std::string complaint() const { return ""; }
    /// Whether it can never compute again, because the card was reset.
    virtual bool is_lost() const { return false; }
    /// Bytes that are free on the device now; 0 if it has no memory of its own.
    virtual std::size_t memory() const = 0;
};

}  // namespace attnscope
