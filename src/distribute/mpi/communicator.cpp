// SPDX-License-Identifier: GPL-3.0-or-later
#include "ringweave/communicator.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <system_error>
#include <thread>

#include "base/checked_cast.hpp"
#include "base/temporary_files.hpp"
#include "base/terminal.hpp"
#include "distribute/mpi/mpi_library.hpp"
#include "ringweave/mpi.hpp"

namespace ringweave {

using namespace detail;

struct Communicator::Impl {
  MPI_Comm handle = MPI_COMM_NULL;  // null: a group of one that calls no MPI
  int rank = 0;
  int size = 1;

  Impl() = default;
  /// Takes over `comm`.
  explicit Impl(MPI_Comm comm) : handle(comm) {
    check_mpi(MPI_Comm_set_errhandler(handle, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check_mpi(MPI_Comm_rank(handle, &rank), "MPI_Comm_rank");
    check_mpi(MPI_Comm_size(handle, &size), "MPI_Comm_size");
  }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  ~Impl() {
    if (handle == MPI_COMM_NULL || std::uncaught_exceptions() > 0) return;
    int ended = 0;
    MPI_Finalized(&ended);
    if (ended == 0) MPI_Comm_free(&handle);
  }
  bool calls_mpi() const { return handle != MPI_COMM_NULL; }
};

namespace {

// Elements per MPI call; larger arrays go in several.
constexpr std::int64_t chunk = std::int64_t{1} << 30;

bool mpi_runs() {
  int started = 0;
  int ended = 0;
  MPI_Initialized(&started);
  MPI_Finalized(&ended);
  return started != 0 && ended == 0;
}

template <class T>
T reduce_value(const Communicator::Impl& impl, T value, MPI_Datatype type, MPI_Op operation) {
  if (!impl.calls_mpi()) return value;
  T result{};
  check_mpi_wait("MPI_Allreduce",
                 [&] { return MPI_Allreduce(&value, &result, 1, type, operation, impl.handle); });
  return result;
}

/// Makes errors of another's communicator codes, for a while.
class ErrorsReturned {
 public:
  explicit ErrorsReturned(MPI_Comm comm) : comm_(comm) {
    MPI_Comm_get_errhandler(comm_, &before_);
    MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN);
  }
  ~ErrorsReturned() {
    MPI_Comm_set_errhandler(comm_, before_);
    MPI_Errhandler_free(&before_);
  }
  ErrorsReturned(const ErrorsReturned&) = delete;
  ErrorsReturned& operator=(const ErrorsReturned&) = delete;

 private:
  MPI_Comm comm_;
  MPI_Errhandler before_ = MPI_ERRHANDLER_NULL;
};

}  // namespace

std::string detail::mpi_error_text(int code) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(code, text.data(), &length);
  return {text.data(), to_size(length)};
}

void detail::check_mpi(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  throw PeerError(fmt::format("{} failed: {}; look for the first error of another rank or node",
                              call, mpi_error_text(code)));
}

MPI_Comm mpi_handle(const Communicator& comm) {
  if (comm.impl().calls_mpi()) return comm.impl().handle;
  if (!mpi_runs()) {
    throw UsageError("this needs MPI, which is not running; create an MpiSession first");
  }
  return MPI_COMM_SELF;
}

Communicator Communicator::world() {
  if (!mpi_runs()) return self();
  return duplicate_of(MPI_Comm{MPI_COMM_WORLD});
}

template <>
Communicator Communicator::duplicate_of<MPI_Comm>(MPI_Comm comm) {
  if (!mpi_runs()) {
    throw UsageError("a communicator cannot be duplicated before MPI_Init or after MPI_Finalize");
  }
  if (comm == MPI_COMM_NULL) throw UsageError("MPI_COMM_NULL has no ranks to compute on");
  int has_two_groups = 0;
  check_mpi(MPI_Comm_test_inter(comm, &has_two_groups), "MPI_Comm_test_inter");
  if (has_two_groups != 0) {
    throw UsageError("an intercommunicator cannot be computed on; merge it first");
  }
  MPI_Comm duplicate = MPI_COMM_NULL;
  const ErrorsReturned errors_are_ours(comm);
  check_mpi_wait("MPI_Comm_dup", [&] { return MPI_Comm_dup(comm, &duplicate); });
  return Communicator(std::make_shared<const Impl>(duplicate));
}

Communicator Communicator::self() { return Communicator(std::make_shared<const Impl>()); }

int Communicator::rank() const { return impl_->rank; }
int Communicator::size() const { return impl_->size; }

void Communicator::barrier() const {
  if (impl_->calls_mpi()) check_mpi_wait("MPI_Barrier", [&] { return MPI_Barrier(impl_->handle); });
}

std::int64_t Communicator::sum(std::int64_t value) const {
  return reduce_value(*impl_, value, MPI_INT64_T, MPI_SUM);
}
std::int64_t Communicator::max(std::int64_t value) const {
  return reduce_value(*impl_, value, MPI_INT64_T, MPI_MAX);
}
std::int64_t Communicator::min(std::int64_t value) const {
  return reduce_value(*impl_, value, MPI_INT64_T, MPI_MIN);
}
double Communicator::sum(double value) const {
  return reduce_value(*impl_, value, MPI_DOUBLE, MPI_SUM);
}
double Communicator::max(double value) const {
  return reduce_value(*impl_, value, MPI_DOUBLE, MPI_MAX);
}
double Communicator::min(double value) const {
  return reduce_value(*impl_, value, MPI_DOUBLE, MPI_MIN);
}

void Communicator::sum(double* values, std::int64_t count) const {
  if (!impl_->calls_mpi()) return;
  for (std::int64_t done = 0; done < count; done += chunk) {
    const int part = static_cast<int>(std::min(chunk, count - done));
    check_mpi_wait("MPI_Allreduce", [&] {
      return MPI_Allreduce(MPI_IN_PLACE, values + done, part, MPI_DOUBLE, MPI_SUM, impl_->handle);
    });
  }
}

void Communicator::sum_to_root(double* values, std::int64_t count) const {
  if (!impl_->calls_mpi()) return;
  for (std::int64_t done = 0; done < count; done += chunk) {
    const int part = static_cast<int>(std::min(chunk, count - done));
    double* const there = values + done;
    check_mpi_wait("MPI_Reduce", [&] {
      return MPI_Reduce(is_root() ? MPI_IN_PLACE : there, is_root() ? there : nullptr, part,
                        MPI_DOUBLE, MPI_SUM, 0, impl_->handle);
    });
  }
}

void Communicator::broadcast(void* bytes, std::int64_t count, int root) const {
  if (!impl_->calls_mpi()) return;
  auto* const begin = static_cast<std::byte*>(bytes);
  for (std::int64_t done = 0; done < count; done += chunk) {
    const int part = static_cast<int>(std::min(chunk, count - done));
    check_mpi_wait("MPI_Bcast",
                   [&] { return MPI_Bcast(begin + done, part, MPI_BYTE, root, impl_->handle); });
  }
}

std::string Communicator::broadcast(const std::string& text, int root) const {
  // Most texts fit into the message with their length.
  struct {
    std::int64_t length = 0;
    std::array<char, 504> begin{};
  } first;
  const auto n_first = [&](const std::string& of) {
    return std::min(of.size(), first.begin.size());
  };
  first.length = ssize64(text);
  std::copy_n(text.begin(), n_first(text), first.begin.begin());
  broadcast(&first, sizeof first, root);
  std::string result = text;
  result.resize(to_size(first.length));
  const std::size_t known = n_first(result);
  std::copy_n(first.begin.begin(), known, result.begin());
  broadcast(result.data() + known, ssize64(result) - static_cast<std::int64_t>(known), root);
  return result;
}

std::vector<std::string> Communicator::gather(const std::string& text) const {
  if (!impl_->calls_mpi()) return {text};
  const std::vector<std::int64_t> lengths = all_gather(ssize64(text));
  const std::int64_t total = std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0});
  // Every rank knows the total, so all of them throw or none does.
  checked_cast<int>(total, "bytes of all gathered texts");
  std::vector<int> counts;
  std::vector<int> offsets;
  int offset = 0;
  for (const std::int64_t length : lengths) {
    counts.push_back(static_cast<int>(length));
    offsets.push_back(offset);
    offset += static_cast<int>(length);
  }
  std::string all(is_root() ? to_size(total) : 0, '\0');
  check_mpi_wait("MPI_Gatherv", [&] {
    return MPI_Gatherv(text.data(), static_cast<int>(text.size()), MPI_CHAR, all.data(),
                       counts.data(), offsets.data(), MPI_CHAR, 0, impl_->handle);
  });
  std::vector<std::string> texts;
  if (!is_root()) return texts;
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    texts.push_back(all.substr(to_size(offsets[rank]), to_size(counts[rank])));
  }
  return texts;
}

std::vector<std::int64_t> Communicator::all_gather(std::int64_t value) const {
  std::vector<std::int64_t> values(to_size(size()), value);
  if (!impl_->calls_mpi()) return values;
  check_mpi_wait("MPI_Allgather", [&] {
    return MPI_Allgather(&value, 1, MPI_INT64_T, values.data(), 1, MPI_INT64_T, impl_->handle);
  });
  return values;
}

Communicator Communicator::split(int color, int key) const {
  if (!impl_->calls_mpi()) return *this;
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi_wait("MPI_Comm_split",
                 [&] { return MPI_Comm_split(impl_->handle, color, key, &part); });
  return Communicator(std::make_shared<const Impl>(part));
}

Communicator Communicator::node_local() const {
  if (!impl_->calls_mpi()) return *this;
  MPI_Comm part = MPI_COMM_NULL;
  check_mpi_wait("MPI_Comm_split_type", [&] {
    return MPI_Comm_split_type(impl_->handle, MPI_COMM_TYPE_SHARED, rank(), MPI_INFO_NULL, &part);
  });
  return Communicator(std::make_shared<const Impl>(part));
}

namespace {

/// Ends this process after some seconds, whatever its thread waits for. The launcher then ends the
/// others.
void exit_in(std::chrono::seconds time, int code) {
  try {
    std::thread([=] {
      std::this_thread::sleep_for(time);
      std::_Exit(code);
    }).detach();
  } catch (const std::system_error&) {
    // Without a thread MPI alone ends it.
  }
}

}  // namespace

void Communicator::abort(ErrorKind kind, const std::string& message) const {
  std::fflush(stdout);
  print_message(fmt::format("ringweave: rank {}: {}: {}", rank(), name_of(kind), message));
  remove_temporary_files();
  if (mpi_runs()) {
    // MPICH's may wait for ever where other ranks are in MPI_Finalize.
    exit_in(std::chrono::seconds(2), exit_code(kind));
    MPI_Abort(impl_->calls_mpi() ? impl_->handle : MPI_COMM_SELF, exit_code(kind));
  }
  std::_Exit(exit_code(kind));
}

}  // namespace ringweave
