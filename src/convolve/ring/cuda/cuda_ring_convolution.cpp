// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

#include "base/checked_cast.hpp"
#include "base/device.hpp"
#include "base/device_buffer.hpp"
#include "base/mode_view.hpp"
#include "base/stage_timer.hpp"
#include "base/stream_copies.hpp"
#include "convolve/ring/device_ring_sums.hpp"
#include "convolve/ring/mode_zone.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "convolve/ring/ring_convolution_stage.hpp"
#include "convolve/ring/ring_device_memory.hpp"
#include "convolve/ring/ring_halos.hpp"
#include "distribute/mpi/agree.hpp"
#include "fft/device_ring_fft.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline convolve {
namespace {

using Complex = std::complex<double>;

/// Convolves maps in the memory of this rank's device, a few at a time, from upload to download.
/// Halos go through the host.
class CudaRingConvolution final : public RingConvolutionStage {
 public:
  CudaRingConvolution(const Communicator& comm, const RingConvolutionPlan& plan)
      : comm_(comm), plan_(plan), layout_(plan) {
    const int local_rank = comm_.node_local().rank();
    agree(comm_, [&] { prepare(local_rank); });
    halos_.emplace(comm_, plan_);
  }

  /// Waits for work that an error has left, before its memory is freed.
  ~CudaRingConvolution() override {
    if (stream_) stream_->finish();
  }

  void convolve(AnyConstMapView<> in, AnyMapView<> out) override {
    std::visit(
        [&]<class T>(const MapView<const T>& from) {
          convolve_maps<T>(from, std::get<MapView<T>>(out));
        },
        in);
  }
  std::int64_t halo_bytes_sent() const override { return halo_bytes_sent_; }
  StageTimes& times() override { return times_; }

 private:
  template <class T>
  using DeviceMap = MapView<T, MemorySpace::device>;

  void prepare(int local_rank) {
    choose_device(local_rank);
    stream_.emplace();
    copies_.emplace(*stream_);
    sums_ = make_device_ring_sums(plan_, *stream_);
    if (plan_.has_modes()) {
      zone_.emplace(plan_);
      fft_ = make_device_ring_fft(zone_->shape, *stream_);
      modes_.allocate(layout_.n_modes);
      products_.allocate(layout_.n_modes);
      if (comm_.size() > 1) {
        host_modes_.allocate(layout_.n_modes);
        // Those of the halo are copied with the others, also before they are there.
        zero_device_memory(modes_.data(), modes_.bytes(), *stream_);
      }
      weights_.allocate(ssize64(zone_->weights));
      copy_to_device(zone_->weights.data(), weights_.data(), weights_.bytes(), *stream_);
    }
    in_.allocate(layout_.n_maps * layout_.stride);
    out_.allocate(layout_.n_maps * layout_.stride);
    halo_.allocate(layout_.n_maps * layout_.halo_stride);
    host_halo_.allocate(plan_.spec().n_maps * layout_.halo_stride);
    stream_->synchronize();
  }

  template <class T>
  static DeviceMap<T> on_device(DeviceBuffer<double>& buffer, std::int64_t n_maps,
                                std::int64_t size, std::int64_t stride) {
    return {reinterpret_cast<T*>(buffer.data()), n_maps, size, stride};
  }

  template <class T>
  void convolve_maps(MapView<const T> in, MapView<T> out) {
    halo_bytes_sent_ = 0;
    const MapView<T> halo(reinterpret_cast<T*>(host_halo_.data()), plan_.spec().n_maps,
                          plan_.pixel_halo().halo_size, layout_.halo_stride);
    if (halos_->pixels) {
      const StageTimer timer(&times_, "halo");
      halos_->pixels->run<T>(in, halo, [] {});
      halo_bytes_sent_ += halos_->pixels->bytes_sent();
    }
    for (std::int64_t first = 0; first < plan_.spec().n_maps; first += layout_.n_maps) {
      const std::int64_t n_maps = std::min(layout_.n_maps, plan_.spec().n_maps - first);
      convolve_group<T>(first, in.components(first, n_maps),
                        MapView<const T>(halo.components(first, n_maps)),
                        out.components(first, n_maps));
    }
  }

  /// Convolves maps [first, first + n) of all.
  template <class T>
  void convolve_group(std::int64_t first, MapView<const T> in, MapView<const T> halo,
                      MapView<T> out) {
    const std::int64_t n_maps = in.n_components();
    const DeviceMap<T> from = on_device<T>(in_, n_maps, in.size(), layout_.stride);
    const DeviceMap<T> to = on_device<T>(out_, n_maps, out.size(), layout_.stride);
    const DeviceMap<T> foreign = on_device<T>(halo_, n_maps, halo.size(), layout_.halo_stride);
    agree(comm_, [&] {
      const StageTimer timer(&times_, "upload");
      upload<T>(in, from);
      upload<T>(halo, foreign);
    });
    if (plan_.has_modes()) {
      const std::int64_t n_together = plan_.maps_together();
      for (std::int64_t map = 0; map < n_maps; map += n_together) {
        convolve_by_modes<T>(first + map, from.components(map, n_together),
                             to.components(map, n_together));
      }
    }
    agree(comm_, [&] {
      if (plan_.sums_pixels()) {
        const StageTimer timer(&times_, "pixels");
        sums_->sum_pixels(first, DeviceMap<const T>(from), DeviceMap<const T>(foreign), to);
        stream_->synchronize();
      }
      const StageTimer timer(&times_, "download");
      for (std::int64_t map = 0; map < n_maps; ++map) {
        copies_->to_host(to.component(map).data(), out.component(map).data(),
                         out.size() * std::int64_t{sizeof(T)});
      }
    });
  }

  template <class T>
  void upload(MapView<const T> from, DeviceMap<T> to) {
    for (std::int64_t map = 0; map < from.n_components(); ++map) {
      copies_->to_device(from.component(map).data(), to.component(map).data(),
                         from.size() * std::int64_t{sizeof(T)});
    }
  }

  /// Convolves maps that go together; the first of them is number `first` of all.
  template <class T>
  void convolve_by_modes(std::int64_t first, DeviceMap<T> from, DeviceMap<T> to) {
    agree(comm_, [&] {
      const StageTimer timer(&times_, "ring_fft");
      fft_->adjoint(DeviceMap<const T>(zone_->of(from)),
                    DeviceRingFft::Weights(weights_.data(), weights_.size()),
                    {modes_.data(), modes_.size()});
      if (halos_->modes) copy_to_host(modes_.data(), host_modes_.data(), modes_.bytes(), *stream_);
      stream_->synchronize();
    });
    if (halos_->modes) exchange_modes();
    agree(comm_, [&] {
      {
        const StageTimer timer(&times_, "modes");
        sums_->multiply(first, plan_.maps_together(), modes_.data(), products_.data());
        stream_->synchronize();
      }
      const StageTimer timer(&times_, "ring_fft");
      fft_->synthesize(DeviceRingFft::Modes<const double>(products_.data(), products_.size()),
                       zone_->of(to));
      stream_->synchronize();
    });
  }

  /// Own rings come first in each row.
  void exchange_modes() {
    const StageTimer timer(&times_, "halo");
    const ModeView<double> modes(host_modes_.data(), host_modes_.size());
    halos_->modes->end_after([&] { halos_->modes->begin(modes); });
    halo_bytes_sent_ += halos_->modes->bytes_sent();
    repeat_halo_modes(plan_, modes);
    agree(comm_, [&] {
      copy_to_device(host_modes_.data(), modes_.data(), modes_.bytes(), *stream_);
      stream_->synchronize();
    });
  }

  Communicator comm_;
  const RingConvolutionPlan& plan_;
  RingDeviceLayout layout_;
  StageTimes times_;
  std::optional<DeviceStream> stream_;
  std::optional<StreamCopies> copies_;
  std::unique_ptr<DeviceRingSums> sums_;
  std::optional<ModeZone> zone_;
  std::unique_ptr<DeviceRingFft> fft_;
  DeviceBuffer<double> in_;  ///< pixels of either type
  DeviceBuffer<double> out_;
  DeviceBuffer<double> halo_;
  DeviceBuffer<Complex> modes_;     ///< of own and halo rings
  DeviceBuffer<Complex> products_;  ///< of own rings
  DeviceBuffer<double> weights_;    ///< [own ring of the zone]
  HostBuffer<double> host_halo_;
  DeviceBuffer<Complex, MemorySpace::pinned> host_modes_;
  std::optional<RingHalos> halos_;
  std::int64_t halo_bytes_sent_ = 0;
};

}  // namespace

std::unique_ptr<RingConvolutionStage> make_cuda_ring_convolution(const Communicator& comm,
                                                                 const RingConvolutionPlan& plan) {
  return std::make_unique<CudaRingConvolution>(comm, plan);
}

}  // namespace ringweave::detail::inline convolve
