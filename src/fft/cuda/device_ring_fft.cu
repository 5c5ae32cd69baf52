// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/cuda/fft_machine.cuh"
#include "fft/cuda/ring_fft_sequence.hpp"
#include "fft/device_ring_fft.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline fft {

namespace {

constexpr const char* where = "ring FFT on a device";
using Workspace = gpu::RingFftWorkspace<gpu::FftMachine>;

class CudaDeviceRingFft final : public DeviceRingFft {
 public:
  CudaDeviceRingFft(const RingFftShape& shape, const DeviceStream& stream,
                    std::int64_t workspace_bytes)
      : n_components_(shape.n_components),
        n_modes_(shape.rows.size() * shape.n_components),
        n_rings_(shape.rings.n_rings()),
        n_pixels_(shape.rings.n_pixels()),
        machine_(stream),
        sequence_(gpu::DeviceRingPlan(shape, workspace_bytes), machine_) {}

  gpu::RingFftWorkspaceSize workspace_size() const { return sequence_.workspace_size(); }
  /// Counts the workspace among the bytes where it is not counted elsewhere.
  void work_in(std::shared_ptr<Workspace> workspace, bool is_counted) {
    workspace_ = std::move(workspace);
    workspace_bytes_ = is_counted ? workspace_->bytes() : 0;
    sequence_.work_in(*workspace_);
  }

  void synthesize(Modes<const double> modes, Map any_map) override {
    std::visit(
        [&](auto map) {
          check(modes, map.n_components(), map.size());
          sequence_.synthesize(reinterpret_cast<const gpu::Double2*>(modes.data()), map.data(),
                               map.stride());
        },
        any_map);
  }
  void adjoint(ConstMap any_map, Weights weights, Modes<double> modes) override {
    std::visit(
        [&](auto map) {
          check(modes, map.n_components(), map.size());
          if (weights.size() != 0) require_planned(where, weights.size(), n_rings_, "ring weights");
          sequence_.adjoint(map.data(), map.stride(),
                            weights.size() == 0 ? nullptr : weights.data(),
                            reinterpret_cast<gpu::Double2*>(modes.data()));
        },
        any_map);
  }
  std::int64_t device_bytes() const override { return sequence_.bytes() + workspace_bytes_; }

 private:
  void check(Modes<const double> modes, std::int64_t n_components, std::int64_t n_pixels) const {
    require_planned(where, modes.size(), n_modes_, "ring modes");
    // A misaligned access on the device would make its context unusable.
    if (reinterpret_cast<std::uintptr_t>(modes.data()) % sizeof(gpu::Double2) != 0) {
      throw UsageError(std::string(where) + ": the modes must begin at a multiple of 16 bytes");
    }
    require_planned(where, n_components, n_components_, "components of a map");
    require_planned(where, n_pixels, n_pixels_, "pixels of a component");
  }

  std::int64_t n_components_;
  std::int64_t n_modes_;
  std::int64_t n_rings_;
  std::int64_t n_pixels_;
  gpu::FftMachine machine_;
  gpu::RingFftSequence<gpu::FftMachine> sequence_;
  std::shared_ptr<Workspace> workspace_;
  std::int64_t workspace_bytes_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<DeviceRingFft>> make_device_ring_ffts(
    std::span<const RingFftShape* const> shapes, const DeviceStream& stream,
    std::int64_t workspace_bytes) {
  std::vector<std::unique_ptr<DeviceRingFft>> all;
  std::vector<CudaDeviceRingFft*> made;
  gpu::RingFftWorkspaceSize size;
  for (const RingFftShape* shape : shapes) {
    auto one = std::make_unique<CudaDeviceRingFft>(*shape, stream, workspace_bytes);
    size = larger(size, one->workspace_size());
    made.push_back(one.get());
    all.push_back(std::move(one));
  }
  gpu::FftMachine machine(stream);
  const auto workspace = std::make_shared<Workspace>(machine, size);
  for (CudaDeviceRingFft* one : made) one->work_in(workspace, one == made.front());
  return all;
}

}  // namespace ringweave::detail::inline fft
