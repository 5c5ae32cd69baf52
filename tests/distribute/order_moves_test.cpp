// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/order_moves.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"
#include "support/rank_groups.hpp"

namespace ringweave::detail::test {
namespace {

constexpr int band_limit = 21;
constexpr int most_order = 17;

/// Orders dealt to ranks by `owner`.
template <class Owner>
AlmLayout dealt(const Communicator& comm, const Owner& owner) {
  std::vector<int> orders;
  for (int m = 0; m <= most_order; ++m) {
    if (owner(m) % comm.size() == comm.rank()) orders.push_back(m);
  }
  return {band_limit, most_order, std::move(orders)};
}

std::complex<double> value_of(std::int64_t c, int l, int m) {
  return {static_cast<double>(100 * c + l), static_cast<double>(m)};
}

template <class T>
void expect_all_arrive(const Communicator& comm) {
  const AlmLayout from = dealt(comm, [](int m) { return m; });
  const AlmLayout to = dealt(comm, [](int m) { return m * m / 5; });
  AlmBuffer<T> sent(2, from.size());
  AlmBuffer<T> received(2, to.size());
  for (std::int64_t c = 0; c < 2; ++c) {
    for (std::int64_t row = 0; row < from.n_orders(); ++row) {
      for (int l = from.order(row); l <= band_limit; ++l)
        sent.view().component(c)[from.index(row, l)] =
            std::complex<T>(value_of(c, l, from.order(row)));
    }
  }
  move_orders<T>(comm, from, std::as_const(sent).view(), to, received.view());
  for (std::int64_t c = 0; c < 2; ++c) {
    for (std::int64_t row = 0; row < to.n_orders(); ++row) {
      for (int l = to.order(row); l <= band_limit; ++l) {
        ASSERT_EQ(received.view().component(c)[to.index(row, l)],
                  std::complex<T>(value_of(c, l, to.order(row))));
      }
    }
  }
}

TEST_P(OnEveryRankCount, OrdersArriveAtTheirOwnersOfAnotherLayout) {
  expect_all_arrive<double>(comm());
  expect_all_arrive<float>(comm());
}

TEST_P(OnEveryRankCount, OrdersOfOtherDegreesAreNotMoved) {
  const AlmLayout layout = dealt(comm(), [](int m) { return m; });
  const AlmLayout longer(band_limit + 1, most_order,
                         {layout.orders().begin(), layout.orders().end()});
  const AlmBuffer<double> sent(1, layout.size());
  AlmBuffer<double> received(1, longer.size());
  EXPECT_THROW(move_orders<double>(comm(), layout, sent.view(), longer, received.view()),
               UsageError);
}

}  // namespace
}  // namespace ringweave::detail::test
