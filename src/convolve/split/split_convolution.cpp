// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/split/split_convolution.hpp"

#include <omp.h>

#include <algorithm>
#include <utility>

#include "base/component_update.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/mpi_library.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline convolve {

namespace {

/// Threads that copy data for a device beside the ring convolution, out of the cores of a rank.
int threads_beside_rings() { return std::max(1, omp_get_max_threads() / 4); }

}  // namespace

SplitConvolution::SplitConvolution(const Communicator& comm, const KernelSplit& split,
                                   const SplitMaps& maps)
    : comm_(comm),
      harmonic_comm_(comm),
      plan_(agreed(comm_, [&] { return SplitPlan(split, maps, comm.rank(), comm.size()); })) {
  agree_same(comm_, "the placement of a split kernel", plan_.placement.n_harmonic);
  const bool apart = plan_.placement.is_side_by_side();
  const bool at_once = comm_.min(std::int64_t{plan_.at_once && threads_may_call_mpi()}) == 1;
  const Communicator group = apart ? comm_.split(plan_.does_rings() ? 0 : 1, comm_.rank()) : comm_;
  // Two threads must not use one communicator.
  harmonic_comm_ = at_once ? comm_.split(0, comm_.rank()) : group;
  try {
    // One group may fail where the other does not.
    agree(comm_, [&] {
      if (at_once) side_.emplace().run([n = threads_beside_rings()] { omp_set_num_threads(n); });
      if (plan_.does_rings()) rings_.emplace(group, plan_.rings.spec());
      if (!plan_.does_harmonic()) return;
      on_harmonic_thread([&] { transform_.emplace(harmonic_comm_, plan_.harmonic->spec); });
      harmonic_.t = split.harmonic();
      ring_weights_ = ring_weights(transform_->rings());
    });
  } catch (...) {
    end_harmonic();
    throw;
  }
  if (!apart) return;
  there_.emplace(comm_, plan_.bands, plan_.harmonic_bands, maps.n_maps, SplitPlan::there);
  back_.emplace(comm_, plan_.harmonic_bands, plan_.bands, maps.n_maps, SplitPlan::back);
}

SplitConvolution::~SplitConvolution() { end_harmonic(); }

void SplitConvolution::end_harmonic() {
  on_harmonic_thread([this] { transform_.reset(); });
}

template <class Work>
void SplitConvolution::on_harmonic_thread(Work work) {
  if (side_) {
    side_->run(std::move(work));
  } else {
    work();
  }
}

template <class T>
void SplitConvolution::smooth(AlmView<T> alm, MapView<T> map) {
  transform_->adjoint_destroying<T>(map, ring_weights_, alm);
  multiply(harmonic_, transform_->alm_layout(), transform_->fields(), alm);
  transform_->synthesize<T>(alm, map);
}

template <class T>
void SplitConvolution::convolve_one_after_other(MapView<T> in, MapView<T> out) {
  rings_->convolve<T>(in, out);
  if (!transform_) return;
  auto alm = agreed(comm_, [&] { return transform_->make_alm<T>(); });
  smooth<T>(alm.view(), in);
  add<T>(in, out);
}

template <class T>
void SplitConvolution::convolve_at_once(MapView<T> in, MapView<T> out) {
  MapBuffer<T> map;
  AlmBuffer<T> alm;
  agree(comm_, [&] {
    rings_->require<T>(in, out);
    map = transform_->make_map<T>();
    alm = transform_->make_alm<T>();
  });
  // Each part agrees on its own errors, so all ranks leave it together.
  agree(comm_, [&] {
    side_->run_both(
        [&] {
          copy<T>(in, map.view());
          smooth<T>(alm.view(), map.view());
        },
        [&] { rings_->convolve<T>(in, out); });
  });
  add<T>(std::as_const(map).view(), out);
}

template <class T>
void SplitConvolution::convolve_side_by_side(MapView<T> in, MapView<T> out) {
  MapBuffer<T> map;
  AlmBuffer<T> alm;
  agree(comm_, [&] {
    // Checked before anything is sent: the ranks of the other group would wait for it.
    if (rings_) rings_->require<T>(in, out);
    if (!transform_) return;
    map = transform_->make_map<T>();
    alm = transform_->make_alm<T>();
  });
  {
    // Not during the convolution: a rank that computes cannot progress its messages.
    const StageTimer timer(&times_, "sending");
    there_->move<T>(in, map.view());
  }
  // Each group agrees on its own errors, so all of its ranks leave it together.
  agree(comm_, [&] {
    if (rings_) rings_->convolve<T>(in, out);
    if (transform_) smooth<T>(alm.view(), map.view());
  });
  const StageTimer timer(&times_, "sending");
  back_->move<T>(std::as_const(map).view(), out);
}

template <class T>
void SplitConvolution::convolve(MapView<T> in, MapView<T> out) {
  if (plan_.placement.is_side_by_side()) return convolve_side_by_side(in, out);
  if (side_) return convolve_at_once(in, out);
  convolve_one_after_other(in, out);
}

template void SplitConvolution::convolve(MapView<double>, MapView<double>);
template void SplitConvolution::convolve(MapView<float>, MapView<float>);

}  // namespace ringweave::detail::inline convolve
