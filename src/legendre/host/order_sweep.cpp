// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/host/order_sweep.hpp"

#include <omp.h>

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline legendre {
namespace {

using Complex = std::complex<double>;

/// Upper bound of sweep::max_maps() over all instruction sets.
constexpr std::size_t most_maps = 16;
/// Pieces of a row for which the memory behind them is prefetched.
constexpr std::size_t most_pieces = 8;

/// Limit for cached seeds, all ranks together. Seeds that do not stay in the L2 cache take as long
/// to load as to compute. Caching all orders saves a fifth of the stage's time at lmax 255; at lmax
/// 511 caching the lowest, which are computed in long double, saves 5 % and caching others nothing.
constexpr std::int64_t most_kept_bytes = std::int64_t{1} << 20;
/// The most that caches of seeds may need: where all orders need more, caching a few of them saves
/// nothing.
constexpr std::int64_t most_worthwhile_bytes = std::int64_t{8} << 20;

/// Adds or stores values; sums are formed in double before they are rounded to T.
template <class T>
void deliver(const Complex* values, std::span<std::complex<T>> target, Accumulate how) {
  if (how == Accumulate::overwrite) {
    for (std::complex<T>& value : target) value = std::complex<T>(*values++);
  } else {
    for (std::complex<T>& value : target) value = std::complex<T>(*values++ + Complex(value));
  }
}

}  // namespace

std::int64_t OrderSweep::Scratch::bytes() const {
  return (scalars ? scalars->bytes() : 0) + (spins ? spins->bytes() : 0) +
         (ladder ? ladder->bytes() : 0) +
         (rows[0].size() + rows[1].size()) * static_cast<std::int64_t>(sizeof(Complex));
}

OrderSweep::OrderSweep(const RingGrid& grid, const FieldSet& fields, int lmax, int mmax,
                       const FoldPhases* phases)
    : lmax_(lmax),
      n_components_(fields.n_components()),
      max_spin_(fields.max_spin()),
      n_pairs_(grid.n_pairs()),
      pairs_(grid),
      places_(grid),
      phases_(phases),
      norms_(sectoral_norms(std::max(mmax, fields.max_spin()))),
      degree_(lmax) {
  spins_.reserve(fields.fields().size());
  for (const FieldSet::Field& field : fields.fields()) {
    if (field.spin == 0) continue;
    const SpinField& spin = spins_.emplace_back(field, grid, lmax);
    if (!spin.laddered()) continue;
    degree_ = std::max(degree_, lmax + field.spin);
    maps_.push_back({{field.first_component, spin.weights()}, &spin});
    maps_.push_back({{field.first_component + 1, spin.weights()}, nullptr});
  }
  for (const FieldSet::Field& field : fields.fields()) {
    if (field.spin == 0) maps_.push_back({{field.first_component, nullptr}, nullptr});
  }
}

OrderSweep::Scratch OrderSweep::scratch() const {
  Scratch scratch;
  if (!maps_.empty()) {
    scratch.scalars = std::make_unique<ScalarSweep>(pairs_, places_, degree_, split(),
                                                    static_cast<int>(most_maps_of_batch()));
    scratch.rows[0].allocate(std::int64_t{degree_} + 1);
  }
  if (!spins_.empty()) {
    scratch.spins = std::make_unique<SpinSweep>(pairs_, places_, lmax_);
    scratch.ladder = std::make_unique<SpinLadder::Scratch>(max_spin_, lmax_);
    if (!maps_.empty()) scratch.rows[1].allocate(std::int64_t{degree_} + 1);
  }
  return scratch;
}

std::int64_t OrderSweep::bytes() const {
  std::int64_t total = pairs_.bytes() + places_.bytes();
  for (const SpinField& spin : spins_) total += spin.bytes();
  for (const auto& seeds : low_seeds_) total += seeds ? seeds->bytes() : 0;
  return total;
}

std::int64_t OrderSweep::first_pair(RingRange kept) const {
  return kept.empty() ? n_pairs_ : places_.first_pair(kept);
}

/// Q and U stay in one batch, so it has room for at least two maps.
std::int64_t OrderSweep::maps_of_batch(std::int64_t first_map) const {
  const std::int64_t n = std::min<std::int64_t>(sweep::max_maps(), ssize64(maps_) - first_map);
  return maps_[to_size(first_map + n - 1)].spin == nullptr ? n : n - 1;
}

std::int64_t OrderSweep::most_maps_of_batch() const {
  std::int64_t most = 0;
  for (std::int64_t first = 0; first < ssize64(maps_); first += maps_of_batch(first)) {
    most = std::max(most, maps_of_batch(first));
  }
  return most;
}

/// Calls work(batch) for all batches of maps that share one sweep.
template <class Work>
void OrderSweep::for_each_batch(ScalarSweep& sweep, const Work& work) const {
  std::array<ScalarSweep::Map, most_maps> chosen;
  for (std::int64_t first = 0; first < ssize64(maps_); first += maps_of_batch(first)) {
    const auto batch = std::span(maps_).subspan(to_size(first), to_size(maps_of_batch(first)));
    for (std::size_t i = 0; i < batch.size(); ++i) chosen[i] = batch[i].map;
    sweep.choose_maps(std::span(chosen).first(batch.size()));
    work(batch);
  }
}

/// Calls work(field) for the fields of which some pairs use Wigner's d functions at this order.
template <class Work>
void OrderSweep::for_each_wigner_field(int m, RingRange kept, SpinSweep& sweep,
                                       const Work& work) const {
  for (const SpinField& field : spins_) {
    if (first_pair(kept) >= field.n_wigner_pairs()) continue;
    sweep.prepare(m, field.spin(), first_pair(kept), field.n_wigner_pairs(),
                  norms_[to_size(std::max(m, field.spin()))]);
    work(field);
  }
}

/// Calls visit(run, modes of its first ring) for the runs of rings whose pairs are consecutive.
template <class Value, class Visit>
void OrderSweep::for_each_run(const ModeRow<Value>& row, const Visit& visit) const {
  for (const auto& piece : row.own) {
    for (std::int64_t ring = piece.rings.begin; ring < piece.rings.end;) {
      const sweep::RingRun run = places_.run(ring, piece.rings.end);
      visit(run, piece.modes + (ring - piece.rings.begin) * n_components_);
      ring += run.count;
    }
  }
}

/// Calls visit(ring, its modes) for every ring.
template <class Value, class Visit>
void OrderSweep::for_each_ring(const std::vector<typename ModeRow<Value>::Piece>& pieces,
                               const Visit& visit) const {
  for (const auto& piece : pieces) {
    Value* modes = piece.modes;
    for (std::int64_t ring = piece.rings.begin; ring < piece.rings.end; ++ring) {
      visit(ring, modes);
      modes += n_components_;
    }
  }
}

double OrderSweep::norm(int m) const {
  return m % 2 == 0 ? norms_[to_size(m)] : -norms_[to_size(m)];
}

void OrderSweep::prepare(int m, RingRange kept, ScalarSweep& sweep) const {
  const bool is_low = m < ssize64(low_seeds_);
  const auto* seeds = is_low ? low_seeds_[to_size(m)].get() : nullptr;
  sweep.prepare(m, first_pair(kept), norm(m), seeds);
}

void OrderSweep::cache_seeds(const AlmLayout& orders, const ModeLimits& limits) {
  if (maps_.empty()) return;
  std::vector<std::int64_t> bytes_up_to;  // [m]
  std::int64_t bytes = 0;
  for (int m = 0; m <= orders.mmax(); ++m) {
    const std::int64_t n_pairs = n_pairs_ - first_pair(limits.kept(m));
    const std::int64_t doubles = 6 * ((degree_ - m) / 2 + 1) + 2 * n_pairs;
    bytes += doubles * static_cast<std::int64_t>(sizeof(double));
    bytes_up_to.push_back(bytes);
  }
  if (bytes > most_worthwhile_bytes) return;
  ScalarSweep sweep(pairs_, places_, degree_, split(), 1);
  for (int m = 0; m <= orders.mmax() && bytes_up_to[to_size(m)] <= most_kept_bytes; ++m) {
    low_seeds_.push_back(nullptr);
    if (orders.row_of(m) < 0) continue;
    low_seeds_.back() =
        std::make_unique<ScalarSweep::Seeds>(sweep.seeds(m, first_pair(limits.kept(m)), norm(m)));
  }
}

template <class T>
void OrderSweep::set_alm(int m, const AlmRow<const T>& alm, std::span<const ScalarMap> batch,
                         Scratch& scratch) const {
  ScalarSweep& sweep = *scratch.scalars;
  for (int i = 0; i < static_cast<int>(batch.size()); ++i) {
    const ScalarMap& map = batch[to_size(i)];
    const std::int64_t c = map.map.component;
    if (map.spin == nullptr) {
      sweep.set_alm(i, std::span<const std::complex<T>>(alm.degrees(c)));
      continue;
    }
    Complex* q = scratch.rows[0].data();
    Complex* u = scratch.rows[1].data();
    map.spin->ladder().lower(m, sweep.e(), alm.degrees(c).data(), alm.degrees(c + 1).data(), q, u,
                             *scratch.ladder);
    const std::size_t size = to_size(alm.n_degrees + map.spin->spin());
    sweep.set_alm(i, std::span<const Complex>(q, size));
    sweep.set_alm(++i, std::span<const Complex>(u, size));
  }
}

template <class T>
void OrderSweep::deliver_alm(int m, RingRange kept, std::span<const ScalarMap> batch,
                             const AlmRow<T>& alm, Accumulate how, Scratch& scratch) const {
  const ScalarSweep& sweep = *scratch.scalars;
  Complex* q = scratch.rows[0].data();
  Complex* u = scratch.rows[1].data();
  for (int i = 0; i < static_cast<int>(batch.size()); ++i) {
    const ScalarMap& map = batch[to_size(i)];
    const std::int64_t c = map.map.component;
    if (map.spin == nullptr) {
      if constexpr (std::is_same_v<T, double>) {
        if (how == Accumulate::overwrite) {
          sweep.alm(i, alm.degrees(c));
          continue;
        }
      }
      sweep.alm(i, std::span(q, to_size(alm.n_degrees)));
      deliver(q, alm.degrees(c), how);
      continue;
    }
    const std::size_t size = to_size(alm.n_degrees + map.spin->spin());
    sweep.alm(i, std::span(q, size));
    sweep.alm(++i, std::span(u, size));
    map.spin->ladder().raise(m, sweep.e(), q, u, q, u, *scratch.ladder);
    // Pairs that use Wigner's d functions have been processed before.
    const bool more = how == Accumulate::add || first_pair(kept) < map.spin->n_wigner_pairs();
    const Accumulate here = more ? Accumulate::add : Accumulate::overwrite;
    deliver(q, alm.degrees(c), here);
    deliver(u, alm.degrees(c + 1), here);
  }
}

/// Rows are in memory in processing order, so the modes a thread processes next follow those of
/// this row by as many rows as there are threads.
template <class T>
std::span<const sweep::PrefetchRange> OrderSweep::wanted_next(
    std::span<const ScalarMap> batch, const ModeRow<const Complex>& row, const AlmRow<T>& alm,
    std::int64_t n_components, std::span<sweep::PrefetchRange> parts) {
  std::size_t n = 0;
  const auto add = [&](const void* begin, std::int64_t bytes) {
    const char* const first = static_cast<const char*>(begin);
    parts[n++] = {first, first + bytes};
  };
  for (const ScalarMap& map : batch) {
    const auto degrees = alm.degrees(map.map.component);
    add(degrees.data(), static_cast<std::int64_t>(degrees.size_bytes()));
  }
  for (const auto& piece : std::span(row.own).first(std::min(most_pieces, row.own.size()))) {
    const std::int64_t size = piece.rings.size() * n_components;
    add(piece.modes + size * omp_get_num_threads(),
        size * static_cast<std::int64_t>(sizeof(Complex)));
  }
  return parts.first(n);
}

template <class T>
void OrderSweep::synthesize(int m, RingRange kept, const AlmRow<const T>& alm,
                            const ModeRow<Complex>& row, Scratch& scratch) const {
  if (scratch.scalars != nullptr) {
    ScalarSweep& sweep = *scratch.scalars;
    prepare(m, kept, sweep);
    for_each_batch(sweep, [&](std::span<const ScalarMap> batch) {
      set_alm(m, alm, batch, scratch);
      sweep.synthesize();
      for_each_run(row, [&](const sweep::RingRun& run, Complex* modes) {
        sweep.write_modes(run, modes, n_components_);
      });
      for_each_ring<Complex>(row.aliased, [&](std::int64_t ring, Complex* modes) {
        for (std::size_t i = 0; i < batch.size(); ++i) {
          phases_->add(sweep.mode(static_cast<int>(i), ring), ring, row.alias,
                       modes[batch[i].map.component]);
        }
      });
    });
  }
  if (scratch.spins == nullptr) return;
  SpinSweep& sweep = *scratch.spins;
  for_each_wigner_field(m, kept, sweep, [&](const SpinField& field) {
    const std::int64_t c = field.first_component();
    sweep.set_alm(alm.degrees(c).data(), alm.degrees(c + 1).data());
    sweep.synthesize();
    for_each_ring<Complex>(row.own, [&](std::int64_t ring, Complex* modes) {
      if (places_.pair(ring) >= field.n_wigner_pairs()) return;
      const SpinSweep::Modes values = sweep.modes(ring);
      modes[c] = values.first;
      modes[c + 1] = values.second;
    });
    for_each_ring<Complex>(row.aliased, [&](std::int64_t ring, Complex* modes) {
      if (places_.pair(ring) >= field.n_wigner_pairs()) return;
      const SpinSweep::Modes values = sweep.modes(ring);
      phases_->add(values.first, ring, row.alias, modes[c]);
      phases_->add(values.second, ring, row.alias, modes[c + 1]);
    });
  });
}

template <class T>
void OrderSweep::adjoint(int m, RingRange kept, const ModeRow<const Complex>& row,
                         const AlmRow<T>& alm, Accumulate how, Scratch& scratch) const {
  if (scratch.spins != nullptr) {
    SpinSweep& sweep = *scratch.spins;
    for_each_wigner_field(m, kept, sweep, [&](const SpinField& field) {
      const std::int64_t c = field.first_component();
      sweep.clear();
      for_each_ring<const Complex>(row.own, [&](std::int64_t ring, const Complex* modes) {
        if (places_.pair(ring) >= field.n_wigner_pairs()) return;
        sweep.add_modes(ring, {modes[c], modes[c + 1]});
      });
      for_each_ring<const Complex>(row.aliased, [&](std::int64_t ring, const Complex* modes) {
        if (places_.pair(ring) >= field.n_wigner_pairs()) return;
        sweep.add_modes(ring, {phases_->repeat(modes[c], ring, row.alias),
                               phases_->repeat(modes[c + 1], ring, row.alias)});
      });
      sweep.adjoint();
      const auto rows = sweep.alm();
      deliver(rows.first, alm.degrees(c), how);
      deliver(rows.second, alm.degrees(c + 1), how);
    });
  }
  if (scratch.scalars == nullptr) return;
  ScalarSweep& sweep = *scratch.scalars;
  prepare(m, kept, sweep);
  for_each_batch(sweep, [&](std::span<const ScalarMap> batch) {
    sweep.begin_adjoint();
    for_each_run(row, [&](const sweep::RingRun& run, const Complex* modes) {
      sweep.add_modes(run, modes, n_components_);
    });
    for_each_ring<const Complex>(row.aliased, [&](std::int64_t ring, const Complex* modes) {
      for (std::size_t i = 0; i < batch.size(); ++i) {
        sweep.add_mode(static_cast<int>(i), ring,
                       phases_->repeat(modes[batch[i].map.component], ring, row.alias));
      }
    });
    std::array<sweep::PrefetchRange, most_maps + most_pieces> parts;
    sweep.adjoint(wanted_next(batch, row, alm, n_components_, parts));
    deliver_alm(m, kept, batch, alm, how, scratch);
  });
}

#define RINGWEAVE_INSTANTIATE(T)                                                   \
  template void OrderSweep::synthesize(int, RingRange, const AlmRow<const T>&,     \
                                       const ModeRow<Complex>&, Scratch&) const;   \
  template void OrderSweep::adjoint(int, RingRange, const ModeRow<const Complex>&, \
                                    const AlmRow<T>&, Accumulate, Scratch&) const;
RINGWEAVE_INSTANTIATE(float)
RINGWEAVE_INSTANTIATE(double)
#undef RINGWEAVE_INSTANTIATE

}  // namespace ringweave::detail::inline legendre
