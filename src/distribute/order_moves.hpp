// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ringweave/alm.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline distribute {

class PeerMessages;

/// Copies a_lm into the orders that each rank has in another layout of the same degrees, for
/// example that of a transform on another grid. Each order of a component is one message. Members
/// are collective. An MPI failure ends the job.
class OrderMoves {
 public:
  /// Plans the moves of so many components. Together the ranks' layouts hold every order once.
  /// Error  UsageError where the layouts differ in their degrees, or an order is not on exactly one
  ///        rank.
  OrderMoves(const Communicator& comm, const AlmLayout& from, const AlmLayout& to,
             std::int64_t n_components);
  ~OrderMoves();

  /// from, to  [component][coefficient]
  /// T is float or double. Allocates nothing.
  template <class T>
  void move(AlmView<const T> from, AlmView<T> to);

 private:
  /// An order that this rank sends, receives or has in both layouts.
  struct Move {
    int source;  ///< ranks
    int target;
    std::int64_t first;  ///< coefficient of this rank in `from`, where it is the source
    std::int64_t place;  ///< in `to`, where it is the target
    std::int64_t length;
  };

  std::vector<Move> moves_;
  std::unique_ptr<PeerMessages> messages_;
};

/// Moves a_lm once. Error  that of OrderMoves; UsageError where they differ in components.
template <class T>
void move_orders(const Communicator& comm, const AlmLayout& from_layout, AlmView<const T> from,
                 const AlmLayout& to_layout, AlmView<T> to);

}  // namespace ringweave::detail::inline distribute
