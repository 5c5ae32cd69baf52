// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "legendre/host/sweep.hpp"
#include "legendre/shared/recurrence.hpp"
#include "legendre/shared/ring_tables.hpp"

namespace ringweave {

/// One order of some scalar maps on all ring pairs that keep it: by two degrees per step, next to
/// the equator by one. What one thread works in.
class ScalarSweep {
 public:
  /// Buffers for every order up to lmax and up to max_maps maps; nothing below allocates.
  ScalarSweep(const PairTables& pairs, const PairIndex& places, int lmax, int max_maps);

  /// What an order begins with: its recurrence and its first values.
  struct Seeds {
    RecurrenceByTwo recurrence;
    HostBuffer<double> first_values;
    std::int64_t bytes() const;
  };
  /// The recurrence of order m from `first_pair` on; norm is lambda_mm / sin(theta)^m. `kept`: its
  /// beginning(), which outlives the order's use; null: computed here.
  void prepare(int m, std::int64_t first_pair, double norm, const Seeds* kept = nullptr);
  /// Of the same order, pairs and norm. Allocates.
  Seeds beginning(int m, std::int64_t first_pair, double norm);
  /// e_l = sqrt((l^2 - m^2) / (4 l^2 - 1)) of the order prepared, [l - m].
  const double* e() const { return by_two_->e(); }

  /// A map: modes of one component, times a weight of each ring pair (null: 1).
  struct Map {
    std::int64_t component;
    const double* weight;
  };
  /// The maps of the next synthesis or adjoint, at most max_maps.
  void choose_maps(std::span<const Map> maps);

  /// Synthesis: set_alm (l = m.., at most to lmax) of every map, synthesize, then the modes of any
  /// ring: of a run of rings, or one by one.
  template <class T>
  void set_alm(int map, std::span<const std::complex<T>> alm);
  void synthesize();
  void write_modes(const sweep::RingRun& run, std::complex<double>* modes,
                   std::int64_t n_components) const;
  std::complex<double> mode(int map, std::int64_t ring) const;

  /// Adjoint: begin, modes of rings, adjoint, alm of every map (l = m..). `wanted` next is fetched
  /// meanwhile.
  void begin_adjoint();
  void add_modes(const sweep::RingRun& run, const std::complex<double>* modes,
                 std::int64_t n_components);
  void add_mode(int map, std::int64_t ring, std::complex<double> mode);
  void adjoint(std::span<const sweep::PrefetchRange> wanted = {});
  void alm(int map, std::span<std::complex<double>> row) const;

  std::int64_t bytes() const;

 private:
  bool has_equator() const { return equator_size_ > 0; }
  int n_maps() const { return static_cast<int>(maps_.size()); }
  sweep::Shape shape_by_two() const { return {sweep::Kind::scalars_by_two, n_maps()}; }
  sweep::Shape shape_by_one() const { return {sweep::Kind::scalars_by_one, n_maps()}; }
  /// Where the sums of a ring lie, and what multiplies them there.
  struct Place {
    double* even;
    double* odd;
    std::int64_t stride;
    double z;
    double weight;
  };
  Place place(int map, std::int64_t ring) const;
  /// The sums of the maps on the pairs swept one way.
  struct Sums {
    std::vector<sweep::MapSums> maps;
    std::int64_t stride = 0;
    std::int64_t covered = 0;  ///< adjoint: the sums of the pairs before this one are set
    void zero_up_to(std::int64_t pair);
    void add(const sweep::RingRun& run, const std::complex<double>* modes,
             std::int64_t n_components);
  };
  /// A run of rings, cut where the equatorial pairs begin: the first ring of a part, and its pairs
  /// among those of its sums.
  struct Part {
    bool equatorial;
    std::int64_t first_ring;
    sweep::RingRun run;
  };
  std::array<Part, 2> parts(const sweep::RingRun& run) const;

  const PairTables* pairs_;
  const PairIndex* places_;
  int lmax_;
  sweep::Pairs pairs_by_two_;     ///< up to the equatorial ones
  sweep::Pairs equator_pairs_{};  ///< from these on
  std::int64_t split_;            ///< first equatorial pair
  std::int64_t equator_size_;     ///< equatorial pairs with padding; 0: none is treated apart
  std::vector<Map> maps_;

  RecurrenceByTwo::Scratch recurrence_scratch_;
  RecurrenceByTwo own_by_two_;
  const RecurrenceByTwo* by_two_ = nullptr;  ///< of the order prepared
  RecurrenceByOne by_one_;
  sweep::Order order_by_two_{};
  sweep::Order order_by_one_{};
  HostBuffer<double> columns_by_two_;
  HostBuffer<double> columns_by_one_;
  HostBuffer<double> sums_;          ///< [map][even re, im, odd re, im][pair]
  HostBuffer<double> equator_sums_;  ///< [even, odd][map][re, im][pair - split]
  HostBuffer<double> adjoint_scratch_;
  Sums by_two_sums_;  ///< what lies in sums_
  Sums equatorial_;   ///< and in equator_sums_
};

}  // namespace ringweave
