// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <complex>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/block_pipeline.hpp"
#include "base/checked_cast.hpp"
#include "base/device_buffer.hpp"
#include "base/mode_view.hpp"
#include "base/parallel_copy.hpp"
#include "fft/cuda/ring_blocks.hpp"
#include "fft/device_ring_fft.hpp"
#include "fft/ring_fft.hpp"

namespace ringweave::detail::inline fft {
namespace {

using Complex = std::complex<double>;
constexpr std::int64_t mode_bytes = sizeof(Complex);
template <class T>
constexpr std::int64_t pixel_bytes = sizeof(T);
constexpr const char* where = "ring FFT";

/// Uses at most half of the memory that is free when a plan is made, because other plans need some
/// too.
std::int64_t bytes_to_use(std::int64_t most) {
  return std::min(most, device_memory().free_bytes / 2);
}

/// Buffers of a block of rings: modes, pixels and weights of rings.
struct RingData {
  template <class T>
  using Pinned = DeviceBuffer<T, MemorySpace::pinned>;

  RingData(std::int64_t n_modes, std::int64_t n_pixels, std::int64_t n_rings)
      : host_modes(n_modes),
        host_map(n_pixels),
        host_weights(n_rings),
        modes(n_modes),
        map(n_pixels),
        weights(n_rings) {}
  Pinned<Complex> host_modes;
  Pinned<double> host_map;
  Pinned<double> host_weights;
  DeviceBuffer<Complex> modes;
  DeviceBuffer<double> map;
  DeviceBuffer<double> weights;

  std::int64_t device_bytes() const { return modes.bytes() + map.bytes() + weights.bytes(); }
  std::int64_t pinned_bytes() const { return device_bytes(); }
};

/// Returns the pixels of a block as float or double, whichever the call uses; both share the
/// memory.
template <class T>
T* as(double* memory) {
  return reinterpret_cast<T*>(memory);
}

/// Device ring FFT for modes and maps on the host: blocks of rings go through the device one after
/// the other.
class CudaRingFft final : public RingFft {
 public:
  explicit CudaRingFft(const RingFftShape& shape)
      : CudaRingFft(shape, blocks_that_fit(shape, bytes_to_use(shape.device_bytes))) {}

  void synthesize(ModeView<const double> modes, AnyMapView<> map) override {
    std::visit([&](auto view) { synthesize_map(modes, view); }, map);
  }
  void adjoint(AnyConstMapView<> map, std::span<const double> ring_weights, ModeView<double> modes,
               const AdjointCalls& calls) override {
    std::visit([&](auto view) { adjoint_map(view, ring_weights, modes); }, map);
    calls.urgent_done();
  }

  std::int64_t bytes() const override {
    const BlockBytes copied = pipeline_.bytes();
    std::int64_t sum = copied.device_bytes + copied.pinned_bytes;
    for (const auto& fft : ffts_) sum += fft->device_bytes();
    return sum;
  }

 private:
  template <class T>
  using DeviceMap = MapView<T, MemorySpace::device>;

  CudaRingFft(const RingFftShape& shape, RingBlocks planned)
      : shape_(shape),
        blocks_(std::move(planned.blocks)),
        pipeline_(ssize64(blocks_), planned.n_modes, planned.n_pixels, planned.n_rings) {
    std::vector<const RingFftShape*> shapes;
    for (const DeviceRings& block : blocks_) shapes.push_back(&block.shape);
    ffts_ = make_device_ring_ffts(shapes, pipeline_.stream());
  }

  /// The parts of the work of a block that both directions share.
  struct BlockWork {
    CudaRingFft& self;

    std::optional<std::int64_t> block(std::int64_t b) const { return b; }

   protected:
    const DeviceRings& rings(std::int64_t b) const { return self.blocks_[to_size(b)]; }
    DeviceRingFft& fft(std::int64_t b) const { return *self.ffts_[to_size(b)]; }
    std::int64_t n() const { return self.shape_.n_components; }

    DeviceRingFft::Modes<double> modes_of(RingData& data, std::int64_t b) const {
      return {data.modes.data(), n_modes(b)};
    }
    template <class T>
    DeviceMap<T> map_of(RingData& data, std::int64_t b) const {
      return {as<T>(data.map.data()), n(), rings(b).shape.rings.n_pixels(),
              component_stride(rings(b))};
    }
    std::int64_t n_modes(std::int64_t b) const { return rings(b).shape.rows.size() * n(); }

    /// Calls copy(mode of the caller, mode of the block, number of modes).
    template <class Copy>
    void for_each_run(std::int64_t b, const Copy& copy) const {
      const std::vector<PositionRun>& runs = rings(b).runs;
#pragma omp parallel for schedule(dynamic, 8)
      for (std::size_t i = 0; i < runs.size(); ++i) {
        copy(runs[i].from * n(), runs[i].to * n(), runs[i].count * n());
      }
    }
    /// Calls copy(component, its first pixel in the block, pixels).
    template <class Copy>
    void for_each_component(std::int64_t b, const Copy& copy) const {
      for (std::int64_t c = 0; c < n(); ++c) {
        copy(c, c * component_stride(rings(b)), rings(b).shape.rings.n_pixels());
      }
    }
  };

  template <class T>
  struct Synthesis : BlockWork {
    ModeView<const double> modes;
    MapView<T> map;

    void fill(RingData& data, std::int64_t b) const {
      this->for_each_run(b, [&](std::int64_t from, std::int64_t to, std::int64_t count) {
        std::copy_n(modes.data() + from, count, data.host_modes.data() + to);
      });
    }
    void upload(RingData& data, std::int64_t b, const DeviceStream& stream) const {
      copy_to_device(data.host_modes.data(), data.modes.data(), this->n_modes(b) * mode_bytes,
                     stream);
    }
    void compute(RingData& data, std::int64_t b) const {
      this->fft(b).synthesize(this->modes_of(data, b), this->template map_of<T>(data, b));
    }
    void download(RingData& data, std::int64_t b, const DeviceStream& stream) const {
      this->for_each_component(b, [&](std::int64_t, std::int64_t first, std::int64_t count) {
        copy_to_host(as<T>(data.map.data()) + first, as<T>(data.host_map.data()) + first,
                     count * pixel_bytes<T>, stream);
      });
    }
    void unpack(RingData& data, std::int64_t b) const {
      this->for_each_component(b, [&](std::int64_t c, std::int64_t first, std::int64_t count) {
        copy_in_parallel(as<T>(data.host_map.data()) + first,
                         map.component(c).data() + this->rings(b).first_pixel,
                         count * pixel_bytes<T>);
      });
    }
  };

  template <class T>
  struct Adjoint : BlockWork {
    MapView<const T> map;
    std::span<const double> ring_weights;
    ModeView<double> modes;

    void fill(RingData& data, std::int64_t b) const {
      this->for_each_component(b, [&](std::int64_t c, std::int64_t first, std::int64_t count) {
        copy_in_parallel(map.component(c).data() + this->rings(b).first_pixel,
                         as<T>(data.host_map.data()) + first, count * pixel_bytes<T>);
      });
      if (ring_weights.empty()) return;
      std::copy_n(ring_weights.data() + this->rings(b).first_ring, n_rings(b),
                  data.host_weights.data());
    }
    void upload(RingData& data, std::int64_t b, const DeviceStream& stream) const {
      this->for_each_component(b, [&](std::int64_t, std::int64_t first, std::int64_t count) {
        copy_to_device(as<T>(data.host_map.data()) + first, as<T>(data.map.data()) + first,
                       count * pixel_bytes<T>, stream);
      });
      if (ring_weights.empty()) return;
      copy_to_device(data.host_weights.data(), data.weights.data(),
                     n_rings(b) * pixel_bytes<double>, stream);
    }
    void compute(RingData& data, std::int64_t b) const {
      DeviceRingFft::Weights weights;
      if (!ring_weights.empty()) weights = {data.weights.data(), n_rings(b)};
      this->fft(b).adjoint(this->template map_of<const T>(data, b), weights,
                           this->modes_of(data, b));
    }
    void download(RingData& data, std::int64_t b, const DeviceStream& stream) const {
      copy_to_host(data.modes.data(), data.host_modes.data(), this->n_modes(b) * mode_bytes,
                   stream);
    }
    void unpack(RingData& data, std::int64_t b) const {
      this->for_each_run(b, [&](std::int64_t to, std::int64_t from, std::int64_t count) {
        std::copy_n(data.host_modes.data() + from, count, modes.data() + to);
      });
    }

   private:
    std::int64_t n_rings(std::int64_t b) const { return this->rings(b).shape.rings.n_rings(); }
  };

  template <class T>
  void synthesize_map(ModeView<const double> modes, MapView<T> map) {
    check(modes.size(), map.n_components(), map.size());
    pipeline_.run(Synthesis<T>{{*this}, modes, map});
  }
  template <class T>
  void adjoint_map(MapView<const T> map, std::span<const double> ring_weights,
                   ModeView<double> modes) {
    check(modes.size(), map.n_components(), map.size());
    if (!ring_weights.empty())
      require_planned(where, ssize64(ring_weights), shape_.rings.n_rings(), "ring weights");
    pipeline_.run(Adjoint<T>{{*this}, map, ring_weights, modes});
  }

  void check(std::int64_t n_modes, std::int64_t n_components, std::int64_t n_pixels) const {
    require_planned(where, n_modes, shape_.rows.size() * shape_.n_components, "ring modes");
    require_planned(where, n_components, shape_.n_components, "components of a map");
    require_planned(where, n_pixels, shape_.rings.n_pixels(), "pixels of a component");
  }

  RingFftShape shape_;
  std::vector<DeviceRings> blocks_;
  BlockPipeline<DevicePipeline, RingData, std::int64_t> pipeline_;
  std::vector<std::unique_ptr<DeviceRingFft>> ffts_;  ///< [block]
};

}  // namespace

std::unique_ptr<RingFft> make_cuda_ring_fft(RingFftShape shape) {
  return std::make_unique<CudaRingFft>(shape);
}

}  // namespace ringweave::detail::inline fft
