// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "fft/cuda/device_plane_plan.hpp"
#include "fft/cuda/plane_launches.hpp"
#include "fft/device_plane_filter.hpp"

namespace ringweave::detail::gpu {

/// Memory of filters that run one after the other: padded planes, and that of FFTs.
template <class Machine>
struct PlaneWorkspace {
  PlaneWorkspace(Machine& machine, std::int64_t padded_values, std::int64_t fft_bytes)
      : padded(machine.template allocate<double>(padded_values)),
        fft_work(machine.template allocate<std::byte>(fft_bytes)) {}
  typename Machine::template Buffer<double> padded;
  typename Machine::template Buffer<std::byte> fft_work;

  std::int64_t bytes() const { return padded.bytes() + fft_work.bytes(); }
};

/// Launches of a filter of planes in order. Machine runs them: a device, or its emulation on the
/// host. It provides the interface that StageSequence needs, and
///   plan_plane_fft(PlaneFftSize)    returns a PlaneFft: real FFTs of planes of one size
///   PlaneFft::work_in(memory)       sets work memory of at least work_bytes(); may be shared
///   PlaneFft::forward(from, to)     [y][x] -> [q][p], p <= x_length / 2; in order
///   PlaneFft::backward(from, to)    the contents of `from` are lost
template <class Machine>
class PlaneFilterSequence {
 public:
  PlaneFilterSequence(const PlaneFilterAxes& axes, std::int64_t most_planes, Machine& machine)
      : machine_(&machine),
        x_(axes.x, machine),
        y_(axes.y, machine),
        size_{axes.y.length, axes.x.length, std::min(most_planes, planes_together)} {
    ffts_.push_back(machine.plan_plane_fft(size_));
    if (size_.count > 1)
      ffts_.push_back(machine.plan_plane_fft({size_.y_length, size_.x_length, 1}));
  }

  std::int64_t spectrum_size() const { return size_.n_numbers(); }
  std::int64_t padded_values() const { return size_.count * size_.n_values(); }
  std::int64_t fft_bytes() const {
    std::int64_t bytes = 0;
    for (const auto& fft : ffts_) bytes = std::max(bytes, fft.work_bytes());
    return bytes;
  }
  /// Sets the workspace, before the first transform; it must outlive them.
  void work_in(PlaneWorkspace<Machine>& workspace) {
    padded_ = workspace.padded.data();
    for (auto& fft : ffts_) fft.work_in(workspace.fft_work.data());
  }

  void forward(const DevicePlanes<const double>& planes, const FilterWindow& window,
               Double2* spectra) {
    for_groups(planes.count, [&](std::int64_t first, std::int64_t count, auto& fft) {
      const RowPieces pieces{count, size_.n_values()};
      const PadPlanes pad{
          pieces,
          size_.x_length,
          x_.sources.data(),
          y_.sources.data(),
          {std::max<std::int64_t>(window.x_begin, 0), std::min(window.x_end, x_.axis.size)},
          {std::max<std::int64_t>(window.y_begin, 0), std::min(window.y_end, y_.axis.size)},
          rows_of(planes, first),
          padded_};
      machine_->launch(pad, pieces.n_blocks());
      fft.forward(padded_, spectra + first * spectrum_size());
    });
  }

  void multiply(const double* multiplier, double weight, std::int64_t n_planes,
                const Double2* spectra, Double2* sums, Accumulate how) {
    const auto run = [&](auto x_cosine, auto y_cosine) {
      if (how == Accumulate::add) {
        multiply_by<x_cosine(), y_cosine(), true>(multiplier, weight, n_planes, spectra, sums);
      } else {
        multiply_by<x_cosine(), y_cosine(), false>(multiplier, weight, n_planes, spectra, sums);
      }
    };
    constexpr std::integral_constant<bool, true> yes;
    constexpr std::integral_constant<bool, false> no;
    if (is_cosine(x_)) {
      is_cosine(y_) ? run(yes, yes) : run(yes, no);
    } else {
      is_cosine(y_) ? run(no, yes) : run(no, no);
    }
  }

  void backward(Double2* sums, const DevicePlanes<double>& planes, Accumulate how) {
    for_groups(planes.count, [&](std::int64_t first, std::int64_t count, auto& fft) {
      fft.backward(sums + first * spectrum_size(), padded_);
      if (how == Accumulate::add) {
        crop<true>(rows_of(planes, first), count);
      } else {
        crop<false>(rows_of(planes, first), count);
      }
    });
  }

  /// Returns the bytes of the tables.
  std::int64_t bytes() const { return x_.bytes() + y_.bytes(); }

 private:
  template <class T>
  using Buffer = typename Machine::template Buffer<T>;

  /// Tables of an axis, on the device.
  struct Axis {
    Axis(const DevicePlaneAxis& plan, Machine& machine)
        : axis(plan.axis),
          sources(machine.upload(plan.sources)),
          places(machine.upload(plan.places)),
          turns(machine.upload(plan.turns)) {}
    Axis(const FilterAxis& of, Machine& machine) : Axis(DevicePlaneAxis(of), machine) {}
    std::int64_t bytes() const { return sources.bytes() + places.bytes() + turns.bytes(); }

    FilterAxis axis;
    Buffer<std::int32_t> sources;
    Buffer<std::int32_t> places;
    Buffer<Double2> turns;
  };

  static bool is_cosine(const Axis& axis) { return axis.axis.series == AxisSeries::cosine; }

  /// Calls work(first plane, planes, their FFT) for all planes, so many at once as FFTs take.
  template <class Work>
  void for_groups(std::int64_t n_planes, const Work& work) {
    std::int64_t first = 0;
    for (; first + size_.count <= n_planes; first += size_.count)
      work(first, size_.count, ffts_.front());
    for (; first < n_planes; ++first) work(first, std::int64_t{1}, ffts_.back());
  }

  template <class T>
  static PlaneRows<T> rows_of(const DevicePlanes<T>& planes, std::int64_t first) {
    return {planes.values + first * planes.plane_stride, planes.plane_stride, planes.row_stride};
  }

  template <bool adds>
  void crop(const PlaneRows<double>& to, std::int64_t count) {
    const RowPieces pieces{count, y_.axis.size_out * x_.axis.size_out};
    const CropPlanes<adds> launch{pieces,
                                  x_.axis.size_out,
                                  x_.places.data(),
                                  y_.places.data(),
                                  {padded_, size_.n_values(), size_.x_length},
                                  to};
    machine_->launch(launch, pieces.n_blocks());
  }

  template <bool x_cosine, bool y_cosine, bool adds>
  void multiply_by(const double* multiplier, double weight, std::int64_t n_planes,
                   const Double2* spectra, Double2* sums) {
    using Launch = MultiplySpectra<x_cosine, y_cosine, adds>;
    const std::int64_t n_numbers = size_.x_length / 2 + 1;
    const RowPieces pieces{n_planes, (size_.y_length / 2 + 1) * n_numbers};
    const Launch launch{pieces,
                        n_numbers,
                        x_.axis.n_frequencies(),
                        size_.x_length,
                        size_.y_length,
                        multiplier,
                        Launch::scale_of(weight),
                        x_.turns.data(),
                        y_.turns.data(),
                        spectra,
                        sums};
    machine_->launch(launch, pieces.n_blocks());
  }

  Machine* machine_;
  Axis x_;
  Axis y_;
  PlaneFftSize size_;
  std::vector<typename Machine::PlaneFft> ffts_;  ///< of size_.count planes, and of one
  double* padded_ = nullptr;
};

}  // namespace ringweave::detail::gpu
