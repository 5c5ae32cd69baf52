// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "distribute/communicator.hpp"
#include "distribute/exchange_mpi.hpp"

namespace ringweave {

/// Messages under way between ranks of one communicator. Those of a pair of ranks with the same tag
/// are told apart by their order. MPI failure ends the job.
class PeerMessages {
 public:
  /// `what`: for errors, "the exchange of ...".  `most`: messages at once, as far as known.
  PeerMessages(Communicator comm, const char* what, int tag, std::int64_t most);
  /// Ends the job when messages are under way: memory MPI writes to may be gone.
  ~PeerMessages();
  PeerMessages(const PeerMessages&) = delete;
  PeerMessages& operator=(const PeerMessages&) = delete;

  void receive(void* to, int count, MPI_Datatype type, int peer);
  void send(const void* from, int count, MPI_Datatype type, int peer);
  void progress();
  /// Waits for all of them.
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

}  // namespace ringweave
