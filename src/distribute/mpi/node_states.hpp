// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "base/activity.hpp"
#include "distribute/mpi/standstill.hpp"
#include "ringweave/communicator.hpp"

namespace ringweave::detail::inline distribute {

/// State of a rank as it shows it to the other ranks of its node, in memory that they share.
class RankState {
 public:
  /// Shows a sign of life, and the counted steps and the names of this process's Activity.
  void show(int rank, const Activity& activity);
  RankCounters counters() const { return {beats_, steps_}; }
  int rank() const { return rank_; }
  /// Returns the names last shown, cut where they are long. Changed meanwhile, they may be mixed.
  Activity::Names names() const;

 private:
  using Text = std::array<char, 96>;

  std::atomic<std::uint64_t> beats_;
  std::atomic<std::uint64_t> steps_;
  std::atomic<int> rank_;
  Text work_, stage_, call_;
};

/// The states of all ranks of a node, or of this rank alone where the node gives them no shared
/// memory.
class NodeStates {
 public:
  /// Collective over `comm`.
  explicit NodeStates(const Communicator& comm);
  ~NodeStates();
  NodeStates(const NodeStates&) = delete;
  NodeStates& operator=(const NodeStates&) = delete;

  /// States by rank on the node.
  std::span<RankState> all() const { return all_; }
  std::size_t own_place() const { return own_place_; }
  /// Tells whether the job has no ranks but these.
  bool are_all() const { return are_all_; }

 private:
  std::span<RankState> all_{};
  std::size_t own_place_ = 0;
  bool are_all_ = true;
};

}  // namespace ringweave::detail::inline distribute
