// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/masked_map.hpp"

#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/error.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/smoothing.hpp"

namespace ringweave::detail::inline convolve {

namespace {

/// Makes pixels of a mask UNSEEN where it is 0; UNSEEN pixels there are not counted.
template <class T>
void apply_zeros(const std::vector<double>& mask, MapView<T> map, T value) {
  for (std::int64_t c = 0; c < map.n_components(); ++c) {
    const auto f = map.component(c);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < f.size(); ++i) {
      if (mask[to_size(i)] == 0) f[i] = value;
    }
  }
}

/// Checks and zeroes the UNSEEN pixels of an input as `policy` asks. Collective.
template <class T>
UnseenMask mask_unseen(const Communicator& comm, const LocalRings& rings,
                       const MaskOptions& treatment, MapView<T> map) {
  agree(comm, [&] {
    require_planned("masked map", map.size(), rings.n_pixels(), "pixels of a component");
    if (treatment.mask == nullptr || ssize64(*treatment.mask) == map.size()) return;
    throw UsageError("a mask of " + std::to_string(treatment.mask->size()) +
                     " pixels for a map of " + std::to_string(map.size()));
  });
  if (treatment.mask != nullptr && treatment.unseen == UnseenPolicy::fail)
    apply_zeros<T>(*treatment.mask, map, 0);
  const std::int64_t n_unmasked = UnseenMask(comm, MapView<const T>(map)).total();
  if (treatment.unseen == UnseenPolicy::fail && n_unmasked > 0) {
    throw DataError(
        "", std::to_string(n_unmasked) +
                " pixels are UNSEEN and --unseen fail was given; use restore, zero or normalize");
  }
  if (treatment.mask != nullptr) apply_zeros<T>(*treatment.mask, map, static_cast<T>(unseen));
  const UnseenMask mask(comm, MapView<const T>(map));
  const std::int64_t n_pixels = comm.sum(map.size());
  for (std::int64_t c = 0; c < map.n_components(); ++c) {
    if (mask.count(c) == n_pixels && n_pixels > 0) {
      throw DataError("", "all " + std::to_string(n_pixels) + " pixels of component " +
                              std::to_string(c) + " are UNSEEN; nothing to transform");
    }
  }
  mask.set_zero(map);
  return mask;
}

}  // namespace

template <class T>
MaskedMap::MaskedMap(const Communicator& comm, const LocalRings& rings,
                     const MaskOptions& treatment, MapView<T> map)
    : comm_(comm),
      rings_(rings),
      treatment_(treatment),
      mask_(mask_unseen(comm, rings, treatment, map)),
      removed_(fit_low_multipoles<T>(comm, rings, map.component(0), mask_, treatment.remove)) {
  add_low_multipoles<T>(rings_, map.component(0), mask_, removed_, -1);
  if (treatment.mask == nullptr) return;
  const std::vector<double>& mask = *treatment.mask;
  for (std::int64_t c = 0; c < map.n_components(); ++c) {
    const auto f = map.component(c);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < f.size(); ++i) f[i] = static_cast<T>(f[i] * mask[to_size(i)]);
  }
}

std::vector<std::int64_t> MaskedMap::unseen_pixels() const {
  std::vector<std::int64_t> counts;
  for (std::int64_t c = 0; c < mask_.n_components(); ++c) counts.push_back(mask_.count(c));
  return counts;
}

bool MaskedMap::is_normalized() const {
  for (std::int64_t c = 0; c < mask_.n_components(); ++c) {
    if (is_normalized(c)) return true;
  }
  return false;
}

template <class T>
void MaskedMap::write_mask(std::int64_t component, View<T> weight) const {
  write_seen(component, weight);
  if (treatment_.mask == nullptr) return;
  for (std::int64_t i = 0; i < weight.size(); ++i)
    weight[i] = static_cast<T>(weight[i] * (*treatment_.mask)[to_size(i)]);
}

template <class T>
void MaskedMap::write_seen(std::int64_t component, View<T> seen) const {
  for (std::int64_t i = 0; i < seen.size(); ++i)
    seen[i] = mask_.contains(component, i) ? T{0} : T{1};
}

template <class T>
void MaskedMap::divide(View<const T> smoothed_mask, View<T> smoothed) {
  // Where the smoothed mask is smaller, dividing would only raise noise.
  constexpr T least = static_cast<T>(1e-3);
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < smoothed.size(); ++i) {
    smoothed[i] =
        smoothed_mask[i] > least ? smoothed[i] / smoothed_mask[i] : static_cast<T>(unseen);
  }
}

template <class T>
void MaskedMap::finish(MapView<T> smoothed) const {
  if (treatment_.unseen == UnseenPolicy::restore || treatment_.unseen == UnseenPolicy::normalize)
    mask_.set_unseen(smoothed);
  if (treatment_.put_back == MaskOptions::PutBack::no) return;
  const UnseenMask still_unseen(comm_, MapView<const T>(smoothed));
  add_low_multipoles<T>(rings_, smoothed.component(0), still_unseen, removed_, +1);
}

#define RINGWEAVE_INSTANTIATE(T)                                                            \
  template MaskedMap::MaskedMap(const Communicator&, const LocalRings&, const MaskOptions&, \
                                MapView<T>);                                                \
  template void MaskedMap::write_mask(std::int64_t, View<T>) const;                         \
  template void MaskedMap::write_seen(std::int64_t, View<T>) const;                         \
  template void MaskedMap::divide(View<const T>, View<T>);                                  \
  template void MaskedMap::finish(MapView<T>) const;
RINGWEAVE_INSTANTIATE(float)
RINGWEAVE_INSTANTIATE(double)
#undef RINGWEAVE_INSTANTIATE

}  // namespace ringweave::detail::inline convolve
