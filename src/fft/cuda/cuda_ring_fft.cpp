// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <complex>
#include <utility>
#include <variant>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/device_buffer.hpp"
#include "base/mode_view.hpp"
#include "fft/cuda/ring_blocks.hpp"
#include "fft/device_ring_fft.hpp"
#include "fft/ring_fft.hpp"

namespace ringweave::detail::inline fft {
namespace {

using Complex = std::complex<double>;
constexpr std::int64_t mode_bytes = sizeof(Complex);
constexpr const char* where = "ring FFT";

/// Uses at most half of the memory that is free when a plan is made, because other plans need some
/// too.
std::int64_t bytes_to_use(std::int64_t most) {
  return std::min(most, device_memory().free_bytes / 2);
}

/// Device ring FFT for modes and maps on the host: copies in, computes, copies out, in blocks of
/// rings if the device cannot hold all.
class CudaRingFft final : public RingFft {
 public:
  explicit CudaRingFft(RingFftShape shape) : shape_(std::move(shape)) {
    RingBlocks planned = blocks_that_fit(shape_, bytes_to_use(shape_.device_bytes));
    std::int64_t n_modes = 0;
    std::int64_t n_pixels = 0;
    for (DeviceRings& block : planned.blocks) {
      n_modes = std::max(n_modes, block.shape.rows.size());
      n_pixels = std::max(n_pixels, stride(block));
      ffts_.push_back(make_device_ring_fft(block.shape, stream_, planned.workspace_bytes));
    }
    blocks_ = std::move(planned.blocks);
    modes_.allocate(n_modes * shape_.n_components);
    map_.allocate(n_pixels * shape_.n_components);
    weights_.allocate(shape_.rings.n_rings());
  }

  void synthesize(ModeView<const double> modes, AnyMapView<> map) override {
    std::visit([&](auto view) { synthesize_map(modes, view); }, map);
  }
  void adjoint(AnyConstMapView<> map, std::span<const double> ring_weights, ModeView<double> modes,
               const AdjointCalls& calls) override {
    std::visit([&](auto view) { adjoint_map(view, ring_weights, modes); }, map);
    calls.urgent_done();
  }

  std::int64_t bytes() const override {
    std::int64_t sum = modes_.bytes() + map_.bytes() + weights_.bytes();
    for (const auto& fft : ffts_) sum += fft->device_bytes();
    return sum;
  }

 private:
  template <class T>
  using DeviceMap = MapView<T, MemorySpace::device>;

  template <class T>
  void synthesize_map(ModeView<const double> modes, MapView<T> map) {
    check(modes.size(), map.n_components(), map.size());
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const DeviceRings& block = blocks_[b];
      const std::int64_t n = shape_.n_components;
      for (const PositionRun& run : block.runs) {
        copy_to_device(modes.data() + run.from * n, modes_.data() + run.to * n,
                       run.count * n * mode_bytes, stream_);
      }
      const DeviceMap<T> pixels = device_map<T>(block);
      ffts_[b]->synthesize(device_modes(block), pixels);
      for (std::int64_t c = 0; c < n; ++c) {
        copy_to_host(pixels.component(c).data(), map.component(c).data() + block.first_pixel,
                     pixels.size() * std::int64_t{sizeof(T)}, stream_);
      }
    }
    stream_.synchronize();
  }

  template <class T>
  void adjoint_map(MapView<const T> map, std::span<const double> ring_weights,
                   ModeView<double> modes) {
    check(modes.size(), map.n_components(), map.size());
    if (!ring_weights.empty()) {
      require_planned(where, ssize64(ring_weights), shape_.rings.n_rings(), "ring weights");
      copy_to_device(ring_weights.data(), weights_.data(), weights_.bytes(), stream_);
    }
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const DeviceRings& block = blocks_[b];
      const std::int64_t n = shape_.n_components;
      const DeviceMap<T> pixels = device_map<T>(block);
      for (std::int64_t c = 0; c < n; ++c) {
        copy_to_device(map.component(c).data() + block.first_pixel, pixels.component(c).data(),
                       pixels.size() * std::int64_t{sizeof(T)}, stream_);
      }
      DeviceRingFft::Weights weights;
      if (!ring_weights.empty()) {
        weights = {weights_.data() + block.first_ring, block.shape.rings.n_rings()};
      }
      ffts_[b]->adjoint(pixels, weights, device_modes(block));
      for (const PositionRun& run : block.runs) {
        copy_to_host(modes_.data() + run.to * n, modes.data() + run.from * n,
                     run.count * n * mode_bytes, stream_);
      }
    }
    stream_.synchronize();
  }

  /// Returns the distance of components on the device in pixels; even, so that all components are
  /// aligned for FFTs.
  static std::int64_t stride(const DeviceRings& block) {
    return (block.shape.rings.n_pixels() + 1) / 2 * 2;
  }
  template <class T>
  DeviceMap<T> device_map(const DeviceRings& block) {
    return {reinterpret_cast<T*>(map_.data()), shape_.n_components, block.shape.rings.n_pixels(),
            stride(block)};
  }
  DeviceRingFft::Modes<double> device_modes(const DeviceRings& block) {
    return {modes_.data(), block.shape.rows.size() * shape_.n_components};
  }

  void check(std::int64_t n_modes, std::int64_t n_components, std::int64_t n_pixels) const {
    require_planned(where, n_modes, shape_.rows.size() * shape_.n_components, "ring modes");
    require_planned(where, n_components, shape_.n_components, "components of a map");
    require_planned(where, n_pixels, shape_.rings.n_pixels(), "pixels of a component");
  }

  RingFftShape shape_;
  DeviceStream stream_;
  std::vector<DeviceRings> blocks_;
  std::vector<std::unique_ptr<DeviceRingFft>> ffts_;  ///< [block]
  DeviceBuffer<Complex> modes_;
  DeviceBuffer<double> map_;
  DeviceBuffer<double> weights_;
};

}  // namespace

std::unique_ptr<RingFft> make_cuda_ring_fft(RingFftShape shape) {
  return std::make_unique<CudaRingFft>(std::move(shape));
}

}  // namespace ringweave::detail::inline fft
