// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/mode_view.hpp"
#include "base/stage_timer.hpp"
#include "distribute/mpi/agree.hpp"
#include "nonuniform/cuda/device_points.hpp"
#include "nonuniform/cuda/device_rows.hpp"
#include "nonuniform/field_rows.hpp"
#include "nonuniform/planned_points.hpp"

namespace ringweave::detail::inline nonuniform {
namespace {

/// Keeps rows on a device. Their modes are there during set() only.
class CudaFieldRows final : public FieldRows {
 public:
  CudaFieldRows(const Communicator& comm, std::shared_ptr<const FineTaps> taps,
                const RingFftShape& shape, const std::vector<std::int64_t>& rings)
      : comm_(comm) {
    agree(comm_, [&] {
      rows_.emplace(std::move(taps), shape, rings);
      rows_->stream()->synchronize();
    });
  }

  void set(ModeView<const double> modes, StageTimes& times) override {
    agree(comm_, [&] {
      const StageTimer timer(&times, "rows");
      rows_->allocate_modes();
      rows_->synthesize(modes);
      rows_->release_modes();
    });
  }

  void interpolate(ListedPoints& points, StageTimes& times) override {
    agree(comm_, [&] {
      const StageTimer timer(&times, "points");
      std::shared_ptr<DevicePoints>& on_device = points.of_field();
      if (!on_device) on_device = std::make_shared<DevicePoints>(*rows_, points.summed());
      on_device->interpolate(*rows_, points.sums());
    });
  }

  std::int64_t bytes() const override { return rows_->host_bytes(); }

 private:
  Communicator comm_;
  std::optional<DeviceRows> rows_;
};

}  // namespace

std::unique_ptr<FieldRows> make_cuda_field_rows(const Communicator& comm,
                                                std::shared_ptr<const FineTaps> taps,
                                                const RingFftShape& shape,
                                                const std::vector<std::int64_t>& rings) {
  return std::make_unique<CudaFieldRows>(comm, std::move(taps), shape, rings);
}

}  // namespace ringweave::detail::inline nonuniform
