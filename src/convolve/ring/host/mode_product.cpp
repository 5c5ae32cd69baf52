// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/ring/host/mode_product.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/checked_cast.hpp"
#include "base/mode_view.hpp"
#include "base/scratch_arena.hpp"
#include "convolve/ring/host/mode_block.hpp"

namespace ringweave::detail::inline convolve {
namespace {

/// Most maps whose modes are multiplied together.
constexpr std::int64_t most_maps = 4;

ModeTables tables_for(std::int64_t around, bool has_spin) {
  ModeTables tables;
  for (std::int64_t k = 0; k <= around; ++k) {
    const double angle = std::numbers::pi * static_cast<double>(k) / static_cast<double>(around);
    tables.cosine.push_back(std::cos(angle));
    if (has_spin) tables.sine.push_back(k == around ? 0 : std::sin(angle));
  }
  return tables;
}

/// Number of maps with a common kernel that are multiplied together.
std::int64_t maps_multiplied(const RingConvolutionPlan& plan) {
  return plan.spec().kernels.size() == 1 ? std::min(most_maps, plan.maps_together())
                                         : plan.maps_of_field();
}

/// The rest is left to the carried rings of all blocks of orders; without them in memory the
/// samples would be computed several times.
std::int64_t room_for_samples(std::int64_t most_scratch) { return most_scratch / 4; }

/// Per thread. With FFTs there are many blocks, which are made as small as possible.
std::int64_t room_for_block(const RingConvolutionPlan& plan, std::int64_t most_scratch,
                            int n_threads) {
  return plan.modes().row_fft.exists() ? 0 : most_scratch / (4 * n_threads);
}

}  // namespace

ModeProduct::ModeProduct(const RingConvolutionPlan& plan, int n_threads, std::int64_t most_scratch)
    : plan_(&plan),
      n_threads_(n_threads),
      n_maps_(maps_multiplied(plan)),
      samples_(
          plan, room_for_samples(most_scratch),
          ModeBlock::rings_at_once(plan, n_maps_, room_for_block(plan, most_scratch, n_threads))) {
  for (const std::int64_t around : samples_.rules())
    tables_.push_back(tables_for(around, plan.spin() > 0));
  if (samples_.pairs().empty()) return;
  block_size_ = ModeBlock::scratch_size(plan, samples_, n_maps_);
  carried_size_ = ModeBlock::carried_size(plan, samples_, n_maps_);
  const RowFft& fft = plan.modes().row_fft;
  orders_ = order_blocks(fft, plan.modes().mmax());
  for (const OrderBlock& block : orders_) most_sets_ = std::max(most_sets_, ssize64(block.sets));
  std::int64_t n_least = n_threads;
  if (fft.exists()) {
    transform_.emplace(fft);
    // Rows that stay in the last-level caches, and enough for every thread.
    constexpr std::int64_t cached = std::int64_t{1} << 17;
    const std::int64_t fitting =
        std::min(cached, most_scratch / 8) / (most_sets_ * RowTransform::set_size);
    n_together_ = std::max<std::int64_t>({8, fitting, 2 * n_threads});
    n_least = 1;
  }
  blocks_.assign(to_size(fft.exists() ? most_sets_ : n_threads), ModeBlock(plan, samples_));
  const std::int64_t room = most_scratch - scratch_size();
  const std::int64_t carried = carried_size_ * most_sets_;
  n_held_ = carried == 0 ? n_blocks()
                         : std::clamp(room / carried, std::min(n_least, n_blocks()), n_blocks());
}

ModeProduct::Scratch ModeProduct::place(double* scratch) const {
  ScratchArena pieces(scratch);
  Scratch placed{};
  placed.samples = pieces.allocate<double>(samples_.size());
  placed.carried = pieces.allocate<double>(n_held_ * most_sets_ * carried_size_);
  placed.blocks = pieces.allocate<double>(ssize64(blocks_) * block_size_);
  if (transform_) {
    const std::int64_t n_factors = samples_.step() * samples_.most_transformed();
    const std::int64_t n_left = most_sets_ - plan_->modes().row_fft.points;
    placed.factors = pieces.allocate<double>(n_factors * RowTransform::factor_size);
    placed.cosines = pieces.allocate<double>(n_left * n_factors * mode_sum::orders);
    placed.rows = pieces.allocate<double>(n_together_ * most_sets_ * RowTransform::set_size);
    placed.threads = pieces.allocate<double>(n_threads_ * transform_->scratch_size());
  }
  placed.size = pieces.size();
  return placed;
}

std::int64_t ModeProduct::scratch_size() const { return place(nullptr).size; }

std::int64_t ModeProduct::table_bytes() const {
  std::int64_t sum = samples_.bytes() + (transform_ ? transform_->bytes() : 0);
  for (const ModeTables& tables : tables_) sum += held_bytes(tables.cosine, tables.sine);
  return sum;
}

void ModeProduct::apply(const KernelMaps& maps, ModeView<double> modes, double* scratch) {
  if (samples_.pairs().empty()) return;
  const Scratch placed = place(scratch);
  for (std::int64_t first = 0; first < maps.n_maps; first += n_maps_) {
    KernelMaps some = maps;
    some.first_map += first;
    some.n_maps = std::min(n_maps_, maps.n_maps - first);
    double* memory = placed.blocks;
    for (ModeBlock& block : blocks_) {
      block.place(some, memory);
      memory += block_size_;
    }
    for (std::int64_t block = 0; block < n_blocks(); block += n_held_)
      multiply(some, {block, std::min(block + n_held_, n_blocks())}, modes, placed);
  }
}

void ModeProduct::multiply(const KernelMaps& maps, BlockRange blocks, ModeView<double> modes,
                           const Scratch& scratch) {
  std::int64_t n_carried = 0;
  for (const ModeSamples::Part& part : samples_.parts()) {
    samples_.make(part, *maps.kernel, n_threads_, scratch.samples);
    if (!transform_) multiply_by_sums(part, blocks, modes, n_carried, scratch);
    for (std::int64_t i = blocks.begin; transform_ && i < blocks.end; ++i) {
      double* carried = scratch.carried + (i - blocks.begin) * most_sets_ * carried_size_;
      multiply_by_fft(part, orders_[to_size(i)], modes, n_carried, carried, scratch);
    }
    n_carried = part.n_shared;
  }
}

void ModeProduct::multiply_by_sums(const ModeSamples::Part& part, BlockRange blocks,
                                   ModeView<double> modes, std::int64_t n_carried,
                                   const Scratch& scratch) {
  // Nothing in the region allocates or throws.
#pragma omp parallel num_threads(n_threads_)
  {
    ModeBlock& block = blocks_[to_size(omp_get_thread_num())];
#pragma omp for schedule(dynamic)
    for (std::int64_t i = blocks.begin; i < blocks.end; ++i) {
      double* carried = scratch.carried + (i - blocks.begin) * carried_size_;
      block.load(orders_[to_size(i)].sets[0], part, modes.data(), n_carried, carried);
      block.add({part.begin, part.end, nullptr, 0}, scratch.samples, tables_);
      block.store(modes.data(), carried);
    }
  }
}

void ModeProduct::multiply_by_fft(const ModeSamples::Part& part, const OrderBlock& block,
                                  ModeView<double> modes, std::int64_t n_carried, double* carried,
                                  const Scratch& scratch) {
  const std::int64_t n_sets = ssize64(block.sets);
  const std::int64_t apart = most_sets_ * RowTransform::set_size;
  // Nothing in the region allocates or throws.
#pragma omp parallel num_threads(n_threads_)
  {
    double* thread = scratch.threads + omp_get_thread_num() * transform_->scratch_size();
    find_factors(block, scratch);
#pragma omp for schedule(static)
    for (std::int64_t k = 0; k < n_sets; ++k) {
      blocks_[to_size(k)].load(block.sets[to_size(k)], part, modes.data(), n_carried,
                               carried + k * carried_size_);
    }
    for (std::int64_t begin = part.begin; begin < part.end; begin += n_together_) {
      const std::int64_t end = std::min(begin + n_together_, part.end);
#pragma omp for schedule(dynamic)
      for (std::int64_t i = begin; i < end; ++i) {
        make_rows(samples_.pairs()[to_size(i)], block, scratch, thread,
                  scratch.rows + (i - begin) * apart);
      }
#pragma omp for schedule(static)
      for (std::int64_t k = 0; k < n_sets; ++k) {
        const double* rows = scratch.rows + k * RowTransform::set_size;
        blocks_[to_size(k)].add({begin, end, rows, apart}, scratch.samples, tables_);
      }
    }
#pragma omp for schedule(static)
    for (std::int64_t k = 0; k < n_sets; ++k)
      blocks_[to_size(k)].store(modes.data(), carried + k * carried_size_);
  }
}

void ModeProduct::find_factors(const OrderBlock& block, const Scratch& scratch) const {
  const std::int64_t n_samples = samples_.most_transformed();
#pragma omp for schedule(static) collapse(2)
  for (std::int64_t half = 0; half < samples_.step(); ++half) {
    for (std::int64_t j = 0; j < n_samples; ++j) {
      transform_->find_factors(
          block.first_class, j, half,
          scratch.factors + (half * n_samples + j) * RowTransform::factor_size);
    }
  }
  if (n_samples == 0) return;
  const auto& rules = samples_.rules();
  const auto rule = std::find(rules.begin(), rules.end(), plan_->modes().row_fft.samples);
  const std::int64_t size = samples_.step() * n_samples * mode_sum::orders;
#pragma omp for schedule(static)
  for (std::int64_t k = block.n_by_fft; k < ssize64(block.sets); ++k) {
    find_cosines(block.sets[to_size(k)], tables_[to_size(rule - rules.begin())].cosine,
                 {samples_.step(), n_samples, n_samples},
                 scratch.cosines + (k - block.n_by_fft) * size);
  }
}

void ModeProduct::make_rows(const ModePairs& pairs, const OrderBlock& block, const Scratch& scratch,
                            double* thread, double* rows) const {
  if (!pairs.by_fft) return;
  const std::int64_t n_samples = samples_.most_transformed();
  const std::int64_t first = pairs.half * n_samples;
  const mode_sum::Tile tile{0, 0, 0, pairs.n_samples, scratch.samples + pairs.offset};
  transform_->run(tile, pairs.half != 0, scratch.factors + first * RowTransform::factor_size,
                  thread, rows);
  for (std::int64_t k = block.n_by_fft; k < ssize64(block.sets); ++k) {
    const std::int64_t left = (k - block.n_by_fft) * samples_.step() * n_samples;
    mode_sum::sum_rows(tile, scratch.cosines + (left + first) * mode_sum::orders,
                       rows + k * RowTransform::set_size);
  }
}

}  // namespace ringweave::detail::inline convolve
