// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/cuda/fft_size.hpp"
#include "legendre/cuda/launches/theta_launches.hpp"
#include "legendre/cuda/plan/fine_row_plan.hpp"

namespace ringweave::detail::gpu {

/// Launches between modes on equidistant rings and those of fine rows, in order. Machine as for
/// StageSequence; it also plans FFTs, as FftSize says.
template <class Machine>
class FineRowSequence {
 public:
  FineRowSequence(const FineRowPlan& plan, Machine& machine)
      : machine_(&machine),
        parts_(plan.parts),
        n_components_(plan.n_components),
        degree_(plan.degree),
        n_columns_(plan.n_columns),
        columns_(machine.upload(plan.columns)),
        segments_(machine.upload(plan.segments)),
        rings_(machine.upload(plan.rings)),
        turns_(machine.upload(plan.turns)),
        equidistant_(machine.template allocate<Double2>(plan.sums.rows.size() * n_components_)),
        coarse_(plan.coarse_length, n_columns_, machine),
        fine_(plan.fine_length, n_columns_, machine),
        // As much as for the longer FFTs, which CountingMachine assumes, or more if they need it.
        fft_work_(machine.template allocate<std::byte>(
            std::max({coarse_.fft.work_bytes(), fine_.fft.work_bytes(), coarse_.circles.bytes(),
                      fine_.circles.bytes()}))) {
    coarse_.fft.work_in(fft_work_.data());
    fine_.fft.work_in(fft_work_.data());
  }

  /// Computes the modes of fine rows of some orders.
  /// sums    sums(modes, rows) computes those of some orders of one part on equidistant rings
  /// modes   [position][component][re, im], positions of the shape
  /// wanted  rows of the shape
  template <class Sums>
  void synthesize(const Sums& sums, double* modes, RowRange wanted) {
    for_each_part(wanted, [&](RowRange rows) {
      sums(equidistant_.data(), rows);
      for_each_group(rows, [&](const ThetaColumns& columns) {
        launch(FillCircles{coarse_.whole(), columns, equidistant_.data(), coarse_.data()});
        coarse_.transform(FftSign::forward);
        resize(columns, 1, coarse_, fine_);
        fine_.transform(FftSign::backward);
        launch(StoreFineRows{fine_.half(columns.count),
                             columns,
                             {rings_.data(), segments_.data(), modes},
                             fine_.data()});
      });
    });
  }

  /// Applies the exact transpose; then `sums` applies that of its own.
  template <class Sums>
  void adjoint(const double* modes, const Sums& sums, RowRange wanted) {
    for_each_part(wanted, [&](RowRange rows) {
      for_each_group(rows, [&](const ThetaColumns& columns) {
        launch(LoadFineRows{
            fine_.whole(), columns, {rings_.data(), segments_.data(), modes}, fine_.data()});
        fine_.transform(FftSign::forward);
        resize(columns, -1, fine_, coarse_);
        coarse_.transform(FftSign::backward);
        launch(
            FoldCircles{coarse_.half(columns.count), columns, coarse_.data(), equidistant_.data()});
      });
      sums(equidistant_.data(), rows);
    });
  }

  /// Returns the modes of a part on equidistant rings, all components.
  std::int64_t n_equidistant() const {
    return equidistant_.bytes() / std::int64_t{sizeof(Double2)};
  }
  std::int64_t bytes() const {
    return columns_.bytes() + segments_.bytes() + rings_.bytes() + turns_.bytes() +
           equidistant_.bytes() + coarse_.circles.bytes() + fine_.circles.bytes() +
           fft_work_.bytes();
  }

 private:
  template <class T>
  using Buffer = typename Machine::template Buffer<T>;

  /// A circle for each column, and its FFT.
  struct Circles {
    Circles(std::int64_t of_length, std::int64_t n_columns, Machine& machine)
        : length(of_length),
          count(n_columns),
          circles(machine.template allocate<Double2>(of_length * n_columns)),
          fft(machine.plan_fft({of_length, n_columns})) {}
    RowPieces whole() const { return {count, length}; }
    RowPieces half(std::int64_t n_columns) const { return {n_columns, length / 2}; }
    Double2* data() { return circles.data(); }
    void transform(FftSign sign) { fft.transform(sign, data(), data()); }

    std::int64_t length;
    std::int64_t count;
    Buffer<Double2> circles;
    typename Machine::Fft fft;
  };

  template <class Work>
  void launch(const Work& work) {
    machine_->launch(work, work.pieces.n_blocks());
  }
  void resize(const ThetaColumns& columns, double sign, Circles& from, Circles& to) {
    launch(ResizeSeries{to.whole(), columns, degree_, from.length, turns_.data(), sign, from.data(),
                        to.data()});
  }
  /// Calls work(rows of a part that are wanted).
  template <class Work>
  void for_each_part(RowRange wanted, const Work& work) {
    for (const RowRange& part : parts_) {
      const RowRange rows{std::max(part.begin, wanted.begin), std::min(part.end, wanted.end)};
      if (rows.begin < rows.end) work(rows);
    }
  }
  /// Calls work(columns) for the columns of rows, so many at once as the workspace has.
  template <class Work>
  void for_each_group(RowRange rows, const Work& work) {
    const std::int64_t end = rows.end * n_components_;
    for (std::int64_t first = rows.begin * n_components_; first < end; first += n_columns_) {
      work(ThetaColumns{columns_.data() + first, std::min(n_columns_, end - first), n_components_});
    }
  }

  Machine* machine_;
  std::vector<RowRange> parts_;
  std::int64_t n_components_;
  std::int64_t degree_;
  std::int64_t n_columns_;
  Buffer<ThetaColumn> columns_;
  Buffer<RowSegment> segments_;
  Buffer<std::int32_t> rings_;
  Buffer<Double2> turns_;
  Buffer<Double2> equidistant_;
  Circles coarse_;
  Circles fine_;
  Buffer<std::byte> fft_work_;
};

}  // namespace ringweave::detail::gpu
