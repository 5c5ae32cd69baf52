// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>

#include "base/buffer.hpp"
#include "fft/host/mode_tile.hpp"
#include "fft/host/prime_factor_fft.hpp"
#include "fft/host/ring_plan.hpp"

namespace ringweave {

/// One thread's part of the ring FFT: its tile of modes, its scratch, and the tables of the ring
/// length and the offset it worked on last (neighbouring rings mostly share them). Results do not
/// depend on what a worker did before.
class RingWorker {
 public:
  RingWorker(const RingPlan& plan, std::int64_t n_components);

  ModeTile& tile() { return tile_; }
  /// Modes of one ring -> its n_phi pixels.
  template <class T>
  void synthesize(const RingPlan::RingEntry& ring, const std::complex<double>* modes,
                  T* pixels) noexcept;
  /// Pixels times weight -> the ring's n_modes modes.
  template <class T>
  void adjoint(const RingPlan::RingEntry& ring, const T* pixels, double weight,
               std::complex<double>* modes) noexcept;

  std::int64_t bytes() const;

 private:
  void prepare(const RingPlan::RingEntry& ring) noexcept;
  const std::complex<double>* phases(const RingPlan::RingEntry& ring) const noexcept {
    return ring.phases < 0 ? nullptr : phases_.data();
  }
  void transform(const std::complex<double>* in, std::complex<double>* out) noexcept;

  const RingPlan* plan_;
  const RingPlan::Length* length_ = nullptr;  ///< whose roots_ and split_ are made
  std::int64_t phase_table_ = -1;             ///< whose phases_ are made
  std::int64_t n_phases_ = 0;

  ModeTile tile_;
  HostBuffer<std::complex<double>> phases_;  ///< exp(i m phi0)
  HostBuffer<std::complex<double>> roots_;   ///< exp(2 pi i k / n)
  HostBuffer<std::complex<double>> bins_;
  HostBuffer<std::complex<double>> packed_;
  HostBuffer<std::complex<double>> row_;  ///< pixels that FFTW cannot read or write where they lie
  PrimeFactorFft split_;
};

}  // namespace ringweave
