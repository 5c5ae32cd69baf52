// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>

#include "distribute/halo/halo_plan.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline distribute {

struct HaloOptions {
  /// Longer messages are split, because MPI counts with int. Tests make it small.
  std::int64_t message_bytes = std::int64_t{1} << 30;
};

/// Fetches the rings of other ranks within a kernel's support, point to point from the ranks that
/// own them. Nothing is packed: messages are sent from the rings in place and received in place in
/// the halo. A rank sends nothing to itself.
///
/// The value type T is float or double, the same on all ranks of a call.
class HaloExchange {
 public:
  /// The plan need not outlive the constructor. Collective.
  /// Error  UsageError on every rank when the plans of two ranks do not match each other or the
  /// number of ranks.
  HaloExchange(const Communicator& comm, const HaloPlan& plan, std::int64_t n_components,
               const HaloOptions& options = {});
  /// Ends the job when a begin() has not been ended: the memory MPI writes to may be gone.
  ~HaloExchange();

  /// Starts the exchange and returns at once. One exchange at a time; on a communicator that
  /// several objects share, all ranks call begin() in the same order.
  ///
  /// own   [component][value], plan.own_size values of own rings; must not change until end()
  /// halo  [component][value], plan.halo_size values; overwritten, defined after end()
  /// An MPI failure ends the job, and so must any other error before end(): others wait for this
  /// rank. Error  UsageError on this rank alone for other shapes; callers agree on theirs before.
  template <class T>
  void begin(ComponentView<const std::type_identity_t<T>> own, ComponentView<T> halo);
  /// Advances messages, which may make no progress by themselves; to be called now and then. Not
  /// collective.
  void progress();
  /// Waits until the halo is complete and own rings may change.
  void end();

  /// Runs begin(), `meanwhile` (work that needs no halo), end(). An error of `meanwhile` ends the
  /// job, with its message, where others wait for this rank; else it is thrown.
  template <class T>
  void run(ComponentView<const std::type_identity_t<T>> own, ComponentView<T> halo,
           const std::function<void()>& meanwhile);

  /// Returns the bytes passed to MPI for others in the last begin().
  std::int64_t bytes_sent() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringweave::detail::inline distribute
