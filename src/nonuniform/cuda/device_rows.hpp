// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/device.hpp"
#include "base/device_buffer.hpp"
#include "base/mode_view.hpp"
#include "base/stream_copies.hpp"
#include "fft/device_ring_fft.hpp"
#include "nonuniform/fine_taps.hpp"
#include "nonuniform/host/row_sums.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline nonuniform {

/// All fine rows of a rank in the memory of its device, and their FFTs. Modes are copied through
/// pinned memory. Not collective. Errors  ResourceError.
class DeviceRows {
 public:
  using Modes = std::complex<double>;
  template <class T>
  using Components = MapView<T, MemorySpace::device>;

  /// shape  of the FFTs of all rows of this rank
  /// rings  [fine row] its ring of `shape`, -1: another rank's or none
  DeviceRows(std::shared_ptr<const FineTaps> taps, const RingFftShape& shape,
             const std::vector<std::int64_t>& rings);
  /// Waits for work that an error has left, before its memory is freed.
  ~DeviceRows() { stream_->finish(); }

  /// Returns the stream, which is shared with objects that outlive the rows.
  const std::shared_ptr<const DeviceStream>& stream() const { return stream_; }
  StreamCopies& copies() { return copies_; }
  /// Taps on these rows.
  RowTaps taps() const;
  /// [component][row][column]
  Components<double> rows() { return {rows_.data(), n_components_, n_pixels_, n_pixels_}; }

  void allocate_modes();
  void release_modes();
  /// Computes the rows of modes. The modes must be allocated.
  void synthesize(ModeView<const double> modes);
  /// Applies the transpose.
  void adjoint(ModeView<double> modes);

  std::int64_t host_bytes() const;

 private:
  std::shared_ptr<const FineTaps> taps_;
  std::int64_t n_components_;
  std::int64_t mode_size_;
  std::int64_t n_pixels_ = 0;  ///< of all rows; even, so that components are aligned for FFTs
  std::vector<std::int64_t> first_value_;
  std::shared_ptr<const DeviceStream> stream_;
  StreamCopies copies_;
  std::unique_ptr<DeviceRingFft> fft_;  ///< null: this rank has no rows
  DeviceBuffer<Modes> modes_;
  DeviceBuffer<double> rows_;
};

}  // namespace ringweave::detail::inline nonuniform
