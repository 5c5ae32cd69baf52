// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/checked_cast.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/transform.hpp"
#include "ringweave/views.hpp"
#include "support/noise.hpp"
#include "support/tolerance.hpp"

namespace ringweave::detail::test {

inline constexpr std::uint64_t seed = 20240229;

/// The a_lm that draw(component, l, m) gives, called by any thread, the same on any number of
/// ranks; zero below a field's spin.
template <class T, class Draw>
AlmBuffer<T> drawn_alm(const AlmLayout& layout, const FieldSet& fields, const Draw& draw) {
  AlmBuffer<T> alm(fields.n_components(), layout.size());
  for (const FieldSet::Field& field : fields.fields()) {
    for (std::int64_t c = field.first_component;
         c < field.first_component + (field.spin > 0 ? 2 : 1); ++c) {
      const auto a = alm.view().component(c);
#pragma omp parallel for schedule(dynamic)
      for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
        const int m = layout.order(row);
        for (int l = m; l <= layout.lmax(); ++l) {
          const auto x = draw(static_cast<std::uint32_t>(c), l, m);
          a[layout.index(row, l)] =
              l < field.spin
                  ? std::complex<T>(0)
                  : std::complex<T>(static_cast<T>(x.re), static_cast<T>(m == 0 ? 0 : x.im));
        }
      }
    }
  }
  return alm;
}
/// Random a_lm of unit variance.
template <class T = double>
AlmBuffer<T> random_alm(const AlmLayout& layout, const FieldSet& fields,
                        std::uint64_t which = seed) {
  return drawn_alm<T>(layout, fields, [which](std::uint32_t component, int l, int m) {
    return noise_pair(which, component, l, m);
  });
}
template <class T = double>
AlmBuffer<T> random_alm(const SphericalHarmonicTransform& transform, std::uint64_t which = seed) {
  return random_alm<T>(transform.alm_layout(), transform.fields(), which);
}

/// Random pixels of unit variance, the same on any number of ranks.
template <class T = double>
MapBuffer<T> random_map(const SphericalHarmonicTransform& transform, std::uint64_t which = seed) {
  MapBuffer<T> map = transform.make_map<T>();
  for (std::int64_t c = 0; c < map.n_components(); ++c) {
    const auto f = map.view().component(c);
    for (std::int64_t r = 0; r < transform.rings().n_rings(); ++r) {
      const LocalRing local{r};
      const auto ring = checked_cast<int>(index(transform.rings().global(local)), "ring");
      const std::int64_t first = transform.rings().first_pixel(local);
      for (int j = 0; j < transform.rings().ring(local).n_phi; ++j) {
        f[first + j] =
            static_cast<T>(noise_pair(which, static_cast<std::uint32_t>(100 + c), ring, j).re);
      }
    }
  }
  return map;
}

template <class Element>
ComponentBuffer<Element> copy_of(const ComponentBuffer<Element>& from) {
  ComponentBuffer<Element> copy(from.n_components(), from.size());
  std::copy_n(from.view().data(), from.n_components() * from.size(), copy.view().data());
  return copy;
}

/// Extracts this rank's rings from the whole map of another transform of the same fields; rings are
/// matched by their first pixel in the full grid.
template <class T>
MapBuffer<T> my_rings_of(const SphericalHarmonicTransform& transform,
                         const SphericalHarmonicTransform& whole, const MapBuffer<T>& whole_map) {
  MapBuffer<T> mine = transform.make_map<T>();
  const LocalRings& all = whole.rings();
  std::int64_t source = 0;
  for (std::int64_t r = 0; r < transform.rings().n_rings(); ++r) {
    const Ring& ring = transform.rings().ring(LocalRing{r});
    while (all.ring(LocalRing{source}).source_pixel != ring.source_pixel) ++source;
    for (std::int64_t c = 0; c < mine.n_components(); ++c) {
      std::copy_n(whole_map.view().component(c).data() + all.first_pixel(LocalRing{source}),
                  ring.n_phi,
                  mine.view().component(c).data() + transform.rings().first_pixel(LocalRing{r}));
    }
  }
  return mine;
}

/// Extracts this rank's orders from the whole a_lm of another transform.
template <class T>
AlmBuffer<T> my_orders_of(const SphericalHarmonicTransform& transform,
                          const SphericalHarmonicTransform& whole, const AlmBuffer<T>& whole_alm) {
  AlmBuffer<T> mine = transform.make_alm<T>();
  const AlmLayout& layout = transform.alm_layout();
  for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
    const int m = layout.order(row);
    const std::int64_t from = whole.alm_layout().index(whole.alm_layout().row_of(m), m);
    for (std::int64_t c = 0; c < mine.n_components(); ++c) {
      std::copy_n(whole_alm.view().component(c).data() + from, layout.lmax() - m + 1,
                  mine.view().component(c).data() + layout.index(row, m));
    }
  }
  return mine;
}

/// Errors over the rms of the expected values; absolute where zeros are expected.
struct RelativeError {
  double rms = 0;
  double max = 0;
};

/// Returns the error over all components and all ranks. Collective.
template <class Element>
RelativeError relative_error(const Communicator& comm, const ComponentBuffer<Element>& values,
                             const ComponentBuffer<Element>& expected) {
  double sums[3] = {0, 0, 0};
  double worst = 0;
  for (std::int64_t i = 0; i < expected.n_components() * expected.size(); ++i) {
    const std::complex<double> wanted(expected.view().data()[i]);
    const double gap = std::abs(std::complex<double>(values.view().data()[i]) - wanted);
    sums[0] += gap * gap;
    sums[1] += std::norm(wanted);
    sums[2] += 1;
    worst = std::max(worst, std::isfinite(gap) ? gap : 1e300);
  }
  comm.sum(sums, 3);
  worst = comm.max(worst);
  const double scale = sums[1] > 0 ? std::sqrt(sums[1] / sums[2]) : 1.0;
  return {std::sqrt(sums[0] / sums[2]) / scale, worst / scale};
}

inline void expect_within(const RelativeError& error, double bound) {
  EXPECT_LE(error.rms, bound);
  EXPECT_LE(error.max, bound * tolerance::max_over_rms);
}

/// Tells whether two arrays of this rank are bitwise equal.
template <class Element>
bool same_bits(const ComponentBuffer<Element>& a, const ComponentBuffer<Element>& b) {
  return a.n_components() == b.n_components() && a.size() == b.size() &&
         (a.size() == 0 || std::memcmp(a.view().data(), b.view().data(), to_size(a.bytes())) == 0);
}

/// Synthesizes read-only a_lm into a new map. Collective.
template <class T>
MapBuffer<T> synthesized(SphericalHarmonicTransform& transform, const AlmBuffer<T>& alm) {
  MapBuffer<T> map = transform.make_map<T>();
  transform.synthesize<T>(alm.view(), map.view());
  return map;
}

/// Applies the adjoint to a read-only map, into new a_lm. Collective.
template <class T>
AlmBuffer<T> adjoint_of(SphericalHarmonicTransform& transform, const MapBuffer<T>& map,
                        std::span<const double> ring_weights = {}) {
  AlmBuffer<T> alm = transform.make_alm<T>();
  transform.adjoint<T>(map.view(), ring_weights, alm.view());
  return alm;
}

/// Checks that the transform of all ranks equals that of one rank alone. Collective.
inline void expect_as_on_one_rank(const Communicator& comm, const TransformSpec& spec) {
  SphericalHarmonicTransform together(comm, spec);
  SphericalHarmonicTransform alone(Communicator::self(), spec);
  expect_within(relative_error(comm, synthesized(together, random_alm(together)),
                               my_rings_of(together, alone, synthesized(alone, random_alm(alone)))),
                tolerance::rank_invariance);
  expect_within(relative_error(comm, adjoint_of(together, random_map(together)),
                               my_orders_of(together, alone, adjoint_of(alone, random_map(alone)))),
                tolerance::rank_invariance);
}

/// Returns |<S a, y> - <a, S^T y>| over ||S a|| ||y|| / sqrt(pixels), the size of products of
/// rounding errors. Collective.
template <class T>
double adjoint_gap(SphericalHarmonicTransform& transform) {
  const Communicator& comm = transform.comm();
  const AlmBuffer<T> alm = random_alm<T>(transform);
  const MapBuffer<T> y = random_map<T>(transform);
  const MapBuffer<T> map = synthesized(transform, alm);
  const AlmBuffer<T> back = adjoint_of(transform, y);

  // Summed in double, many pixels would add a gap of the size of the bound.
  long double local = 0;
  for (std::int64_t i = 0; i < y.n_components() * y.size(); ++i) {
    local += static_cast<long double>(map.view().data()[i]) * y.view().data()[i];
  }
  const double on_map = comm.sum(static_cast<double>(local));
  const double on_alm = inner_product<T>(comm, transform.alm_layout(), alm.view(), back.view());
  const double norms =
      std::sqrt(squared_norm<T>(comm, map.view()) * squared_norm<T>(comm, y.view()));
  const double pixels = comm.sum(static_cast<double>(y.n_components() * y.size()));
  if (norms == 0) return std::abs(on_map - on_alm);
  return std::abs(on_map - on_alm) / (norms / std::sqrt(pixels));
}

}  // namespace ringweave::detail::test
