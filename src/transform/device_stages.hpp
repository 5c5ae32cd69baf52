// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "base/device.hpp"
#include "base/mode_view.hpp"
#include "base/stage_timer.hpp"
#include "distribute/exchange/mode_exchange.hpp"
#include "fft/device_ring_fft.hpp"
#include "legendre/device_legendre_stage.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/views.hpp"
#include "transform/graph_cache.hpp"
#include "transform/stream_stages.hpp"

namespace ringweave::detail::inline transform {

/// The Legendre stage and ring FFT of a Pipeline whose a_lm, modes and map are on a device. Calls
/// are enqueued on a stream; a call repeated with the same memory is launched as a graph.
class DeviceStages {
 public:
  template <class T>
  using Alm = AlmView<T, MemorySpace::device>;
  template <class T>
  using Map = MapView<T, MemorySpace::device>;
  using Weights = DeviceRingFft::Weights;
  /// Modes by ring, followed in the same memory by the slots.
  struct Modes {
    ModeView<double, MemorySpace::device> all;
    std::int64_t by_ring_size = 0;
    ModeView<double, MemorySpace::device> by_ring() const { return {all.data(), by_ring_size}; }
  };

  /// Uses this thread's device. `stream` must outlive the object. Keeps at most n graphs.
  DeviceStages(std::unique_ptr<DeviceLegendreStage> legendre,
               std::unique_ptr<DeviceRingFft> ring_fft, const DeviceStream& stream,
               std::size_t most_graphs)
      : legendre_(std::move(legendre)),
        ring_fft_(std::move(ring_fft)),
        stream_(&stream),
        graphs_(most_graphs) {}

  template <class T>
  void synthesize_rows(RowRange rows, Alm<const T> alm, const Modes& modes) {
    submit(key_of(GraphKey::Stage::synthesis_rows, alm, modes, rows),
           [&] { legendre_->synthesize(alm, modes.all, rows); });
  }
  template <class T>
  void adjoint_rows(RowRange rows, const Modes& modes, Alm<T> alm, Accumulate how) {
    const auto stage = how == Accumulate::add ? GraphKey::Stage::adjoint_rows_adding
                                              : GraphKey::Stage::adjoint_rows;
    submit(key_of(stage, alm, modes, rows), [&] { legendre_->adjoint(modes.all, alm, how, rows); });
  }
  template <class T>
  void to_pixels(const Modes& modes, Map<T> map) {
    submit(key_of(GraphKey::Stage::to_pixels, map, modes),
           [&] { ring_fft_->synthesize(modes.by_ring(), map); });
  }
  template <class T>
  void to_modes(Map<const T> map, Weights ring_weights, const Modes& modes) {
    GraphKey key = key_of(GraphKey::Stage::to_modes, map, modes);
    if (ring_weights.size() > 0) key.weights = ring_weights.data();
    submit(key, [&] { ring_fft_->adjoint(map, ring_weights, modes.by_ring()); });
  }

  ModeMemory memory(const Modes& modes) const {
    return {modes.all.data(), modes.by_ring_size, modes.all.data() + modes.by_ring_size,
            modes.all.size() - modes.by_ring_size};
  }
  bool can_fail() const { return true; }

  /// Adds the seconds of later stages to `times`, which must outlive the object; calls then wait
  /// for their end. Null: stops timing.
  void time_stages(StageTimes* times) { times_ = times; }
  void lap(const char* stage) {
    if (times_ != nullptr) marks_.mark(stage, *stream_);
  }
  void finish_laps() {
    if (times_ != nullptr) marks_.add_to(*times_);
  }

  void forget_graphs() noexcept { graphs_.clear(); }
  /// Returns the bytes of tables and workspace.
  std::int64_t device_bytes() const {
    return legendre_->device_bytes() + ring_fft_->device_bytes();
  }

 private:
  /// Identifies repeated work: a stage of a call, or some of its rows, and its memory.
  struct GraphKey {
    enum class Stage {
      synthesis_rows,
      adjoint_rows,
      adjoint_rows_adding,
      to_pixels,
      to_modes
    } stage;
    std::int64_t bytes_of_value;
    const void* values;  ///< a_lm or map
    std::int64_t stride;
    const void* modes;
    RowRange rows{};
    const void* weights = nullptr;
    friend bool operator==(const GraphKey&, const GraphKey&) = default;
  };
  template <class Value>
  static GraphKey key_of(GraphKey::Stage stage, ComponentView<Value, MemorySpace::device> values,
                         const Modes& modes, RowRange rows = {}) {
    return {stage, sizeof(Value), values.data(), values.stride(), modes.all.data(), rows};
  }
  template <class Work>
  void submit(const GraphKey& key, const Work& work) {
    graphs_.submit(key, *stream_, work);
  }

  std::unique_ptr<DeviceLegendreStage> legendre_;
  std::unique_ptr<DeviceRingFft> ring_fft_;
  const DeviceStream* stream_;
  GraphCache<GraphKey> graphs_;
  StreamStages<> marks_;
  StageTimes* times_ = nullptr;
};

}  // namespace ringweave::detail::inline transform
