// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/tap_modes.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <utility>

#include "base/gauss_legendre.hpp"

namespace ringweave::detail::inline nonuniform {
namespace {

using Long = TapModes::Long;
constexpr Long pi = std::numbers::pi_v<Long>;

// Gauss-Legendre nodes over the offset. Taps are polynomials of degree 20 in it at most, their sums
// hardly more, the squares twice that; 24 nodes are exact up to degree 47.
constexpr int n_nodes = 24;

}  // namespace

TapModes::TapModes(int width, std::vector<double> frequencies)
    : width_(static_cast<std::size_t>(width)), frequencies_(std::move(frequencies)) {
  for (const QuadratureNode& node : gauss_legendre_nodes(n_nodes)) {
    if (node.cos_theta < 0) break;
    offsets_.push_back(node.cos_theta);
    weights_.push_back(node.weight);
  }
  // A point on a sample, or halfway between two: errors may be largest there.
  for (const Long x : {Long(0), Long(1)}) {
    offsets_.push_back(x);
    weights_.push_back(0);
  }
  const auto turn = [](Long cycles) { return std::polar(Long(1), 2 * pi * cycles); };
  for (const double frequency : frequencies_) {
    const std::complex<Long> step = turn(frequency);
    for (const Long x : offsets_) {
      std::complex<Long> at = turn(static_cast<Long>(frequency) * tap_position(0, x));
      for (int i = 0; i < width; ++i, at *= step) {
        cosines_.push_back(at.real());
        sines_.push_back(at.imag());
      }
    }
  }
}

Long TapModes::tap_position(int i, Long x) const {
  return static_cast<Long>(i) + (x + 1 - static_cast<Long>(width_)) / 2;
}

TapModes::Sums TapModes::sums(std::size_t frequency, const std::vector<Long>& taps) const {
  const std::size_t n = offsets_.size();
  Sums sums;
  sums.remainders.reserve(2 * n);
  for (std::size_t q = 0; q < n; ++q) {
    const std::size_t row = (frequency * n + q) * width_;
    Long re = 0;
    Long im = 0;
    for (std::size_t i = 0; i < width_; ++i) {
      re += taps[q * width_ + i] * cosines_[row + i];
      im += taps[q * width_ + i] * sines_[row + i];
    }
    sums.mean += weights_[q] * re;
    sums.remainders.insert(sums.remainders.end(), {re, im});
  }
  for (std::size_t q = 0; q < n; ++q) sums.remainders[2 * q] -= sums.mean;
  return sums;
}

Long TapModes::Sums::error() const {
  Long largest = 0;
  for (std::size_t q = 0; q < remainders.size(); q += 2)
    largest = std::max(largest, std::hypot(remainders[q], remainders[q + 1]));
  return largest / std::abs(mean);
}

std::vector<double> crowded_frequencies(int n, double highest) {
  std::vector<double> frequencies;
  for (int k = 0; k < n; ++k) {
    frequencies.push_back(highest * std::sin(std::numbers::pi / 2 * k / (n - 1)));
  }
  return frequencies;
}

}  // namespace ringweave::detail::inline nonuniform
