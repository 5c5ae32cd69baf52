// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/mode_view.hpp"
#include "base/stage_timer.hpp"
#include "distribute/mpi/agree.hpp"
#include "nonuniform/cuda/device_points.hpp"
#include "nonuniform/cuda/device_rows.hpp"
#include "nonuniform/planned_points.hpp"
#include "nonuniform/point_rows.hpp"

namespace ringweave::detail::inline nonuniform {
namespace {

/// Has all rows of a rank in the memory of its device.
class CudaPointRows final : public PointRows {
 public:
  CudaPointRows(const Communicator& comm, PlannedPoints& points, const RingFftShape& shape,
                const std::vector<std::int64_t>& rings)
      : comm_(comm), points_(&points) {
    agree(comm_, [&] {
      rows_.emplace(points_->taps(), shape, rings);
      rows_->allocate_modes();
      on_device_.emplace(*rows_, points_->summed());
      rows_->stream()->synchronize();
    });
  }

  void interpolate(ModeView<const double> modes, AnyMapView<> values, StageTimes& times) override {
    agree(comm_, [&] {
      {
        const StageTimer timer(&times, "rows");
        rows_->synthesize(modes);
        rows_->stream()->synchronize();
      }
      const StageTimer timer(&times, "points");
      on_device_->interpolate(*rows_, points_->sums());
      points_->put_sums(values);
    });
  }

  void spread(AnyConstMapView<> values, ModeView<double> modes, StageTimes& times) override {
    agree(comm_, [&] {
      {
        const StageTimer timer(&times, "points");
        points_->load_values(values);
        on_device_->spread(points_->sums(), *rows_);
        rows_->stream()->synchronize();
      }
      const StageTimer timer(&times, "rows");
      rows_->adjoint(modes);
    });
  }

  std::int64_t bytes() const override { return rows_->host_bytes(); }

 private:
  Communicator comm_;
  PlannedPoints* points_;
  std::optional<DeviceRows> rows_;
  std::optional<DevicePoints> on_device_;
};

}  // namespace

std::unique_ptr<PointRows> make_cuda_point_rows(const Communicator& comm, PlannedPoints& points,
                                                const RingFftShape& shape,
                                                const std::vector<std::int64_t>& rings) {
  return std::make_unique<CudaPointRows>(comm, points, shape, rings);
}

}  // namespace ringweave::detail::inline nonuniform
