// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <span>

#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"
#include "ringweave/spectra.hpp"

namespace ringweave {

using namespace detail;

namespace {

std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> result(std::max(a.size(), b.size()), 0.0);
  for (std::size_t l = 0; l < std::min(a.size(), b.size()); ++l) result[l] = a[l] * b[l];
  return result;
}

template <class T>
void multiply_component(std::span<const double> amplitudes, const AlmLayout& layout,
                        View<std::complex<T>> alm) {
  const int lmax = layout.lmax();
  const int l_end = static_cast<int>(std::min<std::int64_t>(ssize64(amplitudes), lmax + 1));
#pragma omp parallel for schedule(dynamic, 16)
  for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
    const int m = layout.order(row);
    for (int l = m; l < l_end; ++l) {
      std::complex<T>& value = alm[layout.index(row, l)];
      const double b = amplitudes[to_size(l)];
      value = {static_cast<T>(b * value.real()), static_cast<T>(b * value.imag())};
    }
    for (int l = std::max(m, l_end); l <= lmax; ++l) alm[layout.index(row, l)] = T{0};
  }
}

template <class T>
void multiply_fields(const Beam& beam, const AlmLayout& layout, const FieldSet& fields,
                     AlmView<T> alm) {
  if (alm.n_components() != fields.n_components() || alm.size() != layout.size()) {
    throw UsageError(fmt::format("multiply by a beam: a_lm of {} components x {}; expected {} x {}",
                                 alm.n_components(), alm.size(), fields.n_components(),
                                 layout.size()));
  }
  for (const FieldSet::Field& field : fields.fields()) {
    if (field.spin == 0) {
      multiply_component<T>(beam.t, layout, alm.component(field.first_component));
    } else {
      multiply_component<T>(beam.e, layout, alm.component(field.first_component));
      multiply_component<T>(beam.b, layout, alm.component(field.first_component + 1));
    }
  }
}

}  // namespace

Beam gaussian_beam(double fwhm_radians, int lmax, int spin) {
  if (!std::isfinite(fwhm_radians) || fwhm_radians < 0) {
    throw UsageError(
        fmt::format("a Gaussian beam of fwhm = {} rad; expected 0 or more", fwhm_radians));
  }
  if (lmax < 0 || spin < 0) {
    throw UsageError(
        fmt::format("a Gaussian beam with lmax = {}, spin = {}; expected 0 or more", lmax, spin));
  }
  const double half_variance = fwhm_radians * fwhm_radians / (16 * std::log(2.0));
  const double s = spin;
  Beam beam;
  beam.t.resize(to_size(std::int64_t{lmax} + 1));
  beam.e.resize(beam.t.size());
  for (int l = 0; l <= lmax; ++l) {
    const double degree = l;
    const double l_l1 = degree * (degree + 1);
    beam.t[to_size(l)] = std::exp(-l_l1 * half_variance);
    beam.e[to_size(l)] = l < spin ? 0.0 : std::exp(-(l_l1 - s * s) * half_variance);
  }
  beam.b = beam.e;
  return beam;
}

Beam operator*(const Beam& a, const Beam& b) {
  return {product(a.t, b.t), product(a.e, b.e), product(a.b, b.b)};
}

void multiply(const Beam& beam, const AlmLayout& layout, const FieldSet& fields,
              AlmView<double> alm) {
  multiply_fields<double>(beam, layout, fields, alm);
}

void multiply(const Beam& beam, const AlmLayout& layout, const FieldSet& fields,
              AlmView<float> alm) {
  multiply_fields<float>(beam, layout, fields, alm);
}

}  // namespace ringweave
