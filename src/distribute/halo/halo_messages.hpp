// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "distribute/halo/halo_plan.hpp"
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

/// One number per peer that summarises everything sent to it or received from it: equal on both
/// sides when they agree on everything added.
class PeerFingerprints {
 public:
  explicit PeerFingerprints(int n_ranks);
  void add(int peer, std::int64_t value);
  void add_to_all(std::int64_t value);
  std::vector<std::int64_t> values() const;

 private:
  std::vector<std::uint64_t> hashes_;
};

/// Throws UsageError unless the plan is for this rank and its counts are possible. Not collective.
void expect_plan_of(const Communicator& comm, const HaloPlan& plan, std::int64_t n_components,
                    const HaloOptions& options);

/// Throws UsageError on every rank unless every peer sends what this rank expects. Collective.
void expect_fitting_peers(const Communicator& comm, const PeerFingerprints& sent,
                          const PeerFingerprints& expected);

}  // namespace ringweave::detail::inline distribute
