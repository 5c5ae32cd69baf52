// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/mpi/node_states.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline distribute {
namespace {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

template <std::size_t n>
void write_text(std::array<char, n>& to, const std::string& text) {
  const std::size_t length = std::min(text.size(), n - 1);
  std::fill(std::copy_n(text.begin(), length, to.begin()), to.end(), '\0');
}

template <std::size_t n>
std::string read_text(const std::array<char, n>& from) {
  return {from.begin(), std::find(from.begin(), from.end() - 1, '\0')};
}

/// Maps pages of zeros of a file, or of this process alone; null when the system has none.
RankState* map_states(int file, std::size_t n_ranks) {
  const int sharing = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* const pages =
      ::mmap(nullptr, n_ranks * sizeof(RankState), PROT_READ | PROT_WRITE, sharing, file, 0);
  return pages == MAP_FAILED ? nullptr : static_cast<RankState*>(pages);
}

/// Makes a file in memory with a name that cannot be guessed; its descriptor is negative when the
/// system lets it not be made.
int make_file(std::string& name, std::size_t bytes) {
  std::uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != sizeof random) return -1;
  name = fmt::format("/dev/shm/ringweave-{}-{:016x}", ::getpid(), random);
  const int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
  if (file < 0 || ::posix_fallocate(file, 0, static_cast<off_t>(bytes)) == 0) return file;
  ::close(file);
  ::unlink(name.c_str());
  return -1;
}

/// Maps states of all ranks of a node, which share them; null on all ranks where one cannot.
/// Collective.
RankState* share_states(const Communicator& node) {
  const std::size_t n_ranks = to_size(node.size());
  std::string name;
  int file = node.is_root() ? make_file(name, n_ranks * sizeof(RankState)) : -1;
  name = node.broadcast(name, 0);
  if (!node.is_root() && !name.empty()) file = ::open(name.c_str(), O_RDWR | O_CLOEXEC);
  RankState* states = file < 0 ? nullptr : map_states(file, n_ranks);
  if (file >= 0) ::close(file);
  const bool is_shared = node.min(std::int64_t{states != nullptr}) == 1;
  if (node.is_root() && !name.empty()) ::unlink(name.c_str());
  if (is_shared) return states;
  if (states != nullptr) ::munmap(states, n_ranks * sizeof(RankState));
  return nullptr;
}

}  // namespace

void RankState::show(int rank, const Activity& activity) {
  rank_ = rank;
  steps_ = activity.steps();
  const Activity::Names names = activity.names();
  write_text(work_, names.work);
  write_text(stage_, names.stage);
  write_text(call_, names.call);
  ++beats_;
}

Activity::Names RankState::names() const {
  return {read_text(work_), read_text(stage_), read_text(call_)};
}

NodeStates::NodeStates(const Communicator& comm) {
  const Communicator node = comm.node_local();
  RankState* states = node.size() > 1 ? share_states(node) : nullptr;
  const bool is_shared = states != nullptr;
  agree(comm, [&] {
    if (!is_shared) states = map_states(-1, 1);
    if (states == nullptr) throw ResourceError("no memory for the watchdog of this rank");
  });
  all_ = {states, is_shared ? to_size(node.size()) : 1};
  own_place_ = is_shared ? to_size(node.rank()) : 0;
  are_all_ = ssize64(all_) == comm.size();
}

NodeStates::~NodeStates() { ::munmap(all_.data(), all_.size_bytes()); }

}  // namespace ringweave::detail::inline distribute
