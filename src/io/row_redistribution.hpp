// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <span>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/communicator.hpp"

namespace ringweave {

/// Where file order and ownership differ (NESTED maps, pixel lists, a_lm rows), file rows are taken
/// in windows; each rank reads or writes an equal contiguous share of a window and trades values
/// with their owners.
struct RowWindows {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  std::int64_t share = 1;  ///< rows of one rank in one window
  int n_ranks = 1;

  /// `values_per_row` keeps what one rank may receive in one window below 2^30 numbers, whoever
  /// owns them.
  RowWindows(std::int64_t first, std::int64_t last, std::int64_t rows_per_share, int ranks,
             std::int64_t values_per_row)
      : begin(first),
        end(last),
        share(std::max<std::int64_t>(
            1, std::min(rows_per_share, (std::int64_t{1} << 30) /
                                            (ranks * std::max<std::int64_t>(1, values_per_row))))),
        n_ranks(ranks) {}
  std::int64_t count() const {
    return end > begin ? (end - begin + share * n_ranks - 1) / (share * n_ranks) : 0;
  }
  std::int64_t first(std::int64_t window, int rank) const {
    return std::min(end, begin + (window * n_ranks + rank) * share);
  }
  std::int64_t rows(std::int64_t window, int rank) const {
    return std::min(end, first(window, rank) + share) - first(window, rank);
  }
};

/// The trade of one window. Row i of this rank's share belongs to rank owner[i], who knows it as
/// key[i].
class RowRedistribution {
 public:
  static constexpr int nobody = -1;
  /// Collective. MPI failure ends the job.
  RowRedistribution(const Communicator& comm, std::span<const int> owner,
                    std::span<const std::int64_t> key);

  /// What the shares of all ranks hold of this rank's, as keys.
  std::span<const std::int64_t> keys() const { return keys_; }
  /// share [row][width] -> owned [key][width]. Collective.
  std::vector<double> to_owners(std::span<const double> share, std::int64_t width) const;
  /// owned [key][width] -> share [row][width]; rows that nobody owns are left alone. Collective.
  void to_share(std::span<const double> owned, std::int64_t width, std::span<double> share) const;

 private:
  void route(std::span<const int> owner, std::span<const std::int64_t> key);

  Communicator comm_;
  std::vector<std::int64_t> row_of_slot_;  ///< rows of the share grouped by owner
  std::vector<int> share_counts_;
  std::vector<int> owner_counts_;
  std::vector<std::int64_t> keys_;
};

/// Runs work that leads into a collective: an error on this rank alone would leave the others
/// waiting, so it ends the job.
template <class Work>
auto abort_on_error(const Communicator& comm, Work&& work) {
  try {
    return std::forward<Work>(work)();
  } catch (...) {
    if (comm.size() == 1) throw;
    const CaughtError error = describe_current_exception();
    comm.abort(error.kind, error.message);
  }
}

/// Runs work in which ranks wait for one another (a collective transfer), then agrees on how it
/// went. Every rank must reach the end of the waiting parts also when it fails. Collective.
template <class Work>
void run_collectively(const Communicator& comm, Work&& work) {
  std::exception_ptr error;
  try {
    std::forward<Work>(work)();
  } catch (...) {
    error = std::current_exception();
  }
  agree(comm, [&] {
    if (error) std::rethrow_exception(error);
  });
}

}  // namespace ringweave
