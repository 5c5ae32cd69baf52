// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/sent_bytes.hpp"

#include <mpi.h>

namespace {

std::int64_t bytes_sent = 0;
std::int64_t alltoallvs = 0;

void count_bytes(int count, MPI_Datatype type, int peer, MPI_Comm comm) {
  int rank = 0;
  MPI_Count element_bytes = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Type_size_x(type, &element_bytes);
  if (peer != rank) bytes_sent += std::int64_t{count} * element_bytes;
}

void count_bytes(const int* counts, MPI_Datatype type, MPI_Comm comm) {
  ++alltoallvs;
  int size = 0;
  MPI_Comm_size(comm, &size);
  for (int peer = 0; peer < size; ++peer) count_bytes(counts[peer], type, peer, comm);
}

}  // namespace

std::int64_t ringweave::detail::mpi_bytes_sent() { return bytes_sent; }
std::int64_t ringweave::detail::mpi_alltoallvs() { return alltoallvs; }

// These definitions override those of the MPI library, which remain available as PMPI_.
extern "C" int MPI_Alltoallv(const void* send, const int* send_counts, const int* send_firsts,
                             MPI_Datatype send_type, void* receive, const int* receive_counts,
                             const int* receive_firsts, MPI_Datatype receive_type, MPI_Comm comm) {
  count_bytes(send_counts, send_type, comm);
  return PMPI_Alltoallv(send, send_counts, send_firsts, send_type, receive, receive_counts,
                        receive_firsts, receive_type, comm);
}

extern "C" int MPI_Ialltoallv(const void* send, const int* send_counts, const int* send_firsts,
                              MPI_Datatype send_type, void* receive, const int* receive_counts,
                              const int* receive_firsts, MPI_Datatype receive_type, MPI_Comm comm,
                              MPI_Request* request) {
  count_bytes(send_counts, send_type, comm);
  return PMPI_Ialltoallv(send, send_counts, send_firsts, send_type, receive, receive_counts,
                         receive_firsts, receive_type, comm, request);
}

extern "C" int MPI_Isend(const void* send, int count, MPI_Datatype type, int peer, int tag,
                         MPI_Comm comm, MPI_Request* request) {
  count_bytes(count, type, peer, comm);
  return PMPI_Isend(send, count, type, peer, tag, comm, request);
}
