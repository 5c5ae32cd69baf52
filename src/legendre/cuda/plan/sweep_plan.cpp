// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/cuda/plan/sweep_plan.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/checked_cast.hpp"
#include "base/first_error.hpp"
#include "legendre/shared/recurrence.hpp"

namespace ringweave::detail::gpu {
namespace {

std::int64_t whole_chunks(std::int64_t steps) { return (steps + chunk - 1) / chunk * chunk; }

std::int32_t narrow(std::int64_t value) {
  return checked_cast<std::int32_t>(value, "ring pairs or rows of a device stage");
}

/// Returns the pair nearest to the pole that keeps an order.
std::int64_t first_kept_pair(const LegendreShape& shape, const PairIndex& places, int m) {
  const RingRange kept = shape.limits.kept(m);
  return kept.empty() ? shape.grid->n_pairs() : places.first_pair(kept);
}

/// Appends the spans of a row as items of block_warps each.
void add_items(std::int64_t row, const std::vector<Span>& spans, std::vector<Item>& items) {
  for (std::int64_t first = 0; first < ssize64(spans); first += block_warps) {
    Item item{};
    item.row = narrow(row);
    item.slot = narrow(first / block_warps);
    for (std::int64_t w = 0; w < block_warps && first + w < ssize64(spans); ++w) {
      item.spans[w] = spans[to_size(first + w)];
    }
    items.push_back(item);
  }
}

/// Sorts by decreasing cost, so that the last blocks to run are short.
void sort_by_cost(const std::vector<SweepRow>& rows, std::int64_t begin, std::int64_t end,
                  std::vector<Item>& items) {
  const auto cost = [&](const Item& item) {
    const auto warps = std::count_if(std::begin(item.spans), std::end(item.spans),
                                     [](const Span& span) { return span.count > 0; });
    return std::int64_t{rows[to_size(item.row)].n_steps} * warps;
  };
  std::stable_sort(items.begin() + begin, items.begin() + end,
                   [&](const Item& a, const Item& b) { return cost(a) > cost(b); });
}

}  // namespace

std::int64_t n_steps_by_two(int m, int degree) { return whole_chunks((degree - m) / 2 + 1); }

std::int64_t n_steps_by_one(int first_degree, int degree) {
  return whole_chunks(std::max(degree - first_degree + 1, 1));
}

StageRows::StageRows(const LegendreShape& shape, std::span<const std::int64_t> alm_begin) {
  const auto rows = shape.rows.rows();
  std::vector<std::int64_t> first_segment;
  for (const ModeLayout::Row& row : rows) {
    first_segment.push_back(ssize64(segments));
    for (const RowSegment& segment : shape.rows.segments(row)) segments.push_back(segment);
  }
  first_segment.push_back(ssize64(segments));

  std::map<std::int64_t, std::int64_t> folded_so_far;
  std::vector<std::int64_t> generation;
  for (std::int64_t i = 0; i < ssize64(rows); ++i) {
    const ModeLayout::Row& row = rows[to_size(i)];
    OrderRow order{};
    order.alm = alm_begin.empty() ? shape.alm.index(i, row.m) : alm_begin[to_size(i)];
    order.head = row.fold_into < 0 ? i : row.fold_into;
    order.m = row.m;
    order.n_degrees = shape.alm.lmax() - row.m + 1;
    order.own_segment = first_segment[to_size(i)];
    order.n_own_segments = first_segment[to_size(i + 1)] - order.own_segment;
    if (row.fold_into >= 0) {
      const FoldRule::Alias alias = shape.fold.alias(row.m);
      order.fold_begin = row.fold_rings.begin;
      order.fold_end = row.fold_rings.end;
      order.target_segment = first_segment[to_size(row.fold_into)];
      order.n_target_segments = first_segment[to_size(row.fold_into + 1)] - order.target_segment;
      order.turns = alias.turns;
      order.m0 = alias.m0;
      order.mirrored = alias.mirrored ? 1 : 0;
    }
    orders.push_back(order);
    generation.push_back(row.fold_into < 0 ? 0 : ++folded_so_far[row.fold_into]);
  }
  sequence.resize(rows.size());
  std::iota(sequence.begin(), sequence.end(), std::int64_t{0});
  std::stable_sort(sequence.begin(), sequence.end(), [&](std::int64_t a, std::int64_t b) {
    return generation[to_size(a)] < generation[to_size(b)];
  });
  for (std::int64_t i = 1; i <= ssize64(sequence); ++i) {
    if (i == ssize64(sequence) ||
        generation[to_size(sequence[to_size(i)])] != generation[to_size(sequence[to_size(i - 1)])])
      generation_ends.push_back(i);
  }
}

SpanCutter::SpanCutter(const RingGrid& grid) {
  const auto n_with_sine_below = [&](double square) {
    std::int64_t n = 0;
    while (n < grid.n_pairs() &&
           grid.pairs()[to_size(n)].sin_theta * grid.pairs()[to_size(n)].sin_theta < square)
      ++n;
    return n;
  };
  n_well_from_pole_ = n_with_sine_below(0.75);
  first_well_from_equator_ = n_with_sine_below(0.25);
}

void SpanCutter::cut(std::int64_t begin, std::int64_t end, std::int64_t pairs_per_warp,
                     std::vector<Span>& spans) const {
  while (begin < end) {
    std::int64_t to = std::min(end, begin + pairs_per_warp);
    const bool equatorial = begin >= first_well_from_equator_;
    if (!equatorial) to = std::min(to, n_well_from_pole_);
    spans.push_back({narrow(begin), narrow(to - begin), equatorial ? from_equator : from_pole});
    begin = to;
  }
}

SweepPlan::SweepPlan(const LegendreShape& shape, const StageRows& stage, const SweepKind& of,
                     const PairIndex& places)
    : kind(of) {
  const SpanCutter cutter(*shape.grid);
  const std::vector<double> norms = sectoral_norms(std::max(shape.alm.mmax(), kind.spin));
  std::vector<Span> spans;
  std::int64_t coefficients = 0;
  for (const std::int64_t order_row : stage.sequence) {
    SweepRow row{};
    row.order_row = order_row;
    row.m = stage.orders[to_size(order_row)].m;
    row.first_degree = std::max(row.m, kind.spin);
    row.n_steps = narrow(kind.by_one ? n_steps_by_one(row.first_degree, kind.degree)
                                     : n_steps_by_two(row.m, kind.degree));
    row.coefficients = coefficients;
    row.precise = -1;
    const sweep::Seed seed = spin_seed(row.m, kind.spin, norms[to_size(row.first_degree)]);
    std::copy_n(seed.prefactor, 2, row.prefactor);
    row.sin_power = seed.sin_power;
    row.factor_power = seed.factor_power;
    row.south = sign_of(row.first_degree + row.m);
    const std::int64_t first = std::max(kind.first_pair, first_kept_pair(shape, places, row.m));
    spans.clear();
    cutter.cut(first, kind.end_pair, kind.synthesis_pairs * warp_lanes, spans);
    add_items(ssize64(rows), spans, synthesis_items);
    spans.clear();
    cutter.cut(first, kind.end_pair, kind.adjoint_pairs * warp_lanes, spans);
    add_items(ssize64(rows), spans, adjoint_items);
    row.n_slots = narrow((ssize64(spans) + block_warps - 1) / block_warps);
    coefficients += row.n_steps;
    rows.push_back(row);
  }
}

SweepSteps SweepPlan::steps_of(std::int64_t row) const {
  const std::int64_t steps = rows[to_size(row)].n_steps;
  return {steps, steps * rows[to_size(row)].n_slots};
}

void SweepPlan::cut(const StageRows& stage, const std::vector<std::int64_t>& batch_ends) {
  // Items are in row order until their batch is sorted.
  const auto end_of_items = [](const std::vector<Item>& items, std::int64_t from,
                               std::int64_t end_row) {
    while (from < ssize64(items) && items[to_size(from)].row < end_row) ++from;
    return from;
  };
  Batch batch{};
  for (const std::int64_t end : batch_ends) {
    batch.heads = {ssize64(stage.orders), 0};
    for (std::int64_t i = batch.first_row; i < end; ++i) {
      SweepRow& row = rows[to_size(i)];
      const std::int64_t head = stage.orders[to_size(row.order_row)].head;
      batch.heads.begin = std::min(batch.heads.begin, head);
      batch.heads.end = std::max(batch.heads.end, head + 1);
      row.columns = batch.steps.columns;
      row.partials = batch.steps.partials;
      row.made = batch.made_degrees;
      batch.steps.columns += steps_of(i).columns;
      batch.steps.partials += steps_of(i).partials;
      batch.made_degrees += 2 * n_steps_by_two(row.m, kind.degree);
      batch.most_steps = std::max<std::int64_t>(batch.most_steps, row.n_steps);
    }
    const std::int64_t synthesis_end =
        end_of_items(synthesis_items, batch.first_synthesis_item, end);
    const std::int64_t adjoint_end = end_of_items(adjoint_items, batch.first_adjoint_item, end);
    batch.n_rows = end - batch.first_row;
    batch.n_synthesis_items = synthesis_end - batch.first_synthesis_item;
    batch.n_adjoint_items = adjoint_end - batch.first_adjoint_item;
    sort_by_cost(rows, batch.first_synthesis_item, synthesis_end, synthesis_items);
    sort_by_cost(rows, batch.first_adjoint_item, adjoint_end, adjoint_items);
    batches.push_back(batch);
    batch = {};
    batch.first_row = end;
    batch.first_synthesis_item = synthesis_end;
    batch.first_adjoint_item = adjoint_end;
  }
}

std::vector<std::int64_t> batch_ends_for(const StageRows& stage, const std::vector<RowBytes>& bytes,
                                         std::int64_t most_bytes) {
  std::vector<std::int64_t> ends;
  RowBytes most;
  const auto with = [&](const RowBytes& batch) {
    return RowBytes{std::max(most.swept, batch.swept), std::max(most.made, batch.made)};
  };
  std::int64_t begin = 0;
  for (const std::int64_t generation_end : stage.generation_ends) {
    RowBytes batch;
    for (std::int64_t i = begin; i < generation_end; ++i) {
      const RowBytes& own = bytes[to_size(i)];
      const RowBytes longer{batch.swept + own.swept, batch.made + own.made};
      const RowBytes then = with(longer);
      const bool fits = then.swept + then.made <= most_bytes;
      if (i > begin && !fits) {
        ends.push_back(i);
        begin = i;
        most = with(batch);
        batch = own;
      } else {
        batch = longer;
      }
    }
    ends.push_back(generation_end);
    most = with(batch);
    begin = generation_end;
  }
  return ends;
}

PreciseCoefficients::PreciseCoefficients(const StageRows& stage, int degree) {
  first.assign(to_size(highest_precise_order) + 1, -1);
  std::vector<int> orders;
  std::int64_t n_steps = 0;
  for (const OrderRow& order : stage.orders) {
    if (order.m > highest_precise_order) continue;
    orders.push_back(order.m);
    first[to_size(order.m)] = n_steps;
    n_steps += n_steps_by_two(order.m, degree);
  }
  steps.allocate(2 * n_steps);
  alpha.allocate(n_steps);
  FirstError error;
#pragma omp parallel for schedule(dynamic, 1)
  for (std::int64_t i = 0; i < ssize64(orders); ++i) {
    error.guard([&] {
      const int m = orders[to_size(i)];
      RecurrenceByTwo recurrence(degree);
      RecurrenceByTwo::Scratch scratch(degree);
      recurrence.prepare(m, scratch);
      const std::int64_t begin = first[to_size(m)];
      copy(recurrence, begin, begin + n_steps_by_two(m, degree));
    });
  }
  error.rethrow();
}

void PreciseCoefficients::copy(const RecurrenceByTwo& recurrence, std::int64_t begin,
                               std::int64_t end) {
  const double* c = recurrence.coefficients();
  const double* own_alpha = recurrence.alpha();
  for (std::int64_t k = 0; k < end - begin; ++k, c += 3) {
    const bool is_padding = k >= recurrence.n_steps();
    steps[2 * (begin + k)] = is_padding ? Double2{0, 0} : Double2{c[0], c[1]};
    steps[2 * (begin + k) + 1] = is_padding ? Double2{0, 0} : Double2{c[0], c[2]};
    alpha[begin + k] = is_padding ? 0 : own_alpha[k];
  }
}

}  // namespace ringweave::detail::gpu
