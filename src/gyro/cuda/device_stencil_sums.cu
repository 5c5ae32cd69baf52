// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdint>
#include <memory>

#include "base/cuda/device_machine.cuh"
#include "gyro/cuda/edge_scaling.hpp"
#include "gyro/cuda/side_sequence.hpp"
#include "gyro/device_planes.hpp"
#include "gyro/device_stencil_sums.hpp"

namespace ringweave::detail::inline gyro {
namespace {

class CudaStencilSums final : public DeviceStencilSums {
 public:
  CudaStencilSums(const SideSums& sides, std::int64_t most_planes, std::int64_t most_sums,
                  const DeviceStream& stream)
      : machine_(stream), sequence_(sides, most_planes, most_sums, machine_) {}

  double* held() override { return sequence_.planes().held; }
  double* sums() override { return sequence_.planes().sums; }
  void add_tables(const StencilTables& tables) override { sequence_.add_tables(tables); }
  void drop_tables() override { sequence_.drop_tables(); }
  std::int64_t table_bytes(std::int64_t number) const override {
    return sequence_.table_bytes(number);
  }
  void load(Direction direction, std::int64_t n_planes) override {
    sequence_.load(direction, n_planes);
  }
  void clear(Direction direction, std::int64_t n_planes, std::int64_t first) override {
    sequence_.clear(direction, n_planes, first);
  }
  void add(Direction direction, std::int64_t number, double weight, std::int64_t n_planes,
           std::int64_t first) override {
    sequence_.add(direction, number, weight, n_planes, first);
  }
  void add_identity(const FilterWindow& window, double weight, std::int64_t n_planes,
                    std::int64_t first) override {
    sequence_.add_identity(window, weight, n_planes, first);
  }
  void finish(Direction direction, std::int64_t n_planes) override {
    sequence_.finish(direction, n_planes);
  }

 private:
  gpu::DeviceMachine machine_;
  gpu::SideSequence<gpu::DeviceMachine> sequence_;
};

class CudaEdges final : public DeviceEdges {
 public:
  CudaEdges(const gpu::EdgePlan& plan, const DeviceStream& stream)
      : machine_(stream), edges_(plan, machine_) {}
  void scale(double* planes, std::int64_t n_planes, double factor) override {
    edges_.scale(planes, n_planes, factor);
  }

 private:
  gpu::DeviceMachine machine_;
  gpu::EdgeScaling<gpu::DeviceMachine> edges_;
};

}  // namespace

std::unique_ptr<DeviceEdges> make_device_edges(const PlaneGrid& grid, const DeviceStream& stream) {
  gpu::EdgePlan plan{grid.x.size,
                     grid.x.boundary == PlaneBoundary::mirror,
                     grid.y.boundary == PlaneBoundary::mirror,
                     {}};
  plan.mirrors.assign(static_cast<std::size_t>(grid.y.size), 0);
  if (plan.y_mirrored) plan.mirrors.front() = plan.mirrors.back() = 1;
  return std::make_unique<CudaEdges>(plan, stream);
}

std::unique_ptr<DeviceStencilSums> make_device_stencil_sums(const SideSums& sides,
                                                            std::int64_t most_planes,
                                                            std::int64_t most_sums,
                                                            const DeviceStream& stream) {
  return std::make_unique<CudaStencilSums>(sides, most_planes, most_sums, stream);
}

}  // namespace ringweave::detail::inline gyro
