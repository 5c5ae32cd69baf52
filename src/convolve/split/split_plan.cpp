// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/split/split_plan.hpp"

#include <fmt/format.h>

#include <vector>

#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail::inline convolve {
namespace {

/// Error the ring convolution may add, as a share of the split's error: negligible in quadrature.
constexpr double neglected = 0.1;

/// Checks the maps on the way.
SplitPlacement placement_of(const KernelSplit& split, const SplitMaps& maps, int n_ranks) {
  if (maps.grid == nullptr || maps.grid->nside() != split.nside()) {
    throw UsageError(fmt::format(
        "a split kernel is for HEALPix maps of nside {} and SplitMaps::grid is {}; search it for "
        "the maps it is applied to",
        split.nside(), maps.grid == nullptr ? "not set" : maps.grid->name()));
  }
  const SplitPlacement placement{split.best().n_harmonic};
  if (placement.n_harmonic < n_ranks) return placement;
  throw UsageError(fmt::format(
      "a split kernel is placed with {} ranks for its harmonic part and others, but there are "
      "{} in all; search it for as many ranks as there are",
      placement.n_harmonic, n_ranks));
}

/// Returns a rank's number in a group of `size` ranks from `first` on; 0 for other ranks.
int number_in(int rank, int first, int size) {
  return rank >= first && rank < first + size ? rank - first : 0;
}

RingConvolutionPlan plan_rings(const KernelSplit& split, const SplitMaps& maps,
                               const SplitPlan& plan) {
  RingConvolutionSpec spec;
  spec.grid = maps.grid;
  spec.kernels = {split.compact()};
  spec.n_maps = maps.n_maps;
  spec.bytes_per_pixel = maps.bytes_per_pixel;
  spec.backend = maps.backends.rings;
  spec.error = neglected * split.error().total;
  // A map with falling C_l constrains a compact part's high degrees little: relative to its own rms
  // they may exceed this error. The search has checked those above 4 nside.
  spec.highest_degree = checked_cast<int>(4 * maps.grid->nside(), "degrees of a compact part");
  const int n = plan.placement.ranks_of_rings(plan.n_ranks);
  if (maps.ring_bands != nullptr)
    spec.ring_bands = std::make_shared<const RingDistribution>(*maps.ring_bands, 0, n);
  return {spec, number_in(plan.rank, 0, n), n};
}

std::optional<TransformPlan> plan_harmonic(const KernelSplit& split, const SplitMaps& maps,
                                           const SplitPlan& plan) {
  if (split.harmonic().empty()) return std::nullopt;
  TransformSpec spec;
  spec.grid = maps.grid;
  spec.lmax = spec.mmax = split.best().l_cut;
  const int n_fields = checked_cast<int>(maps.n_maps / plan.rings.maps_of_field(), "fields");
  spec.fields = FieldSet::batch(plan.rings.spin(), n_fields);
  spec.backend = maps.backends.harmonic;
  const int n = plan.placement.ranks_of_harmonic(plan.n_ranks);
  if (!plan.placement.is_side_by_side())
    spec.ring_bands = std::make_shared<RingDistribution>(plan.rings.bands());
  return TransformPlan(spec, number_in(plan.rank, plan.n_ranks - n, n), n);
}

}  // namespace

SplitPlan::SplitPlan(const KernelSplit& split, const SplitMaps& maps, int some_rank,
                     int some_n_ranks)
    : rank(some_rank),
      n_ranks(some_n_ranks),
      placement(placement_of(split, maps, n_ranks)),
      rings(plan_rings(split, maps, *this)),
      harmonic(plan_harmonic(split, maps, *this)),
      bands(rings.bands(), 0, n_ranks),
      harmonic_bands(harmonic ? RingDistribution(harmonic->ring_bands,
                                                 n_ranks - harmonic->ring_bands.n_ranks(), n_ranks)
                              : bands),
      own(bands.rings(rank)),
      at_once(maps.backends.work_at_once() && harmonic && !placement.is_side_by_side()) {}

std::int64_t SplitPlan::buffer_bytes() const {
  if (!placement.is_side_by_side()) return 0;
  return RingTransfer::buffer_bytes(plan_ring_transfer(harmonic_bands, bands, rank), back);
}

}  // namespace ringweave::detail::inline convolve
