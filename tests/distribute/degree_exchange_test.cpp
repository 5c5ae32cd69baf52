// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/degree_exchange.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "support/expect_error.hpp"
#include "support/rank_groups.hpp"

namespace ringweave::detail::test {
namespace {

constexpr int lmax = 29;

/// Orders dealt in turn to all ranks but the last of several, which has none.
AlmLayout layout_of(const Communicator& comm) {
  const int n = std::max(1, comm.size() - 1);
  std::vector<int> orders;
  if (comm.rank() < n) {
    for (int m = comm.rank(); m <= lmax; m += n) orders.push_back(m);
  }
  return AlmLayout(lmax, lmax, orders);
}

constexpr std::complex<double> label(std::int64_t component, int l, int m) {
  return {static_cast<double>(1000 * component + l), static_cast<double>(m)};
}

/// Calls work(a_lm, its label) for all a_lm of this rank.
template <class T, class Work>
void for_labelled(const AlmLayout& layout, AlmBuffer<T>& alm, const Work& work) {
  for (std::int64_t c = 0; c < alm.n_components(); ++c) {
    for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
      for (int l = layout.order(row); l <= lmax; ++l) {
        work(alm.view().component(c)[layout.index(row, l)],
             std::complex<T>(label(c, l, layout.order(row))));
      }
    }
  }
}

template <class T>
void expect_all_arrive(const Communicator& comm, std::int64_t block_bytes) {
  constexpr std::int64_t n_components = 2;
  const AlmLayout layout = layout_of(comm);
  AlmBuffer<T> alm(n_components, layout.size());
  for_labelled<T>(layout, alm, [](std::complex<T>& a, std::complex<T> its) { a = its; });
  DegreeExchange<T> exchange(comm, layout, gather_order_owners(comm, layout), n_components,
                             block_bytes, comm.size());
  std::int64_t n_degrees = 0;
  for (std::int64_t block = 0; block < exchange.n_blocks(); ++block) {
    exchange.to_degrees(block, std::as_const(alm).view());
    n_degrees += ssize64(exchange.degrees());
    for (std::int64_t i = 0; i < ssize64(exchange.degrees()); ++i) {
      const int l = exchange.degrees()[to_size(i)];
      for (std::int64_t c = 0; c < n_components; ++c) {
        std::vector<std::complex<double>> values(to_size(l + 1));
        exchange.read(i, c, values.data());
        for (int m = 0; m <= l; ++m) {
          EXPECT_EQ(values[to_size(m)], label(c, l, m));
          values[to_size(m)] = -values[to_size(m)];
        }
        exchange.write(i, c, values.data());
      }
    }
    exchange.to_orders(alm.view());
  }
  EXPECT_EQ(comm.sum(n_degrees), lmax + 1);
  for_labelled<T>(layout, alm, [](std::complex<T>& a, std::complex<T> its) { EXPECT_EQ(a, -its); });
}

TEST(DegreeExchange, TakesEveryCoefficientToItsDegreeAndBack) {
  on_every_rank_count([](const Communicator& comm) {
    for (const std::int64_t block_bytes : {0, 3000, 1000000}) {
      expect_all_arrive<double>(comm, block_bytes);
      expect_all_arrive<float>(comm, block_bytes);
    }
  });
}

TEST(DegreeExchange, RefusesOrdersOfNoRankOnAllRanks) {
  on_every_rank_count([](const Communicator& comm) {
    const AlmLayout layout(lmax, lmax,
                           comm.is_root() ? std::vector<int>{0, 5} : std::vector<int>{});
    expect_error(ErrorKind::usage, "no rank has the a_lm of order m = 1",
                 [&] { gather_order_owners(comm, layout); });
  });
}

}  // namespace
}  // namespace ringweave::detail::test
