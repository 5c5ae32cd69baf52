// SPDX-License-Identifier: GPL-3.0-or-later
#include <memory>

#include "base/cuda/device_machine.cuh"
#include "nonuniform/cuda/point_sum_sequence.hpp"
#include "nonuniform/device_point_sums.hpp"

namespace ringweave::detail::inline nonuniform {
namespace {

class CudaPointSums final : public DevicePointSums {
 public:
  CudaPointSums(const RowTaps& taps, const SummedPoints& points, const DeviceStream& stream)
      : machine_(stream),
        sequence_(gpu::PointSumPlan(taps.grid, taps.first_value, points.points), points.turns,
                  taps.theta, taps.phi, taps.beyond_pole, machine_) {}

  void interpolate(Components<const double> rows, Components<double> values) override {
    sequence_.interpolate({rows.data(), rows.stride()}, {values.data(), values.stride()});
  }
  void spread(Components<double> values, Components<double> rows) override {
    sequence_.spread({values.data(), values.stride()}, {rows.data(), rows.stride()});
  }
  std::int64_t device_bytes() const override { return sequence_.bytes(); }

 private:
  gpu::DeviceMachine machine_;
  gpu::PointSumSequence<gpu::DeviceMachine> sequence_;
};

}  // namespace

std::unique_ptr<DevicePointSums> make_device_point_sums(const RowTaps& taps,
                                                        const SummedPoints& points,
                                                        const DeviceStream& stream) {
  return std::make_unique<CudaPointSums>(taps, points, stream);
}

}  // namespace ringweave::detail::inline nonuniform
