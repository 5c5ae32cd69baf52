// SPDX-License-Identifier: GPL-3.0-or-later
// Calls of MPI. One that fails is not made, so that the other ranks wait for this one, and its
// error goes to the error handler of its communicator or file, as those of MPI do. Requests do not
// tell theirs: of calls that wait for some the error is returned alone.
#include <mpi.h>

#include "faults.hpp"

using faults::Fault;
using faults::meet;

namespace {

bool fails(const char* call, faults::Target target = {}) {
  return meet(call, target).kind == Fault::Kind::error;
}

template <class Work>
int with_communicator(const char* call, MPI_Comm comm, Work work) {
  if (!fails(call)) return work();
  PMPI_Comm_call_errhandler(comm, MPI_ERR_OTHER);
  return MPI_ERR_OTHER;
}

template <class Work>
int with_file(const char* call, MPI_File file, const char* path, Work work) {
  if (!fails(call, {.path = path})) return work();
  PMPI_File_call_errhandler(file, MPI_ERR_IO);
  return MPI_ERR_IO;
}

template <class Work>
int with_requests(const char* call, Work work) {
  return fails(call) ? MPI_ERR_OTHER : work();
}

}  // namespace

extern "C" {

int MPI_Init(int* argc, char*** argv) {
  const int code = PMPI_Init(argc, argv);
  faults::set_mpi_runs(true);
  return code;
}

int MPI_Init_thread(int* argc, char*** argv, int required, int* provided) {
  const int code = PMPI_Init_thread(argc, argv, required, provided);
  faults::set_mpi_runs(true);
  return code;
}

int MPI_Finalize() {
  faults::set_mpi_runs(false);
  return PMPI_Finalize();
}

int MPI_Barrier(MPI_Comm comm) {
  return with_communicator("MPI_Barrier", comm, [&] { return PMPI_Barrier(comm); });
}

int MPI_Bcast(void* data, int n, MPI_Datatype type, int root, MPI_Comm comm) {
  return with_communicator("MPI_Bcast", comm,
                           [&] { return PMPI_Bcast(data, n, type, root, comm); });
}

int MPI_Reduce(const void* out, void* in, int n, MPI_Datatype type, MPI_Op op, int root,
               MPI_Comm comm) {
  return with_communicator("MPI_Reduce", comm,
                           [&] { return PMPI_Reduce(out, in, n, type, op, root, comm); });
}

int MPI_Allreduce(const void* out, void* in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return with_communicator("MPI_Allreduce", comm,
                           [&] { return PMPI_Allreduce(out, in, n, type, op, comm); });
}

int MPI_Scan(const void* out, void* in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return with_communicator("MPI_Scan", comm, [&] { return PMPI_Scan(out, in, n, type, op, comm); });
}

int MPI_Exscan(const void* out, void* in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  return with_communicator("MPI_Exscan", comm,
                           [&] { return PMPI_Exscan(out, in, n, type, op, comm); });
}

int MPI_Gather(const void* out, int n_out, MPI_Datatype out_type, void* in, int n_in,
               MPI_Datatype in_type, int root, MPI_Comm comm) {
  return with_communicator("MPI_Gather", comm, [&] {
    return PMPI_Gather(out, n_out, out_type, in, n_in, in_type, root, comm);
  });
}

int MPI_Gatherv(const void* out, int n_out, MPI_Datatype out_type, void* in, const int* n_in,
                const int* begins, MPI_Datatype in_type, int root, MPI_Comm comm) {
  return with_communicator("MPI_Gatherv", comm, [&] {
    return PMPI_Gatherv(out, n_out, out_type, in, n_in, begins, in_type, root, comm);
  });
}

int MPI_Scatter(const void* out, int n_out, MPI_Datatype out_type, void* in, int n_in,
                MPI_Datatype in_type, int root, MPI_Comm comm) {
  return with_communicator("MPI_Scatter", comm, [&] {
    return PMPI_Scatter(out, n_out, out_type, in, n_in, in_type, root, comm);
  });
}

int MPI_Scatterv(const void* out, const int* n_out, const int* begins, MPI_Datatype out_type,
                 void* in, int n_in, MPI_Datatype in_type, int root, MPI_Comm comm) {
  return with_communicator("MPI_Scatterv", comm, [&] {
    return PMPI_Scatterv(out, n_out, begins, out_type, in, n_in, in_type, root, comm);
  });
}

int MPI_Allgather(const void* out, int n_out, MPI_Datatype out_type, void* in, int n_in,
                  MPI_Datatype in_type, MPI_Comm comm) {
  return with_communicator("MPI_Allgather", comm, [&] {
    return PMPI_Allgather(out, n_out, out_type, in, n_in, in_type, comm);
  });
}

int MPI_Allgatherv(const void* out, int n_out, MPI_Datatype out_type, void* in, const int* n_in,
                   const int* begins, MPI_Datatype in_type, MPI_Comm comm) {
  return with_communicator("MPI_Allgatherv", comm, [&] {
    return PMPI_Allgatherv(out, n_out, out_type, in, n_in, begins, in_type, comm);
  });
}

int MPI_Alltoall(const void* out, int n_out, MPI_Datatype out_type, void* in, int n_in,
                 MPI_Datatype in_type, MPI_Comm comm) {
  return with_communicator("MPI_Alltoall", comm, [&] {
    return PMPI_Alltoall(out, n_out, out_type, in, n_in, in_type, comm);
  });
}

int MPI_Alltoallv(const void* out, const int* n_out, const int* out_begins, MPI_Datatype out_type,
                  void* in, const int* n_in, const int* in_begins, MPI_Datatype in_type,
                  MPI_Comm comm) {
  return with_communicator("MPI_Alltoallv", comm, [&] {
    return PMPI_Alltoallv(out, n_out, out_begins, out_type, in, n_in, in_begins, in_type, comm);
  });
}

int MPI_Ibarrier(MPI_Comm comm, MPI_Request* request) {
  return with_communicator("MPI_Ibarrier", comm, [&] { return PMPI_Ibarrier(comm, request); });
}

int MPI_Ibcast(void* data, int n, MPI_Datatype type, int root, MPI_Comm comm,
               MPI_Request* request) {
  return with_communicator("MPI_Ibcast", comm,
                           [&] { return PMPI_Ibcast(data, n, type, root, comm, request); });
}

int MPI_Iallreduce(const void* out, void* in, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  return with_communicator("MPI_Iallreduce", comm,
                           [&] { return PMPI_Iallreduce(out, in, n, type, op, comm, request); });
}

int MPI_Ialltoallv(const void* out, const int* n_out, const int* out_begins, MPI_Datatype out_type,
                   void* in, const int* n_in, const int* in_begins, MPI_Datatype in_type,
                   MPI_Comm comm, MPI_Request* request) {
  return with_communicator("MPI_Ialltoallv", comm, [&] {
    return PMPI_Ialltoallv(out, n_out, out_begins, out_type, in, n_in, in_begins, in_type, comm,
                           request);
  });
}

int MPI_Send(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm) {
  return with_communicator("MPI_Send", comm,
                           [&] { return PMPI_Send(data, n, type, to, tag, comm); });
}

int MPI_Recv(void* data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
             MPI_Status* status) {
  return with_communicator("MPI_Recv", comm,
                           [&] { return PMPI_Recv(data, n, type, from, tag, comm, status); });
}

int MPI_Isend(const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return with_communicator("MPI_Isend", comm,
                           [&] { return PMPI_Isend(data, n, type, to, tag, comm, request); });
}

int MPI_Irecv(void* data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm,
              MPI_Request* request) {
  return with_communicator("MPI_Irecv", comm,
                           [&] { return PMPI_Irecv(data, n, type, from, tag, comm, request); });
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* made) {
  return with_communicator("MPI_Comm_dup", comm, [&] { return PMPI_Comm_dup(comm, made); });
}

int MPI_Comm_split(MPI_Comm comm, int colour, int key, MPI_Comm* made) {
  return with_communicator("MPI_Comm_split", comm,
                           [&] { return PMPI_Comm_split(comm, colour, key, made); });
}

int MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm* made) {
  return with_communicator("MPI_Comm_split_type", comm,
                           [&] { return PMPI_Comm_split_type(comm, type, key, info, made); });
}

int MPI_Win_allocate_shared(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void* memory,
                            MPI_Win* window) {
  return with_communicator("MPI_Win_allocate_shared", comm, [&] {
    return PMPI_Win_allocate_shared(size, unit, info, comm, memory, window);
  });
}

int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  return with_requests("MPI_Wait", [&] { return PMPI_Wait(request, status); });
}

int MPI_Waitall(int n, MPI_Request requests[], MPI_Status statuses[]) {
  return with_requests("MPI_Waitall", [&] { return PMPI_Waitall(n, requests, statuses); });
}

int MPI_Waitany(int n, MPI_Request requests[], int* which, MPI_Status* status) {
  return with_requests("MPI_Waitany", [&] { return PMPI_Waitany(n, requests, which, status); });
}

int MPI_Waitsome(int n, MPI_Request requests[], int* n_done, int* which, MPI_Status statuses[]) {
  return with_requests("MPI_Waitsome",
                       [&] { return PMPI_Waitsome(n, requests, n_done, which, statuses); });
}

int MPI_Test(MPI_Request* request, int* done, MPI_Status* status) {
  return with_requests("MPI_Test", [&] { return PMPI_Test(request, done, status); });
}

int MPI_Testall(int n, MPI_Request requests[], int* done, MPI_Status statuses[]) {
  return with_requests("MPI_Testall", [&] { return PMPI_Testall(n, requests, done, statuses); });
}

int MPI_File_open(MPI_Comm comm, const char* path, int mode, MPI_Info info, MPI_File* file) {
  return with_file("MPI_File_open", MPI_FILE_NULL, path,
                   [&] { return PMPI_File_open(comm, path, mode, info, file); });
}

int MPI_File_close(MPI_File* file) {
  return with_file("MPI_File_close", *file, nullptr, [&] { return PMPI_File_close(file); });
}

int MPI_File_read_at(MPI_File file, MPI_Offset at, void* data, int n, MPI_Datatype type,
                     MPI_Status* status) {
  return with_file("MPI_File_read_at", file, nullptr,
                   [&] { return PMPI_File_read_at(file, at, data, n, type, status); });
}

int MPI_File_read_at_all(MPI_File file, MPI_Offset at, void* data, int n, MPI_Datatype type,
                         MPI_Status* status) {
  return with_file("MPI_File_read_at_all", file, nullptr,
                   [&] { return PMPI_File_read_at_all(file, at, data, n, type, status); });
}

int MPI_File_write_at(MPI_File file, MPI_Offset at, const void* data, int n, MPI_Datatype type,
                      MPI_Status* status) {
  return with_file("MPI_File_write_at", file, nullptr,
                   [&] { return PMPI_File_write_at(file, at, data, n, type, status); });
}

int MPI_File_write_at_all(MPI_File file, MPI_Offset at, const void* data, int n, MPI_Datatype type,
                          MPI_Status* status) {
  return with_file("MPI_File_write_at_all", file, nullptr,
                   [&] { return PMPI_File_write_at_all(file, at, data, n, type, status); });
}

int MPI_File_set_size(MPI_File file, MPI_Offset size) {
  return with_file("MPI_File_set_size", file, nullptr,
                   [&] { return PMPI_File_set_size(file, size); });
}

int MPI_File_get_size(MPI_File file, MPI_Offset* size) {
  return with_file("MPI_File_get_size", file, nullptr,
                   [&] { return PMPI_File_get_size(file, size); });
}

int MPI_File_sync(MPI_File file) {
  return with_file("MPI_File_sync", file, nullptr, [&] { return PMPI_File_sync(file); });
}

}  // extern "C"
