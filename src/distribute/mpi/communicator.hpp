// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"

namespace ringweave {

/// A duplicated MPI communicator and the few collectives the program needs. Cheap to copy (shared).
/// `<mpi.h>` stays out of this header; who must hand the handle to MPI-IO or HDF5 takes it from
/// mpi_handle.hpp. MPI errors throw PeerError.
class Communicator {
 public:
  /// Duplicates MPI_COMM_WORLD. Without MPI_Init (unit tests, library use) a group of one that
  /// calls no MPI. Collective.
  static Communicator world();
  /// Duplicates a communicator of the caller's, who keeps it: no message of one can meet one of the
  /// other. `MpiComm` is MPI_Comm; include mpi_handle.hpp, which defines this for it. Collective
  /// over `comm`.
  /// Error  UsageError when MPI is not running, or for MPI_COMM_NULL or an intercommunicator.
  template <class MpiComm>
  static Communicator duplicate_of(MpiComm comm);
  /// One rank that calls no MPI.
  static Communicator self();

  int rank() const;
  int size() const;
  bool is_root() const { return rank() == 0; }

  // Collective from here to node_local().
  void barrier() const;
  std::int64_t sum(std::int64_t value) const;
  std::int64_t max(std::int64_t value) const;
  std::int64_t min(std::int64_t value) const;
  double sum(double value) const;
  double max(double value) const;
  double min(double value) const;
  /// Elementwise and in place, of any length; the result is on every rank, or on rank 0 only.
  void sum(double* values, std::int64_t count) const;
  void sum_to_root(double* values, std::int64_t count) const;
  /// Any number of bytes.
  void broadcast(void* bytes, std::int64_t count, int root) const;
  std::string broadcast(const std::string& text, int root) const;
  /// All texts on rank 0, nothing elsewhere.
  std::vector<std::string> gather(const std::string& text) const;
  /// One value of every rank.
  std::vector<std::int64_t> all_gather(std::int64_t value) const;
  /// The ranks with this rank's color (>= 0), numbered by key.
  Communicator split(int color, int key) const;
  /// The ranks that share this rank's node.
  Communicator node_local() const;

  /// Ends the job from inside a collective or a region where ranks can no longer agree: flushes
  /// `message` to stderr, then MPI_Abort on this communicator with the kind's exit code. Not
  /// collective.
  [[noreturn]] void abort(ErrorKind kind, const std::string& message) const;

  struct Impl;
  const Impl& impl() const { return *impl_; }

 private:
  explicit Communicator(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

}  // namespace ringweave
