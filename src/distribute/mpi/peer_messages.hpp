// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/mpi/exchange_mpi.hpp"
#include "ringweave/communicator.hpp"

namespace ringweave::detail::inline distribute {

/// Messages in flight between ranks of one communicator. Those of a pair of ranks with the same tag
/// are matched by their order. An MPI failure ends the job.
class PeerMessages {
 public:
  /// `what`, a literal, names the exchange in errors: "the exchange of ...".
  PeerMessages(Communicator comm, const char* what, int tag);
  /// Ends the job when messages are in flight: the memory MPI writes to may be gone.
  ~PeerMessages();
  PeerMessages(const PeerMessages&) = delete;
  PeerMessages& operator=(const PeerMessages&) = delete;

  /// Reserves space for n messages at once; more are allowed.
  void reserve(std::int64_t n) { requests_.reserve(to_size(n)); }
  void receive(void* to, int count, MPI_Datatype type, int peer);
  void send(const void* from, int count, MPI_Datatype type, int peer);
  void progress();
  /// Waits for all messages.
  void end();

  bool empty() const { return requests_.empty(); }
  const Communicator& comm() const { return comm_; }

 private:
  int count() const { return static_cast<int>(requests_.size()); }

  Communicator comm_;
  const char* what_;
  int tag_;
  std::vector<MPI_Request> requests_;
};

}  // namespace ringweave::detail::inline distribute
