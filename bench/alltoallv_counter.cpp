// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/alltoallv_counter.hpp"

#include <mpi.h>

namespace {

std::int64_t bytes_sent = 0;

void count_bytes(const int* counts, MPI_Datatype type, MPI_Comm comm) {
  int rank = 0;
  int size = 0;
  MPI_Count element_bytes = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Type_size_x(type, &element_bytes);
  for (int peer = 0; peer < size; ++peer) {
    if (peer != rank) bytes_sent += std::int64_t{counts[peer]} * element_bytes;
  }
}

}  // namespace

std::int64_t ringweave::alltoallv_bytes_sent() { return bytes_sent; }

// The program's definitions come before the library's, which lets PMPI_ be called instead.
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
