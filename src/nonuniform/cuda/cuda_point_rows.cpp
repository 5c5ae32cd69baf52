// SPDX-License-Identifier: GPL-3.0-or-later
#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/device.hpp"
#include "base/device_buffer.hpp"
#include "base/mode_view.hpp"
#include "base/stage_timer.hpp"
#include "base/stream_copies.hpp"
#include "distribute/mpi/agree.hpp"
#include "fft/device_ring_fft.hpp"
#include "nonuniform/device_point_sums.hpp"
#include "nonuniform/planned_points.hpp"
#include "nonuniform/point_rows.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline nonuniform {
namespace {

using Complex = std::complex<double>;

/// Has all rows of a rank in the memory of its device. Modes and sums are copied through pinned
/// memory.
class CudaPointRows final : public PointRows {
 public:
  CudaPointRows(const Communicator& comm, ListedPoints& points, const RingFftShape& shape,
                const std::vector<std::int64_t>& rings)
      : comm_(comm), points_(&points), n_components_(shape.n_components) {
    agree(comm_, [&] { prepare(shape, rings); });
  }

  /// Waits for work that an error has left, before its memory is freed.
  ~CudaPointRows() override {
    if (stream_) stream_->finish();
  }

  void interpolate(ModeView<const double> modes, AnyMapView<>, StageTimes& times) override {
    agree(comm_, [&] {
      {
        const StageTimer timer(&times, "rows");
        if (fft_) {
          copies_->to_device(modes.data(), modes_.data(), modes_.bytes());
          fft_->synthesize({modes_.data(), modes_.size()}, rows());
        }
        stream_->synchronize();
      }
      const StageTimer timer(&times, "points");
      const ComponentView<double> sums = points_->sums();
      sums_->interpolate(rows(), values());
      for (std::int64_t c = 0; c < n_components_; ++c) {
        copies_->to_host(values().component(c).data(), sums.component(c).data(),
                         sums.size() * std::int64_t{sizeof(double)});
      }
    });
  }

  void spread(AnyConstMapView<>, ModeView<double> modes, StageTimes& times) override {
    agree(comm_, [&] {
      {
        const StageTimer timer(&times, "points");
        const ComponentView<double> sums = points_->sums();
        for (std::int64_t c = 0; c < n_components_; ++c) {
          copies_->to_device(sums.component(c).data(), values().component(c).data(),
                             sums.size() * std::int64_t{sizeof(double)});
        }
        sums_->spread(values(), rows());
        stream_->synchronize();
      }
      const StageTimer timer(&times, "rows");
      if (!fft_) return;
      fft_->adjoint(DeviceMap<const double>(rows()), {}, {modes_.data(), modes_.size()});
      copies_->to_host(modes_.data(), modes.data(), modes_.bytes());
    });
  }

  std::int64_t bytes() const override { return copies_->pinned_bytes(); }

 private:
  template <class T>
  using DeviceMap = MapView<T, MemorySpace::device>;

  void prepare(const RingFftShape& shape, const std::vector<std::int64_t>& rings) {
    stream_.emplace();
    copies_.emplace(*stream_);
    const FineTaps& taps = *points_->taps();
    std::vector<std::int64_t> first_value;
    first_value.reserve(rings.size());
    for (const std::int64_t ring : rings) {
      first_value.push_back(
          ring < 0 ? -1 : index(shape.rings.local(RingId{ring})) * taps.grid.n_columns);
      // A ring that stands for no row is there where no points are.
      if (ring >= 0) n_pixels_ = shape.rings.n_pixels();
    }
    const RowTaps with{taps.grid, taps.theta.polynomials(), taps.phi.polynomials(), first_value,
                       taps.beyond_pole};
    sums_ = make_device_point_sums(with, points_->exchange().summed(), *stream_);
    if (n_pixels_ > 0) {
      fft_ = make_device_ring_fft(shape, *stream_);
      modes_.allocate(shape.rows.size() * n_components_);
      // Padding between modes is copied with them.
      zero_device_memory(modes_.data(), modes_.bytes(), *stream_);
    }
    rows_.allocate(n_components_ * n_pixels_);
    values_.allocate(n_components_ * points_->sums().size());
    stream_->synchronize();
  }

  /// Rows have an even number of columns, so that all components are aligned for FFTs.
  DeviceMap<double> rows() { return {rows_.data(), n_components_, n_pixels_, n_pixels_}; }
  DeviceMap<double> values() {
    const std::int64_t n = points_->sums().size();
    return {values_.data(), n_components_, n, n};
  }

  Communicator comm_;
  ListedPoints* points_;
  std::int64_t n_components_;
  std::int64_t n_pixels_ = 0;  ///< of all rows
  std::optional<DeviceStream> stream_;
  std::optional<StreamCopies> copies_;
  std::unique_ptr<DevicePointSums> sums_;
  std::unique_ptr<DeviceRingFft> fft_;  ///< null: this rank has no rows
  DeviceBuffer<Complex> modes_;
  DeviceBuffer<double> rows_;    ///< [component][row][column]
  DeviceBuffer<double> values_;  ///< [component][point]
};

}  // namespace

std::unique_ptr<PointRows> make_cuda_point_rows(const Communicator& comm, ListedPoints& points,
                                                const RingFftShape& shape,
                                                const std::vector<std::int64_t>& rings) {
  return std::make_unique<CudaPointRows>(comm, points, shape, rings);
}

}  // namespace ringweave::detail::inline nonuniform
