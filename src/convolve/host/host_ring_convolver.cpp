// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/host/host_ring_convolver.hpp"

#include <complex>
#include <optional>
#include <vector>

#include "convolve/host/mode_product.hpp"
#include "convolve/host/mode_repetition.hpp"
#include "convolve/host/pixel_sectors.hpp"
#include "convolve/host/pixel_stencil.hpp"
#include "distribute/agree.hpp"
#include "distribute/halo_exchange.hpp"
#include "distribute/halo_mode_exchange.hpp"
#include "fft/ring_fft.hpp"

namespace ringweave {
namespace {

class HostRingConvolver final : public RingConvolver {
 public:
  HostRingConvolver(const Communicator& comm, const RingConvolutionPlan& plan)
      : comm_(comm), plan_(&plan), stencil_(plan), sectors_(plan), product_(plan) {
    const RingConvolutionSpec& spec = plan.spec();
    const bool shares = spec.kernels.size() == 1;
    for (std::int64_t i = 0; i < ssize64(spec.kernels); ++i) {
      const RadialKernel& kernel = spec.kernels[to_size(i)];
      kernels_.push_back(
          {&kernel.table(), kernel.support(), kernel.bound(), i, shares ? spec.n_maps : 1});
    }
    if (!product_.empty()) agree(comm_, [&] { prepare_modes(); });
    if (comm_.size() == 1) return;
    if (sums_pixels()) pixel_exchange_.emplace(comm_, plan.pixel_halo(), spec.n_maps);
    if (!product_.empty()) {
      mode_exchange_.emplace(comm_, plan.mode_halo(), plan.rows(), plan.mode_orders(), spec.n_maps);
    }
  }

  void convolve(MapView<const double> in, MapView<double> out, StageTimes& times) override {
    convolve_maps(in, out, times);
  }
  void convolve(MapView<const float> in, MapView<float> out, StageTimes& times) override {
    convolve_maps(in, out, times);
  }

 private:
  /// The same on all ranks, whatever they own.
  bool sums_pixels() const { return plan_->modes().zone != RingRange{0, plan_->grid().n_rings()}; }
  void prepare_modes();
  template <class T>
  void convolve_maps(MapView<const T> in, MapView<T> out, StageTimes& times);
  template <class T>
  void analyze(MapView<const T> in, StageTimes& times);
  template <class T>
  void sum_pixels(const RingSource<T>& source, MapView<T> out, StageTimes& times) const;
  ModeView<double> modes() { return {modes_.data(), modes_.size()}; }
  template <class T>
  MapView<T> within_zone(MapView<T> map) const {
    return {map.data() + first_zone_pixel_, map.n_components(), n_zone_pixels_, map.stride()};
  }

  Communicator comm_;
  const RingConvolutionPlan* plan_;
  std::vector<KernelMaps> kernels_;
  PixelStencil stencil_;
  PixelSectors sectors_;
  ModeProduct product_;
  std::unique_ptr<RingFft> ring_fft_;
  std::vector<double> weights_;  ///< [own ring of the zone]
  std::int64_t first_zone_pixel_ = 0;
  std::int64_t n_zone_pixels_ = 0;
  HostBuffer<std::complex<double>> modes_;
  std::optional<HaloExchange> pixel_exchange_;
  std::optional<HaloModeExchange> mode_exchange_;
};

void HostRingConvolver::prepare_modes() {
  const LocalRings& own = plan_->own();
  const RingRange zone = plan_->modes().zone;
  LocalRings rings = own.within(zone);
  if (rings.n_rings() > 0)
    first_zone_pixel_ = own.first_pixel(own.local(rings.global(LocalRing{0})));
  n_zone_pixels_ = rings.n_pixels();
  for (std::int64_t i = 0; i < rings.n_rings(); ++i)
    weights_.push_back(rings.ring(LocalRing{i}).weight);
  const std::int64_t n_maps = plan_->spec().n_maps;
  ring_fft_ = make_ring_fft({std::move(rings), plan_->own_rows(), n_maps}, Backend::host);
}

template <class T>
void HostRingConvolver::analyze(MapView<const T> in, StageTimes& times) {
  if (product_.empty()) return;
  const StageTimer timer(&times, "ring_fft");
  ring_fft_->adjoint(within_zone(in), weights_, modes());
}

template <class T>
void HostRingConvolver::sum_pixels(const RingSource<T>& source, MapView<T> out,
                                   StageTimes& times) const {
  if (!stencil_.empty()) {
    const StageTimer timer(&times, "stencil");
    for (const KernelMaps& kernel : kernels_) stencil_.convolve(kernel, source, out);
  }
  if (!sectors_.empty()) {
    const StageTimer timer(&times, "sectors");
    for (const KernelMaps& kernel : kernels_) sectors_.convolve(kernel, source, out);
  }
}

template <class T>
void HostRingConvolver::convolve_maps(MapView<const T> in, MapView<T> out, StageTimes& times) {
  RingSource<T> source(plan_->grid().n_rings());
  MapBuffer<T> halo;
  agree(comm_, [&] {
    source.add(plan_->own(), in);
    const std::int64_t n_modes = plan_->rows().size() * plan_->spec().n_maps;
    if (modes_.size() != n_modes) modes_.allocate(n_modes);
    if (!pixel_exchange_) return;
    halo = MapBuffer<T>(plan_->spec().n_maps, plan_->pixel_halo().halo_size);
    source.add(plan_->pixel_halo(), std::as_const(halo).view());
  });
  if (pixel_exchange_) {
    pixel_exchange_->run<T>(in, halo.view(), [&] { analyze(in, times); });
  } else {
    analyze(in, times);
  }
  if (mode_exchange_) {
    const StageTimer timer(&times, "halo");
    mode_exchange_->run(modes(), [] {});
  }
  agree(comm_, [&] {
    if (!product_.empty()) {
      {
        const StageTimer timer(&times, "modes");
        repeat_halo_modes(*plan_, modes());
        for (const KernelMaps& kernel : kernels_) product_.apply(kernel, modes());
      }
      const StageTimer timer(&times, "ring_fft");
      ring_fft_->synthesize(modes(), within_zone(out));
    }
    sum_pixels(source, out, times);
  });
}

}  // namespace

std::unique_ptr<RingConvolver> make_host_ring_convolver(const Communicator& comm,
                                                        const RingConvolutionPlan& plan) {
  return std::make_unique<HostRingConvolver>(comm, plan);
}

}  // namespace ringweave
