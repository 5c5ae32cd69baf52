// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/view.hpp"
#include "distribute/halo/halo_exchange.hpp"
#include "distribute/mpi/communicator.hpp"
#include "sphere/mode_layout.hpp"

namespace ringweave {

/// As HaloExchange, for ring modes that lie in rows of one order each: one buffer holds own and
/// halo rings, the former leave from it and the latter arrive in it. There is no second buffer; MPI
/// itself collects the rows' runs of rings.
class HaloModeExchange {
 public:
  /// rows    the buffer's layout, the same rule for what a row keeps on all ranks; may go
  /// orders  of each ring the lowest orders that travel, m = 0 .. orders.values(ring) - 1; the
  ///         payload the plan was made with. The rows must hold them; what else they hold stays.
  /// Memory 24 bytes for each run of rings in a row; collective.
  /// Error  UsageError on every rank when the plans of two ranks do not fit each other or the
  /// number of ranks, or when the rows of a rank lack a mode.
  HaloModeExchange(Communicator comm, const HaloPlan& plan, const ModeLayout& rows,
                   const RingPayload& orders, std::int64_t n_components,
                   const HaloOptions& options = {});
  /// Ends the job when a call of begin() has not been ended.
  ~HaloModeExchange();

  /// Begins to move, and returns at once; see HaloExchange. `modes` holds rows.size() positions of
  /// n_components; own modes that travel must not change, halo modes are defined after end().
  void begin(ModeView<double> modes);
  void progress();
  void end();
  /// begin(), `meanwhile` (what needs no halo), end(). An error of `meanwhile` ends the job, with
  /// its message, where others wait for this rank; else it is thrown.
  void run(ModeView<double> modes, const std::function<void()>& meanwhile);

  /// Bytes handed to MPI for others in the last begin().
  std::int64_t bytes_sent() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringweave
