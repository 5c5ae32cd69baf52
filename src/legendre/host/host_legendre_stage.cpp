// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/host/host_legendre_stage.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
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
#include "legendre/host/spin_sweep.hpp"

namespace ringweave {
namespace {

using Complex = std::complex<double>;

/// What one thread works in.
struct Scratch {
  std::unique_ptr<ScalarSweep> scalars;  ///< null when there are no scalar fields
  std::unique_ptr<SpinSweep> spins;      ///< null when there are no others
  std::int64_t bytes() const {
    return (scalars ? scalars->bytes() : 0) + (spins ? spins->bytes() : 0);
  }
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
    for (const FieldSet::Field& field : shape_.fields.fields()) {
      field.spin == 0 ? scalars_.push_back(field.first_component) : spins_.push_back(field);
    }
    const int lmax = shape_.alm.lmax();
    for (int i = 0; i < omp_get_max_threads(); ++i) {
      Scratch& scratch = scratch_.emplace_back();
      if (!scalars_.empty()) {
        scratch.scalars = std::make_unique<ScalarSweep>(pairs_, places_, lmax,
                                                        static_cast<int>(maps_of_batch(0)));
      }
      if (!spins_.empty()) scratch.spins = std::make_unique<SpinSweep>(pairs_, places_, lmax);
    }
  }

  void synthesize(AlmView<const double> alm, ModeView<double> modes) override {
    synthesize_any<double>(alm, modes);
  }
  void synthesize(AlmView<const float> alm, ModeView<double> modes) override {
    synthesize_any<float>(alm, modes);
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
  void synthesize_any(AlmView<const T> alm, ModeView<double> modes) {
    check_sizes(alm.n_components(), alm.size(), modes.size());
    for_each_row(all_rows(), [&](std::int64_t row, Scratch& scratch) {
      if (scratch.scalars) synthesize_scalars<T>(row, *scratch.scalars, alm, modes);
      if (scratch.spins) synthesize_spins<T>(row, *scratch.spins, alm, modes);
    });
  }

  template <class T>
  void adjoint_any(RowRange rows, ModeView<const double> modes, AlmView<T> alm, Accumulate how) {
    check_sizes(alm.n_components(), alm.size(), modes.size());
    for_each_row(rows, [&](std::int64_t row, Scratch& scratch) {
      if (scratch.scalars) adjoint_scalars<T>(row, *scratch.scalars, modes, alm, how);
      if (scratch.spins) adjoint_spins<T>(row, *scratch.spins, modes, alm, how);
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

  /// Rows that fold into one another stay on one thread, in order.
  template <class Work>
  void for_each_row(RowRange rows, Work&& work) {
    FirstError error;
    const int n_threads = std::min(omp_get_max_threads(), static_cast<int>(scratch_.size()));
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_threads)
    for (std::int64_t group = 0; group < groups_.size(); ++group) {
      error.guard([&] {
        Scratch& scratch = scratch_[static_cast<std::size_t>(omp_get_thread_num())];
        for (const std::int64_t row : groups_.rows(group)) {
          if (rows.contains(row)) work(row, scratch);
        }
      });
    }
    error.rethrow();
  }

  /// The scalar maps come in batches that share one sweep.
  std::int64_t maps_of_batch(std::int64_t first_map) const {
    return std::min<std::int64_t>(sweep::max_maps(), ssize64(scalars_) - first_map);
  }
  /// Calls work(batch), the components of a batch, for all of them.
  template <class Work>
  void for_each_batch(ScalarSweep& sweep, Work&& work) const {
    for (std::int64_t first = 0; first < ssize64(scalars_); first += sweep::max_maps()) {
      const std::int64_t maps = maps_of_batch(first);
      sweep.choose_maps(static_cast<int>(maps));
      work(std::span(scalars_).subspan(to_size(first), to_size(maps)));
    }
  }

  void prepare(std::int64_t row, ScalarSweep& sweep) const {
    const int m = shape_.alm.order(row);
    const double norm = norms_[to_size(m)];
    sweep.prepare(m, first_pair(m), m % 2 == 0 ? norm : -norm);
  }
  void prepare(std::int64_t row, int spin, SpinSweep& sweep) const {
    const int m = shape_.alm.order(row);
    sweep.prepare(m, spin, first_pair(m), norms_[to_size(std::max(m, spin))]);
  }
  std::int64_t first_pair(int m) const {
    const RingRange kept = shape_.limits.kept(m);
    return kept.empty() ? shape_.grid->n_pairs() : places_.first_pair(kept);
  }

  template <class T>
  void synthesize_scalars(std::int64_t row, ScalarSweep& sweep, AlmView<const T> alm,
                          ModeView<double> modes) const {
    prepare(row, sweep);
    for_each_batch(sweep, [&](std::span<const std::int64_t> components) {
      for (std::size_t map = 0; map < components.size(); ++map) {
        sweep.set_alm(static_cast<int>(map),
                      alm.component(components[map]).data() + first_coefficient(row));
      }
      sweep.synthesize();
      for_each_ring(row, [&](std::int64_t ring, std::int64_t mode, const FoldRule::Alias* alias) {
        for (std::size_t map = 0; map < components.size(); ++map) {
          store(sweep.mode(static_cast<int>(map), ring), ring, alias,
                modes[mode + components[map]]);
        }
      });
    });
  }

  template <class T>
  void synthesize_spins(std::int64_t row, SpinSweep& sweep, AlmView<const T> alm,
                        ModeView<double> modes) const {
    for (const FieldSet::Field& field : spins_) {
      const std::int64_t c = field.first_component;
      prepare(row, field.spin, sweep);
      sweep.set_alm(alm.component(c).data() + first_coefficient(row),
                    alm.component(c + 1).data() + first_coefficient(row));
      sweep.synthesize();
      for_each_ring(row, [&](std::int64_t ring, std::int64_t mode, const FoldRule::Alias* alias) {
        const SpinSweep::Modes values = sweep.modes(ring);
        store(values.first, ring, alias, modes[mode + c]);
        store(values.second, ring, alias, modes[mode + c + 1]);
      });
    }
  }

  template <class T>
  void adjoint_scalars(std::int64_t row, ScalarSweep& sweep, ModeView<const double> modes,
                       AlmView<T> alm, Accumulate how) const {
    prepare(row, sweep);
    for_each_batch(sweep, [&](std::span<const std::int64_t> components) {
      sweep.clear();
      for_each_ring(row, [&](std::int64_t ring, std::int64_t mode, const FoldRule::Alias* alias) {
        for (std::size_t map = 0; map < components.size(); ++map) {
          sweep.add_mode(static_cast<int>(map), ring,
                         load(ring, alias, modes[mode + components[map]]));
        }
      });
      sweep.adjoint();
      for (std::size_t map = 0; map < components.size(); ++map) {
        deliver(row, sweep.alm(static_cast<int>(map)), alm.component(components[map]).data(), how);
      }
    });
  }

  template <class T>
  void adjoint_spins(std::int64_t row, SpinSweep& sweep, ModeView<const double> modes,
                     AlmView<T> alm, Accumulate how) const {
    for (const FieldSet::Field& field : spins_) {
      const std::int64_t c = field.first_component;
      prepare(row, field.spin, sweep);
      sweep.clear();
      for_each_ring(row, [&](std::int64_t ring, std::int64_t mode, const FoldRule::Alias* alias) {
        sweep.add_modes(
            ring, {load(ring, alias, modes[mode + c]), load(ring, alias, modes[mode + c + 1])});
      });
      sweep.adjoint();
      const auto rows = sweep.alm();
      deliver(row, rows.first, alm.component(c).data(), how);
      deliver(row, rows.second, alm.component(c + 1).data(), how);
    }
  }

  std::int64_t first_coefficient(std::int64_t row) const {
    return shape_.alm.index(row, shape_.alm.order(row));
  }

  /// Sums are formed in double before they are rounded to what is stored.
  template <class T>
  void deliver(std::int64_t row, const Complex* values, std::complex<T>* component,
               Accumulate how) const {
    std::complex<T>* target = component + first_coefficient(row);
    const std::int64_t n_degrees = shape_.alm.lmax() - shape_.alm.order(row) + 1;
    for (std::int64_t i = 0; i < n_degrees; ++i) {
      target[i] =
          std::complex<T>(how == Accumulate::add ? values[i] + Complex(target[i]) : values[i]);
    }
  }

  /// Calls visit(ring, mode index of component 0, alias) for every ring of a row: those it holds
  /// itself, alias null, and those it adds into the row it folds into.
  template <class Visit>
  void for_each_ring(std::int64_t row_index, Visit&& visit) const {
    const std::int64_t n_components = shape_.fields.n_components();
    const ModeLayout::Row& row = shape_.rows.rows()[to_size(row_index)];
    for (const RowSegment& segment : shape_.rows.segments(row)) {
      for (std::int64_t ring = segment.rings.begin; ring < segment.rings.end; ++ring) {
        visit(ring, (segment.first + ring - segment.rings.begin) * n_components, nullptr);
      }
    }
    if (row.fold_into < 0) return;
    const FoldRule::Alias alias = shape_.fold.alias(row.m);
    for (const RowSegment& segment :
         shape_.rows.segments(shape_.rows.rows()[to_size(row.fold_into)])) {
      const RingRange rings = intersection(segment.rings, row.fold_rings);
      for (std::int64_t ring = rings.begin; ring < rings.end; ++ring) {
        visit(ring, (segment.first + ring - segment.rings.begin) * n_components, &alias);
      }
    }
  }

  void store(Complex value, std::int64_t ring, const FoldRule::Alias* alias,
             Complex& target) const {
    if (alias == nullptr) {
      target = value;
      return;
    }
    Complex folded = value * phases_(alias->turns, ring);
    if (alias->mirrored) folded = std::conj(folded);
    // A ring FFT counts order 0 once and every other order twice, with its conjugate.
    target += alias->m0 == 0 ? Complex(2 * folded.real(), 0) : folded;
  }

  Complex load(std::int64_t ring, const FoldRule::Alias* alias, Complex source) const {
    if (alias == nullptr) return source;
    return (alias->mirrored ? std::conj(source) : source) * std::conj(phases_(alias->turns, ring));
  }

  LegendreShape shape_;
  FoldGroups groups_;
  PairTables pairs_;
  RingPlaces places_;
  FoldPhases phases_;
  std::vector<double> norms_;
  std::vector<std::int64_t> scalars_;   ///< components of the scalar fields
  std::vector<FieldSet::Field> spins_;  ///< the other fields
  std::vector<Scratch> scratch_;
};

}  // namespace

std::unique_ptr<LegendreStage> make_host_legendre_stage(LegendreShape shape) {
  return std::make_unique<HostLegendreStage>(std::move(shape));
}

}  // namespace ringweave
