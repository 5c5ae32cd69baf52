// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/host/ring_worker.hpp"

#include <algorithm>
#include <type_traits>

#include "base/checked_cast.hpp"
#include "fft/host/ring_spectrum.hpp"

namespace ringweave {
namespace {

using Complex = std::complex<double>;

}  // namespace

RingWorker::RingWorker(const RingPlan& plan, const RingFftShape& shape)
    : plan_(&plan),
      rows_(&shape.rows),
      rings_(&shape.rings),
      n_components_(shape.n_components),
      tile_(plan.rings_per_block(), n_components_, plan.ring_values()),
      phases_(plan.max_modes()),
      roots_(plan.max_phi() / 4 + 1),
      split_(plan.capacity(), plan.rings_per_block(), plan.powers()) {}

void RingWorker::place(ScratchPieces& pieces) {
  tile_.place(pieces);
  bins_ = pieces.take<Complex>(plan_->max_phi() / 2 + 1);
  packed_ = pieces.take<Complex>(plan_->max_complex());
  row_ = pieces.take<Complex>(plan_->max_complex());
  split_.place(pieces);
}

template <class Work>
void RingWorker::for_each_row(const RingBlock& block, const Work& work) {
  const auto ring = [&](std::int64_t global, std::int64_t in_block) {
    Row row;
    row.ring = rings_->local(RingId{global});
    row.entry = &plan_->ring(row.ring);
    row.length = &plan_->lengths()[to_size(row.entry->length)];
    for (row.component = 0; row.component < n_components_; ++row.component) {
      row.values = tile_.modes(in_block, row.component);
      work(row);
    }
  };
  const auto& [north, south] = block;
  for (std::int64_t i = 0; i < std::max(north.size(), south.size()); ++i) {
    if (i < north.size()) ring(north.begin + i, i);
    if (i < south.size()) ring(south.end - 1 - i, north.size() + south.size() - 1 - i);
  }
}

template <class Work>
void RingWorker::for_each_split_row(const RingBlock& block, const Work& work) {
  for_each_row(block, [&](const Row& row) {
    if (row.length->smooth != nullptr) return;
    if (row.length != split_length_) {
      split_length_ = row.length;
      split_.prepare_rows(row.length->split, row.length->roots);
    }
    work(row);
  });
}

void RingWorker::prepare(const Row& row) noexcept {
  const RingPlan::RingEntry& ring = *row.entry;
  if (row.length != length_) {
    length_ = row.length;
    if (length_->length.is_even())
      plan_->powers().expand(length_->roots, length_->length.n_phi / 4 + 1, roots_.data());
  }
  if (ring.phases >= 0 && (ring.phases != phase_table_ || ring.n_modes > n_phases_)) {
    phase_table_ = ring.phases;
    n_phases_ = ring.n_modes;
    plan_->powers().expand(ring.phases, n_phases_, phases_.data());
  }
}

void RingWorker::pack(const Row& row, Complex* packed) noexcept {
  prepare(row);
  const RingLength& length = row.length->length;
  fold(row.values, row.entry->n_modes, phases(row), length.n_phi, bins_);
  if (length.is_even()) {
    pack_even(bins_, length.n_phi, roots_.data(), packed);
  } else {
    pack_odd(bins_, length.n_phi, packed);
  }
}

void RingWorker::unpack(const Row& row, const Complex* transformed, double weight) noexcept {
  prepare(row);
  const std::int64_t n = row.length->length.n_phi;
  if (row.length->length.is_even()) {
    unpack_even(transformed, n, roots_.data(), weight, bins_);
  } else {
    unpack_odd(transformed, n, weight, bins_);
  }
  unfold(bins_, n, phases(row), row.entry->n_modes, row.values);
}

template <class T, class Transform>
void RingWorker::write_pixels(const Row& row, MapView<T> map, bool is_in_place,
                              const Transform& transform) noexcept {
  const RingLength& length = row.length->length;
  T* pixels = map.component(row.component).data() + row.entry->first_pixel;
  if (std::is_same_v<T, double> && length.is_even() && is_in_place) {
    transform(reinterpret_cast<Complex*>(pixels));
    return;
  }
  transform(row_);
  const auto* values = reinterpret_cast<const double*>(row_);
  const std::int64_t stride = length.is_even() ? 1 : 2;
  for (std::int64_t j = 0; j < length.n_phi; ++j) pixels[j] = static_cast<T>(values[j * stride]);
}

template <class T>
const Complex* RingWorker::read_pixels(const Row& row, MapView<const T> map, bool is_in_place,
                                       Complex* copy) noexcept {
  const RingLength& length = row.length->length;
  const T* pixels = map.component(row.component).data() + row.entry->first_pixel;
  if (std::is_same_v<T, double> && length.is_even() && is_in_place)
    return reinterpret_cast<const Complex*>(pixels);
  if (length.is_even()) {
    std::copy_n(pixels, length.n_phi, reinterpret_cast<double*>(copy));
  } else {
    std::copy_n(pixels, length.n_phi, copy);
  }
  return copy;
}

template <class T>
void RingWorker::synthesize(const RingBlock& block, const Complex* modes, MapView<T> map) noexcept {
  std::int64_t n_modes = 0;
  for_each_row(block, [&](const Row& row) {
    n_modes = std::max(n_modes, row.entry->n_modes);
    if (row.entry->n_present < row.entry->n_modes) std::fill_n(row.values, row.entry->n_modes, 0.0);
  });
  tile_.gather(*rows_, block, n_modes, modes);
  for_each_row(block, [&](const Row& row) {
    const BackwardFft* smooth = row.length->smooth;
    if (smooth == nullptr) {
      pack(row, row.values);
      split_.add_columns(row.length->split, row.values, row.values);
      return;
    }
    pack(row, packed_);
    const bool is_aligned =
        BackwardFft::is_aligned(map.component(row.component).data() + row.entry->first_pixel);
    write_pixels(row, map, is_aligned, [&](Complex* out) { smooth->execute(packed_, out); });
  });
  split_.flush_columns();
  for_each_split_row(block, [&](const Row& row) {
    write_pixels(row, map, true, [&](Complex* out) { split_.transform_rows(row.values, out); });
  });
}

template <class T>
void RingWorker::adjoint(const RingBlock& block, MapView<const T> map,
                         std::span<const double> ring_weights, Complex* modes) noexcept {
  const auto weight = [&](const Row& row) {
    return ring_weights.empty() ? 1.0 : ring_weights[static_cast<std::size_t>(row.ring)];
  };
  for_each_row(block, [&](const Row& row) {
    const BackwardFft* smooth = row.length->smooth;
    if (smooth == nullptr) {
      split_.add_columns(row.length->split, read_pixels(row, map, true, row.values), row.values);
      return;
    }
    const bool is_aligned =
        BackwardFft::is_aligned(map.component(row.component).data() + row.entry->first_pixel);
    smooth->execute(read_pixels(row, map, is_aligned, row_), packed_);
    unpack(row, packed_, weight(row));
  });
  split_.flush_columns();
  std::int64_t n_modes = 0;
  for_each_row(block, [&](const Row& row) { n_modes = std::max(n_modes, row.entry->n_modes); });
  for_each_split_row(block, [&](const Row& row) {
    split_.transform_rows(row.values, packed_);
    unpack(row, packed_, weight(row));
  });
  tile_.scatter(*rows_, block, n_modes, modes);
}

template void RingWorker::synthesize(const RingBlock&, const Complex*, MapView<double>) noexcept;
template void RingWorker::synthesize(const RingBlock&, const Complex*, MapView<float>) noexcept;
template void RingWorker::adjoint(const RingBlock&, MapView<const double>, std::span<const double>,
                                  Complex*) noexcept;
template void RingWorker::adjoint(const RingBlock&, MapView<const float>, std::span<const double>,
                                  Complex*) noexcept;

std::int64_t RingWorker::bytes() const {
  return tile_.bytes() + split_.bytes() +
         (phases_.size() + roots_.size()) * static_cast<std::int64_t>(sizeof(Complex));
}

}  // namespace ringweave
