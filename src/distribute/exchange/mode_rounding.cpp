// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/mode_rounding.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <limits>

#include "ringweave/error.hpp"

namespace ringweave::detail::inline distribute {
namespace {

/// Returns true if there are enough modes for more than one thread.
bool is_worth_threads(std::span<const CopyRun> runs) {
  constexpr std::int64_t least = std::int64_t{1} << 13;
  std::int64_t modes = 0;
  for (const CopyRun& run : runs) modes += run.count;
  return modes >= least;
}

}  // namespace

void copy_modes(const std::complex<double>* from, std::complex<double>* to,
                std::span<const CopyRun> runs) {
  // round_modes() would take half as long again, for its search of the largest magnitude.
#pragma omp parallel if (is_worth_threads(runs))
  {
    const std::int64_t n_threads = omp_get_num_threads();
    const std::int64_t thread = omp_get_thread_num();
    for (const CopyRun& run : runs) {
      const std::int64_t begin = run.count * thread / n_threads;
      const std::int64_t end = run.count * (thread + 1) / n_threads;
      std::copy_n(from + run.from + begin, end - begin, to + run.to + begin);
    }
  }
}

// Shares every run among all threads, so that neither a few long runs nor many short ones leave a
// thread idle. Treats real and imaginary parts as contiguous numbers.
template <class From, class To>
double round_modes(const std::complex<From>* from, std::complex<To>* to,
                   std::span<const CopyRun> runs) {
  double largest = 0;
#pragma omp parallel if (is_worth_threads(runs))
  for (const CopyRun& run : runs) {
    const From* source = reinterpret_cast<const From*>(from + run.from);
    To* target = reinterpret_cast<To*>(to + run.to);
    const std::int64_t n = 2 * run.count;
#pragma omp for schedule(static) reduction(max : largest) nowait
    for (std::int64_t i = 0; i < n; ++i) {
      const From value = source[i];
      largest = larger_magnitude(largest, static_cast<double>(value));
      target[i] = through_single<To>(value);
    }
  }
  return largest;
}
template double round_modes(const std::complex<double>*, std::complex<float>*,
                            std::span<const CopyRun>);
template double round_modes(const std::complex<float>*, std::complex<double>*,
                            std::span<const CopyRun>);
template double round_modes(const std::complex<double>*, std::complex<double>*,
                            std::span<const CopyRun>);

void require_single_range(double largest) {
  constexpr auto limit = static_cast<double>(std::numeric_limits<float>::max());
  if (largest <= limit) return;
  throw DataError(
      "exchange in single precision",
      fmt::format(
          "ring modes reach {:.3g}, beyond {:.3g} there is nothing; exchange them in double "
          "precision (--exchange double) or use larger units",
          largest, limit));
}

}  // namespace ringweave::detail::inline distribute
