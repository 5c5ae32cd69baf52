// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {

/// Windows of file rows, for files whose order differs from ownership (NESTED maps, pixel lists,
/// a_lm rows). Each rank reads or writes an equal contiguous share of a window and exchanges values
/// with their owners.
struct RowWindows {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t share = 1;  ///< rows per rank and window
  int n_ranks = 1;

  /// `values_per_row` limits the numbers one rank may receive in one window to below 2^30, whoever
  /// owns them.
  RowWindows(std::int64_t first, std::int64_t last, std::int64_t rows_per_share, int ranks,
             std::int64_t values_per_row)
      : begin(first),
        end(last),
        share(std::max<std::int64_t>(
            1, std::min(rows_per_share, (std::int64_t{1} << 30) /
                                            (ranks * std::max<std::int64_t>(1, values_per_row))))),
        n_ranks(ranks) {}
  std::int64_t count() const {
    return end > begin ? (end - begin + share * n_ranks - 1) / (share * n_ranks) : 0;
  }
  std::int64_t first(std::int64_t window, int rank) const {
    return std::min(end, begin + (window * n_ranks + rank) * share);
  }
  std::int64_t rows(std::int64_t window, int rank) const {
    return std::min(end, first(window, rank) + share) - first(window, rank);
  }
};

/// The exchange of one window. Row i of this rank's share belongs to rank owner[i], where it has
/// the key key[i].
class RowRedistribution {
 public:
  static constexpr int nobody = -1;
  /// Collective. An MPI failure ends the job.
  RowRedistribution(const Communicator& comm, std::span<const int> owner,
                    std::span<const std::int64_t> key);

  /// Keys of this rank's rows in the shares of all ranks.
  std::span<const std::int64_t> keys() const { return keys_; }
  /// Moves share [row][width] to owned [key][width]. Collective.
  std::vector<double> to_owners(std::span<const double> share, std::int64_t width) const;
  /// Moves owned [key][width] to share [row][width]; rows without an owner are unchanged.
  /// Collective.
  void to_share(std::span<const double> owned, std::int64_t width, std::span<double> share) const;

 private:
  void route(std::span<const int> owner, std::span<const std::int64_t> key);

  Communicator comm_;
  std::vector<std::int64_t> row_of_slot_;  ///< rows of the share grouped by owner
  std::vector<int> share_counts_;
  std::vector<int> owner_counts_;
  std::vector<std::int64_t> keys_;
};

}  // namespace ringweave::detail::inline io
