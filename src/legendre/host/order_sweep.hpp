// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/checked_cast.hpp"
#include "legendre/host/scalar_sweep.hpp"
#include "legendre/host/spin_sweep.hpp"
#include "legendre/legendre_stage.hpp"
#include "legendre/shared/ring_tables.hpp"
#include "legendre/shared/spin_field.hpp"
#include "legendre/shared/spin_ladder.hpp"
#include "ringweave/alm.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/views.hpp"
#include "sphere/mode_limits.hpp"

namespace ringweave::detail::inline legendre {

/// Layout of the ring modes of one order: runs of consecutive rings, [ring][component]. Value is
/// std::complex<double>, or const.
template <class Value>
struct ModeRow {
  struct Piece {
    RingRange rings;
    Value* modes;
  };
  void reserve(std::int64_t n_pieces) {
    own.reserve(to_size(n_pieces));
    aliased.reserve(to_size(n_pieces));
  }

  std::vector<Piece> own;
  /// Modes of the order this one is an alias of; this order is added to them or reads them.
  std::vector<Piece> aliased;
  FoldRule::Alias alias{};
};

/// One row of a_lm: component c, l = m..lmax, begins at first_of(c).
template <class T>
struct AlmRow {
  AlmView<T> alm;
  std::int64_t first;
  std::int64_t n_degrees;
  auto degrees(std::int64_t component) const {
    return std::span(alm.component(component).data() + first, static_cast<std::size_t>(n_degrees));
  }
};

/// Legendre sums of one order of all fields on the rings of a grid. Thread safe with one scratch
/// per thread.
class OrderSweep {
 public:
  /// `phases`: of the rings that fold; null if none do.
  OrderSweep(const RingGrid& grid, const FieldSet& fields, int lmax, int mmax,
             const FoldPhases* phases);

  /// Computes the seeds of the lowest of these orders once for all calls, as many as fit in little
  /// memory. `limits` determines which rings keep an order in every call.
  void cache_seeds(const AlmLayout& orders, const ModeLimits& limits);

  /// Work space of one thread.
  struct Scratch {
    std::unique_ptr<ScalarSweep> scalars;  ///< null if nothing is summed as a scalar
    std::unique_ptr<SpinSweep> spins;      ///< null if all fields are scalar
    std::unique_ptr<SpinLadder::Scratch> ladder;
    HostBuffer<std::complex<double>> rows[2];  ///< of two scalar maps, l = m..degree
    std::int64_t bytes() const;
  };
  Scratch scratch() const;

  /// Computes the modes of order m on the rings of `row`, which must be within `kept`. No
  /// allocation.
  template <class T>
  void synthesize(int m, RingRange kept, const AlmRow<const T>& alm,
                  const ModeRow<std::complex<double>>& row, Scratch& scratch) const;
  /// Applies the exact transpose.
  template <class T>
  void adjoint(int m, RingRange kept, const ModeRow<const std::complex<double>>& row,
               const AlmRow<T>& alm, Accumulate how, Scratch& scratch) const;

  std::int64_t bytes() const;

 private:
  using Complex = std::complex<double>;
  /// A map summed as a scalar: a scalar field, or Q or U of a spin field.
  struct ScalarMap {
    ScalarSweep::Map map;
    const SpinField* spin;  ///< set for Q (the next map is U), else null
  };

  std::int64_t first_pair(RingRange kept) const;
  /// Returns the first pair near the equator, whatever the spins of the fields.
  std::int64_t split() const { return pairs_.first_equatorial(lmax_); }
  std::int64_t maps_of_batch(std::int64_t first_map) const;
  std::int64_t most_maps_of_batch() const;
  template <class Work>
  void for_each_batch(ScalarSweep& sweep, const Work& work) const;
  template <class Work>
  void for_each_wigner_field(int m, RingRange kept, SpinSweep& sweep, const Work& work) const;
  template <class Value, class Visit>
  void for_each_run(const ModeRow<Value>& row, const Visit& visit) const;
  template <class Value, class Visit>
  void for_each_ring(const std::vector<typename ModeRow<Value>::Piece>& pieces,
                     const Visit& visit) const;
  double norm(int m) const;  ///< lambda_mm / sin(theta)^m
  void prepare(int m, RingRange kept, ScalarSweep& sweep) const;
  template <class T>
  void set_alm(int m, const AlmRow<const T>& alm, std::span<const ScalarMap> batch,
               Scratch& scratch) const;
  /// Returns the data that the sweep of a batch should prefetch: the destination of its a_lm, and
  /// the modes of the row processed next.
  template <class T>
  static std::span<const sweep::PrefetchRange> wanted_next(std::span<const ScalarMap> batch,
                                                           const ModeRow<const Complex>& row,
                                                           const AlmRow<T>& alm,
                                                           std::int64_t n_components,
                                                           std::span<sweep::PrefetchRange> parts);
  template <class T>
  void deliver_alm(int m, RingRange kept, std::span<const ScalarMap> batch, const AlmRow<T>& alm,
                   Accumulate how, Scratch& scratch) const;

  int lmax_;
  std::int64_t n_components_;
  int max_spin_;
  std::int64_t n_pairs_;
  PairTables pairs_;
  PairIndex places_;
  const FoldPhases* phases_;
  std::vector<double> norms_;
  int degree_;                    ///< of the scalar sweeps
  std::vector<SpinField> spins_;  ///< the fields of spin >= 1
  std::vector<ScalarMap> maps_;   ///< maps summed as scalars
  /// [m] of the lowest orders; null: owned by another rank
  std::vector<std::unique_ptr<const ScalarSweep::Seeds>> low_seeds_;
};

}  // namespace ringweave::detail::inline legendre
