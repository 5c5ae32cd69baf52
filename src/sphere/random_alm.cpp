// SPDX-License-Identifier: GPL-3.0-or-later
#include <Random123/philox.h>
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"
#include "ringweave/spectra.hpp"

namespace ringweave {

using namespace detail;

namespace {

/// Lower triangle of one degree's covariance or of its Cholesky factor, in the order T, E, B, P.
using Matrix = std::array<std::array<double, 4>, 4>;

Matrix covariance(const Spectra& spectra, int l) {
  Matrix c{};
  c[0][0] = spectra(Spectra::TT, l);
  c[3][0] = spectra(Spectra::TP, l);
  c[3][3] = spectra(Spectra::PP, l);
  // A spin-2 field has no monopole and no dipole.
  if (l < 2) return c;
  c[1][0] = spectra(Spectra::TE, l);
  c[1][1] = spectra(Spectra::EE, l);
  c[2][0] = spectra(Spectra::TB, l);
  c[2][1] = spectra(Spectra::EB, l);
  c[2][2] = spectra(Spectra::BB, l);
  c[3][1] = spectra(Spectra::EP, l);
  return c;
}

[[noreturn]] void refuse(const Matrix& c, std::size_t last, int l) {
  const std::string potential =
      last < 4 ? "" : fmt::format(", PP = {}, TP = {}, EP = {}", c[3][3], c[3][0], c[3][1]);
  throw DataError("spectra",
                  fmt::format("the covariance of T, E, B{} at l = {} is not positive semidefinite: "
                              "TT = {}, EE = {}, BB = {}, TE = {}, EB = {}, TB = {}{}",
                              last < 4 ? "" : ", P", l, c[0][0], c[1][1], c[2][2], c[1][0], c[2][1],
                              c[2][0], potential));
}

/// Computes the Cholesky factor of rows and columns [first, last). Matrices within 1e-12 of
/// singular count as singular, so that fully correlated fields and fields without power can be
/// drawn.
Matrix cholesky(const Matrix& c, std::size_t first, std::size_t last, int l) {
  constexpr double slack = 1e-12;
  Matrix factor{};
  for (std::size_t j = first; j < last; ++j) {
    double pivot = c[j][j];
    for (std::size_t k = first; k < j; ++k) pivot -= factor[j][k] * factor[j][k];
    if (!std::isfinite(pivot) || c[j][j] < 0 || pivot < -slack * c[j][j]) refuse(c, last, l);
    const bool singular = pivot <= slack * c[j][j];
    factor[j][j] = singular ? 0.0 : std::sqrt(pivot);
    for (std::size_t i = j + 1; i < last; ++i) {
      double rest = c[i][j];
      for (std::size_t k = first; k < j; ++k) rest -= factor[i][k] * factor[j][k];
      if (!singular) {
        factor[i][j] = rest / factor[j][j];
      } else if (!(rest * rest <= 2 * slack * c[i][i] * c[j][j])) {
        refuse(c, last, l);
      }
    }
  }
  return factor;
}

template <class T>
void draw_fields(const Spectra& spectra, std::uint64_t seed, const AlmLayout& layout,
                 AlmView<T> alm) {
  const std::int64_t n_components = alm.n_components();
  if (n_components < 1 || n_components > 4 || alm.size() != layout.size()) {
    throw UsageError(
        fmt::format("draw a_lm: {} components x {}; expected 1 (T), 2 (E, B), 3 (T, E, B) or 4 "
                    "(T, E, B, P) x {}",
                    n_components, alm.size(), layout.size()));
  }
  const std::size_t first = n_components == 2 ? 1 : 0;
  const std::size_t last = n_components == 2 ? 3 : to_size(n_components);
  std::vector<Matrix> factors(to_size(std::int64_t{layout.lmax()} + 1));
  for (int l = 0; l <= layout.lmax(); ++l) {
    factors[to_size(l)] = cholesky(covariance(spectra, l), first, last, l);
  }

#pragma omp parallel for schedule(dynamic, 8)
  for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
    const int m = layout.order(row);
    const double norm = m == 0 ? 1.0 : std::numbers::sqrt2 / 2;
    for (int l = m; l <= layout.lmax(); ++l) {
      const Matrix& factor = factors[to_size(l)];
      std::array<NormalPair, 4> normal{};
      for (std::size_t field = first; field < last; ++field) {
        normal[field] = normal_pair(seed, static_cast<std::uint32_t>(field), l, m);
        if (m == 0) normal[field].im = 0;
      }
      for (std::size_t field = first; field < last; ++field) {
        NormalPair sum{0, 0};
        for (std::size_t k = first; k <= field; ++k) {
          sum.re += factor[field][k] * normal[k].re;
          sum.im += factor[field][k] * normal[k].im;
        }
        alm.component(static_cast<std::int64_t>(field - first))[layout.index(row, l)] = {
            static_cast<T>(norm * sum.re), static_cast<T>(norm * sum.im)};
      }
    }
  }
}

/// Returns a number uniform in (0, 1] from the upper 53 of 64 bits.
double uniform(std::uint32_t high, std::uint32_t low) {
  const std::uint64_t bits = (std::uint64_t{high} << 32 | low) >> 11;
  return static_cast<double>(bits + 1) * 0x1p-53;
}

using Philox = r123::Philox4x32;

/// Two standard normal numbers by Box and Muller.
NormalPair normal_pair_of(std::uint64_t seed, const Philox::ctr_type& counter) {
  const Philox::key_type key{
      {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
  const Philox::ctr_type bits = Philox{}(counter, key);
  const double radius = std::sqrt(-2 * std::log(uniform(bits[0], bits[1])));
  const double angle = 2 * std::numbers::pi * uniform(bits[2], bits[3]);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

// Last word of a counter: it separates draws of a_lm from draws of pixels.
constexpr std::uint32_t a_lm = 0;
constexpr std::uint32_t pixels = 1;

}  // namespace

NormalPair normal_pair(std::uint64_t seed, std::uint32_t field, int l, int m) {
  return normal_pair_of(
      seed, {{static_cast<std::uint32_t>(l), static_cast<std::uint32_t>(m), field, a_lm}});
}

double pixel_normal(std::uint64_t seed, std::uint32_t component, std::int64_t pixel) {
  const auto number = static_cast<std::uint64_t>(pixel);
  return normal_pair_of(seed, {{static_cast<std::uint32_t>(number),
                                static_cast<std::uint32_t>(number >> 32), component, pixels}})
      .re;
}

void draw_alm(const Spectra& spectra, std::uint64_t seed, const AlmLayout& layout,
              AlmView<double> alm) {
  draw_fields<double>(spectra, seed, layout, alm);
}

void draw_alm(const Spectra& spectra, std::uint64_t seed, const AlmLayout& layout,
              AlmView<float> alm) {
  draw_fields<float>(spectra, seed, layout, alm);
}

}  // namespace ringweave
