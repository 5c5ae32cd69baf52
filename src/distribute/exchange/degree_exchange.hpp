// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "distribute/exchange/degree_plan.hpp"
#include "ringweave/alm.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline distribute {

/// Collects the orders of all ranks' layouts. Collective.
/// Error  UsageError on all ranks unless every order belongs to exactly one.
OrderOwners gather_order_owners(const Communicator& comm, const AlmLayout& layout);

/// Sends a_lm of whole degrees to one rank each, block by block, and back: for work that needs all
/// orders of a degree. T is the storage type, float or double.
///
///   for (std::int64_t block = 0; block < exchange.n_blocks(); ++block) {
///     exchange.to_degrees(block, alm);
///     for (std::int64_t i = 0; i < ssize64(exchange.degrees()); ++i)  // by any thread
///       ... exchange.read(i, component, a), exchange.write(i, component, a)
///     exchange.to_orders(alm);
///   }
template <class T>
class DegreeExchange {
 public:
  /// Allocates for blocks of at most about `block_bytes` bytes per rank, in `workers` shares or
  /// more. Collective.
  /// Error  ResourceError on all ranks when memory fails one, UsageError when a rank would receive
  ///        more a_lm than MPI can count.
  DegreeExchange(const Communicator& comm, const AlmLayout& layout, OrderOwners owners,
                 std::int64_t n_components, std::int64_t block_bytes, std::int64_t workers);

  std::int64_t n_blocks() const { return static_cast<std::int64_t>(blocks_.size()); }
  /// * Sends the a_lm of a block. An MPI failure ends the job.
  void to_degrees(std::int64_t block, AlmView<const T> alm);
  /// * Sends the a_lm of the last block back.
  void to_orders(AlmView<T> alm);

  /// Degrees of the last block that this rank has, descending.
  std::span<const int> degrees() const { return messages_->degrees; }
  /// Copy the a_lm m = 0..l of degrees()[index]. Thread safe for different degrees.
  void read(std::int64_t index, std::int64_t component, std::complex<double>* alm) const;
  void write(std::int64_t index, std::int64_t component, const std::complex<double>* alm);

  std::int64_t bytes() const;

 private:
  enum class Direction { to_degrees, to_orders };

  std::complex<T>* by_order() { return alone() ? by_degree_.data() : by_order_.data(); }
  bool alone() const { return comm_.size() == 1; }
  void exchange(Direction direction);
  template <class Copy>
  void for_elements(const Copy& copy) const;
  template <class Copy>
  void for_orders(std::int64_t index, std::int64_t component, const Copy& copy) const;

  Communicator comm_;
  AlmLayout layout_;
  OrderOwners owners_;
  std::int64_t n_components_;
  std::vector<DegreeBlock> blocks_;
  std::optional<DegreeMessages> messages_;
  HostBuffer<std::complex<T>> by_order_;  ///< empty on one rank
  HostBuffer<std::complex<T>> by_degree_;
};

}  // namespace ringweave::detail::inline distribute
