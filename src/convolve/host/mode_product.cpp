// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/host/mode_product.hpp"

#include <omp.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/checked_cast.hpp"
#include "base/scratch_pieces.hpp"
#include "convolve/host/mode_block.hpp"

namespace ringweave {
namespace {

/// Maps whose modes are multiplied together.
constexpr std::int64_t most_maps = 4;
std::vector<double> cosine_table(std::int64_t around) {
  std::vector<double> table;
  for (std::int64_t k = 0; k <= around; ++k)
    table.push_back(
        std::cos(std::numbers::pi * static_cast<double>(k) / static_cast<double>(around)));
  return table;
}

/// Maps of a batch that have one kernel, as they are multiplied together.
std::int64_t maps_multiplied(const RingConvolutionPlan& plan) {
  return plan.spec().kernels.size() == 1 ? std::min(most_maps, plan.maps_together()) : 1;
}

}  // namespace

ModeProduct::ModeProduct(const RingConvolutionPlan& plan, int n_threads, std::int64_t most_scratch)
    : plan_(&plan),
      n_threads_(n_threads),
      n_maps_(maps_multiplied(plan)),
      samples_(plan, most_scratch / 2,
               ModeBlock::rings_at_once(plan, n_maps_, most_scratch / (4 * n_threads))) {
  for (const std::int64_t around : samples_.rules()) cosines_.push_back(cosine_table(around));
  if (samples_.pairs().empty()) return;
  constexpr std::int64_t page = 512;
  block_size_ = (ModeBlock::scratch_size(plan, samples_, n_maps_) + page - 1) / page * page;
  carried_size_ = ModeBlock::carried_size(plan, samples_, n_maps_);
  const std::int64_t room = most_scratch - scratch_size();
  n_held_ = carried_size_ == 0
                ? n_blocks()
                : std::clamp(room / carried_size_, std::min<std::int64_t>(n_threads, n_blocks()),
                             n_blocks());
}

ModeProduct::Scratch ModeProduct::place(double* scratch) const {
  ScratchPieces pieces(scratch);
  Scratch placed{};
  placed.samples = pieces.take<double>(samples_.size());
  placed.carried = pieces.take<double>(n_held_ * carried_size_);
  placed.blocks = pieces.take<double>(n_threads_ * block_size_);
  placed.size = pieces.size();
  return placed;
}

std::int64_t ModeProduct::scratch_size() const { return place(nullptr).size; }

std::int64_t ModeProduct::table_bytes() const {
  std::int64_t doubles = 0;
  for (const auto& table : cosines_) doubles += ssize64(table);
  return doubles * static_cast<std::int64_t>(sizeof(double)) + samples_.bytes();
}

void ModeProduct::apply(const KernelMaps& maps, ModeView<double> modes, double* scratch) const {
  if (samples_.pairs().empty()) return;
  for (std::int64_t first = 0; first < maps.n_maps; first += n_maps_) {
    KernelMaps some = maps;
    some.first_map += first;
    some.n_maps = std::min(n_maps_, maps.n_maps - first);
    for (std::int64_t block = 0; block < n_blocks(); block += n_held_)
      multiply(some, {block, std::min(block + n_held_, n_blocks())}, modes, place(scratch));
  }
}

void ModeProduct::multiply(const KernelMaps& maps, BlockRange blocks, ModeView<double> modes,
                           const Scratch& scratch) const {
  std::int64_t n_carried = 0;
  for (const ModeSamples::Part& part : samples_.parts()) {
    samples_.make(part, *maps.kernel, n_threads_, scratch.samples);
    // Nothing in the region allocates or throws.
#pragma omp parallel num_threads(n_threads_)
    {
      ModeBlock block(*plan_, samples_, maps, scratch.blocks + omp_get_thread_num() * block_size_);
#pragma omp for schedule(dynamic)
      for (std::int64_t i = blocks.begin; i < blocks.end; ++i) {
        double* carried = scratch.carried + (i - blocks.begin) * carried_size_;
        block.load(static_cast<int>(i * mode_sum::orders), part, modes.data(), n_carried, carried);
        block.add(scratch.samples, cosines_);
        block.store(modes.data(), carried);
      }
    }
    n_carried = part.n_shared;
  }
}

}  // namespace ringweave
