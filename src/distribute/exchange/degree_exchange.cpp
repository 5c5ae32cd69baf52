// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/degree_exchange.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/exchange_mpi.hpp"
#include "distribute/mpi/mpi_library.hpp"
#include "ringweave/mpi.hpp"

namespace ringweave::detail::inline distribute {
namespace {

/// Counts or displacements for MPI.
std::vector<int> counts_for_mpi(const std::vector<std::int64_t>& counts) {
  std::vector<int> result;
  result.reserve(counts.size());
  for (const std::int64_t count : counts)
    result.push_back(checked_cast<int>(count, "a_lm of a block of degrees"));
  return result;
}

std::vector<int> firsts_for_mpi(const std::vector<std::int64_t>& counts) {
  std::vector<std::int64_t> firsts(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), firsts.begin(), std::int64_t{0});
  return counts_for_mpi(firsts);
}

/// Returns the a_lm that a block may have over all ranks.
std::int64_t coefficients_of(std::int64_t block_bytes, std::int64_t element_bytes, int n_ranks) {
  // A rank's share of a block stays well below the largest count of MPI.
  const std::int64_t share =
      std::min(block_bytes / std::max<std::int64_t>(1, element_bytes), std::int64_t{1} << 29);
  return std::max<std::int64_t>(1, share) * n_ranks;
}

}  // namespace

OrderOwners gather_order_owners(const Communicator& comm, const AlmLayout& layout) {
  const std::vector<std::int64_t> counts = comm.all_gather(layout.n_orders());
  const std::int64_t total = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  std::vector<int> orders(layout.orders().begin(), layout.orders().end());
  if (comm.size() > 1) {
    std::vector<int> all(to_size(total));
    check_mpi_wait("MPI_Allgatherv", [&] {
      return MPI_Allgatherv(orders.data(), static_cast<int>(orders.size()), MPI_INT, all.data(),
                            counts_for_mpi(counts).data(), firsts_for_mpi(counts).data(), MPI_INT,
                            mpi_handle(comm));
    });
    orders = std::move(all);
  }
  return OrderOwners(layout.mmax(), std::move(orders), counts);
}

template <class T>
DegreeExchange<T>::DegreeExchange(const Communicator& comm, const AlmLayout& layout,
                                  OrderOwners owners, std::int64_t n_components,
                                  std::int64_t block_bytes, std::int64_t workers)
    : comm_(comm),
      layout_(layout),
      owners_(std::move(owners)),
      n_components_(n_components),
      blocks_(cut_degrees(
          layout.lmax(),
          coefficients_of(block_bytes, n_components * std::int64_t{sizeof(std::complex<T>)},
                          comm.size()),
          workers)) {
  agree(comm_, [&] {
    std::int64_t by_order = 0;
    std::int64_t by_degree = 0;
    for (const DegreeBlock& block : blocks_) {
      const DegreeMessages messages(owners_, block, comm_.rank(), n_components_);
      by_order = std::max(by_order, messages.by_order_size);
      by_degree = std::max(by_degree, messages.by_degree_size);
    }
    for (const std::int64_t size : {by_order, by_degree})
      checked_cast<int>(size, "a_lm of a block of degrees");
    by_degree_.allocate(by_degree);
    if (!alone()) by_order_.allocate(by_order);
  });
}

template <class T>
std::int64_t DegreeExchange<T>::bytes() const {
  return (by_order_.size() + by_degree_.size()) * std::int64_t{sizeof(std::complex<T>)};
}

/// Calls copy(index in the a_lm of a component, component, element by order) for the block's a_lm
/// of this rank's orders. OpenMP over rows.
template <class T>
template <class Copy>
void DegreeExchange<T>::for_elements(const Copy& copy) const {
  const DegreeMessages& messages = *messages_;
  const DegreeBlock block = messages.block;
  // Rows of a_lm are contiguous in l, messages in the row: tiles use whole cache lines of both.
  constexpr std::int64_t tile = 8;
  const std::int64_t n_tiles = (layout_.n_orders() + tile - 1) / tile;
#pragma omp parallel for schedule(static, 16)
  for (std::int64_t t = 0; t < n_tiles; ++t) {
    const std::int64_t begin = t * tile;
    for (std::int64_t c = 0; c < n_components_; ++c) {
      for (int l = std::max(block.begin, layout_.order(begin)); l < block.end; ++l) {
        const std::int64_t rows = messages.by_order_rows[to_size(l - block.begin)];
        const std::int64_t first = messages.by_order_first[to_size(l - block.begin)] + c * rows;
        for (std::int64_t row = begin; row < std::min(rows, begin + tile); ++row)
          copy(layout_.index(row, l), c, first + row);
      }
    }
  }
}

template <class T>
void DegreeExchange<T>::exchange(Direction direction) {
  if (alone()) return;
  const DegreeMessages& messages = *messages_;
  const bool forth = direction == Direction::to_degrees;
  const auto& sent = forth ? messages.by_order_counts : messages.by_degree_counts;
  const auto& received = forth ? messages.by_degree_counts : messages.by_order_counts;
  std::complex<T>* const from = forth ? by_order_.data() : by_degree_.data();
  std::complex<T>* const to = forth ? by_degree_.data() : by_order_.data();
  const MPI_Datatype type = std::is_same_v<T, double> ? MPI_C_DOUBLE_COMPLEX : MPI_C_FLOAT_COMPLEX;
  constexpr const char* exchanging_degrees = "the exchange of a block of degrees";
  const int code = waiting_in(exchanging_degrees, [&] {
    return MPI_Alltoallv(from, counts_for_mpi(sent).data(), firsts_for_mpi(sent).data(), type, to,
                         counts_for_mpi(received).data(), firsts_for_mpi(received).data(), type,
                         mpi_handle(comm_));
  });
  end_job_unless_done(comm_, code, exchanging_degrees);
}

template <class T>
void DegreeExchange<T>::to_degrees(std::int64_t block, AlmView<const T> alm) {
  messages_.emplace(owners_, blocks_[to_size(block)], comm_.rank(), n_components_);
  for_elements([&, to = by_order()](std::int64_t i, std::int64_t c, std::int64_t element) {
    to[element] = alm.component(c)[i];
  });
  exchange(Direction::to_degrees);
}

template <class T>
void DegreeExchange<T>::to_orders(AlmView<T> alm) {
  exchange(Direction::to_orders);
  for_elements([&, from = by_order()](std::int64_t i, std::int64_t c, std::int64_t element) {
    alm.component(c)[i] = from[element];
  });
}

/// Calls copy(m, element by degree) for the orders of one degree.
template <class T>
template <class Copy>
void DegreeExchange<T>::for_orders(std::int64_t index, std::int64_t component,
                                   const Copy& copy) const {
  const std::int64_t* const first = messages_->by_degree_first.data() + index * comm_.size();
  const std::int64_t* const rows = messages_->by_degree_rows.data() + index * comm_.size();
  const int l = messages_->degrees[to_size(index)];
  for (int m = 0; m <= l; ++m) {
    const int owner = owners_.owner(m);
    copy(m, first[owner] + component * rows[owner] + owners_.row(m));
  }
}

template <class T>
void DegreeExchange<T>::read(std::int64_t index, std::int64_t component,
                             std::complex<double>* alm) const {
  for_orders(index, component, [&](int m, std::int64_t element) {
    alm[m] = std::complex<double>(by_degree_[element]);
  });
}

template <class T>
void DegreeExchange<T>::write(std::int64_t index, std::int64_t component,
                              const std::complex<double>* alm) {
  for_orders(index, component,
             [&](int m, std::int64_t element) { by_degree_[element] = std::complex<T>(alm[m]); });
}

template class DegreeExchange<float>;
template class DegreeExchange<double>;

}  // namespace ringweave::detail::inline distribute
