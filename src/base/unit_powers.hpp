// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

#include "base/checked_cast.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline base {

/// a b, without the recovery of infinities that std::complex's operator owes and that stops
/// vectorisation.
inline std::complex<double> product(std::complex<double> a, std::complex<double> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// Tables of exp(i k angle), k = 0..count - 1, for many angles. Each is stored as 32 fine and count
/// / 32 coarse factors, whose product is accurate to about 2e-16: much less memory than full
/// tables, for one product per value.
class UnitPowers {
 public:
  /// The angle may have more digits than a double.
  struct Request {
    long double angle = 0;
    std::int64_t count = 0;
  };
  UnitPowers() = default;
  explicit UnitPowers(const std::vector<Request>& requests);

  /// Computes values[k] = exp(i k angle) for k < n <= count of the table.
  void expand(std::int64_t table, std::int64_t n, std::complex<double>* values) const noexcept;
  std::complex<double> value(std::int64_t table, std::int64_t k) const noexcept {
    const std::complex<double>* fine = this->fine(table);
    return product(fine[n_fine + (k >> fine_bits)], fine[k & (n_fine - 1)]);
  }
  std::int64_t bytes() const { return held_bytes(factors_, first_); }

  /// Returns the factors of all tables, one after the other: value k of one is the product of its
  /// factors n_fine + k / n_fine and k % n_fine.
  View<const std::complex<double>> factors() const { return {factors_.data(), factors_.size()}; }
  /// Returns the number of factors of a table of `count` values.
  static std::int64_t n_factors(std::int64_t count) {
    return n_fine + (count + n_fine - 1) / n_fine;
  }
  static constexpr int fine_bits = 5;
  static constexpr std::int64_t n_fine = std::int64_t{1} << fine_bits;

 private:
  const std::complex<double>* fine(std::int64_t table) const noexcept {
    return factors_.data() + first_[static_cast<std::size_t>(table)];
  }

  std::vector<std::int64_t> first_;
  HostBuffer<std::complex<double>> factors_;  ///< [table][32 fine, then coarse]
};

/// Returns exp(2 pi i k / period), k < period.
HostBuffer<std::complex<double>> powers_of_unity(std::int64_t period);

}  // namespace ringweave::detail::inline base
