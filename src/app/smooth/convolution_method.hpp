// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "app/maps/map_run.hpp"
#include "app/smooth/smooth_job.hpp"
#include "app/smooth/smooth_kernel.hpp"
#include "app/smooth/smoothing_method.hpp"
#include "app/transform_setup.hpp"
#include "base/checked_cast.hpp"
#include "base/component_update.hpp"
#include "base/stage_timer.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/smoothing.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline app {

/// Smooths by convolutions on rings, map by map: scalar fields, then Q and U on the same rings. A
/// convolution is made when it is needed. Masks are scalar maps and take that of scalar fields.
template <class Convolution>
class ConvolutionMethod : public SmoothingMethod {
 public:
  using SmoothingMethod::SmoothingMethod;

  SmoothingReport smooth(AnyMapGroup group) final {
    return std::visit([&](auto* maps) { return smooth_group(*maps); }, group);
  }
  void release() final {
    free(of_scalars_);
    free(of_spins_);
  }

 protected:
  /// Makes a convolution of these fields. Collective.
  virtual Convolution make(Fields fields) = 0;
  /// Keeps the times of a convolution that will be freed.
  virtual void keep_times(Convolution& convolution) = 0;
  /// Counts the work of a convolution of these fields, that of their masks included.
  virtual void count(Fields /*fields*/, const Convolution& /*convolution*/,
                     const SmoothingReport& /*report*/) {}
  /// Puts the kernel into the provenance of smoothed maps.
  virtual void describe(Provenance& provenance) const = 0;

  StageTimes convolution_time_;  ///< in "convolution", masks included

 private:
  using LazyConvolution = std::optional<Convolution>;

  Convolution& get_or_make(LazyConvolution& convolution, Fields fields) {
    if (!convolution) convolution.emplace(make(fields));
    return *convolution;
  }
  void free(LazyConvolution& convolution) {
    if (convolution) keep_times(*convolution);
    convolution.reset();
  }

  template <class T>
  SmoothingReport smooth_group(MapGroup<T>& group) {
    const bool has_scalars = job_.n_scalars() > 0;
    const bool has_spins = job_.n_spin_maps() > 0;
    SmoothingReport report;
    if (has_scalars) report = convolve(group, Fields::scalar);
    // Q and U, and the next map's T, need its memory, unless masks have both convolutions anyway.
    const bool frees = has_scalars && has_spins && !job_.is_normalized();
    if (frees) release();
    if (has_spins) report = with_spins(std::move(report), convolve(group, Fields::spin));
    if (frees) release();
    describe(group.provenance);
    return report;
  }

  /// Convolves the fields of one kind. Where these are all components the map gets the new memory,
  /// else the results are copied over the input.
  template <class T>
  SmoothingReport convolve(MapGroup<T>& group, Fields fields) {
    const bool are_spins = fields == Fields::spin;
    const std::int64_t first = are_spins ? job_.n_scalars() : 0;
    const std::int64_t n = are_spins ? job_.n_spin_maps() : job_.n_scalars();
    if (job_.maps.is_single()) run_.progress.stage(are_spins ? "convolving Q and U" : "convolving");
    Convolution& convolution = get_or_make(are_spins ? of_spins_ : of_scalars_, fields);
    Convolution* const of_masks =
        are_spins && job_.is_normalized() ? &get_or_make(of_scalars_, Fields::scalar) : nullptr;
    MaskOptions treatment = job_.smoothing;
    if (are_spins) treatment.remove = Remove::none;
    MapBuffer<T>& map = group.map;
    auto smoothed = agreed(run_.comm, [&] { return MapBuffer<T>(n, map.size()); });
    const std::string& input = job_.maps.to_do[to_size(group.range.first)].input;
    const SmoothingReport report = with_path(input, [&] {
      const StageTimer timer(&convolution_time_, "convolution");
      return smooth_on_rings<T>(run_.comm, convolution, treatment, map.view().components(first, n),
                                smoothed.view(), of_masks);
    });
    count(fields, convolution, report);
    if (n == map.n_components()) {
      map = std::move(smoothed);
    } else {
      copy<T>(std::as_const(smoothed).view(), map.view().components(first, n));
    }
    return report;
  }

  /// Returns the report of all fields of a map, from those of its scalar fields and of its Q and U.
  static SmoothingReport with_spins(SmoothingReport report, const SmoothingReport& of_spins) {
    if (report.maps.empty()) return of_spins;
    const std::vector<std::int64_t>& unseen = of_spins.maps.front().unseen_pixels;
    std::vector<std::int64_t>& all = report.maps.front().unseen_pixels;
    all.insert(all.end(), unseen.begin(), unseen.end());
    return report;
  }

  LazyConvolution of_spins_;
  LazyConvolution of_scalars_;
};

}  // namespace ringweave::detail::inline app
