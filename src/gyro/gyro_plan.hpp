// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "distribute/halo/halo_plan.hpp"
#include "ringweave/gyroaverage.hpp"

namespace ringweave::detail::inline gyro {

/// The radii, fields and rows of each rank. Ranks are a grid of radius_parts x field_parts x
/// row_parts, rows next to each other; ranks beyond it have nothing. Sums over radii are formed of
/// *blocks* of radii, which depend on the number of radii alone and are added in order: so sums are
/// the same for any number of ranks. A rank has whole blocks. Every block is a transform back, a
/// plane that is held and a message, so there are few; without sums there is one for each radius.
/// Plain data, without MPI.
struct GyroPlan {
  int n_ranks = 1;
  int radius_parts = 1;
  int field_parts = 1;
  int row_parts = 1;
  std::int64_t n_fields = 1;
  MemorySpace data = MemorySpace::host;  ///< of fields and results
  PlaneGrid grid;
  PlaneGrid targets;
  bool needs_whole_fields = false;  ///< of ranks that share rows of results
  /// Sums add results, and schemes add up nothing before: where operators may be made again, some
  /// radii at a time, so that results do not depend on how many.
  bool adds_radius_by_radius = false;
  bool forms_sums = true;
  bool takes_floats = true;
  std::vector<std::int64_t> block_begin;  ///< first radius of each block, and the end
  std::vector<std::int64_t> part_blocks;  ///< first block of each radius part, and the end
  std::int64_t halo_reach = 0;            ///< rows that act on a band from each side, at most
  std::int64_t halo_rows = 0;             ///< that a rank fetches of each plane, at most
  // Bytes that ranks of method chebyshev add up for each plane whose rows they share.
  std::int64_t sum_bytes_of_average = 0;
  std::int64_t sum_bytes_of_transpose = 0;
  std::int64_t most_planes = 1;  ///< of one load
  std::string reason;            ///< a sentence: why the ranks are cut like this
  std::string idle_reason;       ///< why some have nothing; empty where all are busy

  std::int64_t n_blocks() const { return static_cast<std::int64_t>(block_begin.size()) - 1; }
  std::int64_t n_radii() const { return block_begin.back(); }
  int n_busy() const { return radius_parts * field_parts * row_parts; }
  int n_idle() const { return n_ranks - n_busy(); }
  bool is_idle(int rank) const { return rank >= n_busy(); }
  /// Returns the bytes of rows that a rank receives for each plane that it averages.
  std::int64_t halo_bytes(int rank) const;
  /// Returns the bytes of rows that it sends to others.
  std::int64_t halo_bytes_sent(int rank) const;
  GyroPart part(int rank) const;

  // Of a rank that is not idle: its place in the grid.
  int radius_part(int rank) const { return rank / (field_parts * row_parts); }
  int field_part(int rank) const { return rank / row_parts % field_parts; }
  int row_part(int rank) const { return rank % row_parts; }
  /// Number of the ranks that have the same radii and fields; those idle are a group, too.
  int row_group(int rank) const;
  /// Number of the ranks that have the same fields and rows.
  int radius_group(int rank) const;
  /// The radius part that owns a block.
  int owner_of(std::int64_t block) const;

 private:
  /// Plans the rows that a rank fetches; none where ranks share no rows, or have whole fields.
  std::optional<HaloPlan> row_halo(int rank) const;
};

/// Computes the plan of a specification that was checked. Fields are dealt first, which needs no
/// communication, then blocks of radii, then rows (not of method dct), so that the predicted time
/// of the slowest rank is least: radii x fields x rows, halo included.
GyroPlan plan_gyroaverage(const GyroSpec& spec, int n_ranks);

constexpr std::int64_t most_blocks = 8;  ///< of sums
/// Cuts radii into blocks: most_blocks of nearly equal size; one for each radius where there are
/// fewer, or where no sums are formed.
std::vector<std::int64_t> blocks_of_radii(std::int64_t n_radii, GyroSums sums);

}  // namespace ringweave::detail::inline gyro
