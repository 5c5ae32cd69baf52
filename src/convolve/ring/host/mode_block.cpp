// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/ring/host/mode_block.hpp"

#include <algorithm>

#include "base/checked_cast.hpp"
#include "base/mode_view.hpp"
#include "base/scratch_arena.hpp"

namespace ringweave::detail::inline convolve {
namespace {

constexpr std::int64_t orders = mode_sum::orders;

struct Pieces {
  double* in;
  double* out;
  double* cosines;

  Pieces(const ModeSamples& samples, std::int64_t row, ScratchArena& pieces) {
    // A tile that is not full reads beyond its last partner.
    const std::int64_t size = (samples.most_rings() + samples.step() * mode_sum::pairs) * row;
    in = pieces.take<double>(size);
    out = pieces.take<double>(size);
    cosines = pieces.take<double>(samples.step() * samples.most_summed() * orders);
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
  Pieces(samples, row_size(plan, n_maps), pieces);
  return pieces.whole_pages();
}

std::int64_t ModeBlock::carried_size(const RingConvolutionPlan& plan, const ModeSamples& samples,
                                     std::int64_t n_maps) {
  return samples.most_shared_rings() * row_size(plan, n_maps);
}

void ModeBlock::place(const KernelMaps& maps, double* scratch) {
  maps_ = maps;
  row_ = row_size(*plan_, maps.n_maps);
  rule_ = -1;
  ScratchArena place(scratch);
  const Pieces pieces(*samples_, row_, place);
  in_ = pieces.in;
  out_ = pieces.out;
  cosines_ = pieces.cosines;
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
  const std::int64_t size = (n_rings + samples_->step() * mode_sum::pairs) * row_;
  std::fill_n(in_, size, 0.0);
  std::copy_n(carried, n_carried * row_, out_);
  std::fill(out_ + n_carried * row_, out_ + size, 0.0);
  for_each_run(plan_->rows(), {part.first_ring, part.reach}, [&](const Run& run) {
    const Complex* from = modes + run.position * n_maps() + maps_.first_map;
    for (std::int64_t map = 0; map < maps_.n_maps; ++map) {
      double* to = in_ + at(run.rings.begin, run.view, map, run.lane);
      const std::int64_t step = run.view == 0 ? row_ : -row_;
      for (std::int64_t i = 0; i < run.rings.size(); ++i, to += step) {
        const Complex value = from[i * n_maps() + map];
        to[0] = value.real();
        to[orders] = value.imag();
      }
    }
  });
}

void ModeBlock::add(const Pairs& some, const double* samples,
                    const std::vector<std::vector<double>>& cosines) {
  const double* rows = some.rows;
  for (std::int64_t i = some.begin; i < some.end; ++i, rows += some.apart) {
    const ModePairs& pairs = samples_->pairs()[to_size(i)];
    if (pairs.limit < set_.lowest()) continue;
    const mode_sum::Tile tile{pairs.ring - part_.first_ring, pairs.first, samples_->step(),
                              pairs.n_samples, samples + pairs.offset};
    if (pairs.by_fft) {
      mode_sum::add_rows(tile, rows, row_ / orders, in_, out_);
      continue;
    }
    if (pairs.rule != rule_) {
      rule_ = pairs.rule;
      const std::int64_t most = samples_->most_summed();
      find_cosines(set_, cosines[to_size(rule_)],
                   {samples_->step(), std::min(samples_->most_samples(rule_), most), most},
                   cosines_);
    }
    const double* from = cosines_ + pairs.half * samples_->most_summed() * orders;
    mode_sum::add(tile, from, row_ / orders, in_, out_);
  }
}

void ModeBlock::store(Complex* modes, double* carried) const {
  // Beyond the equator a ring is also in the view from the south.
  const RingRange also{part_.first_ring, n_views(*plan_) == 2 ? part_.reach : part_.first_ring};
  for_each_run(plan_->own_rows(), {part_.first_ring, part_.next_ring}, [&](const Run& run) {
    Complex* to = modes + run.position * n_maps() + maps_.first_map;
    const std::int64_t other = 1 - run.view;
    for (std::int64_t i = 0; i < run.rings.size(); ++i) {
      const std::int64_t ring = run.rings.begin + i;
      // The equator is its own mirror and has already been written.
      if (run.view == 1 && ring == mirror(ring)) continue;
      const bool is_seen_twice = also.contains(seen(ring, other));
      for (std::int64_t map = 0; map < maps_.n_maps; ++map) {
        const double* from = out_ + at(ring, run.view, map, run.lane);
        Complex value(from[0], from[orders]);
        if (is_seen_twice) {
          from = out_ + at(ring, other, map, run.lane);
          value += Complex(from[0], from[orders]);
        }
        to[i * n_maps() + map] = value;
      }
    }
    if (plan_->modes().kind != ModeRows::Kind::band_limited) halve_nyquist(run, modes);
  });
  std::copy_n(out_ + (part_.next_ring - part_.first_ring) * row_, part_.n_shared * row_, carried);
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
                  double* cosines) {
  const std::int64_t around = ssize64(table) - 1;
  const std::int64_t turn = 2 * around;
  for (std::int64_t half = 0; half < samples.n_halves; ++half) {
    double* to = cosines + half * samples.room * orders;
    for (std::int64_t j = 0; j < samples.n; ++j) {
      const std::int64_t angle = (2 * j + half) % turn;
      const std::int64_t step = (set.step * angle % turn + turn) % turn;
      std::int64_t k = (set.first * angle % turn + turn) % turn;
      for (std::int64_t lane = 0; lane < orders; ++lane, ++to) {
        *to = table[to_size(std::min(k, turn - k))];
        k += step;
        if (k >= turn) k -= turn;
      }
    }
  }
}

}  // namespace ringweave::detail::inline convolve
