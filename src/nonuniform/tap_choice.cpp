// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/tap_choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "base/checked_cast.hpp"
#include "nonuniform/tap_kernel.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline nonuniform {
namespace {

// Costs in seconds of one core, of single stages at lmax 2047 on an EPYC processor (AVX-512).
constexpr double vector_operation_seconds = 4.5e-10;  ///< 8 doubles
constexpr double theta_fft_seconds = 3.7e-10;         ///< per complex number and log2 of the length
constexpr double row_fft_seconds = 1.4e-10;           ///< per pixel and log2 of the length
constexpr double exchanged_byte_seconds = 5e-10;
constexpr double mode_bytes = 16;
constexpr double kept_modes = 0.68;  ///< the others are negligible near the poles
constexpr int lanes = 8;
/// Returns the vectors that hold the taps of one direction.
double vectors_of(int width) { return width > lanes ? 2 : 1; }
/// Returns about how many powers of x^2 taps have. An even and an odd polynomial of each fill a
/// vector where there are up to eight taps, two vectors where there are more.
constexpr double tap_terms(int width) { return 2 + 0.3 * width; }

// Both are large enough that taps pass a pole, or the end of a row, once at most.
constexpr std::int64_t least_rows = TapKernel::most_width;
constexpr std::int64_t least_columns = 2 * TapKernel::most_width;

constexpr std::array oversamplings{1.15, 1.2,  1.25, 1.3, 1.35, 1.4,
                                   1.5,  1.65, 1.75, 2.0, 2.25, 2.5};
using ErrorRow = std::array<double, oversamplings.size()>;
// Between its entries the error lies up to 3 % above a straight line of its logarithm.
constexpr double above_table = 1.05;
/// Errors of TapKernel, rounded up, [width][oversampling].
constexpr std::array<ErrorRow, TapKernel::most_width - TapKernel::least_width + 1> errors{{
    {1.2e-1, 8.5e-2, 6.7e-2, 4.7e-2, 3.5e-2, 2.9e-2, 2.1e-2, 1.4e-2, 1.2e-2, 7.2e-3, 5.2e-3,
     4.2e-3},
    {2.3e-2, 1.5e-2, 1.1e-2, 7.8e-3, 6.2e-3, 5.0e-3, 3.5e-3, 2.0e-3, 1.6e-3, 9.1e-4, 6.1e-4,
     4.6e-4},
    {8.1e-3, 4.8e-3, 3.0e-3, 2.1e-3, 1.5e-3, 1.1e-3, 5.3e-4, 2.8e-4, 2.0e-4, 9.0e-5, 5.1e-5,
     3.6e-5},
    {2.9e-3, 1.5e-3, 7.9e-4, 4.7e-4, 2.8e-4, 1.7e-4, 7.6e-5, 3.2e-5, 2.1e-5, 9.3e-6, 5.6e-6,
     3.9e-6},
    {1.1e-3, 3.7e-4, 1.6e-4, 7.9e-5, 4.4e-5, 2.8e-5, 1.3e-5, 5.1e-6, 3.1e-6, 1.2e-6, 5.9e-7,
     2.9e-7},
    {2.8e-4, 8.9e-5, 3.8e-5, 1.9e-5, 9.9e-6, 5.6e-6, 2.2e-6, 7.4e-7, 4.0e-7, 1.3e-7, 5.5e-8,
     2.7e-8},
    {7.7e-5, 2.5e-5, 9.5e-6, 4.3e-6, 2.2e-6, 1.2e-6, 3.7e-7, 1.1e-7, 5.3e-8, 1.5e-8, 5.9e-9,
     2.5e-9},
    {2.7e-5, 7.6e-6, 2.6e-6, 9.9e-7, 4.5e-7, 2.2e-7, 6.4e-8, 1.7e-8, 7.7e-9, 1.7e-9, 5.2e-10,
     2.1e-10},
    {8.9e-6, 2.2e-6, 6.5e-7, 2.4e-7, 9.8e-8, 4.5e-8, 1.2e-8, 2.4e-9, 9.7e-10, 1.7e-10, 5.6e-11,
     1.9e-11},
    {3.2e-6, 6.6e-7, 1.7e-7, 5.4e-8, 2.1e-8, 9.0e-9, 1.9e-9, 3.4e-10, 1.4e-10, 2.0e-11, 4.7e-12,
     1.7e-12},
    {1.1e-6, 2.0e-7, 4.6e-8, 1.3e-8, 4.4e-9, 1.7e-9, 3.4e-10, 4.7e-11, 1.7e-11, 2.1e-12, 4.4e-13,
     1.7e-13},
    {3.7e-7, 5.3e-8, 1.2e-8, 3.0e-9, 9.1e-10, 3.2e-10, 5.5e-11, 7.4e-12, 2.0e-12, 2.6e-13, 4.3e-14,
     1.6e-14},
    {1.3e-7, 1.7e-8, 3.0e-9, 7.3e-10, 2.1e-10, 6.6e-11, 8.8e-12, 1.1e-12, 2.9e-13, 2.5e-14, 5.4e-15,
     1.5e-15},
    {4.2e-8, 4.8e-9, 8.2e-10, 1.7e-10, 3.9e-11, 1.2e-11, 1.8e-12, 1.3e-13, 3.9e-14, 3.2e-15,
     6.3e-16, 3.0e-16},
}};

enum class Samples { rows, columns };

/// Returns the least multiple of 8 from `least` on without prime factors above 5: all FFTs have
/// radices of 4 then, q + length / 2 is a pixel, and rows begin at whole vectors. As many columns
/// as make all rows compete for the same lines of a cache are left out.
std::int64_t fft_length(std::int64_t least, Samples samples) {
  constexpr std::int64_t competing = 256;
  const auto is_good = [&](std::int64_t n) {
    if (samples == Samples::columns && n % competing == 0) return false;
    for (const int prime : {2, 3, 5}) {
      while (n % prime == 0) n /= prime;
    }
    return n == 1;
  };
  std::int64_t length = (least + 7) / 8 * 8;
  while (!is_good(length)) length += 8;
  return length;
}

struct Candidate {
  TapSize size;
  double error = 0;
  double log_length = 0;
};

/// needed  fine samples that the highest mode needs at least
std::vector<Candidate> candidates(Samples samples, std::int64_t needed, std::int64_t least_length) {
  std::vector<Candidate> found;
  for (const double wanted : oversamplings) {
    const auto least = static_cast<std::int64_t>(std::ceil(wanted * static_cast<double>(needed)));
    const std::int64_t length = fft_length(std::max(least, least_length), samples);
    const double oversampling =
        std::min(static_cast<double>(length) / static_cast<double>(needed), oversamplings.back());
    for (int width = TapKernel::least_width; width <= TapKernel::most_width; ++width) {
      found.push_back({{length, width, oversampling},
                       kernel_error_bound(width, oversampling),
                       std::log2(static_cast<double>(length))});
    }
  }
  return found;
}

double seconds(const TapProblem& problem, const Candidate& theta, const Candidate& phi) {
  const auto points = static_cast<double>(problem.n_points);
  const auto components = static_cast<double>(problem.n_components);
  const auto orders = static_cast<double>(problem.mmax + 1);
  const auto length = static_cast<double>(theta.size.length);
  // Rows that no point touches are neither sent nor transformed.
  const double rows = std::min(length, points * theta.size.width);
  const double theta_fft = components * orders * length * theta.log_length * theta_fft_seconds;
  const double exchange =
      components * orders * rows * kept_modes * mode_bytes * exchanged_byte_seconds;
  const double row_fft =
      components * rows * static_cast<double>(phi.size.length) * phi.log_length * row_fft_seconds;
  const double operations = tap_operations(theta.size.width, phi.size.width, problem.n_components);
  return theta_fft + exchange + row_fft + points * operations * vector_operation_seconds;
}

}  // namespace

double kernel_error_bound(int width, double oversampling) {
  const ErrorRow& row = errors[to_size(width - TapKernel::least_width)];
  std::size_t k = 1;
  while (k + 1 < row.size() && oversamplings[k] < oversampling) ++k;
  const double part =
      (oversampling - oversamplings[k - 1]) / (oversamplings[k] - oversamplings[k - 1]);
  return above_table * row[k - 1] * std::pow(row[k] / row[k - 1], std::min(part, 1.0));
}

double tap_operations(int theta_width, int phi_width, std::int64_t n_components) {
  const auto weights = [](int width) { return tap_terms(width) * vectors_of(width); };
  return static_cast<double>(n_components) * theta_width * vectors_of(phi_width) +
         weights(theta_width) + weights(phi_width);
}

TapChoice choose_taps(const TapProblem& problem) {
  if (!(problem.epsilon >= least_epsilon && problem.epsilon < 1)) {
    throw UsageError(
        fmt::format("transform to points with epsilon = {}; expected {} or more, and less than 1",
                    problem.epsilon, least_epsilon));
  }
  const std::vector<Candidate> rows = candidates(Samples::rows, problem.lmax + 1, least_rows);
  const std::vector<Candidate> columns =
      candidates(Samples::columns, 2 * problem.mmax + 2, least_columns);
  TapChoice best;
  best.seconds = std::numeric_limits<double>::infinity();
  for (const Candidate& theta : rows) {
    for (const Candidate& phi : columns) {
      // At the worst place both errors have one sign: (1 + e_t) (1 + e_p) - 1.
      const double error = theta.error + phi.error + theta.error * phi.error;
      if (error > problem.epsilon) continue;
      const double cost = seconds(problem, theta, phi);
      if (cost < best.seconds) best = {theta.size, phi.size, error, cost};
    }
  }
  return best;
}

}  // namespace ringweave::detail::inline nonuniform
