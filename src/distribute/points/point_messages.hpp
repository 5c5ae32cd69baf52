// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "distribute/mpi/peer_messages.hpp"
#include "ringweave/communicator.hpp"

namespace ringweave::detail::inline distribute {

/// Numbers of points on their way between the ranks whose lists have the points and those that sum
/// them. Both sides are [point][component], points grouped by peer, ascending; the points of a pair
/// of ranks are in the same order on both. A rank sends nothing to itself.
class PointMessages {
 public:
  /// listed, summed   [peer] this rank's listed points that the peer sums, and the peer's listed
  ///                  points that this rank sums; 0 for this rank
  /// mpi_count_limit  most numbers of a message; more go in several
  PointMessages(Communicator comm, std::span<const std::int64_t> listed,
                std::span<const std::int64_t> summed, std::int64_t mpi_count_limit);

  /// Reserves space for messages of so many components.
  /// Error  UsageError when they are more than MPI can count.
  void reserve(std::int64_t n_components);
  /// Sends numbers of listed points to the ranks that sum them. An MPI failure ends the job.
  /// Collective.
  void to_summed(const double* listed, double* summed, std::int64_t n_components);
  /// Sends numbers back. Collective.
  void to_listed(const double* summed, double* listed, std::int64_t n_components);

  std::int64_t n_listed() const { return total(listed_); }
  std::int64_t n_summed() const { return total(summed_); }
  std::int64_t bytes() const { return held_bytes(listed_, summed_); }

 private:
  struct Block {
    int peer;
    std::int64_t first;  ///< point
    std::int64_t count;
  };
  using Blocks = std::vector<Block>;

  static Blocks blocks_of(std::span<const std::int64_t> counts);
  static std::int64_t total(const Blocks& blocks) {
    return blocks.empty() ? 0 : blocks.back().first + blocks.back().count;
  }
  void move(const Blocks& from_blocks, const double* from, const Blocks& to_blocks, double* to,
            std::int64_t n_components);

  PeerMessages messages_;
  std::int64_t mpi_count_limit_;
  Blocks listed_;
  Blocks summed_;
};

}  // namespace ringweave::detail::inline distribute
