// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>

struct fftw_plan_s;

namespace ringweave::detail::inline fft {

/// A complex FFTW plan: out_j = sum_k in_k exp(+2 pi i j k / length); out of place, input
/// preserved.
///
/// Only this direction is planned; the result in reverse order, out_{length - j}, is the other one.
/// Plans are made once per process, without measuring (the same plan in every run), and shared.
class BackwardFft {
 public:
  /// Returns the process-wide plan of a length. Thread safe; lives until the process ends.
  static const BackwardFft& of_length(std::int64_t length);

  explicit BackwardFft(std::int64_t length);
  ~BackwardFft();
  BackwardFft(const BackwardFft&) = delete;
  BackwardFft& operator=(const BackwardFft&) = delete;

  /// Executes the plan. Thread safe. `in` and `out` hold `length` elements, do not overlap and
  /// satisfy is_aligned().
  void execute(const std::complex<double>* in, std::complex<double>* out) const noexcept;
  /// Returns whether memory that begins here can be passed to execute().
  static bool is_aligned(const void* begin) noexcept;

 private:
  fftw_plan_s* plan_;
};

}  // namespace ringweave::detail::inline fft
