// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/cuda/device_rows.hpp"

#include <utility>

#include "nonuniform/row_modes.hpp"

namespace ringweave::detail::inline nonuniform {

DeviceRows::DeviceRows(std::shared_ptr<const FineTaps> taps, const RingFftShape& shape,
                       const std::vector<std::int64_t>& rings)
    : taps_(std::move(taps)),
      n_components_(shape.n_components),
      mode_size_(shape.rows.size() * shape.n_components),
      first_value_(first_values(shape.rings, rings, taps_->grid.n_columns)),
      stream_(std::make_shared<const DeviceStream>()),
      copies_(*stream_) {
  // A ring that stands for no row is there where no points are.
  for (const std::int64_t ring : rings)
    if (ring >= 0) n_pixels_ = shape.rings.n_pixels();
  if (n_pixels_ > 0) fft_ = make_device_ring_fft(shape, *stream_);
  rows_.allocate(n_components_ * n_pixels_);
}

RowTaps DeviceRows::taps() const {
  return {taps_->grid, taps_->theta.polynomials(), taps_->phi.polynomials(), first_value_,
          taps_->beyond_pole};
}

void DeviceRows::allocate_modes() {
  if (!fft_) return;
  modes_.allocate(mode_size_);
  // Padding between modes is copied with them.
  zero_device_memory(modes_.data(), modes_.bytes(), *stream_);
}

void DeviceRows::release_modes() {
  stream_->synchronize();
  modes_.release();
}

void DeviceRows::synthesize(ModeView<const double> modes) {
  if (!fft_) return;
  copies_.to_device(modes.data(), modes_.data(), modes_.bytes());
  fft_->synthesize({modes_.data(), modes_.size()}, rows());
}

void DeviceRows::adjoint(ModeView<double> modes) {
  if (!fft_) return;
  fft_->adjoint(Components<const double>(rows()), {}, {modes_.data(), modes_.size()});
  copies_.to_host(modes_.data(), modes.data(), modes_.bytes());
}

std::int64_t DeviceRows::host_bytes() const {
  return copies_.pinned_bytes() + held_bytes(first_value_);
}

}  // namespace ringweave::detail::inline nonuniform
