// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/degree_rotation.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked_cast.hpp"
#include "legendre/host/quarter_turn.hpp"

namespace ringweave::detail::inline legendre {
namespace {

using Complex = DegreeRotation::Complex;
using quarter_turn::block_size;
using quarter_turn::width;

std::int64_t blocks_of(int l) { return l / width + 1; }

/// Returns the highest n with values in the triangle n <= k that are not negligible (1e-18). They
/// fall where k^2 + n^2 > l^2.
int highest_column(int l) {
  const double bound = l / std::sqrt(2.0) + 8 + 8 * std::cbrt(static_cast<double>(l));
  return std::min(l, static_cast<int>(bound));
}

/// (-i)^m x.
Complex times_power_of_minus_i(int m, Complex x) {
  switch (m % 4) {
    case 0: return x;
    case 1: return {x.imag(), -x.real()};
    case 2: return -x;
    default: return {-x.imag(), x.real()};
  }
}

}  // namespace

Complex turn_phase(int m, long double angle) {
  const long double turn = m * angle;
  return {static_cast<double>(std::cos(turn)), static_cast<double>(-std::sin(turn))};
}

struct DegreeRotation::Blocks {
  int l;
  std::int64_t first;  ///< of columns
  std::int64_t count;
};

DegreeRotation::DegreeRotation(int lmax, long double psi, long double theta, long double phi) {
  const std::int64_t size = std::int64_t{lmax} + 1;
  for (auto* table : {&first_phase_, &middle_phase_, &last_phase_}) table->reserve(to_size(size));
  central_.reserve(to_size(size));
  long double squared = 1;  // binomial(2 l, l) / 4^l
  for (int l = 0; l <= lmax; ++l) {
    if (l > 0) squared *= (2.0L * l - 1) / (2.0L * l);
    central_.push_back(static_cast<double>(std::sqrt(squared)));
    first_phase_.push_back(times_power_of_minus_i(l, turn_phase(l, psi)));
    middle_phase_.push_back(l % 2 == 0 ? turn_phase(l, theta) : -turn_phase(l, theta));
    last_phase_.push_back(times_power_of_minus_i(l, turn_phase(l, phi)));
  }
}

DegreeRotation::Scratch::Scratch(int lmax, std::int64_t n_components)
    : lmax_(lmax), n_components_(n_components), alm_(n_components * (std::int64_t{lmax} + 1)) {
  const std::int64_t n_blocks = blocks_of(lmax);
  const std::int64_t n_maps = std::min<std::int64_t>(n_components, quarter_turn::most_maps);
  for (HostBuffer<double>* rows : {&couplings_, &ratios_, &falls_, &gains_, &slopes_, &seeds_})
    rows->allocate(n_blocks * width);
  for (HostBuffer<std::int32_t>* scales : {&seed_scales_, &scales_}) scales->allocate(n_blocks);
  columns_.allocate(n_blocks * block_size(static_cast<int>(n_maps)));
  for (HostBuffer<double>* pairs : {&row_values_, &row_sums_})
    pairs->allocate(n_blocks * width * n_maps * 2);
}

std::int64_t DegreeRotation::Scratch::bytes() const {
  return held_bytes(alm_, couplings_, ratios_, falls_, gains_, slopes_, seeds_, seed_scales_,
                    scales_, columns_, row_values_, row_sums_);
}

DegreeRotation::Blocks DegreeRotation::prepare(int l, Scratch& s) const noexcept {
  quarter_turn::fill_factors(l, s.couplings_.data(), s.ratios_.data(), s.falls_.data());
  const Blocks blocks{l, (l - highest_column(l)) / width, blocks_of(l)};

  // gain_(r+1) = gain_(r-1) A_k+1 / A_k makes the last coefficient of the recurrence -1.
  s.gains_[0] = 1;
  s.gains_[1] = 1;
  for (std::int64_t r = 1; r < l; ++r) s.gains_[r + 1] = s.gains_[r - 1] * s.ratios_[r];
  for (std::int64_t r = 0; r < l; ++r)
    s.slopes_[r] = 2 * s.gains_[r] / (s.couplings_[r] * s.gains_[r + 1]);
  std::fill(s.slopes_.data() + l, s.slopes_.data() + blocks.count * width, 0.0);

  // Delta_ln from n = 0, where it is large. A block of columns has the exponent of its lowest n.
  double value = l % 2 == 0 ? central_[to_size(l)] : -central_[to_size(l)];
  std::int32_t scale = 0;
  for (std::int64_t column = blocks.count * width - 1; column >= blocks.first * width; --column) {
    const std::int64_t n = l - column;
    if (n < 0) {
      s.seeds_[column] = 0;
      continue;
    }
    const std::int64_t block = column / width;
    if (n == 0 || column % width == width - 1) s.seed_scales_[block] = scale;
    s.seeds_[column] =
        std::ldexp(value, -quarter_turn::scale_step * (scale - s.seed_scales_[block]));
    value *= -s.falls_[n];
    if (std::abs(value) < quarter_turn::smallest_asleep) {
      value = std::ldexp(value, quarter_turn::scale_step);
      ++scale;
    }
  }
  return blocks;
}

/// Replaces b_n of some components by u_k = sum over n of Delta_kn b_n. With b_-n = (-1)^n
/// conj(b_n) the same holds for u, and
///   u_k = sum over n >= 0 of Delta_kn (n > 0 ? 2 : 1) (l + k + n even ? Re b_n : i Im b_n).
void DegreeRotation::apply_quarter_turn(const Blocks& blocks, std::int64_t first_component,
                                        int n_maps, Scratch& s) const noexcept {
  const int l = blocks.l;
  const std::int64_t size = block_size(n_maps);
  std::copy_n(s.seed_scales_.data() + blocks.first, blocks.count - blocks.first,
              s.scales_.data() + blocks.first);
  for (std::int64_t b = blocks.first; b < blocks.count; ++b) {
    double* const block = s.columns_.data() + b * size;
    std::copy_n(s.seeds_.data() + b * width, width, block);
    std::fill_n(block + width, size - width, 0.0);
  }
  std::fill_n(s.row_values_.data(), blocks.count * width * n_maps * 2, 0.0);
  std::fill_n(s.row_sums_.data(), blocks.count * width * n_maps * 2, 0.0);

  for (int map = 0; map < n_maps; ++map) {
    const Complex* const alm = s.alm(first_component + map);
    for (int n = 0; n <= l; ++n) {
      const std::int64_t i = std::int64_t{l} - n;
      const double twice = n == 0 ? 1 : 2;
      const double re = twice * alm[n].real();
      const double im = n == 0 ? 0 : twice * alm[n].imag();
      if (i >= blocks.first * width) {
        double* const x = s.columns_.data() + i / width * size + width * (2 + 4 * map) + i % width;
        x[0] = n % 2 == 0 ? re : im;
        x[width] = n % 2 == 0 ? im : re;
      }
      const double gain = n % 2 == 0 ? s.gains_[i] : -s.gains_[i];
      double* const pair = s.row_values_.data() + 2 * (i * n_maps + map);
      const bool real_first = (l + i) % 2 == 0;
      pair[0] = gain * (real_first ? re : im);
      pair[1] = gain * (real_first ? im : re);
    }
  }

  quarter_turn::add_sums({l, n_maps, blocks.first, blocks.count, s.columns_.data(),
                          s.scales_.data(), s.slopes_.data(), s.row_values_.data(),
                          s.row_sums_.data()});

  for (int map = 0; map < n_maps; ++map) {
    Complex* const alm = s.alm(first_component + map);
    for (int k = 0; k <= l; ++k) {
      const std::int64_t i = std::int64_t{l} - k;
      const double* const pair = s.row_sums_.data() + 2 * (i * n_maps + map);
      const bool real_first = (l + i) % 2 == 0;
      double re = s.gains_[i] * pair[real_first ? 0 : 1];
      double im = s.gains_[i] * pair[real_first ? 1 : 0];
      if (i >= blocks.first * width) {
        const double* const y =
            s.columns_.data() + i / width * size + width * (4 + 4 * map) + i % width;
        re += k % 2 == 0 ? y[0] : -y[width];
        im += k % 2 == 0 ? y[width] : -y[0];
      }
      alm[k] = {re, im};
    }
  }
}

void DegreeRotation::rotate(int l, Scratch& scratch) const noexcept {
  const auto turn_about_z = [&](const std::vector<Complex>& phase) {
    for (std::int64_t c = 0; c < scratch.n_components_; ++c) {
      Complex* const alm = scratch.alm(c);
      for (int m = 0; m <= l; ++m) alm[m] *= phase[to_size(m)];
      alm[0] = alm[0].real();
    }
  };
  const auto turn_by_quarter = [&](const Blocks& blocks) {
    for (std::int64_t c = 0; c < scratch.n_components_; c += quarter_turn::most_maps) {
      const std::int64_t rest = scratch.n_components_ - c;
      apply_quarter_turn(blocks, c,
                         static_cast<int>(std::min<std::int64_t>(rest, quarter_turn::most_maps)),
                         scratch);
    }
  };
  if (l == 0) {
    for (std::int64_t c = 0; c < scratch.n_components_; ++c)
      scratch.alm(c)[0] = scratch.alm(c)[0].real();
    return;
  }
  const Blocks blocks = prepare(l, scratch);
  turn_about_z(first_phase_);
  turn_by_quarter(blocks);
  turn_about_z(middle_phase_);
  turn_by_quarter(blocks);
  turn_about_z(last_phase_);
}

}  // namespace ringweave::detail::inline legendre
