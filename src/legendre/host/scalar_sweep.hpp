// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>

#include "base/buffer.hpp"
#include "legendre/host/recurrence.hpp"
#include "legendre/host/ring_tables.hpp"
#include "legendre/host/sweep.hpp"

namespace ringweave {

/// One order of some scalar maps on all ring pairs that keep it: by two degrees per step, next to
/// the equator by one. What one thread works in.
class ScalarSweep {
 public:
  /// Buffers for every order up to lmax and up to max_maps maps; nothing below allocates.
  ScalarSweep(const PairTables& pairs, const RingPlaces& places, int lmax, int max_maps);

  /// The recurrence of order m from `first_pair` on; norm is lambda_mm / sin(theta)^m.
  void prepare(int m, std::int64_t first_pair, double norm);
  /// The maps of the next synthesis or adjoint, at most max_maps.
  void choose_maps(int maps) { maps_ = maps; }

  /// Synthesis: set_alm of every map, synthesize, mode of any ring.
  template <class T>
  void set_alm(int map, const std::complex<T>* alm);
  void synthesize();
  std::complex<double> mode(int map, std::int64_t ring) const;

  /// Adjoint: clear, add modes of rings, adjoint, alm of every map (l = m..lmax; valid until the
  /// next call).
  void clear();
  void add_mode(int map, std::int64_t ring, std::complex<double> mode);
  void adjoint();
  const std::complex<double>* alm(int map);

  std::int64_t bytes() const;

 private:
  bool has_equator() const { return equator_size_ > 0; }
  sweep::Shape shape_by_two() const { return {sweep::Kind::scalars_by_two, maps_}; }
  sweep::Shape shape_by_one() const { return {sweep::Kind::scalars_by_one, maps_}; }

  const PairTables* pairs_;
  const RingPlaces* places_;
  sweep::Pairs pairs_by_two_;     ///< up to the equatorial ones
  sweep::Pairs equator_pairs_{};  ///< from these on
  std::int64_t split_;            ///< first equatorial pair
  std::int64_t equator_size_;     ///< equatorial pairs with padding; 0: none is treated apart
  int maps_ = 0;

  RecurrenceByTwo by_two_;
  RecurrenceByOne by_one_;
  sweep::Order order_by_two_{};
  sweep::Order order_by_one_{};
  HostBuffer<double> columns_by_two_;
  HostBuffer<double> columns_by_one_;
  HostBuffer<double> sums_;          ///< [sum][pair]
  HostBuffer<double> equator_sums_;  ///< [sum][pair - split]
  HostBuffer<std::complex<double>> row_;
};

inline std::complex<double> ScalarSweep::mode(int map, std::int64_t ring) const {
  const std::int64_t pair = places_->pair(ring);
  if (pair >= split_) {
    const std::int64_t first = 2 * map + (places_->is_south(ring) ? 2 * maps_ : 0);
    const double* sums = equator_sums_.data() + first * equator_size_ + pair - split_;
    return {sums[0], sums[equator_size_]};
  }
  const std::int64_t stride = pairs_->padded_size();
  const double* sums = sums_.data() + 4 * map * stride + pair;
  const double z = places_->z(ring);
  return {sums[0] + z * sums[2 * stride], sums[stride] + z * sums[3 * stride]};
}

inline void ScalarSweep::add_mode(int map, std::int64_t ring, std::complex<double> mode) {
  const auto add = [](double* sums, std::int64_t stride, std::complex<double> value) {
    sums[0] += value.real();
    sums[stride] += value.imag();
  };
  const std::int64_t pair = places_->pair(ring);
  if (pair >= split_) {
    const std::int64_t first = 2 * map + (places_->is_south(ring) ? 2 * maps_ : 0);
    return add(equator_sums_.data() + first * equator_size_ + pair - split_, equator_size_, mode);
  }
  const std::int64_t stride = pairs_->padded_size();
  add(sums_.data() + 4 * map * stride + pair, stride, mode);
  add(sums_.data() + (4 * map + 2) * stride + pair, stride, places_->z(ring) * mode);
}

}  // namespace ringweave
