// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "base/checked_cast.hpp"
#include "distribute/ring_distribution.hpp"
#include "nonuniform/host/deflected_pixels.hpp"
#include "ringweave/lensing.hpp"

namespace ringweave::detail::inline nonuniform {

/// The a_lm of a deflection, and how they are transformed.
struct DeflectionSource {
  AlmLayout layout;
  /// [E, B][coefficient] of d, a field of spin 1: sqrt(l(l+1)) phi_lm, sqrt(l(l+1)) Omega_lm
  AlmBuffer<double> alm;
  bool has_curl = false;
  ExchangeOptions exchange;
};

}  // namespace ringweave::detail::inline nonuniform

namespace ringweave {

struct Deflection::Impl {
  /// Measures the vectors. Collective.
  Impl(const Communicator& communicator, std::shared_ptr<const detail::RingDistribution> ring_bands,
       MapBuffer<double>&& d);

  Communicator comm;
  std::shared_ptr<const detail::RingDistribution> bands;
  LocalRings rings;
  MapBuffer<double> vectors;  ///< [to the south, to the east][pixel]
  double rms = 0;
  double largest = 0;
  std::optional<detail::DeflectionSource> source;  ///< none: the inverse of a deflection
  int evaluations = 0;
  StageTimes times;
  mutable std::optional<HostBuffer<double>> area;  ///< |A| of the pixels, once it is computed

  /// Computes |A| from the source. Collective.
  void find_area() const;

  /// Calls use(pixels, number of the first) for short pieces of all rings. OpenMP; `use` must not
  /// throw.
  template <class Use>
  void for_each_piece(const Use& use) const {
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t r = 0; r < rings.n_rings(); ++r) {
      const Ring& ring = rings.ring(LocalRing{r});
      for (std::int64_t begin = 0; begin < ring.n_phi; begin += detail::DeflectedPixels::most) {
        const std::int64_t place = rings.first_pixel(LocalRing{r}) + begin;
        use(detail::DeflectedPixels{&ring, begin,
                                    std::min(detail::DeflectedPixels::most, ring.n_phi - begin),
                                    vectors.view().component(0).data() + place,
                                    vectors.view().component(1).data() + place},
            place);
      }
    }
  }
};

}  // namespace ringweave
