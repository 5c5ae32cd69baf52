// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/host/ring_worker.hpp"

#include <algorithm>
#include <type_traits>

#include "fft/host/ring_spectrum.hpp"

namespace ringweave {
namespace {

using Complex = std::complex<double>;

/// Whether an FFT may read or write the pixels where they lie, as f_{2j} + i f_{2j+1}.
template <class T>
bool is_in_place(const RingLength& length, const T* pixels) {
  return std::is_same_v<T, double> && length.is_even() && BackwardFft::is_aligned(pixels);
}

}  // namespace

RingWorker::RingWorker(const RingPlan& plan, std::int64_t n_components)
    : plan_(&plan),
      tile_(plan.rings_per_block(), n_components, plan.n_modes()),
      phases_(plan.n_modes()),
      roots_(plan.max_phi() / 4 + 1),
      bins_(plan.max_phi() / 2 + 1),
      packed_(plan.max_complex()),
      row_(plan.max_complex()),
      split_(plan.capacity()) {}

void RingWorker::prepare(const RingPlan::RingEntry& ring) noexcept {
  const RingPlan::Length* length = &plan_->lengths()[static_cast<std::size_t>(ring.length)];
  if (length != length_) {
    length_ = length;
    if (length->length.is_even())
      plan_->powers().expand(length->roots, length->length.n_phi / 4 + 1, roots_.data());
    if (length->split)
      split_.prepare(length->length, *length->split, plan_->powers(), length->roots);
  }
  if (ring.phases >= 0 && (ring.phases != phase_table_ || ring.n_modes > n_phases_)) {
    phase_table_ = ring.phases;
    n_phases_ = ring.n_modes;
    plan_->powers().expand(ring.phases, n_phases_, phases_.data());
  }
}

void RingWorker::transform(const Complex* in, Complex* out) noexcept {
  if (length_->split) {
    split_.execute(in, out);
  } else {
    length_->smooth->execute(in, out);
  }
}

template <class T>
void RingWorker::synthesize(const RingPlan::RingEntry& ring, const Complex* modes,
                            T* pixels) noexcept {
  prepare(ring);
  const RingLength& length = length_->length;
  const std::int64_t n = length.n_phi;
  fold(modes, ring.n_modes, phases(ring), n, bins_.data());
  if (!length.is_even()) {
    pack_odd(bins_.data(), n, packed_.data());
    transform(packed_.data(), row_.data());
    for (std::int64_t j = 0; j < n; ++j) pixels[j] = static_cast<T>(row_[j].real());
    return;
  }
  pack_even(bins_.data(), n, roots_.data(), packed_.data());
  if (is_in_place(length, pixels)) {
    transform(packed_.data(), reinterpret_cast<Complex*>(pixels));
    return;
  }
  transform(packed_.data(), row_.data());
  const auto* values = reinterpret_cast<const double*>(row_.data());
  for (std::int64_t j = 0; j < n; ++j) pixels[j] = static_cast<T>(values[j]);
}

template <class T>
void RingWorker::adjoint(const RingPlan::RingEntry& ring, const T* pixels, double weight,
                         Complex* modes) noexcept {
  prepare(ring);
  const RingLength& length = length_->length;
  const std::int64_t n = length.n_phi;
  if (!length.is_even()) {
    std::copy(pixels, pixels + n, row_.data());
    transform(row_.data(), packed_.data());
    unpack_odd(packed_.data(), n, weight, bins_.data());
  } else {
    const auto* row = reinterpret_cast<const Complex*>(pixels);
    if (!is_in_place(length, pixels)) {
      std::copy(pixels, pixels + n, reinterpret_cast<double*>(row_.data()));
      row = row_.data();
    }
    transform(row, packed_.data());
    unpack_even(packed_.data(), n, roots_.data(), weight, bins_.data());
  }
  unfold(bins_.data(), n, phases(ring), ring.n_modes, modes);
}

template void RingWorker::synthesize(const RingPlan::RingEntry&, const Complex*, double*) noexcept;
template void RingWorker::synthesize(const RingPlan::RingEntry&, const Complex*, float*) noexcept;
template void RingWorker::adjoint(const RingPlan::RingEntry&, const double*, double,
                                  Complex*) noexcept;
template void RingWorker::adjoint(const RingPlan::RingEntry&, const float*, double,
                                  Complex*) noexcept;

std::int64_t RingWorker::bytes() const {
  const std::int64_t values =
      phases_.size() + roots_.size() + bins_.size() + packed_.size() + row_.size();
  return tile_.bytes() + split_.bytes() + values * static_cast<std::int64_t>(sizeof(Complex));
}

}  // namespace ringweave
