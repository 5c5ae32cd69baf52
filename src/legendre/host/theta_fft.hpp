// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

// FFTs of adjacent complex columns, vectorized over the columns: a row holds one complex number of
// every column.
namespace ringweave::detail::inline legendre::columns {

constexpr std::int64_t width = 8;             ///< columns
constexpr std::int64_t row_size = 2 * width;  ///< doubles per row: [real, imaginary][column]

/// Samples of one period of functions f(-x) = parity f(x), of which only the first half is stored
/// in `samples` [sample][row]: sample j < length is f at (j + 1/2) / length of half the period. The
/// even samples of the whole period are transformed, element i being sample 2 i; those of the
/// second half are mirror images.
struct Folded {
  double* samples;
  const double* parity;  ///< [column], 1 or -1
};

/// Complex FFT of columns, y_k = sum_j x_j exp(-2 pi i j k / length), and its transpose. The
/// transformed rows are in an internal order, position(k), which saves a permutation. No allocation
/// after construction; thread safe.
class ThetaFft {
 public:
  /// Makes the tables of a length. Error  InternalError unless has_theta_fft(length).
  explicit ThetaFft(std::int64_t length);

  std::int64_t length() const { return length_; }
  std::int64_t bytes() const;
  /// Returns the row of y_k.
  std::int64_t position(std::int64_t k) const { return positions_[static_cast<std::size_t>(k)]; }

  /// Transforms rows [length][row]: x in natural order becomes y in position order.
  void transform(double* rows) const noexcept;
  /// Transforms x from the samples, which are only read; overwrites rows with y.
  void transform(Folded x, double* rows) const noexcept;

  /// Apply the transpose: rows in position order become natural. The second form overwrites the
  /// samples with the result and destroys the rows.
  void transpose(double* rows) const noexcept;
  void transpose(double* rows, Folded x) const noexcept;

  /// One step of decimation in frequency: `radix` parts of a run of `length` rows.
  struct Stage {
    int radix;
    std::int64_t length;
    std::int64_t part;      ///< length / radix
    std::int64_t twiddles;  ///< offset of exp(-2 pi i j q / length): [j < part][q = 1..radix-1]
  };
  struct Stages {
    const Stage* begin;
    const Stage* end;
    const std::complex<double>* twiddles;
  };

 private:
  Stages stages() const {
    return {stages_.data(), stages_.data() + stages_.size(), twiddles_.data()};
  }

  std::int64_t length_;
  std::vector<Stage> stages_;
  std::vector<std::complex<double>> twiddles_;
  std::vector<std::int64_t> positions_;
};

}  // namespace ringweave::detail::inline legendre::columns
