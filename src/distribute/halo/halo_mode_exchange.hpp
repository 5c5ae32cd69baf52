// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/mode_view.hpp"
#include "distribute/halo/halo_exchange.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/views.hpp"
#include "sphere/mode_layout.hpp"

namespace ringweave::detail::inline distribute {

/// HaloExchange for ring modes stored in rows of one order each. One buffer holds own and halo
/// rings: the former are sent from it, the latter received in it. There is no second buffer; MPI
/// itself gathers the rows' runs of rings.
class HaloModeExchange {
 public:
  /// rows    the buffer's layout; which rings a row keeps follows the same rule on all ranks. It
  /// need
  ///         not outlive the constructor
  /// orders  number of lowest orders exchanged for each ring, m = 0 .. orders.values(ring) - 1; the
  ///         payload the plan was made with. The rows must hold them; other modes are left
  ///         unchanged
  /// Memory 24 bytes for each run of rings in a row. Collective.
  /// Error  UsageError on every rank when the plans of two ranks do not match each other or the
  /// number of ranks, or when the rows of a rank lack a mode.
  HaloModeExchange(const Communicator& comm, const HaloPlan& plan, const ModeLayout& rows,
                   const RingPayload& orders, std::int64_t n_components,
                   const HaloOptions& options = {});
  /// Ends the job when a begin() has not been ended.
  ~HaloModeExchange();

  /// Starts the exchange and returns at once; see HaloExchange. `modes` holds rows.size() positions
  /// of n_components. Own modes being sent must not change; halo modes are defined after end().
  void begin(ModeView<double> modes);
  void progress();
  void end();
  /// Calls a function that begins the exchange and works on, then ends it. An error after begin()
  /// ends the job, for other ranks wait.
  void end_after(const std::function<void()>& meanwhile);

  /// Returns the bytes passed to MPI for others in the last begin().
  std::int64_t bytes_sent() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringweave::detail::inline distribute
