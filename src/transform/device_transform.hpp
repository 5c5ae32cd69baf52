// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/device.hpp"
#include "base/device_buffer.hpp"
#include "base/stage_timer.hpp"
#include "base/view.hpp"
#include "distribute/communicator.hpp"
#include "distribute/device_exchange.hpp"
#include "fft/device_ring_fft.hpp"
#include "legendre/device_legendre_stage.hpp"
#include "transform/replays.hpp"
#include "transform/stream_stages.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave {

/// The line of the program where a_lm and maps lie on a device, one device to a rank (several
/// ranks may share one): nothing touches the host but what MPI cannot take from a device.
///
/// On one rank calls are put in the order of stream() and return at once. On several ranks calls are
/// collective, and results are there for what is put on stream() afterwards. The work of a call
/// that is made again with the same memory is replayed as graphs of launches, one for each stage
/// and, with several ranks, each part of the rows. T is the storage type of maps and a_lm, float or
/// double. One call at a time per object.
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
  ~DeviceTransform() { release(); }
  DeviceTransform(const DeviceTransform&) = delete;
  DeviceTransform& operator=(const DeviceTransform&) = delete;

  /// alm  [component][my order][l], read only
  /// map  [component][pixel of my rings], overwritten
  template <class T>
  void synthesize(Alm<const T> alm, Map<T> map);

  /// The exact transpose. ring_weights  [owned ring]; empty: all 1.
  template <class T>
  void adjoint(Map<const T> map, Weights ring_weights, Alm<T> alm,
               Accumulate how = Accumulate::overwrite);

  /// From now on the seconds of every stage are added to "legendre", "exchange", "ring_fft" of
  /// `times`, which outlives the object, and calls return when they are done; null: no more. On
  /// one rank nothing waits between the stages, on several ranks each is waited for.
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
  /// Work that is replayed: a stage of a call, or some rows of it, and what it reads and writes.
  /// Equal ones give the device the same.
  struct Piece {
    enum class Stage { synthesis_rows, adjoint_rows, adjoint_rows_adding, to_pixels, to_modes } stage;
    std::int64_t bytes_of_number;
    const void* values;  ///< a_lm or a map
    std::int64_t stride;
    const void* weights;
    std::int64_t first_row;
    std::int64_t n_rows;
    friend bool operator==(const Piece&, const Piece&) = default;
  };

  bool alone() const { return comm_.size() == 1; }
  Modes& order_modes() { return alone() ? ring_modes_ : order_modes_; }
  template <class T>
  void require(const Alm<const T>& alm, const Map<const T>& map) const;
  void give(const Piece& piece, const std::function<void()>& work) {
    replays_.give(piece, *stream_, work);
  }
  void give_synthesis(const DeviceExchange::RowWork& legendre, const std::function<void()>& fft);
  void give_synthesis_alone(const DeviceExchange::RowWork& legendre,
                            const std::function<void()>& fft);
  void give_adjoint(const std::function<void()>& fft, const DeviceExchange::RowWork& legendre);
  void give_adjoint_alone(const std::function<void()>& fft,
                          const DeviceExchange::RowWork& legendre);
  void give_all_rows(const DeviceExchange::RowWork& legendre);
  /// On one rank, where stages follow each other in the stream.
  void begin_stages();
  void end_stage(const char* stage);
  void add_stages();
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
  StreamStages<> stages_;
  Replays<Piece> replays_;
};

}  // namespace ringweave
