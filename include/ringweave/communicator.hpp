// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ringweave/error.hpp>

namespace ringweave {

/// Duplicated MPI communicator with the collectives Ringweave needs. Copies share it; the end of
/// the last one frees it, which is collective. This header does not include <mpi.h>; mpi.hpp
/// converts from and to MPI_Comm. Members are not collective unless they say so.
/// Error  PeerError when MPI fails.
class Communicator {
 public:
  /// Duplicates MPI_COMM_WORLD. Where MPI does not run: a group of one that calls no MPI.
  /// Collective.
  static Communicator world();
  /// Duplicates the caller's communicator, so that messages of the two never meet. The caller keeps
  /// `comm`. MpiComm is MPI_Comm; <ringweave/mpi.hpp> defines the function for it. Collective over
  /// `comm`.
  /// Error  UsageError when MPI is not running, or for MPI_COMM_NULL or an intercommunicator.
  template <class MpiComm>
  static Communicator duplicate_of(MpiComm comm);
  /// Makes a group of one rank that calls no MPI. Not collective.
  static Communicator self();

  int rank() const;                             ///< number of this rank, from 0
  int size() const;                             ///< number of ranks
  bool is_root() const { return rank() == 0; }  ///< tells whether this is rank 0

  // Collective from here to node_local().

  /// Waits until all ranks are here.
  void barrier() const;
  std::int64_t sum(std::int64_t value) const;  ///< of the values of all ranks, on every rank
  std::int64_t max(std::int64_t value) const;  ///< the largest of all ranks, on every rank
  std::int64_t min(std::int64_t value) const;  ///< the least of all ranks, on every rank
  double sum(double value) const;              ///< of the values of all ranks, on every rank
  double max(double value) const;              ///< the largest of all ranks, on every rank
  double min(double value) const;              ///< the least of all ranks, on every rank
  /// Sums the arrays of all ranks elementwise and in place. `count` is the same on every rank, of
  /// any size. The result is on every rank.
  void sum(double* values, std::int64_t count) const;
  /// Does the same with the result on rank 0 only.
  void sum_to_root(double* values, std::int64_t count) const;
  /// Sends any number of bytes from `root` to all.
  void broadcast(void* bytes, std::int64_t count, int root) const;
  /// Returns the text of `root` on every rank.
  std::string broadcast(const std::string& text, int root) const;
  /// Returns the texts of all ranks on rank 0, nothing elsewhere.
  /// Error  UsageError on all ranks when they have 2^31 bytes or more together.
  std::vector<std::string> gather(const std::string& text) const;
  /// Returns the values of all ranks, by rank.
  std::vector<std::int64_t> all_gather(std::int64_t value) const;
  /// Returns the group of the ranks with this rank's color (>= 0), numbered by key.
  Communicator split(int color, int key) const;
  /// Returns the group of the ranks on this rank's node.
  Communicator node_local() const;

  /// Ends the job where ranks can no longer agree, for example inside a collective call: writes
  /// `message` to stderr and calls MPI_Abort on this communicator with the kind's exit code. Not
  /// collective.
  [[noreturn]] void abort(ErrorKind kind, const std::string& message) const;

  /// MPI's communicator, for Ringweave's own calls.
  struct Impl;
  const Impl& impl() const { return *impl_; }  ///< for Ringweave's own calls

 private:
  explicit Communicator(std::shared_ptr<const Impl> impl) : impl_(std::move(impl)) {}
  std::shared_ptr<const Impl> impl_;
};

/// Session of MPI: starts MPI and ends it, one object in main(), outliving every Communicator.
/// Works with and without mpirun (alone: a job of one rank). Asks for MPI_THREAD_MULTIPLE and
/// accepts less. Leaves MPI running where it ran before. Collective: all ranks of the job make it
/// and end it.
/// Error  ResourceError when MPI does not start.
class MpiSession {
 public:
  /// Starts MPI with the arguments of main(), unless it runs.
  MpiSession(int* argc, char*** argv);
  /// Ends MPI if this session started it, but not while an exception is thrown.
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

 private:
  bool owner_ = false;
};

/// Runs `work` on every rank and returns the exit code of the program: that of the severest error
/// on all ranks, which one rank prints as "name: kind of error: message", or without an error the
/// value of `work`. An error may be met by one rank alone; it waits `grace_seconds` for the others,
/// which may be inside a collective call that it will never join, and then ends the job
/// (MPI_Abort). Collective.
int run_program(const Communicator& comm, const std::string& name, const std::function<int()>& work,
                double grace_seconds = 5);

}  // namespace ringweave
