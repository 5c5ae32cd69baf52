// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>

#include "base/view.hpp"
#include "distribute/halo/halo_plan.hpp"
#include "distribute/mpi/communicator.hpp"

namespace ringweave {

struct HaloOptions {
  /// Longer messages go in parts, because MPI counts with int. Tests make it small.
  std::int64_t message_bytes = std::int64_t{1} << 30;
};

/// Brings a rank the rings of others within a kernel's support, point to point from the ranks that
/// own them. Nothing is packed: messages leave from the rings where they lie and arrive at their
/// place in the halo. A rank sends nothing to itself.
///
/// The value type T is float, double, or std::complex of either, the same on all ranks of a call.
class HaloExchange {
 public:
  /// The plan may go. Collective.
  /// Error  UsageError on every rank when the plans of two ranks do not fit each other or the
  /// number of ranks.
  HaloExchange(Communicator comm, const HaloPlan& plan, std::int64_t n_components,
               const HaloOptions& options = {});
  /// Ends the job when a call of begin() has not been ended: memory MPI writes to may be gone.
  ~HaloExchange();

  /// Begins to move, and returns at once. One move at a time; on a communicator that several
  /// objects share, all ranks call begin() in the same order.
  ///
  /// own   [component][value], plan.own_size values of own rings; must not change until end()
  /// halo  [component][value], plan.halo_size values; overwritten, defined after end()
  /// MPI failure ends the job, and so must any other error before end(): others wait for this rank.
  template <class T>
  void begin(ComponentView<const std::type_identity_t<T>> own, ComponentView<T> halo);
  /// Messages may not move by themselves: call it now and then. Not collective.
  void progress();
  /// Returns when the halo is there and own rings may change.
  void end();

  /// begin(), `meanwhile` (what needs no halo), end(). An error of `meanwhile` ends the job, with
  /// its message, where others wait for this rank; else it is thrown.
  template <class T>
  void run(ComponentView<const std::type_identity_t<T>> own, ComponentView<T> halo,
           const std::function<void()>& meanwhile);

  /// Bytes handed to MPI for others in the last begin().
  std::int64_t bytes_sent() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringweave
