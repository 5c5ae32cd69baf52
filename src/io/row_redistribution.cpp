// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/row_redistribution.hpp"

#include <mpi.h>

#include <numeric>
#include <type_traits>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/exchange_mpi.hpp"
#include "distribute/mpi/mpi_library.hpp"
#include "ringweave/mpi.hpp"

namespace ringweave::detail::inline io {
namespace {

std::vector<int> offsets(std::span<const int> counts) {
  std::vector<int> result(counts.size(), 0);
  std::exclusive_scan(counts.begin(), counts.end(), result.begin(), 0);
  return result;
}

std::vector<int> scaled(std::span<const int> counts, std::int64_t width) {
  std::vector<int> result;
  result.reserve(counts.size());
  for (const int count : counts)
    result.push_back(checked_cast<int>(count * width, "values traded in one window"));
  return result;
}

template <class T>
void trade(const Communicator& comm, const T* send, const std::vector<int>& send_counts, T* receive,
           const std::vector<int>& receive_counts) {
  const MPI_Datatype type = sizeof(T) == 8 && std::is_integral_v<T> ? MPI_INT64_T : MPI_DOUBLE;
  const std::vector<int> send_offsets = offsets(send_counts);
  const std::vector<int> receive_offsets = offsets(receive_counts);
  if (comm.size() == 1) {
    std::copy_n(send, send_counts[0], receive);
    return;
  }
  constexpr const char* trading = "the exchange of rows of a file";
  const int code = waiting_in(trading, [&] {
    return MPI_Alltoallv(send, send_counts.data(), send_offsets.data(), type, receive,
                         receive_counts.data(), receive_offsets.data(), type, mpi_handle(comm));
  });
  end_job_unless_done(comm, code, trading);
}

}  // namespace

RowRedistribution::RowRedistribution(const Communicator& comm, std::span<const int> owner,
                                     std::span<const std::int64_t> key)
    : comm_(comm), share_counts_(to_size(comm.size()), 0), owner_counts_(to_size(comm.size()), 0) {
  abort_on_error(comm, [&] { route(owner, key); });
}

void RowRedistribution::route(std::span<const int> owner, std::span<const std::int64_t> key) {
  for (const int rank : owner) {
    if (rank != nobody) ++share_counts_[to_size(rank)];
  }
  std::vector<int> next = offsets(share_counts_);
  row_of_slot_.resize(
      to_size(std::accumulate(share_counts_.begin(), share_counts_.end(), std::int64_t{0})));
  std::vector<std::int64_t> sent(row_of_slot_.size());
  for (std::size_t i = 0; i < owner.size(); ++i) {
    if (owner[i] == nobody) continue;
    const std::size_t slot = to_size(next[to_size(owner[i])]++);
    row_of_slot_[slot] = static_cast<std::int64_t>(i);
    sent[slot] = key[i];
  }
  if (comm_.size() == 1) {
    owner_counts_ = share_counts_;
  } else {
    constexpr const char* counting = "the exchange of numbers of rows";
    const int code = waiting_in(counting, [&] {
      return MPI_Alltoall(share_counts_.data(), 1, MPI_INT, owner_counts_.data(), 1, MPI_INT,
                          mpi_handle(comm_));
    });
    end_job_unless_done(comm_, code, counting);
  }
  keys_.resize(
      to_size(std::accumulate(owner_counts_.begin(), owner_counts_.end(), std::int64_t{0})));
  trade(comm_, sent.data(), share_counts_, keys_.data(), owner_counts_);
}

std::vector<double> RowRedistribution::to_owners(std::span<const double> share,
                                                 std::int64_t width) const {
  return abort_on_error(comm_, [&] {
    std::vector<double> sent(row_of_slot_.size() * to_size(width));
    for (std::size_t slot = 0; slot < row_of_slot_.size(); ++slot) {
      std::copy_n(share.data() + row_of_slot_[slot] * width, width,
                  sent.data() + static_cast<std::int64_t>(slot) * width);
    }
    std::vector<double> received(keys_.size() * to_size(width));
    trade(comm_, sent.data(), scaled(share_counts_, width), received.data(),
          scaled(owner_counts_, width));
    return received;
  });
}

void RowRedistribution::to_share(std::span<const double> owned, std::int64_t width,
                                 std::span<double> share) const {
  abort_on_error(comm_, [&] {
    std::vector<double> received(row_of_slot_.size() * to_size(width));
    trade(comm_, owned.data(), scaled(owner_counts_, width), received.data(),
          scaled(share_counts_, width));
    for (std::size_t slot = 0; slot < row_of_slot_.size(); ++slot) {
      std::copy_n(received.data() + static_cast<std::int64_t>(slot) * width, width,
                  share.data() + row_of_slot_[slot] * width);
    }
  });
}

}  // namespace ringweave::detail::inline io
