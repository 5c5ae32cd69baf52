// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

#include "base/device.hpp"
#include "base/device_buffer.hpp"
#include "base/device_graph.hpp"
#include "base/stage_timer.hpp"
#include "base/view.hpp"
#include "distribute/communicator.hpp"
#include "distribute/device_exchange.hpp"
#include "fft/device_ring_fft.hpp"
#include "legendre/device_legendre_stage.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave {

/// The line of the program where a_lm and maps lie on a device, one device to a rank (several
/// ranks may share one): nothing touches the host but what MPI cannot take from a device.
///
/// On one rank calls are put in the order of stream() and return at once; a call that is made again
/// with the same memory is replayed as one graph of launches. On several ranks calls are
/// collective, and results are there for what is put on stream() afterwards. T is the storage type
/// of maps and a_lm, float or double. One call at a time per object.
class DeviceTransform {
 public:
  template <class T>
  using Alm = AlmView<T, MemorySpace::device>;
  template <class T>
  using Map = MapView<T, MemorySpace::device>;
  using Weights = DeviceRingFft::Weights;
  using Accumulate = LegendreStage::Accumulate;

  /// For all fields of the plan together, on this thread's device (choose_device). Collective.
  /// Error  UsageError when this build has no CUDA or ring modes should be exchanged in single
  /// precision, ResourceError from the device.
  DeviceTransform(const Communicator& comm, const TransformPlan& plan);

  /// alm  [component][my order][l], read only
  /// map  [component][pixel of my rings], overwritten
  template <class T>
  void synthesize(Alm<const T> alm, Map<T> map);

  /// The exact transpose. ring_weights  [owned ring]; empty: all 1.
  template <class T>
  void adjoint(Map<const T> map, Weights ring_weights, Alm<T> alm,
               Accumulate how = Accumulate::overwrite);

  /// From now on every stage is waited for and its seconds are added to "legendre", "exchange",
  /// "ring_fft" of `times`, which outlives the object; null: no more.
  void time_stages(StageTimes* times) { times_ = times; }

  /// Ring modes and staging buffers: the constructor allocates them, and the next call after a
  /// release. Not collective.
  void allocate();
  void release() noexcept;

  std::int64_t device_bytes() const;
  std::int64_t staging_bytes() const { return exchange_.staging_bytes(); }
  DeviceRoute route() const { return route_; }
  const DeviceStream& stream() const { return *stream_; }

 private:
  using Modes = DeviceBuffer<std::complex<double>>;
  /// What a call reads and writes. Equal calls give the device the same work.
  struct Call {
    enum class Way { synthesis, adjoint, adjoint_adding } way;
    std::int64_t bytes_of_number;
    const void* alm;
    std::int64_t alm_stride;
    const void* map;
    std::int64_t map_stride;
    const void* weights;
    friend bool operator==(const Call&, const Call&) = default;
  };
  struct Replay {
    explicit Replay(const Call& of) : call(of) {}
    Call call;
    DeviceGraph graph;
  };

  bool alone() const { return comm_.size() == 1; }
  Modes& order_modes() { return alone() ? ring_modes_ : order_modes_; }
  template <class T>
  void require(const Alm<const T>& alm, const Map<const T>& map) const;
  /// Gives the device the work of a call, or on one rank what is kept of it.
  void give(const Call& call, const std::function<void()>& work);
  void give_synthesis(const DeviceExchange::RowWork& legendre, const std::function<void()>& fft);
  void give_adjoint(const std::function<void()>& fft, const DeviceExchange::RowWork& legendre);
  void wait_if_timed() const;

  Communicator comm_;
  std::int64_t n_components_;
  std::int64_t alm_size_;
  std::int64_t n_pixels_;
  std::int64_t n_rings_;
  std::int64_t order_size_;  ///< of the modes
  std::int64_t ring_size_;
  std::unique_ptr<DeviceStream> stream_;
  DeviceRoute route_;
  std::unique_ptr<DeviceLegendreStage> legendre_;
  std::unique_ptr<DeviceRingFft> ring_fft_;
  DeviceExchange exchange_;
  Modes ring_modes_;
  Modes order_modes_;
  StageTimes* times_ = nullptr;
  std::deque<Replay> replays_;  ///< of the last few different calls
};

}  // namespace ringweave
