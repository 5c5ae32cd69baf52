// SPDX-License-Identifier: GPL-3.0-or-later
#include <complex>
#include <cstdint>
#include <memory>
#include <span>

#include "base/checked_cast.hpp"
#include "base/cuda/fft_machine.cuh"
#include "legendre/cuda/plan/fine_row_plan.hpp"
#include "legendre/cuda/plan/fine_row_sequence.hpp"
#include "legendre/cuda/plan/stage_memory.hpp"
#include "legendre/device_legendre_stage.hpp"

namespace ringweave::detail::gpu {
namespace {

/// A stage of sums on equidistant rings, and FFTs in theta between these and fine rows.
class DeviceFineRows final : public DeviceLegendreStage {
 public:
  DeviceFineRows(const FineRowPlan& plan, std::int64_t n_modes, const StageMemory& memory,
                 const AlmPlaces& alm, const DeviceStream& stream, BatchedSums sums)
      : n_modes_(n_modes),
        machine_(stream),
        sums_(make_device_sums(plan.sums, memory, alm, stream, sums)),
        sequence_(plan, machine_) {}
  ~DeviceFineRows() override { machine_.finish(); }
  DeviceFineRows(const DeviceFineRows&) = delete;
  DeviceFineRows& operator=(const DeviceFineRows&) = delete;

  void synthesize(ConstAlm alm, Modes<double> modes, RowRange rows) override {
    check(modes.size());
    const auto sums = [&](Double2* equidistant, RowRange of) {
      sums_->synthesize(alm, view(equidistant), of);
    };
    sequence_.synthesize(sums, reinterpret_cast<double*>(modes.data()), rows);
  }
  void adjoint(Modes<const double> modes, Alm alm, Accumulate how, RowRange rows) override {
    check(modes.size());
    const auto sums = [&](Double2* equidistant, RowRange of) {
      sums_->adjoint(view(equidistant), alm, how, of);
    };
    sequence_.adjoint(reinterpret_cast<const double*>(modes.data()), sums, rows);
  }
  std::int64_t device_bytes() const override { return sums_->device_bytes() + sequence_.bytes(); }

 private:
  Modes<double> view(Double2* equidistant) const {
    return {reinterpret_cast<std::complex<double>*>(equidistant), sequence_.n_equidistant()};
  }
  void check(std::int64_t n_modes) const {
    require_planned("Legendre stage on a device", n_modes, n_modes_, "modes of fine rows");
  }

  std::int64_t n_modes_;
  FftMachine machine_;
  std::unique_ptr<DeviceLegendreStage> sums_;
  FineRowSequence<FftMachine> sequence_;
};

}  // namespace

std::unique_ptr<DeviceLegendreStage> make_device_fine_rows(
    const LegendreShape& shape, std::span<const RowRange> parts, const StageMemory& memory,
    const AlmPlaces& alm, const DeviceStream& stream, BatchedSums sums) {
  return std::make_unique<DeviceFineRows>(FineRowPlan(shape, parts, memory.theta_bytes),
                                          shape.rows.size() * shape.fields.n_components(), memory,
                                          alm, stream, sums);
}

}  // namespace ringweave::detail::gpu
