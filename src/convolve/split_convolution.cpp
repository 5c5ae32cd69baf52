// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/split_convolution.hpp"

#include <utility>

#include "base/buffer.hpp"
#include "distribute/agree.hpp"
#include "sphere/healpix_weights.hpp"

namespace ringweave {
namespace {

/// What the ring convolution may neglect, in parts of the split's error: in quadrature nothing.
constexpr double neglected = 0.1;

}  // namespace

SplitPartSpecs::SplitPartSpecs(const KernelSplit& split,
                               const std::shared_ptr<const RingGrid>& grid, std::int64_t n_maps,
                               std::int64_t bytes_per_pixel) {
  rings.grid = grid;
  rings.kernels = {split.compact()};
  rings.n_maps = n_maps;
  rings.bytes_per_pixel = bytes_per_pixel;
  rings.error = neglected * split.error().total;
  if (split.harmonic().empty()) return;
  harmonic.emplace();
  harmonic->grid = grid;
  harmonic->lmax = harmonic->mmax = split.best().l_cut;
  harmonic->fields = FieldSet(std::vector<int>(to_size(n_maps), 0));
}

SplitConvolution::SplitConvolution(const Communicator& comm, const KernelSplit& split,
                                   const std::shared_ptr<const RingGrid>& grid, std::int64_t n_maps,
                                   std::int64_t bytes_per_pixel)
    : comm_(comm) {
  SplitPartSpecs parts =
      agreed(comm_, [&] { return SplitPartSpecs(split, grid, n_maps, bytes_per_pixel); });
  rings_.emplace(comm_, parts.rings);
  if (!parts.harmonic) return;
  agree(comm_, [&] {
    harmonic_.t = split.harmonic();
    parts.harmonic->ring_bands = std::make_shared<RingDistribution>(rings_->plan().bands());
    ring_weights_ = ring_weights(rings_->rings());
  });
  transform_.emplace(comm_, *parts.harmonic);
}

template <class T>
void SplitConvolution::convolve(MapView<T> in, MapView<T> out) {
  rings_->convolve<T>(in, out);
  if (!transform_) return;
  auto alm = agreed(comm_, [&] { return transform_->make_alm<T>(); });
  transform_->adjoint_destroying<T>(in, ring_weights_, alm.view());
  multiply(harmonic_, transform_->alm_layout(), transform_->fields(), alm.view());
  transform_->synthesize<T>(alm.view(), in);
  for (std::int64_t c = 0; c < out.n_components(); ++c) {
    const auto from = in.component(c);
    const auto to = out.component(c);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < to.size(); ++i) to[i] += from[i];
  }
}

template void SplitConvolution::convolve(MapView<double>, MapView<double>);
template void SplitConvolution::convolve(MapView<float>, MapView<float>);

}  // namespace ringweave
