// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "distribute/halo/halo_plan.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/peer_messages.hpp"
#include "ringweave/communicator.hpp"

// Code shared by the exchanges of a halo.
namespace ringweave::detail::inline distribute {

struct HaloOptions;

/// The halo's messages in flight, and how many bytes this rank sent.
class HaloMessages {
 public:
  HaloMessages(Communicator comm, std::int64_t most);

  /// Throws UsageError when the last exchange has not ended.
  void require_rest() const;
  void begin();
  void receive(void* to, int count, MPI_Datatype type, int peer);
  void send(const void* from, int count, MPI_Datatype type, int peer, std::int64_t bytes);
  void progress() { messages_.progress(); }
  void end();
  /// Runs `meanwhile`, then end(). An error ends the job where others wait for this rank; else it
  /// is thrown.
  void end_after(const std::function<void()>& meanwhile);

  const Communicator& comm() const { return messages_.comm(); }
  std::int64_t bytes_sent() const { return bytes_sent_; }  ///< since the last begin()

 private:
  PeerMessages messages_;
  bool moving_ = false;
  std::int64_t bytes_sent_ = 0;
};

/// Throws UsageError unless the plan is for this rank and its counts are possible. Not collective.
void expect_plan_of(const Communicator& comm, const HaloPlan& plan, std::int64_t n_components,
                    const HaloOptions& options);

/// Returns a digest per peer, of the numbers that all messages depend on.
std::vector<Digest> peer_digests(int n_ranks, std::int64_t n_components,
                                 const HaloOptions& options);
/// Throws UsageError on every rank unless every peer sends what this rank expects: [peer] digests
/// of what is sent to it and received from it. Collective.
void expect_fitting_peers(const Communicator& comm, const std::vector<Digest>& sent,
                          const std::vector<Digest>& expected);

}  // namespace ringweave::detail::inline distribute
