// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>

#include "fft/lane_transform.hpp"

struct fftw_plan_s;

namespace ringweave::detail::inline fft {

/// A plan of FFTW, made without measuring: the same one in every run.
class FftwPlan {
 public:
  explicit FftwPlan(fftw_plan_s* plan) : plan_(plan) {}
  ~FftwPlan();
  FftwPlan(const FftwPlan&) = delete;
  FftwPlan& operator=(const FftwPlan&) = delete;

  fftw_plan_s* get() const { return plan_; }

 private:
  fftw_plan_s* plan_;
};

/// Complex FFTs of strips, one transform per vector lane: [length][re, im][lane]. Only
/// out_j = sum_k in_k exp(+2 pi i j k / length); input in reverse order, in_{length - k}, gives the
/// other sign. Lengths with small factors are transformed in lanes, others by FFTW. Memory is
/// aligned to vectors. Thread safe.
class StripFft {
 public:
  /// Returns the process-wide plans of a length. Thread safe.
  static const StripFft& of_length(std::int64_t length);

  explicit StripFft(std::int64_t length);
  /// Transforms `data`; `other` is scratch of the same size. Returns the one that holds the result.
  double* transform(double* data, double* other) const noexcept;
  /// Returns whether that is `data`.
  bool is_in_place() const;

 private:
  std::optional<LaneTransform> lanes_;
  std::optional<FftwPlan> plan_;
};

}  // namespace ringweave::detail::inline fft
