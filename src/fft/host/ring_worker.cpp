// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/host/ring_worker.hpp"

#include <algorithm>
#include <type_traits>

#include "base/checked_cast.hpp"
#include "fft/host/ring_spectrum.hpp"

namespace ringweave::detail::inline fft {
namespace {

using Complex = std::complex<double>;

/// Returns the index of bin k >= 1, which is not real, in a spectrum (RingSpectra).
std::int64_t place_in_spectrum(const RingLength& length, std::int64_t k) {
  return length.is_even() ? 2 * k : 2 * k - 1;
}

/// Returns the number of bins, from 1 on, that have a distinct mirror.
std::int64_t n_pairs(const RingLength& length) { return (length.n_phi - 1) / 2; }

template <class T>
void write_spectrum(const RingLength& length, const Complex* bins, T* spectrum) {
  spectrum[0] = static_cast<T>(bins[0].real());
  if (length.is_even()) spectrum[1] = static_cast<T>(bins[length.n_phi / 2].real());
  for (std::int64_t k = 1; k <= n_pairs(length); ++k) {
    T* to = spectrum + place_in_spectrum(length, k);
    to[0] = static_cast<T>(bins[k].real());
    to[1] = static_cast<T>(bins[k].imag());
  }
}

}  // namespace

RingWorker::RingWorker(const RingPlan& plan, const RingFftShape& shape)
    : plan_(&plan),
      rows_(&shape.rows),
      rings_(&shape.rings),
      n_components_(shape.n_components),
      tile_(plan.rings_per_block, n_components_, plan.ring_values()),
      phases_(plan.max_modes),
      roots_(plan.max_phi / 4 + 1),
      split_(plan.capacity, plan.rings_per_block, plan.powers) {}

void RingWorker::place(ScratchArena& pieces) {
  tile_.place(pieces);
  bins_ = pieces.allocate<Complex>(plan_->max_phi / 2 + 1);
  packed_ = pieces.allocate<Complex>(plan_->max_complex);
  row_ = pieces.allocate<Complex>(plan_->max_complex);
  split_.place(pieces);
}

template <class Work>
void RingWorker::for_each_row(const RingBlock& block, const Work& work) {
  const auto ring = [&](std::int64_t global, std::int64_t in_block) {
    Row row;
    row.ring = rings_->local(RingId{global});
    row.entry = &plan_->ring(row.ring);
    row.length = &plan_->lengths[to_size(row.entry->length)];
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

void RingWorker::prepare_roots(const Row& row) noexcept {
  if (row.length == length_) return;
  length_ = row.length;
  if (length_->length.is_even())
    plan_->powers.expand(length_->roots, length_->length.n_phi / 4 + 1, roots_.data());
}

void RingWorker::prepare_phases(const Row& row) noexcept {
  const RingPlan::RingEntry& ring = *row.entry;
  if (ring.phases >= 0 && (ring.phases != phase_table_ || ring.n_modes > n_phases_)) {
    phase_table_ = ring.phases;
    n_phases_ = ring.n_modes;
    plan_->powers.expand(ring.phases, n_phases_, phases_.data());
  }
}

void RingWorker::fold_row(const Row& row) noexcept {
  prepare_phases(row);
  fold(row.values, row.entry->n_modes, phases(row), row.length->length.n_phi, bins_);
}

void RingWorker::unfold_row(const Row& row) noexcept {
  prepare_phases(row);
  unfold(bins_, row.length->length.n_phi, phases(row), row.entry->n_modes, row.values);
}

void RingWorker::pack(const Row& row, Complex* packed) noexcept {
  fold_row(row);
  prepare_roots(row);
  const RingLength& length = row.length->length;
  if (length.is_even()) {
    pack_even(bins_, length.n_phi, roots_.data(), packed);
  } else {
    pack_odd(bins_, length.n_phi, packed);
  }
}

void RingWorker::unpack(const Row& row, const Complex* transformed, double weight) noexcept {
  prepare_roots(row);
  const std::int64_t n = row.length->length.n_phi;
  if (row.length->length.is_even()) {
    unpack_even(transformed, n, roots_.data(), weight, bins_);
  } else {
    unpack_odd(transformed, n, weight, bins_);
  }
}

template <SpectrumOperator what, class T>
double RingWorker::combine(const Row& row, const T* spectrum, double weight) noexcept {
  const RingLength& length = row.length->length;
  const auto n = static_cast<double>(length.n_phi);
  const auto combined = [&](std::int64_t place, double bin) -> double {
    if constexpr (what == SpectrumOperator::adjoint_of_map) return double{spectrum[place]};
    if constexpr (what == SpectrumOperator::adjoint_of_synthesis) return bin;
    return double{spectrum[place]} - bin;
  };
  const double factor = weight * n;
  const std::int64_t half = length.n_phi / 2;
  double real = combined(0, bins_[0].real());
  bins_[0] = factor * real;
  double squares = real * real;
  if (length.is_even()) {
    real = combined(1, bins_[half].real());
    bins_[half] = factor * real;
    squares += real * real;
  }
  double pairs = 0;
  for (std::int64_t k = 1; k <= n_pairs(length); ++k) {
    const std::int64_t place = place_in_spectrum(length, k);
    const Complex value{combined(place, bins_[k].real()), combined(place + 1, bins_[k].imag())};
    pairs += value.real() * value.real() + value.imag() * value.imag();
    bins_[k] = factor * value;
  }
  return n * (squares + 2 * pairs);
}

template <class T>
bool RingWorker::is_fft_data(const Row& row, const T* pixels) noexcept {
  return std::is_same_v<T, double> && row.length->length.is_even() &&
         (row.length->smooth == nullptr || BackwardFft::is_aligned(pixels));
}

template <class T, class Transform>
void RingWorker::write_pixels(const Row& row, MapView<T> map, const Transform& transform) noexcept {
  const RingLength& length = row.length->length;
  T* pixels = map.component(row.component).data() + row.entry->first_pixel;
  if (is_fft_data(row, pixels)) {
    transform(reinterpret_cast<Complex*>(pixels));
    return;
  }
  transform(row_);
  const auto* values = reinterpret_cast<const double*>(row_);
  const std::int64_t stride = length.is_even() ? 1 : 2;
  for (std::int64_t j = 0; j < length.n_phi; ++j) pixels[j] = static_cast<T>(values[j * stride]);
}

template <class T>
const Complex* RingWorker::read_pixels(const Row& row, MapView<const T> map,
                                       Complex* copy) noexcept {
  const RingLength& length = row.length->length;
  const T* pixels = map.component(row.component).data() + row.entry->first_pixel;
  if (is_fft_data(row, pixels)) return reinterpret_cast<const Complex*>(pixels);
  if (length.is_even()) {
    std::copy_n(pixels, length.n_phi, reinterpret_cast<double*>(copy));
  } else {
    std::copy_n(pixels, length.n_phi, copy);
  }
  return copy;
}

std::int64_t RingWorker::n_modes_of(const RingBlock& block) {
  std::int64_t n_modes = 0;
  for_each_row(block, [&](const Row& row) { n_modes = std::max(n_modes, row.entry->n_modes); });
  return n_modes;
}

void RingWorker::gather(const RingBlock& block, const Complex* modes) noexcept {
  for_each_row(block, [&](const Row& row) {
    if (row.entry->n_present < row.entry->n_modes) std::fill_n(row.values, row.entry->n_modes, 0.0);
  });
  tile_.gather(*rows_, block, n_modes_of(block), modes);
}

template <class T>
void RingWorker::synthesize(const RingBlock& block, const Complex* modes, MapView<T> map) noexcept {
  gather(block, modes);
  for_each_row(block, [&](const Row& row) {
    const BackwardFft* smooth = row.length->smooth;
    if (smooth == nullptr) {
      pack(row, row.values);
      split_.add_columns(row.length->split, row.values, row.values);
      return;
    }
    pack(row, packed_);
    write_pixels(row, map, [&](Complex* out) { smooth->execute(packed_, out); });
  });
  split_.flush_columns();
  for_each_split_row(block, [&](const Row& row) {
    write_pixels(row, map, [&](Complex* out) { split_.transform_rows(row.values, out); });
  });
}

template <class T, class Transformed>
void RingWorker::transform_pixels(const RingBlock& block, MapView<const T> map,
                                  const Transformed& transformed) noexcept {
  for_each_row(block, [&](const Row& row) {
    const BackwardFft* smooth = row.length->smooth;
    if (smooth == nullptr) {
      split_.add_columns(row.length->split, read_pixels(row, map, row.values), row.values);
      return;
    }
    smooth->execute(read_pixels(row, map, row_), packed_);
    transformed(row, packed_);
  });
  split_.flush_columns();
  for_each_split_row(block, [&](const Row& row) {
    split_.transform_rows(row.values, packed_);
    transformed(row, packed_);
  });
}

template <class T>
void RingWorker::adjoint(const RingBlock& block, MapView<const T> map,
                         std::span<const double> ring_weights, Complex* modes) noexcept {
  transform_pixels<T>(block, map, [&](const Row& row, const Complex* values) {
    unpack(row, values, weight_of(row, ring_weights));
    unfold_row(row);
  });
  tile_.scatter(*rows_, block, n_modes_of(block), modes);
}

template <class T>
void RingWorker::to_spectra(const RingBlock& block, MapView<T> map) noexcept {
  transform_pixels<T>(block, map, [&](const Row& row, const Complex* values) {
    unpack(row, values, 1.0 / static_cast<double>(row.length->length.n_phi));
    write_spectrum(row.length->length, bins_,
                   map.component(row.component).data() + row.entry->first_pixel);
  });
}

template <class T>
double RingWorker::combine(SpectrumOperator what, const Row& row, const T* spectrum,
                           double weight) noexcept {
  switch (what) {
    case SpectrumOperator::adjoint_of_map:
      return combine<SpectrumOperator::adjoint_of_map>(row, spectrum, weight);
    case SpectrumOperator::adjoint_of_residual:
      return combine<SpectrumOperator::adjoint_of_residual>(row, spectrum, weight);
    case SpectrumOperator::adjoint_of_synthesis:
      return combine<SpectrumOperator::adjoint_of_synthesis>(row, spectrum, weight);
  }
  return 0;
}

template <class T>
void RingWorker::apply_operator(SpectrumOperator what, const RingBlock& block,
                                MapView<const T> spectra, std::span<const double> ring_weights,
                                Complex* modes, double* squares) noexcept {
  if (what != SpectrumOperator::adjoint_of_map) gather(block, modes);
  for_each_row(block, [&](const Row& row) {
    const T* spectrum = nullptr;
    if (what != SpectrumOperator::adjoint_of_map) fold_row(row);
    if (what != SpectrumOperator::adjoint_of_synthesis)
      spectrum = spectra.component(row.component).data() + row.entry->first_pixel;
    squares[static_cast<std::int64_t>(row.ring) * n_components_ + row.component] =
        combine(what, row, spectrum, weight_of(row, ring_weights));
    unfold_row(row);
  });
  tile_.scatter(*rows_, block, n_modes_of(block), modes);
}

template void RingWorker::synthesize(const RingBlock&, const Complex*, MapView<double>) noexcept;
template void RingWorker::synthesize(const RingBlock&, const Complex*, MapView<float>) noexcept;
template void RingWorker::adjoint(const RingBlock&, MapView<const double>, std::span<const double>,
                                  Complex*) noexcept;
template void RingWorker::adjoint(const RingBlock&, MapView<const float>, std::span<const double>,
                                  Complex*) noexcept;
template void RingWorker::to_spectra(const RingBlock&, MapView<double>) noexcept;
template void RingWorker::to_spectra(const RingBlock&, MapView<float>) noexcept;
template void RingWorker::apply_operator(SpectrumOperator, const RingBlock&, MapView<const double>,
                                         std::span<const double>, Complex*, double*) noexcept;
template void RingWorker::apply_operator(SpectrumOperator, const RingBlock&, MapView<const float>,
                                         std::span<const double>, Complex*, double*) noexcept;

std::int64_t RingWorker::bytes() const {
  return tile_.bytes() + split_.bytes() + held_bytes(phases_, roots_);
}

}  // namespace ringweave::detail::inline fft
