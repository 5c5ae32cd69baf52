// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/mpi/peer_messages.hpp"

#include <fmt/format.h>

#include <utility>

#include "distribute/mpi/mpi_library.hpp"

namespace ringweave::detail::inline distribute {

PeerMessages::PeerMessages(Communicator comm, const char* what, int tag)
    : comm_(std::move(comm)), what_(what), tag_(tag) {}

PeerMessages::~PeerMessages() {
  if (requests_.empty()) return;
  comm_.abort(
      ErrorKind::internal,
      fmt::format("{} was begun and not ended: an error came between, or end() is missing", what_));
}

void PeerMessages::receive(void* to, int count, MPI_Datatype type, int peer) {
  MPI_Request& request = requests_.emplace_back(MPI_REQUEST_NULL);
  end_job_unless_done(comm_, MPI_Irecv(to, count, type, peer, tag_, mpi_handle(comm_), &request),
                      what_);
}

void PeerMessages::send(const void* from, int count, MPI_Datatype type, int peer) {
  MPI_Request& request = requests_.emplace_back(MPI_REQUEST_NULL);
  end_job_unless_done(comm_, MPI_Isend(from, count, type, peer, tag_, mpi_handle(comm_), &request),
                      what_);
}

void PeerMessages::progress() {
  if (requests_.empty()) return;
  int done = 0;
  end_job_unless_done(comm_, MPI_Testall(count(), requests_.data(), &done, MPI_STATUSES_IGNORE),
                      what_);
}

void PeerMessages::end() {
  if (requests_.empty()) return;
  const int code = waiting_in(
      what_, [&] { return MPI_Waitall(count(), requests_.data(), MPI_STATUSES_IGNORE); });
  end_job_unless_done(comm_, code, what_);
  requests_.clear();
}

}  // namespace ringweave::detail::inline distribute
