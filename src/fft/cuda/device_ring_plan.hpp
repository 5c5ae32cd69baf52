// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "fft/cuda/ring_batches.hpp"
#include "fft/ring_fft.hpp"
#include "fft/unit_powers.hpp"

namespace ringweave::gpu {

/// Of the exponent.
enum class FftSign { forward, backward };

/// Complex FFTs of one length, side by side.
struct FftSize {
  std::int64_t length;
  std::int64_t count;
  friend bool operator==(const FftSize&, const FftSize&) = default;
};

/// Rings that go through the workspace together.
struct RingBatch {
  std::int64_t first_ring = 0;  ///< in DeviceRingPlan::rings
  std::int64_t n_rings = 0;
  std::int64_t first_pixel = 0;      ///< of the first ring
  std::int64_t row_length = 0;       ///< complex values
  std::int64_t longest = 0;          ///< of the rings' complex FFTs
  std::int64_t most_bins = 0;        ///< of ModeTiles
  std::int64_t first_chirp = 0;      ///< in DeviceRingPlan::chirp_lengths
  std::int64_t n_chirps = 0;         ///< 0: all rings have one length, which is that of the FFT
  std::int64_t first_chirp_row = 0;  ///< of the workspace
  std::int64_t rows_fft = 0;         ///< in DeviceRingPlan::ffts; of one component without chirps
  std::int64_t chirps_fft = 0;
  /// Pixels two by two are what the FFT takes and gives, ring after ring.
  bool pixels_are_rows = false;

  bool has_chirps() const { return n_chirps > 0; }
};

/// What a ring FFT on a device is planned from, as plain data: nothing here needs a device.
/// Lengths of which the grid has several rings, and that have no prime factor above 127, go through
/// FFTs of that length; all others by the chirp transform (Bluestein), padded to a power of two or
/// three times one, so that rings of different lengths go side by side. Which way a ring goes, and
/// how far it is padded, follows from the grid alone: results depend neither on who owns its
/// neighbours nor on the workspace, but for rounding where cuFFT goes another way for another
/// number of rows.
struct DeviceRingPlan {
  /// `workspace_bytes`: what the rows of a batch may take; one ring always goes. Error  UsageError
  /// when the shape contradicts itself.
  DeviceRingPlan(const RingFftShape& shape, std::int64_t workspace_bytes);

  std::int64_t n_components;
  std::vector<PlannedRing> rings;  ///< batch by batch
  std::vector<ChirpLength> chirp_lengths;
  std::vector<RingBatch> batches;
  std::vector<FftSize> ffts;
  std::vector<UnitPowers::Request> tables;
  std::vector<OrderSegments> orders;  ///< [m]
  std::vector<RowSegment> segments;
  std::int64_t workspace_values = 0;  ///< complex

  /// Of the tables on the device.
  std::int64_t table_bytes() const;

 private:
  using Rings = std::vector<PlannedRing>;
  void plan_orders(const ModeLayout& rows);
  Rings plan_rings(const RingFftShape& shape);
  void add_plain_batches(const Rings& of_length, std::int64_t workspace_bytes);
  void add_chirp_batches(std::int64_t row_length, Rings of_group, std::int64_t workspace_bytes);
  void add_chirps(RingBatch& batch);
  std::int64_t fft_of(FftSize size);
  std::int64_t n_factors_ = 0;
};

/// The least power of two, or three times one, that a chirp transform of n values can be padded to.
std::int64_t chirp_row_length(std::int64_t n);

}  // namespace ringweave::gpu
