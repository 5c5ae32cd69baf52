// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/direct_convolution.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <numbers>
#include <vector>

#include "base/checked_cast.hpp"
#include "sphere/kernel/kernel_table.hpp"
#include "support/noise.hpp"

namespace ringweave::detail::test {
namespace {

double square(double x) { return x * x; }

double chord_squared(const Ring& a, const Ring& b, double phi) {
  return 4 * square(std::sin((a.theta - b.theta) / 2)) +
         4 * a.sin_theta * b.sin_theta * square(std::sin(phi / 2));
}

double longitude(const Ring& ring, std::int64_t j) {
  return ring.phi0 +
         2 * std::numbers::pi * static_cast<double>(j) / static_cast<double>(ring.n_phi);
}

/// Returns a function of half the longitude of every pixel.
std::vector<double> of_half_longitudes(const RingGrid& grid, double (*function)(double)) {
  std::vector<double> values(to_size(grid.n_pixels()));
  for (const Ring& ring : grid.rings()) {
    for (std::int64_t j = 0; j < ring.n_phi; ++j)
      values[to_size(ring.first_pixel + j)] = function(longitude(ring, j) / 2);
  }
  return values;
}

}  // namespace

Pixels random_pixels(const RingGrid& grid, unsigned which) {
  Pixels map;
  for (std::int64_t p = 0; p < grid.n_pixels(); ++p)
    map.push_back(
        noise_pair(20260721, which, static_cast<int>(p / 4096), static_cast<int>(p % 4096)).re);
  return map;
}

Pixels convolve_directly(const RingGrid& grid, const RadialKernel& kernel, const Pixels& map) {
  const std::vector<double> cosine = of_half_longitudes(grid, std::cos);
  const std::vector<double> sine = of_half_longitudes(grid, std::sin);
  Pixels sums(map.size(), 0.0);
  for (const Ring& out : grid.rings()) {
    for (const Ring& in : grid.rings()) {
      const double least = chord_squared(out, in, 0);
      if (least > kernel.table().chord_squared_cut) continue;
      const double factor = 4 * out.sin_theta * in.sin_theta;
      for (std::int64_t p = out.first_pixel; p < out.first_pixel + out.n_phi; ++p) {
        double sum = 0;
        for (std::int64_t q = in.first_pixel; q < in.first_pixel + in.n_phi; ++q) {
          // of half the difference of longitudes
          const double s =
              sine[to_size(p)] * cosine[to_size(q)] - cosine[to_size(p)] * sine[to_size(q)];
          sum += kernel.table().evaluate(least + factor * square(s)) * map[to_size(q)];
        }
        sums[to_size(p)] += in.weight * sum;
      }
    }
  }
  return sums;
}

namespace {

using Real = long double;
using Vector = std::array<Real, 3>;

Real dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// A pixel's direction, and the directions to the south and to the east there.
struct Frame {
  Vector place;
  Vector south;
  Vector east;
  double weight;

  Frame(const Ring& ring, std::int64_t j) : weight(ring.weight) {
    const Real phi = static_cast<Real>(ring.phi0) + 2 * std::numbers::pi_v<Real> *
                                                        static_cast<Real>(j) /
                                                        static_cast<Real>(ring.n_phi);
    const Real c = std::cos(static_cast<Real>(ring.theta));
    const Real s = std::sin(static_cast<Real>(ring.theta));
    place = {s * std::cos(phi), s * std::sin(phi), c};
    south = {c * std::cos(phi), c * std::sin(phi), -s};
    east = {-std::sin(phi), std::cos(phi), 0};
  }
};

/// The bearings of the great circle at both of its ends, as exp(i bearing).
struct Bearings {
  std::complex<Real> leaving;
  std::complex<Real> arriving;

  Bearings(const Frame& from, const Frame& to)
      : leaving(dot(to.place, from.south), dot(to.place, from.east)),
        arriving(-dot(from.place, to.south), -dot(from.place, to.east)) {
    leaving /= std::abs(leaving);
    arriving /= std::abs(arriving);
  }
};

/// Returns exp(i gamma), by which the great circle's bearing grows from one pixel to the other; at
/// one place, as at a pole, that of a direction there. For the conjugate of a field that of the sum
/// of both bearings; 0 at one place, where its kernel is 0.
std::complex<Real> turn(const Frame& from, const Frame& to, Real chord_squared, bool is_conjugate) {
  const bool is_one_place = chord_squared < 1e-20L;
  if (is_conjugate && is_one_place) return 0;
  if (is_one_place) return {dot(from.south, to.south), dot(from.south, to.east)};
  const Bearings bearings(from, to);
  return bearings.arriving * (is_conjugate ? bearings.leaving : std::conj(bearings.leaving));
}

}  // namespace

SpinPixelMaps convolve_spin_directly(const RingGrid& grid, const RadialKernel& kernel,
                                     const SpinPixelMaps& maps) {
  std::vector<Frame> frames;
  for (const Ring& ring : grid.rings()) {
    for (std::int64_t j = 0; j < ring.n_phi; ++j) frames.emplace_back(ring, j);
  }
  const bool is_conjugate = kernel.acts_on_conjugate();
  SpinPixelMaps sums{Pixels(frames.size(), 0.0), Pixels(frames.size(), 0.0)};
  for (std::size_t p = 0; p < frames.size(); ++p) {
    std::complex<Real> sum = 0;
    for (std::size_t q = 0; q < frames.size(); ++q) {
      Vector apart = frames[p].place;
      for (std::size_t i = 0; i < 3; ++i) apart[i] -= frames[q].place[i];
      const Real chord_squared = dot(apart, apart);
      const double value = kernel.table().evaluate(static_cast<double>(chord_squared));
      const Real cosine_squared = 1 - chord_squared / 4;
      // The kernels of fields end at the antipode.
      if (value == 0 || (!is_conjugate && cosine_squared < 1e-12L)) continue;
      std::complex<Real> factor = static_cast<Real>(frames[q].weight * value);
      for (int s = 0; s < kernel.spin(); ++s) {
        if (!is_conjugate) factor *= cosine_squared;
        factor *= turn(frames[q], frames[p], chord_squared, is_conjugate);
      }
      const std::complex<Real> pixel(static_cast<Real>(maps.q[q]), static_cast<Real>(maps.u[q]));
      sum += factor * (is_conjugate ? std::conj(pixel) : pixel);
    }
    sums.q[p] = static_cast<double>(sum.real());
    sums.u[p] = static_cast<double>(sum.imag());
  }
  return sums;
}

Pixels convolve_plainly(const RingGrid& grid, const RadialKernel& kernel, const Pixels& map) {
  using Complex = std::complex<double>;
  std::int64_t longest = 0;
  for (const Ring& ring : grid.rings()) longest = std::max(longest, ring.n_phi);
  std::vector<std::vector<Complex>> modes;
  for (const Ring& ring : grid.rings()) {
    auto& own = modes.emplace_back(to_size(longest / 2 + 1));
    for (std::int64_t m = 0; m <= ring.n_phi / 2; ++m) {
      for (std::int64_t j = 0; j < ring.n_phi; ++j) {
        own[to_size(m)] += ring.weight * map[to_size(ring.first_pixel + j)] *
                           std::polar(1.0, -static_cast<double>(m) * longitude(ring, j));
      }
    }
  }
  Pixels sums(map.size(), 0.0);
  std::vector<double> samples(to_size(longest));
  for (const Ring& out : grid.rings()) {
    std::vector<Complex> product(to_size(out.n_phi / 2 + 1));
    for (std::size_t r = 0; r < modes.size(); ++r) {
      const Ring& in = grid.rings()[r];
      const double unit = 2 * std::numbers::pi / static_cast<double>(longest);
      for (std::int64_t k = 0; k < longest; ++k) {
        samples[to_size(k)] =
            kernel.table().evaluate(chord_squared(out, in, unit * static_cast<double>(k)));
      }
      for (std::int64_t m = 0; m <= std::min(in.n_phi, out.n_phi) / 2; ++m) {
        double sum = 0;
        for (std::int64_t k = 0; k < longest; ++k)
          sum += samples[to_size(k)] * std::cos(unit * static_cast<double>(m * k % longest));
        product[to_size(m)] += sum / static_cast<double>(longest) * modes[r][to_size(m)];
      }
    }
    for (std::int64_t i = 0; i < out.n_phi; ++i) {
      double sum = 0;
      for (std::int64_t m = 0; m <= out.n_phi / 2; ++m) {
        const double count = m == 0 || 2 * m == out.n_phi ? 1 : 2;
        const Complex turn = std::polar(1.0, static_cast<double>(m) * longitude(out, i));
        sum += count * (product[to_size(m)] * turn).real();
      }
      sums[to_size(out.first_pixel + i)] = sum;
    }
  }
  return sums;
}

double relative_rms(const Pixels& found, const Pixels& expected) {
  double gap = 0;
  double all = 0;
  for (std::size_t p = 0; p < found.size(); ++p) {
    gap += square(found[p] - expected[p]);
    all += square(expected[p]);
  }
  return std::sqrt(gap / all);
}

double relative_max(const Pixels& found, const Pixels& expected) {
  double gap = 0;
  double all = 0;
  for (std::size_t p = 0; p < found.size(); ++p) {
    gap = std::max(gap, std::abs(found[p] - expected[p]));
    all += square(expected[p]);
  }
  return gap / std::sqrt(all / static_cast<double>(found.size()));
}

}  // namespace ringweave::detail::test
