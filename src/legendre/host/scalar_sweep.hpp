// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "legendre/host/sweep.hpp"
#include "legendre/shared/recurrence.hpp"
#include "legendre/shared/ring_tables.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline legendre {

/// Sums of one order of some scalar maps on all ring pairs that keep it: two degrees per step, near
/// the equator one. One object per thread.
class ScalarSweep {
 public:
  /// Allocates for every order up to lmax and up to max_maps maps; later calls allocate nothing,
  /// except seeds().
  /// split  first of the pairs near the equator
  ScalarSweep(const PairTables& pairs, const PairIndex& places, int lmax, std::int64_t split,
              int max_maps);

  /// Recurrence and first values of an order.
  struct Seeds {
    RecurrenceByTwo recurrence;
    HostBuffer<double> first_values;
    std::int64_t bytes() const;
  };
  /// Prepares the recurrence of order m from `first_pair` on; norm is lambda_mm / sin(theta)^m.
  /// `kept`: result of seeds() for this order, which must outlive its use; null: computed here.
  void prepare(int m, std::int64_t first_pair, double norm, const Seeds* kept = nullptr);
  /// Returns the seeds of an order for the same arguments. Allocates.
  Seeds seeds(int m, std::int64_t first_pair, double norm);
  /// Returns e_l = sqrt((l^2 - m^2) / (4 l^2 - 1)) of the prepared order, [l - m].
  const double* e() const { return by_two_->e(); }

  /// A map: modes of one component, times a weight per ring pair (null: 1).
  struct Map {
    std::int64_t component;
    const double* weight;
  };
  /// Sets the maps of the next synthesis or adjoint, at most max_maps.
  void choose_maps(std::span<const Map> maps);

  /// Synthesis: set_alm (l = m.., at most to lmax) of every map, synthesize, then the modes of a
  /// run of rings or of single rings.
  template <class T>
  void set_alm(int map, std::span<const std::complex<T>> alm);
  void synthesize();
  void write_modes(const sweep::RingRun& run, std::complex<double>* modes,
                   std::int64_t n_components) const;
  std::complex<double> mode(int map, std::int64_t ring) const;

  /// Adjoint: begin_adjoint, modes of rings, adjoint, alm of every map (l = m..). `wanted` is
  /// prefetched during the sums.
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
  /// Location and factors of the sums of a ring.
  struct Place {
    double* even;
    double* odd;
    std::int64_t stride;
    double z;
    double weight;
  };
  Place place(int map, std::int64_t ring) const;
  /// Sums of the maps on the pairs of one kind of sweep.
  struct Sums {
    std::vector<sweep::MapSums> maps;
    std::int64_t stride = 0;
    std::int64_t covered = 0;  ///< adjoint: the sums of the pairs before this one are set
    void zero_up_to(std::int64_t pair);
    void add(const sweep::RingRun& run, const std::complex<double>* modes,
             std::int64_t n_components);
  };
  /// Part of a run of rings, cut where the equatorial pairs begin: its first ring, and its pairs
  /// within its sums.
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
  sweep::Pairs equator_pairs_{};  ///< beginning with these
  std::int64_t split_;            ///< first equatorial pair
  std::int64_t equator_size_;     ///< equatorial pairs with padding; 0: no separate treatment
  std::vector<Map> maps_;

  RecurrenceByTwo::Scratch recurrence_scratch_;
  RecurrenceByTwo own_by_two_;
  const RecurrenceByTwo* by_two_ = nullptr;  ///< of the prepared order
  RecurrenceByOne by_one_;
  sweep::Order order_by_two_{};
  sweep::Order order_by_one_{};
  HostBuffer<double> columns_by_two_;
  HostBuffer<double> columns_by_one_;
  HostBuffer<double> sums_;          ///< [map][even re, im, odd re, im][pair]
  HostBuffer<double> equator_sums_;  ///< [even, odd][map][re, im][pair - split]
  HostBuffer<double> adjoint_scratch_;
  Sums by_two_sums_;  ///< layout of sums_
  Sums equatorial_;   ///< layout of equator_sums_
};

}  // namespace ringweave::detail::inline legendre
