// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "base/checked_cast.hpp"
#include "ringweave/alm.hpp"
#include "ringweave/error.hpp"

namespace ringweave {

using namespace detail;

namespace {

std::vector<int> all_orders(int mmax) {
  std::vector<int> orders(to_size(std::max(0, mmax + 1)));
  std::iota(orders.begin(), orders.end(), 0);
  return orders;
}

}  // namespace

AlmLayout::AlmLayout(int lmax, int mmax) : AlmLayout(lmax, mmax, all_orders(mmax)) {}

AlmLayout::AlmLayout(int lmax, int mmax, std::vector<int> orders)
    : lmax_(lmax), mmax_(mmax), orders_(std::move(orders)) {
  if (lmax < 0 || mmax < 0 || mmax > lmax) {
    throw UsageError("lmax = " + std::to_string(lmax) + ", mmax = " + std::to_string(mmax) +
                     "; expected 0 <= mmax <= lmax");
  }
  row_base_.reserve(orders_.size());
  int last = -1;
  for (const int m : orders_) {
    if (m <= last || m > mmax) throw UsageError("orders must ascend strictly within 0..mmax");
    row_base_.push_back(size_ - m);
    size_ += lmax - m + 1;
    last = m;
  }
}

std::int64_t AlmLayout::row_of(int m) const {
  const auto found = std::lower_bound(orders_.begin(), orders_.end(), m);
  return found != orders_.end() && *found == m ? found - orders_.begin() : -1;
}

}  // namespace ringweave
