// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/ring/host/mode_block.hpp"

#include <algorithm>

#include "base/checked_cast.hpp"
#include "base/mode_view.hpp"
#include "base/scratch_arena.hpp"

namespace ringweave::detail::inline convolve {
namespace {

struct Pieces {
  double* in;
  double* out;
  double* cosines;
  double* sines = nullptr;
  double* rows = nullptr;

  /// row  doubles of a ring in all arrays
  Pieces(const ModeSamples& samples, std::int64_t row, bool has_spin, ScratchArena& pieces) {
    // A tile that is not full reads beyond its last partner.
    const std::int64_t size = (samples.most_rings() + samples.step() * mode_sum::pairs) * row;
    in = pieces.allocate<double>(size);
    out = pieces.allocate<double>(size);
    cosines = pieces.allocate<double>(samples.step() * samples.most_summed() * mode_sum::orders);
    if (!has_spin) return;
    sines = pieces.allocate<double>(samples.step() * samples.most_summed() * mode_sum::orders);
    rows = pieces.allocate<double>(2 * mode_sum::pairs * mode_sum::orders);
  }
};

}  // namespace

std::int64_t ModeBlock::rings_at_once(const RingConvolutionPlan& plan, std::int64_t n_maps,
                                      std::int64_t most_scratch) {
  constexpr std::int64_t fewest = 64;
  constexpr std::int64_t cached = std::int64_t{1} << 16;
  return std::max(fewest, std::min(cached, most_scratch) / (2 * row_size(plan, n_maps)));
}

std::int64_t ModeBlock::scratch_size(const RingConvolutionPlan& plan, const ModeSamples& samples,
                                     std::int64_t n_maps) {
  ScratchArena pieces;
  Pieces(samples, row_size(plan, n_maps), plan.spin() > 0, pieces);
  return pieces.whole_pages();
}

std::int64_t ModeBlock::carried_size(const RingConvolutionPlan& plan, const ModeSamples& samples,
                                     std::int64_t n_maps) {
  return samples.most_shared_rings() * row_size(plan, n_maps);
}

void ModeBlock::place(const KernelMaps& maps, double* scratch) {
  maps_ = maps;
  n_channels_ = maps.n_maps / n_arrays_;
  row_ = row_size(*plan_, n_channels_);
  rule_ = -1;
  ScratchArena place(scratch);
  const Pieces pieces(*samples_, n_arrays_ * row_, has_spin(), place);
  in_ = pieces.in;
  out_ = pieces.out;
  cosines_ = pieces.cosines;
  sines_ = pieces.sines;
  rows_ = pieces.rows;
}

template <class Work>
void ModeBlock::for_each_run(const ModeLayout& layout, RingRange places, const Work& work) const {
  // Few enough that their rows of the block stay in the L1 cache.
  constexpr std::int64_t rings_together = 64;
  const auto rows = layout.rows();
  for (std::int64_t view = 0; view < n_views(*plan_); ++view) {
    for (std::int64_t begin = places.begin; begin < places.end; begin += rings_together) {
      const std::int64_t end = std::min(begin + rings_together, places.end);
      const RingRange here =
          view == 0 ? RingRange{begin, end} : RingRange{mirror(end - 1), mirror(begin) + 1};
      for (std::int64_t lane = set_.begin; lane < set_.end; ++lane) {
        const std::int64_t order = set_.first + lane * set_.step;
        if (order >= ssize64(rows)) continue;
        for (const RowSegment& segment : layout.segments(rows[to_size(order)])) {
          const RingRange rings{segment.rings.begin - zone_.begin, segment.rings.end - zone_.begin};
          const RingRange both = intersection(rings, here);
          if (both.empty()) continue;
          work(Run{both, view, lane, order, segment.first + both.begin - rings.begin});
        }
      }
    }
  }
}

void ModeBlock::load(const OrderSet& set, const ModeSamples::Part& part, const Complex* modes,
                     std::int64_t n_carried, const double* carried) {
  const bool is_same = set.first == set_.first && set.step == set_.step;
  if (!is_same) rule_ = -1;
  set_ = set;
  part_ = part;
  const std::int64_t n_rings = part.reach - part.first_ring;
  array_size_ = (n_rings + samples_->step() * mode_sum::pairs) * row_;
  std::fill_n(in_, n_arrays_ * array_size_, 0.0);
  for (std::int64_t array = 0; array < n_arrays_; ++array) {
    double* out = out_ + array * array_size_;
    std::copy_n(carried + array * n_carried * row_, n_carried * row_, out);
    std::fill(out + n_carried * row_, out + array_size_, 0.0);
  }
  for_each_run(plan_->rows(), {part.first_ring, part.reach}, [&](const Run& run) {
    const Complex* from = modes + run.position * n_maps() + maps_.first_map;
    if (has_spin()) return load_fields(run, from);
    for (std::int64_t map = 0; map < maps_.n_maps; ++map) {
      double* to = in_ + at(run.rings.begin, run.view, map, run.lane);
      const std::int64_t step = run.view == 0 ? row_ : -row_;
      for (std::int64_t i = 0; i < run.rings.size(); ++i, to += step) {
        const Complex value = from[i * n_maps() + map];
        to[0] = value.real();
        to[mode_sum::orders] = value.imag();
      }
    }
  });
}

void ModeBlock::load_fields(const Run& run, const Complex* from) {
  const std::int64_t step = run.view == 0 ? row_ : -row_;
  for (std::int64_t field = 0; field < n_channels_; ++field) {
    double* to = in_ + at(run.rings.begin, run.view, field, run.lane);
    double* const of_p = to + run.view * array_size_;
    double* const of_conjugate = to + (1 - run.view) * array_size_;
    for (std::int64_t i = 0; i < run.rings.size(); ++i) {
      const Complex q = from[i * n_maps() + 2 * field];
      const Complex u = from[i * n_maps() + 2 * field + 1];
      of_p[i * step] = q.real() - u.imag();
      of_p[i * step + mode_sum::orders] = q.imag() + u.real();
      of_conjugate[i * step] = q.real() + u.imag();
      of_conjugate[i * step + mode_sum::orders] = q.imag() - u.real();
    }
  }
}

void ModeBlock::add_spin(const ModePairs& pairs, const mode_sum::Tile& tile) {
  constexpr std::int64_t size = mode_sum::pairs * mode_sum::orders;
  const std::int64_t first = pairs.half * samples_->most_summed() * mode_sum::orders;
  mode_sum::sum_rows(tile, cosines_ + first, rows_);
  mode_sum::Tile of_sines = tile;
  of_sines.samples += pairs.size();
  mode_sum::sum_rows(of_sines, sines_ + first, rows_ + size);
  for (std::int64_t i = 0; i < size; ++i) {
    const double even = rows_[i];
    const double odd = rows_[size + i];
    rows_[i] = even + odd;
    rows_[size + i] = even - odd;
  }
  for (std::int64_t array = 0; array < 2; ++array) {
    const std::int64_t place = array * array_size_;
    mode_sum::add_rows(tile, rows_ + array * size, row_ / mode_sum::orders, in_ + place,
                       out_ + place);
  }
}

void ModeBlock::add(const Pairs& some, const double* samples,
                    const std::vector<ModeTables>& tables) {
  const double* rows = some.rows;
  for (std::int64_t i = some.begin; i < some.end; ++i, rows += some.apart) {
    const ModePairs& pairs = samples_->pairs()[to_size(i)];
    if (pairs.limit < set_.lowest()) continue;
    const mode_sum::Tile tile{pairs.ring - part_.first_ring, pairs.first, samples_->step(),
                              pairs.n_samples, samples + pairs.offset};
    if (pairs.by_fft) {
      mode_sum::add_rows(tile, rows, row_ / mode_sum::orders, in_, out_);
      continue;
    }
    if (pairs.rule != rule_) {
      rule_ = pairs.rule;
      const std::int64_t most = samples_->most_summed();
      const SampleShape shape{samples_->step(), std::min(samples_->most_samples(rule_), most),
                              most};
      find_cosines(set_, tables[to_size(rule_)].cosine, shape, cosines_);
      if (has_spin()) find_cosines(set_, tables[to_size(rule_)].sine, shape, sines_, -1);
    }
    if (has_spin()) {
      add_spin(pairs, tile);
      continue;
    }
    const double* from = cosines_ + pairs.half * samples_->most_summed() * mode_sum::orders;
    mode_sum::add(tile, from, row_ / mode_sum::orders, in_, out_);
  }
}

ModeBlock::Complex ModeBlock::sum_of_views(std::int64_t ring, std::int64_t view,
                                           std::int64_t channel, std::int64_t lane,
                                           std::int64_t array, bool is_seen_twice) const {
  const double* from = out_ + array * array_size_ + at(ring, view, channel, lane);
  Complex value(from[0], from[mode_sum::orders]);
  if (!is_seen_twice) return value;
  const std::int64_t other = has_spin() ? 1 - array : array;
  from = out_ + other * array_size_ + at(ring, 1 - view, channel, lane);
  return value + Complex(from[0], from[mode_sum::orders]);
}

void ModeBlock::store(Complex* modes, double* carried) const {
  // Beyond the equator a ring is also in the view from the south.
  const RingRange also{part_.first_ring, n_views(*plan_) == 2 ? part_.reach : part_.first_ring};
  for_each_run(plan_->own_rows(), {part_.first_ring, part_.next_ring}, [&](const Run& run) {
    Complex* to = modes + run.position * n_maps() + maps_.first_map;
    for (std::int64_t i = 0; i < run.rings.size(); ++i) {
      const std::int64_t ring = run.rings.begin + i;
      // The equator is its own mirror and has already been written.
      if (run.view == 1 && ring == mirror(ring)) continue;
      const bool is_seen_twice = also.contains(seen(ring, 1 - run.view));
      const auto sum = [&](std::int64_t channel, std::int64_t array) {
        return sum_of_views(ring, run.view, channel, run.lane, array, is_seen_twice);
      };
      Complex* of_ring = to + i * n_maps();
      for (std::int64_t channel = 0; channel < n_channels_; ++channel) {
        if (!has_spin()) {
          of_ring[channel] = sum(channel, 0);
          continue;
        }
        const Complex p = sum(channel, run.view);
        const Complex conjugate = sum(channel, 1 - run.view);
        const Complex difference = 0.5 * (p - conjugate);
        of_ring[2 * channel] = 0.5 * (p + conjugate);
        of_ring[2 * channel + 1] = {difference.imag(), -difference.real()};
      }
    }
    if (plan_->modes().kind != ModeRows::Kind::band_limited) halve_nyquist(run, modes);
  });
  const std::int64_t shared = part_.n_shared * row_;
  for (std::int64_t array = 0; array < n_arrays_; ++array) {
    const double* out = out_ + array * array_size_;
    std::copy_n(out + (part_.next_ring - part_.first_ring) * row_, shared,
                carried + array * shared);
  }
}

/// A synthesis counts a ring's Nyquist mode as two orders.
void ModeBlock::halve_nyquist(const Run& run, Complex* modes) const {
  for (std::int64_t i = 0; i < run.rings.size(); ++i) {
    const std::int64_t ring = run.rings.begin + i;
    if (run.view == 1 && ring == mirror(ring)) continue;
    if (2 * run.order != plan_->grid().ring(RingId{zone_.begin + ring}).n_phi) continue;
    Complex* mode = modes + (run.position + i) * n_maps() + maps_.first_map;
    for (std::int64_t map = 0; map < maps_.n_maps; ++map) mode[map] *= 0.5;
  }
}

void find_cosines(const OrderSet& set, const std::vector<double>& table, const SampleShape& samples,
                  double* cosines, double beyond_half) {
  const std::int64_t around = ssize64(table) - 1;
  const std::int64_t turn = 2 * around;
  for (std::int64_t half = 0; half < samples.n_halves; ++half) {
    double* to = cosines + half * samples.room * mode_sum::orders;
    for (std::int64_t j = 0; j < samples.n; ++j) {
      const std::int64_t angle = (2 * j + half) % turn;
      const std::int64_t step = (set.step * angle % turn + turn) % turn;
      std::int64_t k = (set.first * angle % turn + turn) % turn;
      for (std::int64_t lane = 0; lane < mode_sum::orders; ++lane, ++to) {
        *to = k <= around ? table[to_size(k)] : beyond_half * table[to_size(turn - k)];
        k += step;
        if (k >= turn) k -= turn;
      }
    }
  }
}

}  // namespace ringweave::detail::inline convolve
