// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>

struct fftw_plan_s;

namespace ringweave::detail::inline fft {

/// Columns of a plane that are transformed together: two cache lines of complex numbers.
inline constexpr std::int64_t strip_width = 8;

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

// Transforms with exp(-2 pi i j k / length) forward, the other sign backward, neither divided by
// the length. Out of place, the input is lost. Memory is aligned to 16 bytes. Thread safe.

/// Real FFTs of single rows: `length` reals <-> length / 2 + 1 complex numbers.
class RowFft {
 public:
  /// Returns the process-wide plans of a length. Thread safe.
  static const RowFft& of_length(std::int64_t length);

  explicit RowFft(std::int64_t length);
  void forward(double* in, std::complex<double>* out) const noexcept;
  void backward(std::complex<double>* in, double* out) const noexcept;

 private:
  FftwPlan forward_;
  FftwPlan backward_;
};

/// Complex FFTs of the columns of strips, [length][strip_width].
class StripFft {
 public:
  /// Returns the process-wide plans of a length. Thread safe.
  static const StripFft& of_length(std::int64_t length);

  explicit StripFft(std::int64_t length);
  void forward(std::complex<double>* in, std::complex<double>* out) const noexcept;
  void backward(std::complex<double>* in, std::complex<double>* out) const noexcept;

 private:
  FftwPlan forward_;
  FftwPlan backward_;
};

}  // namespace ringweave::detail::inline fft
