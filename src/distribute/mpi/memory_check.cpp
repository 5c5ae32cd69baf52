// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/mpi/memory_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/memory_meter.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline distribute {
namespace {

/// Returns a number of ranks, at most twice as many as needed, whose bytes are within a limit; 0 if
/// more ranks do not help.
int ranks_within(std::int64_t limit, int n_ranks,
                 const std::function<std::int64_t(int n_ranks)>& bytes_among) {
  constexpr int most_ranks = 1 << 16;
  int too_few = n_ranks;
  int enough = 2 * n_ranks;
  while (bytes_among(enough) > limit) {
    if (enough > most_ranks) return 0;
    too_few = enough;
    enough *= 2;
  }
  while (enough - too_few > std::max(1, too_few / 8)) {
    const int middle = too_few + (enough - too_few) / 2;
    (bytes_among(middle) > limit ? too_few : enough) = middle;
  }
  return enough;
}

std::string gigabytes(std::int64_t bytes) {
  return fmt::format("{:.3g} GB", static_cast<double>(bytes) / 1e9);
}

}  // namespace

MemoryShortage memory_shortage(const Communicator& comm, std::int64_t bytes) {
  const Communicator node = comm.node_local();
  const std::int64_t together = node.sum(bytes);
  return {.node_needs = comm.max(together),
          .of_node = comm.max(together - node.min(available_bytes())),
          .rank_needs = comm.max(bytes),
          .of_rank = comm.max(bytes - available_bytes_of_process())};
}

void require_memory_for(const Communicator& comm, std::int64_t bytes, const std::string& what,
                        const std::function<std::int64_t(int n_ranks)>& bytes_among) {
  const MemoryShortage shortage = memory_shortage(comm, bytes);
  if (shortage.largest() <= 0) return;
  const Communicator node = comm.node_local();
  const std::int64_t of_rank = node.min(available_bytes()) / node.size();
  const std::int64_t limit = comm.min(std::min(of_rank, available_bytes_of_process()));
  const int enough = agreed(comm, [&] { return ranks_within(limit, comm.size(), bytes_among); });
  throw ResourceError(
      fmt::format("{} need up to {} on a rank, which has {}; {}", what,
                  gigabytes(shortage.rank_needs), gigabytes(limit),
                  enough > 0 ? fmt::format("start {} ranks with as much memory each", enough)
                             : "lower lmax, or start fewer threads"));
}

void require_memory_of_ranks(const Communicator& comm, std::int64_t bytes, std::int64_t of_threads,
                             const std::string& what) {
  const std::int64_t falling = comm.max(bytes - of_threads);
  require_memory_for(comm, bytes, what,
                     [&](int n_ranks) { return falling / n_ranks * comm.size() + of_threads; });
}

}  // namespace ringweave::detail::inline distribute
