// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/host/host_legendre_stage.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/first_error.hpp"
#include "legendre/host/fold_groups.hpp"
#include "legendre/host/recurrence.hpp"
#include "legendre/host/ring_tables.hpp"
#include "legendre/host/sweep.hpp"

namespace ringweave {
namespace {

using Complex = std::complex<double>;

/// What one thread works in.
struct Scratch {
  Scratch(int lmax, std::int64_t padded_pairs, sweep::Shape largest, bool scalars, bool spins)
      : scalar(scalars ? lmax : 0),
        spin(spins ? lmax : 0),
        columns((std::max<std::int64_t>(scalars ? lmax / 2 + 1 : 0, spins ? lmax + 1 : 0) + sweep::chunk) *
                largest.n_columns * sweep::lanes()),
        sums(padded_pairs * largest.n_sums) {}
  std::int64_t bytes() const {
    return scalar.bytes() + spin.bytes() + (columns.size() + sums.size()) * static_cast<std::int64_t>(sizeof(double));
  }
  ScalarRecurrence scalar;
  SpinRecurrence spin;
  HostBuffer<double> columns;  ///< [step][column]; for the adjoint with lanes innermost
  HostBuffer<double> sums;     ///< [sum][pair]
};

/// Components that share one sweep: some scalar maps, or one field of spin s.
struct Batch {
  int spin;
  std::vector<std::int64_t> components;
  sweep::Shape shape() const {
    return spin == 0 ? sweep::scalar_shape(static_cast<int>(components.size())) : sweep::spin_shape;
  }
};

std::vector<Batch> make_batches(const FieldSet& fields) {
  std::vector<Batch> batches;
  const auto max_maps = to_size(sweep::max_maps());
  for (const FieldSet::Field& field : fields.fields()) {
    if (field.spin > 0) continue;
    if (batches.empty() || batches.back().components.size() == max_maps) batches.push_back({0, {}});
    batches.back().components.push_back(field.first_component);
  }
  for (const FieldSet::Field& field : fields.fields()) {
    if (field.spin > 0) batches.push_back({field.spin, {field.first_component, field.first_component + 1}});
  }
  // One recurrence serves all batches of a spin when they follow each other.
  std::stable_sort(batches.begin(), batches.end(), [](const Batch& a, const Batch& b) { return a.spin < b.spin; });
  return batches;
}

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
        batches_(make_batches(shape_.fields)),
        norms_(sectoral_norms(std::max(shape_.alm.mmax(), shape_.fields.max_spin()))) {
    sweep::Shape largest{};
    for (const Batch& batch : batches_) {
      largest.n_columns = std::max(largest.n_columns, batch.shape().n_columns);
      largest.n_sums = std::max(largest.n_sums, batch.shape().n_sums);
    }
    const bool scalars = batches_.front().spin == 0;
    const bool spins = batches_.back().spin > 0;
    for (int i = 0; i < omp_get_max_threads(); ++i) {
      scratch_.emplace_back(shape_.alm.lmax(), pairs_.padded_size(), largest, scalars, spins);
    }
  }

  void synthesize(AlmView<const double> alm, ModeView<double> modes) override {
    synthesize_any<double>(alm, modes);
  }
  void synthesize(AlmView<const float> alm, ModeView<double> modes) override {
    synthesize_any<float>(alm, modes);
  }
  void adjoint(ModeView<const double> modes, AlmView<double> alm, Accumulate how) override {
    adjoint_any<double>(modes, alm, how);
  }
  void adjoint(ModeView<const double> modes, AlmView<float> alm, Accumulate how) override {
    adjoint_any<float>(modes, alm, how);
  }

  std::int64_t bytes() const override {
    std::int64_t total = pairs_.bytes() + places_.bytes() + phases_.bytes();
    for (const Scratch& scratch : scratch_) total += scratch.bytes();
    return total;
  }

 private:
  template <class T>
  void synthesize_any(AlmView<const T> alm, ModeView<double> modes) {
    check_sizes(alm.n_components(), alm.size(), modes.size());
    for_each_row([&](std::int64_t row, Scratch& scratch) {
      for (const Batch& batch : batches_) {
        const sweep::Order order = prepare(row, batch, scratch);
        precondition<T>(row, batch, alm, scratch);
        sweep::synthesize(pairs_of(batch), order, batch.shape(), scratch.columns.data(), scratch.sums.data(),
                          pairs_.padded_size());
        write_modes(row, batch, scratch, modes);
      }
    });
  }

  template <class T>
  void adjoint_any(ModeView<const double> modes, AlmView<T> alm, Accumulate how) {
    check_sizes(alm.n_components(), alm.size(), modes.size());
    for_each_row([&](std::int64_t row, Scratch& scratch) {
      for (const Batch& batch : batches_) {
        const sweep::Order order = prepare(row, batch, scratch);
        read_modes(row, batch, order, modes, scratch);
        sweep::adjoint(pairs_of(batch), order, batch.shape(), scratch.sums.data(), pairs_.padded_size(),
                       scratch.columns.data());
        restore<T>(row, batch, scratch, alm, how);
      }
    });
  }

  void check_sizes(std::int64_t n_components, std::int64_t alm_size, std::int64_t n_modes) const {
    const std::int64_t expected = shape_.fields.n_components();
    if (n_components != expected || alm_size != shape_.alm.size()) {
      throw UsageError(fmt::format("Legendre stage: a_lm of {} components x {} coefficients; the plan has {} x {}",
                                   n_components, alm_size, expected, shape_.alm.size()));
    }
    if (n_modes != shape_.rows.size() * expected) {
      throw UsageError(fmt::format("Legendre stage: {} ring modes; the plan has {} positions x {} components", n_modes,
                                   shape_.rows.size(), expected));
    }
  }

  template <class Work>
  void for_each_row(Work&& work) {
    FirstError error;
    const int n_threads = std::min(omp_get_max_threads(), static_cast<int>(scratch_.size()));
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_threads)
    for (std::int64_t group = 0; group < groups_.size(); ++group) {
      error.guard([&] {
        Scratch& scratch = scratch_[static_cast<std::size_t>(omp_get_thread_num())];
        for (const std::int64_t row : groups_.rows(group)) work(row, scratch);
      });
    }
    error.rethrow();
  }

  sweep::Pairs pairs_of(const Batch& batch) const {
    return batch.spin == 0 ? pairs_.for_scalars() : pairs_.for_spins();
  }

  /// Makes the recurrence of an order unless the batch before has, and describes the sweep.
  sweep::Order prepare(std::int64_t row, const Batch& batch, Scratch& scratch) const {
    const int m = shape_.alm.order(row);
    const bool repeats = &batch != batches_.data() && (&batch - 1)->spin == batch.spin;
    const RingRange kept = shape_.limits.kept(m);
    sweep::Order order{};
    order.first_pair = kept.empty() ? shape_.grid->n_pairs() : places_.first_pair(kept);
    if (batch.spin == 0) {
      if (!repeats) scratch.scalar.prepare(m);
      order.coefficients = scratch.scalar.coefficients();
      order.n_steps = scratch.scalar.n_steps();
    } else {
      if (!repeats) scratch.spin.prepare(m, batch.spin);
      order.coefficients = scratch.spin.coefficients();
      order.n_steps = scratch.spin.n_steps();
    }
    order.seed = seed(m, batch.spin);
    return order;
  }

  /// lambda_{+-s} at l = max(m, s): N sin^{|m - s|} (1 -+ z)^{min(m, s)}, times (-1)^m for +s, (-1)^max(m, s) for -s.
  sweep::Seed seed(int m, int spin) const {
    const int high = std::max(m, spin);
    const int low = std::min(m, spin);
    double ratio = 1;
    for (int j = 1; j <= low; ++j) ratio *= static_cast<double>(high - j + 1) / (high + j);
    const double norm = norms_[to_size(high)] * std::sqrt(ratio);
    return {{m % 2 == 0 ? norm : -norm, high % 2 == 0 ? norm : -norm}, high - low, low};
  }

  template <class T>
  void precondition(std::int64_t row, const Batch& batch, AlmView<const T> alm, Scratch& scratch) const {
    const std::int64_t first = shape_.alm.index(row, shape_.alm.order(row));
    if (batch.spin > 0) {
      return scratch.spin.precondition(alm.component(batch.components[0]).data() + first,
                                       alm.component(batch.components[1]).data() + first, scratch.columns.data());
    }
    for (std::size_t i = 0; i < batch.components.size(); ++i) {
      scratch.scalar.precondition(alm.component(batch.components[i]).data() + first, scratch.columns.data() + 4 * i,
                                  batch.shape().n_columns);
    }
  }

  template <class T>
  void restore(std::int64_t row, const Batch& batch, const Scratch& scratch, AlmView<T> alm, Accumulate how) const {
    const std::int64_t first = shape_.alm.index(row, shape_.alm.order(row));
    if (batch.spin > 0) {
      return scratch.spin.restore(scratch.columns.data(), alm.component(batch.components[0]).data() + first,
                                  alm.component(batch.components[1]).data() + first, how);
    }
    for (std::size_t i = 0; i < batch.components.size(); ++i) {
      scratch.scalar.restore(scratch.columns.data() + 4 * i, batch.shape().n_columns,
                             alm.component(batch.components[i]).data() + first, how);
    }
  }

  /// Calls visit(ring, mode index of component 0, alias) for every ring of a row: those it holds itself, alias null,
  /// and those it adds into the row it folds into.
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
    for (const RowSegment& segment : shape_.rows.segments(shape_.rows.rows()[to_size(row.fold_into)])) {
      const RingRange rings = intersection(segment.rings, row.fold_rings);
      for (std::int64_t ring = rings.begin; ring < rings.end; ++ring) {
        visit(ring, (segment.first + ring - segment.rings.begin) * n_components, &alias);
      }
    }
  }

  void store(Complex value, std::int64_t ring, const FoldRule::Alias* alias, Complex& target) const {
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

  /// The sign of the southern sums of a spin field at its first degree.
  double southern_sign(std::int64_t row, int spin) const {
    const int m = shape_.alm.order(row);
    return (std::max(m, spin) + m) % 2 == 0 ? 1 : -1;
  }

  void write_modes(std::int64_t row, const Batch& batch, const Scratch& scratch, ModeView<double> modes) const {
    const std::int64_t stride = pairs_.padded_size();
    const auto sum = [&](std::int64_t i, std::int64_t pair) {
      return Complex(scratch.sums[i * stride + pair], scratch.sums[(i + 1) * stride + pair]);
    };
    if (batch.spin == 0) {
      for (std::size_t map = 0; map < batch.components.size(); ++map) {
        const std::int64_t first = 4 * static_cast<std::int64_t>(map);
        for_each_ring(row, [&](std::int64_t ring, std::int64_t mode, const FoldRule::Alias* alias) {
          const std::int64_t pair = places_.pair(ring);
          const Complex value = sum(first, pair) + places_.z(ring) * sum(first + 2, pair);
          store(value, ring, alias, modes[mode + batch.components[map]]);
        });
      }
      return;
    }
    const double minus_parity = batch.spin % 2 == 0 ? -0.5 : 0.5;
    const double south = southern_sign(row, batch.spin);
    for_each_ring(row, [&](std::int64_t ring, std::int64_t mode, const FoldRule::Alias* alias) {
      const std::int64_t pair = places_.pair(ring);
      const bool is_south = places_.is_south(ring);
      const double sign = is_south ? south : 1;
      const Complex plus = -0.5 * sign * sum(is_south ? 4 : 0, pair);
      const Complex minus = minus_parity * sign * sum(is_south ? 6 : 2, pair);
      const Complex difference = plus - minus;
      store(plus + minus, ring, alias, modes[mode + batch.components[0]]);
      store({difference.imag(), -difference.real()}, ring, alias, modes[mode + batch.components[1]]);
    });
  }

  void read_modes(std::int64_t row, const Batch& batch, const sweep::Order& order, ModeView<const double> modes,
                  Scratch& scratch) const {
    const std::int64_t stride = pairs_.padded_size();
    const std::int64_t first_pair = sweep::first_touched(order.first_pair);
    for (int i = 0; i < batch.shape().n_sums; ++i) {
      std::fill(scratch.sums.begin() + i * stride + first_pair, scratch.sums.begin() + (i + 1) * stride, 0.0);
    }
    const auto add = [&](std::int64_t i, std::int64_t pair, Complex value) {
      scratch.sums[i * stride + pair] += value.real();
      scratch.sums[(i + 1) * stride + pair] += value.imag();
    };
    if (batch.spin == 0) {
      for (std::size_t map = 0; map < batch.components.size(); ++map) {
        const std::int64_t first = 4 * static_cast<std::int64_t>(map);
        for_each_ring(row, [&](std::int64_t ring, std::int64_t mode, const FoldRule::Alias* alias) {
          const Complex value = load(ring, alias, modes[mode + batch.components[map]]);
          add(first, places_.pair(ring), value);
          add(first + 2, places_.pair(ring), places_.z(ring) * value);
        });
      }
      return;
    }
    const double parity = batch.spin % 2 == 0 ? 1 : -1;
    const double south = southern_sign(row, batch.spin);
    for_each_ring(row, [&](std::int64_t ring, std::int64_t mode, const FoldRule::Alias* alias) {
      const Complex q = load(ring, alias, modes[mode + batch.components[0]]);
      const Complex u = load(ring, alias, modes[mode + batch.components[1]]);
      const Complex i_u(-u.imag(), u.real());
      const bool is_south = places_.is_south(ring);
      const double sign = is_south ? -south : -1;
      add(is_south ? 4 : 0, places_.pair(ring), sign * (q + i_u));
      add(is_south ? 6 : 2, places_.pair(ring), sign * parity * (q - i_u));
    });
  }

  LegendreShape shape_;
  FoldGroups groups_;
  PairTables pairs_;
  RingPlaces places_;
  FoldPhases phases_;
  std::vector<Batch> batches_;
  std::vector<double> norms_;
  std::vector<Scratch> scratch_;
};

}  // namespace

std::unique_ptr<LegendreStage> make_host_legendre_stage(LegendreShape shape) {
  return std::make_unique<HostLegendreStage>(std::move(shape));
}

}  // namespace ringweave
