// SPDX-License-Identifier: GPL-3.0-or-later
#include <complex>
#include <memory>
#include <variant>

#include "base/checked_cast.hpp"
#include "base/cuda/device_machine.cuh"
#include "legendre/cuda/plan/stage_memory.hpp"
#include "legendre/cuda/plan/stage_sequence.hpp"
#include "legendre/device_legendre_stage.hpp"

namespace ringweave::detail::inline legendre {
namespace {

constexpr const char* where = "Legendre stage on a device";

class CudaDeviceStage final : public DeviceLegendreStage {
 public:
  CudaDeviceStage(const LegendreShape& shape, const gpu::StageMemory& memory,
                  const gpu::AlmPlaces& alm, const DeviceStream& stream, BatchedSums sums)
      : alm_size_(alm.size),
        n_components_(shape.fields.n_components()),
        n_modes_(shape.rows.size() * n_components_),
        machine_(stream),
        sequence_(shape, machine_, memory, alm.begin, sums) {}
  // Tables of a stage that was never used may still be in the making.
  ~CudaDeviceStage() override { machine_.finish(); }
  CudaDeviceStage(const CudaDeviceStage&) = delete;
  CudaDeviceStage& operator=(const CudaDeviceStage&) = delete;

  void synthesize(ConstAlm alm, Modes<double> modes, RowRange rows) override {
    std::visit([&](auto view) { synthesize_rows(view, modes, rows); }, alm);
  }
  void adjoint(Modes<const double> modes, Alm alm, Accumulate how, RowRange rows) override {
    std::visit([&](auto view) { adjoint_rows(modes, view, how, rows); }, alm);
  }
  std::int64_t device_bytes() const override { return sequence_.bytes(); }

 private:
  template <class T>
  using DeviceView = ComponentView<T, MemorySpace::device>;

  template <class T>
  void synthesize_rows(DeviceView<const std::complex<T>> alm, Modes<double> modes, RowRange rows) {
    check(alm.n_components(), alm.size(), modes.size());
    sequence_.template synthesize<T>(reinterpret_cast<const T*>(alm.data()), alm.stride(),
                                     reinterpret_cast<double*>(modes.data()), rows);
  }
  template <class T>
  void adjoint_rows(Modes<const double> modes, DeviceView<std::complex<T>> alm, Accumulate how,
                    RowRange rows) {
    check(alm.n_components(), alm.size(), modes.size());
    sequence_.template adjoint<T>(reinterpret_cast<const double*>(modes.data()),
                                  reinterpret_cast<T*>(alm.data()), alm.stride(),
                                  how == Accumulate::add, rows);
  }
  void check(std::int64_t n_components, std::int64_t alm_size, std::int64_t n_modes) const {
    require_planned(where, n_components, n_components_, "components of a_lm");
    require_planned(where, alm_size, alm_size_, "coefficients of a component");
    require_planned(where, n_modes, n_modes_, "ring modes");
  }

  std::int64_t alm_size_;
  std::int64_t n_components_;
  std::int64_t n_modes_;
  gpu::DeviceMachine machine_;
  gpu::StageSequence<gpu::DeviceMachine> sequence_;
};

}  // namespace
}  // namespace ringweave::detail::inline legendre

namespace ringweave::detail::gpu {

std::unique_ptr<DeviceLegendreStage> make_device_sums(const LegendreShape& shape,
                                                      const StageMemory& memory,
                                                      const AlmPlaces& alm,
                                                      const DeviceStream& stream,
                                                      BatchedSums sums) {
  return std::make_unique<CudaDeviceStage>(shape, memory, alm, stream, sums);
}

}  // namespace ringweave::detail::gpu
