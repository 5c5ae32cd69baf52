// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

// Complex columns side by side, so that what is done to one is done to all of them in vectors: a
// row holds one complex number of every column.
namespace ringweave::columns {

constexpr std::int64_t width = 8;             ///< columns
constexpr std::int64_t row_size = 2 * width;  ///< doubles of a row: [real, imaginary][column]

/// The samples of one period of functions f(-x) = parity f(x), of which only the first half is
/// stored: sample j < length of f at (j + 1/2) / length of half the period, in `samples`
/// [sample][row]. What is transformed are the even samples of the whole period, element i being
/// sample 2 i; beyond the half they are mirror images.
struct Folded {
  double* samples;
  const double* parity;  ///< [column], 1 or -1
};

/// The complex FFT of columns, y_k = sum_j x_j exp(-2 pi i j k / length), and its transpose.
/// Between the two the rows are in an order of their own, position(k), and no time is spent on
/// sorting them. No allocation after construction; thread safe.
class ThetaFft {
 public:
  /// Only lengths made of factors 2, 3, 5, 7 (is_smooth). Error  InternalError for others.
  explicit ThetaFft(std::int64_t length);

  static bool is_smooth(std::int64_t length);

  std::int64_t length() const { return length_; }
  std::int64_t bytes() const;
  /// Row of y_k.
  std::int64_t position(std::int64_t k) const { return positions_[static_cast<std::size_t>(k)]; }

  /// rows [length][row]: x in its natural order becomes y in position order.
  void transform(double* rows) const noexcept;
  /// x from the samples, which are only read; rows are overwritten with y.
  void transform(Folded x, double* rows) const noexcept;

  /// The transposes: rows in position order become natural. Second form: the samples are
  /// overwritten with them, the rows destroyed.
  void transpose(double* rows) const noexcept;
  void transpose(double* rows, Folded x) const noexcept;

  /// One step of decimation in frequency: `radix` parts of a run of `length` rows.
  struct Stage {
    int radix;
    std::int64_t length;
    std::int64_t part;      ///< length / radix
    std::int64_t twiddles;  ///< where exp(-2 pi i j q / length) begins: [j < part][q = 1..radix-1]
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

}  // namespace ringweave::columns
