// The backend that computes operations on a graphics card.
#pragma once

#include <memory>
#include <mutex>

#include "core/gpu/device.h"
#include "core/gpu/kernels.h"
#include "core/graph/backend.h"

namespace attnscope {

/// Inputs that are not on the card are copied there once and kept with their stages; results stay on the
/// card. Any thread may call it; one call computes at a time.
class GpuBackend : public Backend {
public:
    /// Throws Error(backend) below OpenGL 4.3.
    explicit GpuBackend(std::unique_ptr<GlContext> context, const GpuOptions& options = {});
    ~GpuBackend() override;

    /// The renderer's name, with a note if it runs on the CPU.
    std::string card() const override;
    bool computes(const Op& op) const override;
    std::shared_ptr<const DeviceValues> compute(const Op& op, std::span<const Buffer* const> inputs,
                                                std::stop_token cancel) override;
    std::shared_ptr<RegionBackend> regions() const override;
    std::string complaint() const override;
    bool is_lost() const override { return device_->is_lost(); }
    std::size_t memory() const override;
    const GpuInfo& info() const { return device_->info(); }
    /// The time that the card worked since the last call, by its own clock: without copies and the gaps
    /// between dispatches. 0 if GpuOptions::timed is off.
    std::uint64_t take_nanoseconds();

private:
    class Regions;

    std::shared_ptr<GpuDevice> device_;
    std::shared_ptr<GpuKernels> kernels_;
    GpuOptions options_;
    mutable std::mutex mutex_;
    mutable std::weak_ptr<Regions> regions_;  ///< the newest, while a trace computes by them
};

}  // namespace attnscope
