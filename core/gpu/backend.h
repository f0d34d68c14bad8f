// Operations on a graphics card.
#pragma once

#include <memory>

#include "core/gpu/device.h"
#include "core/gpu/kernels.h"
#include "core/graph/backend.h"

namespace attnscope {

/// Inputs that are not there yet are copied to the card once and kept there with them; results stay.
/// Any thread may call it; one call at a time computes.
class GpuBackend : public Backend {
public:
    /// Throws Error(backend) where there is no OpenGL 4.3.
    explicit GpuBackend(std::unique_ptr<GlContext> context, const GpuOptions& options = {});
    ~GpuBackend() override;

    std::string_view name() const override { return "gpu"; }
    /// Says so where it computes on the processor.
    std::string card() const override;
    bool computes(const Op& op) const override;
    std::shared_ptr<const DeviceValues> compute(const Op& op, std::span<const Buffer* const> inputs,
                                                std::stop_token cancel) override;
    std::string complaint() const override;
    bool is_lost() const override { return device_->is_lost(); }
    std::size_t memory() const override;
    const GpuInfo& info() const { return device_->info(); }
    /// What the card spent since the last call, by its own clock: without copies and without
    /// what passes between two dispatches. 0 where GpuOptions::timed is off.
    std::uint64_t take_nanoseconds();

private:
    std::shared_ptr<GpuDevice> device_;
    std::shared_ptr<GpuKernels> kernels_;
    GpuOptions options_;
};

}  // namespace attnscope
