// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <chrono>
#include <memory>
#include <span>

#include "base/mode_view.hpp"
#include "base/stage_timer.hpp"
#include "distribute/exchange/mode_exchange.hpp"
#include "fft/ring_fft.hpp"
#include "legendre/legendre_stage.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline transform {

/// The Legendre stage and ring FFT of a Pipeline whose a_lm, modes and map are on the host. With
/// Backend::cuda the stages on a device copy their data there and back.
class HostStages {
 public:
  template <class T>
  using Alm = AlmView<T>;
  template <class T>
  using Map = MapView<T>;
  using Weights = std::span<const double>;
  using Modes = ModePieces<double>;  ///< by ring, and the slots

  /// Adds the seconds of the stages to `times`, which must outlive the object; may be null.
  HostStages(std::shared_ptr<LegendreStage> legendre, std::shared_ptr<RingFft> ring_fft,
             Backend backend, StageTimes* times)
      : legendre_(std::move(legendre)),
        ring_fft_(std::move(ring_fft)),
        can_fail_(backend != Backend::host),
        times_(times) {}

  template <class T>
  void synthesize_rows(RowRange rows, Alm<const T> alm, const Modes& modes) {
    legendre_->synthesize(alm, modes, rows);
  }
  template <class T>
  void adjoint_rows(RowRange rows, const Modes& modes, Alm<T> alm, Accumulate how) {
    legendre_->adjoint(modes, alm, how, rows);
  }
  template <class T>
  void to_pixels(const Modes& modes, Map<T> map) {
    ring_fft_->synthesize(modes.first(), map);
  }
  template <class T>
  void to_modes(Map<const T> map, Weights ring_weights, const Modes& modes) {
    ring_fft_->adjoint(map, ring_weights, modes.first());
  }

  ModeMemory memory(const Modes& modes) const {
    return {modes.first().data(), modes.first().size(), modes.second().data(),
            modes.second().size()};
  }
  bool can_fail() const { return can_fail_; }

  void lap(const char* stage) {
    const auto now = std::chrono::steady_clock::now();
    if (stage != nullptr && times_ != nullptr)
      times_->add(stage, std::chrono::duration<double>(now - last_lap_).count());
    last_lap_ = now;
  }
  void finish_laps() {}

  LegendreStage& legendre() const { return *legendre_; }
  RingFft& ring_fft() const { return *ring_fft_; }

 private:
  std::shared_ptr<LegendreStage> legendre_;
  std::shared_ptr<RingFft> ring_fft_;
  bool can_fail_;
  StageTimes* times_;
  std::chrono::steady_clock::time_point last_lap_{};
};

}  // namespace ringweave::detail::inline transform
