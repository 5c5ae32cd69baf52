// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/cuda/fft_size.hpp"
#include "base/unit_powers.hpp"
#include "fft/cuda/ring_batches.hpp"
#include "fft/ring_fft.hpp"

namespace ringweave::detail::gpu {

/// Rings that go through the workspace together.
struct RingBatch {
  std::int64_t first_ring = 0;  ///< in DeviceRingPlan::rings
  std::int64_t n_rings = 0;
  std::int64_t first_pixel = 0;      ///< of the first ring
  std::int64_t row_length = 0;       ///< complex values
  std::int64_t longest = 0;          ///< of the rings' complex FFTs
  std::int64_t most_bins = 0;        ///< in ModeTiles
  std::int64_t first_chirp = 0;      ///< in DeviceRingPlan::chirp_lengths
  std::int64_t n_chirps = 0;         ///< 0: all rings have the length of the FFT
  std::int64_t first_chirp_row = 0;  ///< in the workspace
  std::int64_t rows_fft = 0;  ///< in DeviceRingPlan::ffts; for one component if there are no chirps
  std::int64_t chirps_fft = 0;
  /// The pixel pairs of consecutive rings are the rows of the FFT, which can work on the map
  /// itself.
  bool pixels_are_rows = false;

  bool has_chirps() const { return n_chirps > 0; }
};

/// Plan of a ring FFT on a device: plain data computed without a device.
/// A length that several rings of the grid have, and that has no prime factor above 127, uses FFTs
/// of that length. All others use the chirp transform (Bluestein), padded to a power of two or
/// three times a power of two, so that rings of different lengths share one batch. The method and
/// the padding of a ring depend on the grid only. Results therefore depend neither on the
/// distribution of rings nor on the workspace, except for rounding where cuFFT chooses another
/// algorithm for another number of rows.
struct DeviceRingPlan {
  /// `workspace_bytes`: limit for the rows of a batch; one ring is always allowed. Error
  /// UsageError when the shape is inconsistent.
  DeviceRingPlan(const RingFftShape& shape, std::int64_t workspace_bytes);

  std::int64_t n_components;
  std::vector<PlannedRing> rings;  ///< batch by batch
  std::vector<ChirpLength> chirp_lengths;
  std::vector<RingBatch> batches;
  std::vector<FftSize> ffts;
  std::vector<UnitPowers::Request> tables;
  std::vector<OrderSegments> orders;  ///< [m]
  std::vector<RowSegment> segments;
  std::int64_t workspace_values = 0;  ///< in complex values

  /// Returns the bytes of the tables on the device.
  std::int64_t table_bytes() const;
  /// Returns those of the workspace, if the work memory of cuFFT is as large as the rows.
  std::int64_t workspace_bytes() const {
    return 2 * workspace_values * std::int64_t{sizeof(Double2)};
  }

 private:
  using Rings = std::vector<PlannedRing>;
  Rings plan_rings(const RingFftShape& shape);
  void add_plain_batches(const Rings& of_length, std::int64_t workspace_bytes);
  void add_chirp_batches(std::int64_t row_length, Rings of_group, std::int64_t workspace_bytes);
  void add_chirps(RingBatch& batch);
  std::int64_t fft_of(FftSize size);
  std::int64_t n_factors_ = 0;
};

/// Returns the smallest power of two, or three times a power of two, to which a chirp transform of
/// n values can be padded.
std::int64_t chirp_row_length(std::int64_t n);

}  // namespace ringweave::detail::gpu
