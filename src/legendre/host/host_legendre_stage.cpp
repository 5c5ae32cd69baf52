// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/host/host_legendre_stage.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <span>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/first_error.hpp"
#include "legendre/host/fold_groups.hpp"
#include "legendre/host/ring_tables.hpp"
#include "legendre/host/scalar_sweep.hpp"
#include "legendre/host/spin_field.hpp"
#include "legendre/host/spin_sweep.hpp"

namespace ringweave {
namespace {

using Complex = std::complex<double>;

/// What one thread works in.
struct Scratch {
  std::unique_ptr<ScalarSweep> scalars;  ///< null when nothing is swept as a scalar
  std::unique_ptr<SpinSweep> spins;      ///< null when there are only scalar fields
  std::unique_ptr<SpinLadder::Scratch> ladder;
  HostBuffer<Complex> rows[2];  ///< of two scalar maps, l = m..degree
  std::int64_t bytes() const {
    return (scalars ? scalars->bytes() : 0) + (spins ? spins->bytes() : 0) +
           (ladder ? ladder->bytes() : 0) +
           (rows[0].size() + rows[1].size()) * static_cast<std::int64_t>(sizeof(Complex));
  }
};

/// A map that is swept as a scalar: a scalar field, or Q or U of a field of some spin.
struct ScalarMap {
  ScalarSweep::Map map;
  const SpinField* spin;  ///< of Q (the next map is U), or null
};

/// lambda_mm / (-sin theta)^m for m = 0..mmax.
std::vector<double> sectoral_norms(int mmax) {
  std::vector<double> norms;
  long double square = 0.25L / std::numbers::pi_v<long double>;
  for (int m = 0; m <= mmax; ++m) {
    norms.push_back(static_cast<double>(std::sqrt(square)));
    square *= (2.0L * m + 3) / (2.0L * m + 2);
  }
  return norms;
}

class HostLegendreStage final : public LegendreStage {
 public:
  explicit HostLegendreStage(LegendreShape shape)
      : shape_(std::move(shape)),
        groups_(shape_),
        pairs_(*shape_.grid),
        places_(*shape_.grid),
        phases_(*shape_.grid, shape_.fold, shape_.limits.mmax()),
        norms_(sectoral_norms(std::max(shape_.alm.mmax(), shape_.fields.max_spin()))) {
    plan_fields();
    const int lmax = shape_.alm.lmax();
    const int max_spin = shape_.fields.max_spin();
    for (int i = 0; i < omp_get_max_threads(); ++i) {
      Scratch& scratch = scratch_.emplace_back();
      if (!maps_.empty()) {
        scratch.scalars = std::make_unique<ScalarSweep>(pairs_, places_, degree_,
                                                        static_cast<int>(maps_of_batch(0)));
        scratch.rows[0].allocate(std::int64_t{degree_} + 1);
      }
      if (spins_.empty()) continue;
      scratch.spins = std::make_unique<SpinSweep>(pairs_, places_, lmax);
      scratch.ladder = std::make_unique<SpinLadder::Scratch>(max_spin, lmax);
      if (!maps_.empty()) scratch.rows[1].allocate(std::int64_t{degree_} + 1);
    }
  }

  void synthesize(AlmView<const double> alm, ModeView<double> modes) override {
    synthesize_any<double>(all_rows(), alm, modes);
  }
  void synthesize(AlmView<const float> alm, ModeView<double> modes) override {
    synthesize_any<float>(all_rows(), alm, modes);
  }
  void synthesize_rows(std::int64_t first_row, std::int64_t n_rows, AlmView<const double> alm,
                       ModeView<double> modes) override {
    synthesize_any<double>({first_row, first_row + n_rows}, alm, modes);
  }
  void synthesize_rows(std::int64_t first_row, std::int64_t n_rows, AlmView<const float> alm,
                       ModeView<double> modes) override {
    synthesize_any<float>({first_row, first_row + n_rows}, alm, modes);
  }
  void adjoint(ModeView<const double> modes, AlmView<double> alm, Accumulate how) override {
    adjoint_any<double>(all_rows(), modes, alm, how);
  }
  void adjoint(ModeView<const double> modes, AlmView<float> alm, Accumulate how) override {
    adjoint_any<float>(all_rows(), modes, alm, how);
  }
  void adjoint_rows(std::int64_t first_row, std::int64_t n_rows, ModeView<const double> modes,
                    AlmView<double> alm, Accumulate how) override {
    adjoint_any<double>({first_row, first_row + n_rows}, modes, alm, how);
  }
  void adjoint_rows(std::int64_t first_row, std::int64_t n_rows, ModeView<const double> modes,
                    AlmView<float> alm, Accumulate how) override {
    adjoint_any<float>({first_row, first_row + n_rows}, modes, alm, how);
  }

  std::int64_t bytes() const override {
    std::int64_t total = pairs_.bytes() + places_.bytes() + phases_.bytes();
    for (const SpinField& spin : spins_) total += spin.bytes();
    for (const Scratch& scratch : scratch_) total += scratch.bytes();
    return total;
  }

 private:
  /// Rows [begin, end).
  struct RowRange {
    std::int64_t begin;
    std::int64_t end;
    bool contains(std::int64_t row) const { return row >= begin && row < end; }
  };
  RowRange all_rows() const { return {0, shape_.alm.n_orders()}; }

  template <class T>
  void synthesize_any(RowRange rows, AlmView<const T> alm, ModeView<double> modes) {
    check_sizes(alm.n_components(), alm.size(), modes.size());
    for_each_row(rows, [&](std::int64_t row, Scratch& scratch) {
      if (scratch.scalars) synthesize_scalars<T>(row, scratch, alm, modes);
      if (scratch.spins) synthesize_spins<T>(row, *scratch.spins, alm, modes);
    });
  }

  template <class T>
  void adjoint_any(RowRange rows, ModeView<const double> modes, AlmView<T> alm, Accumulate how) {
    check_sizes(alm.n_components(), alm.size(), modes.size());
    for_each_row(rows, [&](std::int64_t row, Scratch& scratch) {
      if (scratch.spins) adjoint_spins<T>(row, *scratch.spins, modes, alm, how);
      if (scratch.scalars) adjoint_scalars<T>(row, scratch, modes, alm, how);
    });
  }

  void check_sizes(std::int64_t n_components, std::int64_t alm_size, std::int64_t n_modes) const {
    const std::int64_t expected = shape_.fields.n_components();
    if (n_components != expected || alm_size != shape_.alm.size()) {
      throw UsageError(fmt::format(
          "Legendre stage: a_lm of {} components x {} coefficients; the plan has {} x {}",
          n_components, alm_size, expected, shape_.alm.size()));
    }
    if (n_modes != shape_.rows.size() * expected) {
      throw UsageError(
          fmt::format("Legendre stage: {} ring modes; the plan has {} positions x {} components",
                      n_modes, shape_.rows.size(), expected));
    }
  }

  /// Rows that fold into one another stay on one thread, in order; `rows` chooses them by the row
  /// they fold into.
  template <class Work>
  void for_each_row(RowRange rows, Work&& work) {
    FirstError error;
    const int n_threads = std::min(omp_get_max_threads(), static_cast<int>(scratch_.size()));
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_threads)
    for (std::int64_t group = 0; group < groups_.size(); ++group) {
      error.guard([&] {
        const auto members = groups_.rows(group);
        if (!rows.contains(members.front())) return;
        Scratch& scratch = scratch_[static_cast<std::size_t>(omp_get_thread_num())];
        for (const std::int64_t row : members) work(row, scratch);
      });
    }
    error.rethrow();
  }

  /// Fields of a spin that pay it are swept as scalars first: Q and U never part between batches of
  /// an even number of maps.
  void plan_fields() {
    spins_.reserve(shape_.fields.fields().size());
    degree_ = shape_.alm.lmax();
    for (const FieldSet::Field& field : shape_.fields.fields()) {
      if (field.spin == 0) continue;
      const SpinField& spin = spins_.emplace_back(field, *shape_.grid, shape_.alm.lmax());
      if (!spin.laddered()) continue;
      degree_ = std::max(degree_, shape_.alm.lmax() + field.spin);
      maps_.push_back({{field.first_component, spin.weights()}, &spin});
      maps_.push_back({{field.first_component + 1, spin.weights()}, nullptr});
    }
    for (const FieldSet::Field& field : shape_.fields.fields()) {
      if (field.spin == 0) maps_.push_back({{field.first_component, nullptr}, nullptr});
    }
  }

  /// The scalar maps come in batches that share one sweep.
  std::int64_t maps_of_batch(std::int64_t first_map) const {
    return std::min<std::int64_t>(sweep::max_maps(), ssize64(maps_) - first_map);
  }
  /// Calls work(batch), the maps of a batch, for all of them.
  template <class Work>
  void for_each_batch(ScalarSweep& sweep, Work&& work) const {
    std::array<ScalarSweep::Map, 16> chosen;
    for (std::int64_t first = 0; first < ssize64(maps_); first += sweep::max_maps()) {
      const auto batch = std::span(maps_).subspan(to_size(first), to_size(maps_of_batch(first)));
      for (std::size_t i = 0; i < batch.size(); ++i) chosen[i] = batch[i].map;
      sweep.choose_maps(std::span(chosen).first(batch.size()));
      work(batch);
    }
  }

  void prepare(std::int64_t row, ScalarSweep& sweep) const {
    const int m = shape_.alm.order(row);
    const double norm = norms_[to_size(m)];
    sweep.prepare(m, first_pair(m), m % 2 == 0 ? norm : -norm);
  }
  std::int64_t first_pair(int m) const {
    const RingRange kept = shape_.limits.kept(m);
    return kept.empty() ? shape_.grid->n_pairs() : places_.first_pair(kept);
  }

  template <class T>
  std::span<const std::complex<T>> row_of(std::int64_t row, AlmView<const T> alm,
                                          std::int64_t component) const {
    return {alm.component(component).data() + first_coefficient(row), to_size(n_degrees(row))};
  }

  template <class T>
  void synthesize_scalars(std::int64_t row, Scratch& scratch, AlmView<const T> alm,
                          ModeView<double> modes) const {
    ScalarSweep& sweep = *scratch.scalars;
    const int m = shape_.alm.order(row);
    prepare(row, sweep);
    for_each_batch(sweep, [&](std::span<const ScalarMap> batch) {
      for (int i = 0; i < static_cast<int>(batch.size()); ++i) {
        const ScalarMap& map = batch[to_size(i)];
        const std::int64_t c = map.map.component;
        if (map.spin == nullptr) {
          sweep.set_alm(i, row_of<T>(row, alm, c));
          continue;
        }
        const auto [q, u] = scalar_rows(m, scratch);
        map.spin->ladder().lower(m, sweep.e(), row_of<T>(row, alm, c).data(),
                                 row_of<T>(row, alm, c + 1).data(), q.data(), u.data(),
                                 *scratch.ladder);
        const std::size_t size = to_size(n_degrees(row) + map.spin->spin());
        sweep.set_alm(i, std::span<const Complex>(q.first(size)));
        sweep.set_alm(++i, std::span<const Complex>(u.first(size)));
      }
      sweep.synthesize();
      for_each_run(row, [&](const sweep::RingRun& run, std::int64_t mode) {
        sweep.write_modes(run, modes.data() + mode, shape_.fields.n_components());
      });
      for_each_alias(row, [&](std::int64_t ring, std::int64_t mode, const FoldRule::Alias& alias) {
        for (std::size_t i = 0; i < batch.size(); ++i) {
          store_alias(sweep.mode(static_cast<int>(i), ring), ring, alias,
                      modes[mode + batch[i].map.component]);
        }
      });
    });
  }

  template <class T>
  void adjoint_scalars(std::int64_t row, Scratch& scratch, ModeView<const double> modes,
                       AlmView<T> alm, Accumulate how) const {
    ScalarSweep& sweep = *scratch.scalars;
    const int m = shape_.alm.order(row);
    prepare(row, sweep);
    for_each_batch(sweep, [&](std::span<const ScalarMap> batch) {
      sweep.begin_adjoint();
      for_each_run(row, [&](const sweep::RingRun& run, std::int64_t mode) {
        sweep.add_modes(run, modes.data() + mode, shape_.fields.n_components());
      });
      for_each_alias(row, [&](std::int64_t ring, std::int64_t mode, const FoldRule::Alias& alias) {
        for (std::size_t i = 0; i < batch.size(); ++i) {
          sweep.add_mode(static_cast<int>(i), ring,
                         load_alias(ring, alias, modes[mode + batch[i].map.component]));
        }
      });
      sweep.adjoint();
      for (int i = 0; i < static_cast<int>(batch.size()); ++i) {
        const ScalarMap& map = batch[to_size(i)];
        const std::int64_t c = map.map.component;
        const auto [q, u] = scalar_rows(m, scratch);
        if (map.spin == nullptr) {
          sweep.alm(i, q.first(to_size(n_degrees(row))));
          deliver(row, q.data(), alm.component(c).data(), how);
          continue;
        }
        const std::size_t size = to_size(n_degrees(row) + map.spin->spin());
        sweep.alm(i, q.first(size));
        sweep.alm(++i, u.first(size));
        map.spin->ladder().raise(m, sweep.e(), q.data(), u.data(), q.data(), u.data(),
                                 *scratch.ladder);
        // Where some pairs are swept by Wigner's functions, these came first.
        const bool more = how == Accumulate::add || first_pair(m) < map.spin->n_wigner_pairs();
        const Accumulate here = more ? Accumulate::add : Accumulate::overwrite;
        deliver(row, q.data(), alm.component(c).data(), here);
        deliver(row, u.data(), alm.component(c + 1).data(), here);
      }
    });
  }

  /// Calls work(field) for the fields of which an order has pairs swept by Wigner's functions.
  template <class Work>
  void for_each_wigner_field(std::int64_t row, SpinSweep& sweep, Work&& work) const {
    const int m = shape_.alm.order(row);
    for (const SpinField& field : spins_) {
      if (first_pair(m) >= field.n_wigner_pairs()) continue;
      sweep.prepare(m, field.spin(), first_pair(m), field.n_wigner_pairs(),
                    norms_[to_size(std::max(m, field.spin()))]);
      work(field);
    }
  }

  template <class T>
  void synthesize_spins(std::int64_t row, SpinSweep& sweep, AlmView<const T> alm,
                        ModeView<double> modes) const {
    for_each_wigner_field(row, sweep, [&](const SpinField& field) {
      const std::int64_t c = field.first_component();
      sweep.set_alm(row_of<T>(row, alm, c).data(), row_of<T>(row, alm, c + 1).data());
      sweep.synthesize();
      for_each_ring(row, [&](std::int64_t ring, std::int64_t mode) {
        if (places_.pair(ring) >= field.n_wigner_pairs()) return;
        const SpinSweep::Modes values = sweep.modes(ring);
        modes[mode + c] = values.first;
        modes[mode + c + 1] = values.second;
      });
      for_each_alias(row, [&](std::int64_t ring, std::int64_t mode, const FoldRule::Alias& alias) {
        if (places_.pair(ring) >= field.n_wigner_pairs()) return;
        const SpinSweep::Modes values = sweep.modes(ring);
        store_alias(values.first, ring, alias, modes[mode + c]);
        store_alias(values.second, ring, alias, modes[mode + c + 1]);
      });
    });
  }

  template <class T>
  void adjoint_spins(std::int64_t row, SpinSweep& sweep, ModeView<const double> modes,
                     AlmView<T> alm, Accumulate how) const {
    for_each_wigner_field(row, sweep, [&](const SpinField& field) {
      const std::int64_t c = field.first_component();
      sweep.clear();
      for_each_ring(row, [&](std::int64_t ring, std::int64_t mode) {
        if (places_.pair(ring) >= field.n_wigner_pairs()) return;
        sweep.add_modes(ring, {modes[mode + c], modes[mode + c + 1]});
      });
      for_each_alias(row, [&](std::int64_t ring, std::int64_t mode, const FoldRule::Alias& alias) {
        if (places_.pair(ring) >= field.n_wigner_pairs()) return;
        sweep.add_modes(ring, {load_alias(ring, alias, modes[mode + c]),
                               load_alias(ring, alias, modes[mode + c + 1])});
      });
      sweep.adjoint();
      const auto rows = sweep.alm();
      deliver(row, rows.first, alm.component(c).data(), how);
      deliver(row, rows.second, alm.component(c + 1).data(), how);
    });
  }

  /// Room for two rows of order m up to the degree of the scalar sweep.
  std::pair<std::span<Complex>, std::span<Complex>> scalar_rows(int m, Scratch& scratch) const {
    const std::size_t size = to_size(degree_ - m + 1);
    return {{scratch.rows[0].data(), size},
            {scratch.rows[1].data(), scratch.rows[1].size() > 0 ? size : 0}};
  }
  std::int64_t first_coefficient(std::int64_t row) const {
    return shape_.alm.index(row, shape_.alm.order(row));
  }

  std::int64_t n_degrees(std::int64_t row) const {
    return shape_.alm.lmax() - shape_.alm.order(row) + 1;
  }

  /// Sums are formed in double before they are rounded to what is stored.
  template <class T>
  void deliver(std::int64_t row, const Complex* values, std::complex<T>* component,
               Accumulate how) const {
    std::complex<T>* target = component + first_coefficient(row);
    for (std::int64_t i = 0; i < n_degrees(row); ++i) {
      target[i] =
          std::complex<T>(how == Accumulate::add ? values[i] + Complex(target[i]) : values[i]);
    }
  }

  /// Calls visit(run, mode index of component 0) for the runs of rings a row holds itself.
  template <class Visit>
  void for_each_run(std::int64_t row, Visit&& visit) const {
    for (const RowSegment& segment : shape_.rows.segments(shape_.rows.rows()[to_size(row)])) {
      for (std::int64_t ring = segment.rings.begin; ring < segment.rings.end;) {
        const sweep::RingRun run = places_.run(ring, segment.rings.end);
        visit(run, (segment.first + ring - segment.rings.begin) * shape_.fields.n_components());
        ring += run.count;
      }
    }
  }
  /// Calls visit(ring, mode index of component 0) for the rings a row holds itself.
  template <class Visit>
  void for_each_ring(std::int64_t row, Visit&& visit) const {
    for (const RowSegment& segment : shape_.rows.segments(shape_.rows.rows()[to_size(row)])) {
      for (std::int64_t ring = segment.rings.begin; ring < segment.rings.end; ++ring) {
        visit(ring, (segment.first + ring - segment.rings.begin) * shape_.fields.n_components());
      }
    }
  }
  /// Calls visit(ring, mode index of component 0, alias) for the rings on which a row is added into
  /// the one it folds into.
  template <class Visit>
  void for_each_alias(std::int64_t row_index, Visit&& visit) const {
    const ModeLayout::Row& row = shape_.rows.rows()[to_size(row_index)];
    if (row.fold_into < 0) return;
    const FoldRule::Alias alias = shape_.fold.alias(row.m);
    for (const RowSegment& segment :
         shape_.rows.segments(shape_.rows.rows()[to_size(row.fold_into)])) {
      const RingRange rings = intersection(segment.rings, row.fold_rings);
      for (std::int64_t ring = rings.begin; ring < rings.end; ++ring) {
        visit(ring, (segment.first + ring - segment.rings.begin) * shape_.fields.n_components(),
              alias);
      }
    }
  }

  void store_alias(Complex value, std::int64_t ring, const FoldRule::Alias& alias,
                   Complex& target) const {
    Complex folded = value * phases_(alias.turns, ring);
    if (alias.mirrored) folded = std::conj(folded);
    // A ring FFT counts order 0 once and every other order twice, with its conjugate.
    target += alias.m0 == 0 ? Complex(2 * folded.real(), 0) : folded;
  }
  Complex load_alias(std::int64_t ring, const FoldRule::Alias& alias, Complex source) const {
    return (alias.mirrored ? std::conj(source) : source) * std::conj(phases_(alias.turns, ring));
  }

  LegendreShape shape_;
  FoldGroups groups_;
  PairTables pairs_;
  RingPlaces places_;
  FoldPhases phases_;
  std::vector<double> norms_;
  int degree_ = 0;                ///< of the scalar sweeps
  std::vector<ScalarMap> maps_;   ///< what is swept as a scalar
  std::vector<SpinField> spins_;  ///< the fields of spin >= 1
  std::vector<Scratch> scratch_;
};

}  // namespace

std::unique_ptr<LegendreStage> make_host_legendre_stage(LegendreShape shape) {
  return std::make_unique<HostLegendreStage>(std::move(shape));
}

}  // namespace ringweave
