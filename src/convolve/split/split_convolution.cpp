// SPDX-License-Identifier: GPL-3.0-or-later
#include <omp.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/component_update.hpp"
#include "base/stage_timer.hpp"
#include "base/task_thread.hpp"
#include "convolve/split/split_plan.hpp"
#include "distribute/halo/ring_transfer.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/mpi_library.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/spectra.hpp"
#include "ringweave/views.hpp"

namespace ringweave {

using namespace detail;

namespace {

/// Returns the threads that copy data for a device during the part on the host, out of the cores of
/// a rank.
int threads_for_device() { return std::max(1, omp_get_max_threads() / 4); }

}  // namespace

struct SplitConvolution::Impl {
  Impl(const Communicator& some_comm, const KernelSplit& split, const SplitMaps& maps);
  ~Impl() { end_parts(); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // Run work on the thread of a part, which its device is bound to.
  template <class Work>
  void on_thread_of_rings(Work work);
  template <class Work>
  void on_thread_of_harmonic(Work work);
  void end_parts();
  /// Maps become their harmonic part.
  template <class T>
  void smooth(AlmView<T> alm, MapView<T> map);
  template <class T>
  void convolve_one_after_other(MapView<T> in, MapView<T> out);
  template <class T>
  void convolve_at_once(MapView<T> in, MapView<T> out);
  template <class T>
  void convolve_side_by_side(MapView<T> in, MapView<T> out);

  Communicator comm;
  Communicator harmonic_comm;  ///< of the transform; a thread of its own may use and free either
  SplitPlan plan;
  std::optional<RingConvolution> rings;
  std::optional<SphericalHarmonicTransform> transform;
  std::optional<TaskThread> side;     ///< makes, uses and frees one of the parts, at once
  std::optional<RingTransfer> there;  ///< maps to the ranks of the harmonic part
  std::optional<RingTransfer> back;
  Beam harmonic;
  std::vector<double> weights;  ///< of the rings of the transform
  StageTimes times;
};

SplitConvolution::Impl::Impl(const Communicator& some_comm, const KernelSplit& split,
                             const SplitMaps& maps)
    : comm(some_comm),
      harmonic_comm(comm),
      plan(agreed(comm, [&] { return SplitPlan(split, maps, comm.rank(), comm.size()); })) {
  agree_same(comm, "the placement of a split kernel", plan.placement.n_harmonic);
  const bool apart = plan.placement.is_side_by_side();
  const bool at_once = comm.min(std::int64_t{plan.at_once && threads_may_call_mpi()}) == 1;
  const Communicator group = apart ? comm.split(plan.does_rings() ? 0 : 1, comm.rank()) : comm;
  // Two threads must not use one communicator.
  harmonic_comm = at_once ? comm.split(0, comm.rank()) : group;
  try {
    // One group may fail where the other does not.
    agree(comm, [&] {
      if (at_once) side.emplace().run([n = threads_for_device()] { omp_set_num_threads(n); });
      if (plan.does_rings()) on_thread_of_rings([&] { rings.emplace(group, plan.rings.spec()); });
      if (!plan.does_harmonic()) return;
      on_thread_of_harmonic([&] { transform.emplace(harmonic_comm, plan.harmonic->spec); });
      harmonic.t = harmonic.e = harmonic.b = split.harmonic();
      weights = ring_weights(transform->rings());
    });
  } catch (...) {
    end_parts();
    throw;
  }
  if (!apart) return;
  there.emplace(comm, plan.bands, plan.harmonic_bands, maps.n_maps, SplitPlan::there);
  back.emplace(comm, plan.harmonic_bands, plan.bands, maps.n_maps, SplitPlan::back);
}

void SplitConvolution::Impl::end_parts() {
  on_thread_of_harmonic([this] { transform.reset(); });
  on_thread_of_rings([this] { rings.reset(); });
}

template <class Work>
void SplitConvolution::Impl::on_thread_of_rings(Work work) {
  if (side && plan.has_rings_aside()) return side->run(std::move(work));
  work();
}

template <class Work>
void SplitConvolution::Impl::on_thread_of_harmonic(Work work) {
  if (side && !plan.has_rings_aside()) return side->run(std::move(work));
  work();
}

template <class T>
void SplitConvolution::Impl::smooth(AlmView<T> alm, MapView<T> map) {
  transform->adjoint_destroying<T>(map, weights, alm);
  multiply(harmonic, transform->alm_layout(), transform->fields(), alm);
  transform->synthesize<T>(alm, map);
}

template <class T>
void SplitConvolution::Impl::convolve_one_after_other(MapView<T> in, MapView<T> out) {
  rings->convolve<T>(in, out);
  if (!transform) return;
  auto alm = agreed(comm, [&] { return transform->make_alm<T>(); });
  smooth<T>(alm.view(), in);
  add<T>(in, out);
}

template <class T>
void SplitConvolution::Impl::convolve_at_once(MapView<T> in, MapView<T> out) {
  MapBuffer<T> map;
  AlmBuffer<T> alm;
  agree(comm, [&] {
    rings->require<T>(in, out);
    map = transform->make_map<T>();
    alm = transform->make_alm<T>();
  });
  const auto by_harmonics = [&] {
    copy<T>(in, map.view());
    smooth<T>(alm.view(), map.view());
  };
  const auto on_rings = [&] { rings->convolve<T>(in, out); };
  // Each part agrees on its own errors, so all ranks leave it together.
  agree(comm, [&] {
    if (plan.has_rings_aside()) {
      side->run_both(on_rings, by_harmonics);
    } else {
      side->run_both(by_harmonics, on_rings);
    }
  });
  add<T>(std::as_const(map).view(), out);
}

template <class T>
void SplitConvolution::Impl::convolve_side_by_side(MapView<T> in, MapView<T> out) {
  MapBuffer<T> map;
  AlmBuffer<T> alm;
  agree(comm, [&] {
    // Checked before anything is sent: the ranks of the other group would wait for it.
    if (rings) rings->require<T>(in, out);
    if (!transform) return;
    map = transform->make_map<T>();
    alm = transform->make_alm<T>();
  });
  {
    // Not during the convolution: a rank that computes cannot progress its messages.
    const StageTimer timer(&times, "sending");
    there->move<T>(in, map.view());
  }
  // Each group agrees on its own errors, so all of its ranks leave it together.
  agree(comm, [&] {
    if (rings) rings->convolve<T>(in, out);
    if (transform) smooth<T>(alm.view(), map.view());
  });
  const StageTimer timer(&times, "sending");
  back->move<T>(std::as_const(map).view(), out);
}

SplitConvolution::SplitConvolution(const Communicator& comm, const KernelSplit& split,
                                   const SplitMaps& maps)
    : impl_(std::make_unique<Impl>(comm, split, maps)) {}
SplitConvolution::~SplitConvolution() = default;
SplitConvolution::SplitConvolution(SplitConvolution&&) noexcept = default;

const SplitPlan& SplitConvolution::plan() const { return impl_->plan; }
const LocalRings& SplitConvolution::rings() const { return plan().own; }
std::shared_ptr<const RingDistribution> SplitConvolution::ring_bands() const {
  return std::make_shared<const RingDistribution>(plan().bands);
}
StageTimes& SplitConvolution::times() { return impl_->times; }
RingConvolution* SplitConvolution::ring_convolution() {
  return impl_->rings ? &*impl_->rings : nullptr;
}
SphericalHarmonicTransform* SplitConvolution::transform() {
  return impl_->transform ? &*impl_->transform : nullptr;
}

template <class T>
void SplitConvolution::convolve(MapView<T> in, MapView<T> out) {
  if (plan().placement.is_side_by_side()) return impl_->convolve_side_by_side(in, out);
  if (impl_->side) return impl_->convolve_at_once(in, out);
  impl_->convolve_one_after_other(in, out);
}

template void SplitConvolution::convolve(MapView<double>, MapView<double>);
template void SplitConvolution::convolve(MapView<float>, MapView<float>);

}  // namespace ringweave
