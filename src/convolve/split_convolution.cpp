// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/split_convolution.hpp"

#include <utility>

#include "base/buffer.hpp"
#include "base/error.hpp"
#include "distribute/agree.hpp"
#include "sphere/healpix_weights.hpp"

namespace ringweave {

SplitConvolution::SplitConvolution(const Communicator& comm, const KernelSplit& split,
                                   const std::shared_ptr<const RingGrid>& grid, std::int64_t n_maps,
                                   std::int64_t bytes_per_pixel)
    : comm_(comm), plan_(agreed(comm_, [&] {
        return SplitPlan(split, {grid, n_maps, bytes_per_pixel}, comm.rank(), comm.size());
      })) {
  agree_same(comm_, "the placement of a split kernel", plan_.placement.n_harmonic);
  const bool apart = plan_.placement.is_side_by_side();
  const Communicator group = apart ? comm_.split(plan_.does_rings() ? 0 : 1, comm_.rank()) : comm_;
  // One group may fail where the other does not.
  agree(comm_, [&] {
    if (plan_.does_rings()) rings_.emplace(group, plan_.rings.spec());
    if (!plan_.does_harmonic()) return;
    transform_.emplace(group, plan_.harmonic->spec);
    harmonic_.t = split.harmonic();
    ring_weights_ = ring_weights(transform_->rings());
  });
  if (!apart) return;
  there_.emplace(comm_, plan_.bands, plan_.harmonic_bands, n_maps, SplitPlan::there);
  back_.emplace(comm_, plan_.harmonic_bands, plan_.bands, n_maps, SplitPlan::back);
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
  for (std::int64_t c = 0; c < out.n_components(); ++c) {
    const auto from = in.component(c);
    const auto to = out.component(c);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < to.size(); ++i) to[i] += from[i];
  }
}

template <class T>
void SplitConvolution::convolve_side_by_side(MapView<T> in, MapView<T> out) {
  MapBuffer<T> map;
  AlmBuffer<T> alm;
  agree(comm_, [&] {
    // Before anything is sent: the ranks of the other group would wait for it.
    if (rings_) rings_->require<T>(in, out);
    if (!transform_) return;
    map = transform_->make_map<T>();
    alm = transform_->make_alm<T>();
  });
  {
    // Not beside the convolution: a rank that computes may not move what it sends.
    const StageTimer timer(&times_, "sending");
    there_->move<T>(in, map.view());
  }
  // Each group agrees on its own errors, so none of its ranks is left behind by the others.
  agree(comm_, [&] {
    if (rings_) rings_->convolve<T>(in, out);
    if (transform_) smooth<T>(alm.view(), map.view());
  });
  const StageTimer timer(&times_, "sending");
  back_->move<T>(std::as_const(map).view(), out);
}

template <class T>
void SplitConvolution::convolve(MapView<T> in, MapView<T> out) {
  if (plan_.placement.is_side_by_side()) {
    convolve_side_by_side(in, out);
  } else {
    convolve_one_after_other(in, out);
  }
}

template void SplitConvolution::convolve(MapView<double>, MapView<double>);
template void SplitConvolution::convolve(MapView<float>, MapView<float>);

}  // namespace ringweave
