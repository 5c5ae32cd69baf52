// SPDX-License-Identifier: GPL-3.0-or-later
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <complex>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/mode_view.hpp"
#include "base/stage_timer.hpp"
#include "convolve/ring/host/mode_product.hpp"
#include "convolve/ring/host/pixel_sectors.hpp"
#include "convolve/ring/host/pixel_stencil.hpp"
#include "convolve/ring/host/spin_pixels.hpp"
#include "convolve/ring/mode_zone.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "convolve/ring/ring_convolution_stage.hpp"
#include "convolve/ring/ring_halos.hpp"
#include "distribute/mpi/agree.hpp"
#include "fft/ring_fft.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/views.hpp"
#include "sphere/kernel/kernel_table.hpp"

namespace ringweave::detail::inline convolve {
namespace {

constexpr std::int64_t double_bytes = sizeof(double);

/// The ways to sum. They run one after the other and share scratch.
struct Stages {
  Stages(const RingConvolutionPlan& plan, int n_threads)
      : most_scratch(plan.scratch_goal(n_threads) / double_bytes),
        stencil(plan, n_threads),
        sectors(plan, n_threads, most_scratch),
        spin_pixels(plan, n_threads, SpinPixels::Of::fields),
        conjugates(plan, n_threads, SpinPixels::Of::conjugates),
        product(plan, n_threads, most_scratch) {}

  std::int64_t scratch_size() const {
    return std::max({stencil.scratch_size(), sectors.scratch_size(), spin_pixels.scratch_size(),
                     conjugates.scratch_size(), product.scratch_size()});
  }

  std::int64_t most_scratch;
  PixelStencil stencil;
  PixelSectors sectors;
  SpinPixels spin_pixels;
  SpinPixels conjugates;
  ModeProduct product;
};

/// Adds to "halo" the time of `move` beyond the stages it times itself.
template <class Move>
void time_halo(StageTimes& times, const Move& move) {
  using Clock = std::chrono::steady_clock;
  const auto timed = [&] { return times.seconds("ring_fft") + times.seconds("halo"); };
  const auto start = Clock::now();
  const double before = timed();
  move();
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  times.add("halo", seconds - (timed() - before));
}

class HostRingConvolution final : public RingConvolutionStage {
 public:
  HostRingConvolution(const Communicator& comm, const RingConvolutionPlan& plan);

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
  void prepare();
  template <class T>
  void convolve_maps(MapView<const T> in, MapView<T> out);
  /// Makes the ring modes of as many maps from `first` on as are held at a time, those of the halo
  /// included.
  template <class T>
  void analyze(std::int64_t first, MapView<const T> in);
  template <class T>
  void multiply(std::int64_t first, MapView<T> out);
  template <class T>
  void exchange_halo_pixels(MapView<const T> in, MapView<T> halo);
  template <class T>
  void sum_pixels(const RingSource<T>& source, MapView<T> out);
  ModeView<double> modes() { return {modes_.data(), modes_.size()}; }

  Communicator comm_;
  const RingConvolutionPlan& plan_;
  StageTimes times_;
  std::vector<KernelMaps> kernels_;
  std::vector<KernelMaps> conjugate_kernels_;
  std::optional<Stages> stages_;
  std::optional<ModeZone> zone_;
  std::unique_ptr<RingFft> fft_;
  std::vector<RingOffset> offsets_;
  HostBuffer<double> scratch_;
  HostBuffer<double> halo_;  ///< pixels of either type
  HostBuffer<std::complex<double>> modes_;
  std::optional<RingHalos> halos_;
  std::int64_t halo_bytes_sent_ = 0;
};

HostRingConvolution::HostRingConvolution(const Communicator& comm, const RingConvolutionPlan& plan)
    : comm_(comm), plan_(plan) {
  agree(comm_, [&] { prepare(); });
  halos_.emplace(comm_, plan_);
}

void HostRingConvolution::prepare() {
  const RingConvolutionSpec& spec = plan_.spec();
  const bool shares = spec.kernels.size() == 1;
  const std::int64_t of_field = plan_.maps_of_field();
  const auto list = [&](const std::vector<RadialKernel>& kernels, std::vector<KernelMaps>& maps) {
    for (std::int64_t i = 0; i < ssize64(kernels); ++i) {
      const RadialKernel& kernel = kernels[to_size(i)];
      maps.push_back({&kernel.table(), kernel.support(), kernel.bound(), i * of_field,
                      shares ? spec.n_maps : of_field});
    }
  };
  list(spec.kernels, kernels_);
  list(spec.conjugate_kernels, conjugate_kernels_);
  stages_.emplace(plan_, omp_get_max_threads());
  if (plan_.has_modes()) {
    zone_.emplace(plan_);
    fft_ = make_ring_fft(zone_->shape, Backend::host);
  }
  offsets_ =
      ring_offsets(plan_.grid().n_rings(), plan_.own(),
                   plan_.n_ranks() > 1 && plan_.sums_pixels() ? &plan_.pixel_halo() : nullptr);
  scratch_.allocate(stages_->scratch_size());
  halo_.allocate(plan_.halo_bytes() / double_bytes);
  modes_.allocate(plan_.mode_bytes() / static_cast<std::int64_t>(sizeof(std::complex<double>)));
}

template <class T>
void HostRingConvolution::analyze(std::int64_t first, MapView<const T> in) {
  const MapView<const T> some = zone_->of(in.components(first, plan_.maps_together()));
  if (!halos_->modes) {
    const StageTimer timer(&times_, "ring_fft");
    return fft_->adjoint(some, zone_->weights, modes());
  }
  time_halo(times_, [&] {
    halos_->modes->end_after([&] {
      std::optional<StageTimer> timer(std::in_place, &times_, "ring_fft");
      fft_->adjoint(some, zone_->weights, modes(),
                    {[&] {
                       timer.reset();
                       halos_->modes->begin(modes());
                       timer.emplace(&times_, "ring_fft");
                     },
                     [&] { halos_->modes->progress(); }});
    });
  });
  halo_bytes_sent_ += halos_->modes->bytes_sent();
}

template <class T>
void HostRingConvolution::multiply(std::int64_t first, MapView<T> out) {
  const std::int64_t n_maps = plan_.maps_together();
  {
    const StageTimer timer(&times_, "modes");
    repeat_halo_modes(plan_, modes());
    for (KernelMaps kernel : kernels_) {
      const std::int64_t begin = std::max(kernel.first_map, first);
      const std::int64_t end = std::min(kernel.first_map + kernel.n_maps, first + n_maps);
      kernel.first_map = begin - first;
      kernel.n_maps = end - begin;
      if (kernel.n_maps > 0) stages_->product.apply(kernel, modes(), scratch_.data());
    }
  }
  const StageTimer timer(&times_, "ring_fft");
  fft_->synthesize(modes(), zone_->of(out.components(first, n_maps)));
}

template <class T>
void HostRingConvolution::exchange_halo_pixels(MapView<const T> in, MapView<T> halo) {
  time_halo(times_, [&] {
    halos_->pixels->run<T>(in, halo, [&] {
      if (plan_.has_modes()) analyze(0, in);
    });
  });
  halo_bytes_sent_ += halos_->pixels->bytes_sent();
}

template <class T>
void HostRingConvolution::sum_pixels(const RingSource<T>& source, MapView<T> out) {
  if (!stages_->stencil.empty()) {
    const StageTimer timer(&times_, "stencil");
    for (const KernelMaps& kernel : kernels_)
      stages_->stencil.convolve(kernel, source, out, scratch_.data());
  }
  if (!stages_->sectors.empty()) {
    const StageTimer timer(&times_, "sectors");
    for (const KernelMaps& kernel : kernels_)
      stages_->sectors.convolve(kernel, source, out, scratch_.data());
  }
  if (!stages_->spin_pixels.empty()) {
    const StageTimer timer(&times_, "sectors");
    for (const KernelMaps& kernel : kernels_)
      stages_->spin_pixels.convolve(kernel, source, out, scratch_.data());
  }
  if (!stages_->conjugates.empty()) {
    const StageTimer timer(&times_, "sectors");
    for (const KernelMaps& kernel : conjugate_kernels_)
      stages_->conjugates.convolve(kernel, source, out, scratch_.data());
  }
}

template <class T>
void HostRingConvolution::convolve_maps(MapView<const T> in, MapView<T> out) {
  const std::int64_t n_maps = plan_.spec().n_maps;
  // Memory of doubles is aligned for floats, and holds them once MPI has written them.
  T* const foreign = reinterpret_cast<T*>(halo_.data());
  const MapView<T> halo(foreign, n_maps, halos_->pixels ? plan_.pixel_halo().halo_size : 0);
  halo_bytes_sent_ = 0;
  const RingSource<T> source{offsets_, in, halo};
  if (halos_->pixels) exchange_halo_pixels(in, halo);
  const std::int64_t n_together = plan_.has_modes() ? plan_.maps_together() : n_maps;
  for (std::int64_t first = 0; first < n_maps; first += n_together) {
    const bool is_analyzed = first == 0 && halos_->pixels;
    if (plan_.has_modes() && !is_analyzed) analyze(first, in);
    // One agreement before the next exchange: each is a wait for the slowest rank.
    agree(comm_, [&] {
      if (plan_.has_modes()) multiply(first, out);
      if (first + n_together == n_maps) sum_pixels(source, out);
    });
  }
}

}  // namespace

std::unique_ptr<RingConvolutionStage> make_host_ring_convolution(const Communicator& comm,
                                                                 const RingConvolutionPlan& plan) {
  return std::make_unique<HostRingConvolution>(comm, plan);
}

// Here, because the plan does not know the stages that it counts.
std::int64_t RingConvolutionPlan::workspace_bytes(int n_threads) const {
  const Stages stages(*this, n_threads);
  // A ring FFT has a worker for every thread available at its construction.
  struct Threads {
    explicit Threads(int n) { omp_set_num_threads(n); }
    ~Threads() { omp_set_num_threads(before); }
    int before = omp_get_max_threads();
  } const threads(n_threads);
  const std::int64_t fft =
      modes_.zone.empty() ? 0 : make_ring_fft(ModeZone(*this).shape, Backend::host)->bytes();
  return stages.scratch_size() * double_bytes + stages.product.table_bytes() + fft;
}

}  // namespace ringweave::detail::inline convolve
