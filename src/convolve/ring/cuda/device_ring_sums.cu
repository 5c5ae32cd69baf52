// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <variant>

#include "base/checked_cast.hpp"
#include "base/cuda/device_machine.cuh"
#include "convolve/ring/cuda/ring_sum_sequence.hpp"
#include "convolve/ring/device_ring_sums.hpp"

namespace ringweave::detail::inline convolve {
namespace {

class CudaRingSums final : public DeviceRingSums {
 public:
  CudaRingSums(const RingConvolutionPlan& plan, const DeviceStream& stream)
      : plan_(&plan), machine_(stream), sequence_(gpu::RingSumPlan(plan), machine_) {
    for (const auto* kernels : {&plan.spec().kernels, &plan.spec().conjugate_kernels}) {
      for (const RadialKernel& kernel : *kernels) sequence_.add_kernel(kernel.table());
    }
  }

  void multiply(std::int64_t first_map, std::int64_t n_maps, const std::complex<double>* in,
                std::complex<double>* out) override {
    gpu::for_kernels(*plan_, first_map, n_maps, [&](gpu::MapsOfKernel maps) {
      maps.first_map -= first_map;
      sequence_.multiply(maps, n_maps, reinterpret_cast<const gpu::Double2*>(in),
                         reinterpret_cast<gpu::Double2*>(out));
    });
  }
  void sum_pixels(std::int64_t first_map, AnyConstMapView<MemorySpace::device> own,
                  AnyConstMapView<MemorySpace::device> halo,
                  AnyMapView<MemorySpace::device> out) override {
    std::visit([&](auto to) { sum(first_map, own, halo, to); }, out);
  }
  std::int64_t device_bytes() const override { return sequence_.bytes(); }

 private:
  template <class T>
  void sum(std::int64_t first_map, const AnyConstMapView<MemorySpace::device>& any_own,
           const AnyConstMapView<MemorySpace::device>& any_halo,
           MapView<T, MemorySpace::device> out) {
    const auto own = std::get<MapView<const T, MemorySpace::device>>(any_own);
    const auto halo = std::get<MapView<const T, MemorySpace::device>>(any_halo);
    gpu::for_kernels(*plan_, first_map, own.n_components(), [&](gpu::MapsOfKernel maps) {
      maps.first_map -= first_map;
      const gpu::SumMap<const T> from{own.data(), own.stride()};
      const gpu::SumMap<const T> foreign{halo.data(), halo.stride()};
      const gpu::SumMap<T> to{out.data(), out.stride()};
      sequence_.sum_pixels<T>(maps, from, foreign, to);
      if (!plan_->has_conjugates()) return;
      maps.kernel += ssize64(plan_->spec().kernels);
      sequence_.sum_conjugates<T>(maps, from, foreign, to);
    });
  }

  const RingConvolutionPlan* plan_;
  gpu::DeviceMachine machine_;
  gpu::RingSumSequence<gpu::DeviceMachine> sequence_;
};

}  // namespace

std::unique_ptr<DeviceRingSums> make_device_ring_sums(const RingConvolutionPlan& plan,
                                                      const DeviceStream& stream) {
  return std::make_unique<CudaRingSums>(plan, stream);
}

}  // namespace ringweave::detail::inline convolve
