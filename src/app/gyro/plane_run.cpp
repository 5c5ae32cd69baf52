// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gyro/plane_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "app/transform_setup.hpp"
#include "base/checked_cast.hpp"
#include "base/stage_timer.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline app {
namespace {

/// The ranks that have the same radii and fields, and so all rows together. Collective.
Communicator ranks_of_rows(const Run& run, const GyroPart& part) {
  const std::int64_t place = part.is_empty() ? 0 : 1 + part.radius_begin;
  const auto [of_radii, of_fields] = agreed(run.comm, [&] {
    return std::pair{checked_cast<int>(place, "radii"),
                     checked_cast<int>(part.field_begin, "fields")};
  });
  const Communicator same_radii = run.comm.split(of_radii, run.comm.rank());
  return same_radii.split(of_fields, same_radii.rank());
}

/// The planes of this rank, and one step of the run: one call of Gyroaverage on them, or two.
template <class T>
class PlaneRun {
 public:
  PlaneRun(Run& run, const GyroJob& job, std::int64_t n_batches, Gyroaverage& gyroaverage)
      : run_(run),
        job_(job),
        gyroaverage_(gyroaverage),
        part_(gyroaverage.part()),
        n_all_calls_(n_batches * (job.combination == GyroCombination::twice ? 2 : 1)) {
    const GyroBuffers buffers = buffers_of(job, part_);
    agree(run.comm, [&] {
      in_ = ComponentBuffer<T>(buffers.n_in, buffers.in_size);
      out_ = ComponentBuffer<T>(buffers.n_out, buffers.out_size);
      between_ = ComponentBuffer<T>(buffers.n_between, buffers.between_size);
      if (buffers.n_between > 0) plane_ = HostBuffer<double>(buffers.between_size);
    });
    shares_rows_ = run.comm.max(buffers.n_between) > 0;
    if (shares_rows_) rows_ = ranks_of_rows(run, part_);
    gyroaverage_.on_progress([this](std::int64_t done, std::int64_t of_call) {
      run_.progress.short_step(n_calls_ * of_call + done, n_all_calls_ * of_call);
    });
  }
  ~PlaneRun() { gyroaverage_.on_progress({}); }
  PlaneRun(const PlaneRun&) = delete;
  PlaneRun& operator=(const PlaneRun&) = delete;

  ComponentView<T> in() { return in_.view(); }
  ComponentView<const T> out() const { return out_.view(); }
  void average() {
    job_.is_adjoint() ? transpose() : forward();
    count();
    if (job_.combination != GyroCombination::twice) return;
    job_.is_adjoint() ? transpose_again() : forward_again();
    count();
  }
  /// Shows how many averages of this rank are formed.
  void show() {
    const std::int64_t of_call = part_.n_radii() * part_.n_fields();
    if (!part_.is_empty()) run_.progress.step(n_calls_ * of_call, n_all_calls_ * of_call);
  }
  /// Returns the counts of all ranks. Collective.
  BatchTotals totals() const {
    return {run_.comm.max(totals_.indicator), run_.comm.sum(totals_.halo_bytes_sent)};
  }

 private:
  ComponentView<const T> given() const { return in_.view(); }

  /// Adds the figures of the last call of Gyroaverage.
  void count() {
    totals_.indicator = std::max(totals_.indicator, gyroaverage_.indicator());
    totals_.halo_bytes_sent += gyroaverage_.halo_bytes_sent();
    ++n_calls_;
  }

  void forward() {
    switch (job_.combination) {
      case GyroCombination::each:
      case GyroCombination::twice: return gyroaverage_.each<T>(given(), out_.view());
      case GyroCombination::pairs: return gyroaverage_.pairs<T>(given(), out_.view());
      case GyroCombination::sum: return gyroaverage_.sum<T>(given(), job_.weights, out_.view());
    }
  }

  void forward_again() {
    if (!shares_rows_) return gyroaverage_.pairs<T>(std::as_const(out_).view(), out_.view());
    gather_rows();
    gyroaverage_.pairs<T>(std::as_const(between_).view(), out_.view());
  }

  void transpose() {
    switch (job_.combination) {
      case GyroCombination::each: return gyroaverage_.each_adjoint<T>(given(), out_.view());
      case GyroCombination::pairs: return gyroaverage_.pairs_adjoint<T>(given(), out_.view());
      case GyroCombination::sum:
        return gyroaverage_.sum_adjoint<T>(given(), job_.weights, out_.view());
      case GyroCombination::twice:
        return gyroaverage_.pairs_adjoint<T>(given(), shares_rows_ ? between_.view() : in_.view());
    }
  }

  void transpose_again() {
    if (shares_rows_) keep_rows();
    gyroaverage_.each_adjoint<T>(given(), out_.view());
  }

  std::int64_t first_value() const { return part_.row_begin * job_.spec.grid.x.size; }

  /// Averages of this rank's rows to whole planes, plane by plane.
  void gather_rows() {
    const StageTimer timer(&run_.times, "gather");
    for (std::int64_t c = 0; c < between_.n_components(); ++c) {
      std::fill(plane_.begin(), plane_.end(), 0.0);
      const View<const T> own = std::as_const(out_).view().component(c);
      std::copy_n(own.data(), own.size(), plane_.data() + first_value());
      rows_.sum(plane_.data(), plane_.size());
      std::transform(plane_.begin(), plane_.end(), between_.view().component(c).data(),
                     [](double value) { return static_cast<T>(value); });
    }
  }

  /// This rank's rows of the planes between, which all ranks of the rows have.
  void keep_rows() {
    for (std::int64_t c = 0; c < between_.n_components(); ++c) {
      const View<T> own = in_.view().component(c);
      std::copy_n(between_.view().component(c).data() + first_value(), own.size(), own.data());
    }
  }

  Run& run_;
  const GyroJob& job_;
  Gyroaverage& gyroaverage_;
  GyroPart part_;
  ComponentBuffer<T> in_{};
  ComponentBuffer<T> out_{};
  // Where a second average needs whole fields of which each rank made some rows.
  bool shares_rows_ = false;
  Communicator rows_ = Communicator::self();
  ComponentBuffer<T> between_{};
  HostBuffer<double> plane_{};
  BatchTotals totals_{};
  std::int64_t n_calls_ = 0;  ///< so far
  std::int64_t n_all_calls_;
};

template <class T>
BatchTotals run_stored(Run& run, const GyroJob& job, const GyroBatches& batches,
                       const PlaneFileReader& reader, Gyroaverage& gyroaverage,
                       PlaneOutput& writer) {
  PlaneRun<T> planes(run, job, batches.count(), gyroaverage);
  run.progress.stage("averaging");
  for (std::int64_t batch = 0; batch < batches.count(); ++batch) {
    const std::int64_t begin = batches.begin(batch);
    {
      const StageTimer timer(&run.times, "read");
      reader.read(part_of_input(job, gyroaverage.part(), begin), MapView<T>(planes.in()));
    }
    planes.average();
    {
      const StageTimer timer(&run.times, "write");
      const PlaneFilePart part = part_of_output(job, gyroaverage.part(), begin);
      const MapView<const T> written = planes.out();
      writer.write(part, part.fields.empty() ? MapView<const T>() : written);
    }
    planes.show();
  }
  return planes.totals();
}

}  // namespace

BatchTotals run_batches(Run& run, const GyroJob& job, const GyroBatches& batches,
                        const PlaneFileReader& reader, Gyroaverage& gyroaverage,
                        PlaneOutput& writer) {
  return with_storage(job.output.precision, [&](auto storage) {
    return run_stored<decltype(storage)>(run, job, batches, reader, gyroaverage, writer);
  });
}

}  // namespace ringweave::detail::inline app
