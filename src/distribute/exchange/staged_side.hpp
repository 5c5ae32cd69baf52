// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/exchange/exchange_plan.hpp"

namespace ringweave {

/// One side of an exchange without what the rank owes itself: the blocks of the others moved
/// together, as staging buffers hold them.
class StagedSide {
 public:
  using Block = ExchangePlan::Block;

  StagedSide(const std::vector<Block>& blocks, int rank, std::int64_t positions)
      : own_begin_(blocks[to_size(rank)].first),
        own_end_(to_size(rank) + 1 < blocks.size() ? blocks[to_size(rank) + 1].first : positions),
        positions_(positions) {
    for (const Block& block : blocks) blocks_.push_back({staged(block.first), block.count});
    blocks_[to_size(rank)].count = 0;
    runs_ = joined_but_own(blocks, rank);
  }

  const std::vector<Block>& blocks() const { return blocks_; }  ///< [peer], where they are staged
  std::int64_t positions() const { return positions_ - (own_end_ - own_begin_); }
  /// Where a position of another rank's block is staged.
  std::int64_t staged(std::int64_t position) const {
    return position < own_end_ ? position : position - (own_end_ - own_begin_);
  }
  /// What goes to others, as runs of positions, without padding.
  const std::vector<Block>& runs() const { return runs_; }

  /// Blocks [peer] but a rank's own, as few runs as they make.
  static std::vector<Block> joined_but_own(const std::vector<Block>& blocks, int rank) {
    std::vector<Block> runs;
    for (std::size_t peer = 0; peer < blocks.size(); ++peer) {
      const auto& [first, count] = blocks[peer];
      if (peer == to_size(rank) || count == 0) continue;
      if (!runs.empty() && runs.back().first + runs.back().count == first) {
        runs.back().count += count;
      } else {
        runs.push_back({first, count});
      }
    }
    return runs;
  }

 private:
  std::int64_t own_begin_;
  std::int64_t own_end_;
  std::int64_t positions_;
  std::vector<Block> blocks_;
  std::vector<Block> runs_;
};

}  // namespace ringweave
