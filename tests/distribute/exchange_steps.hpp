// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>

#include "base/checked_cast.hpp"
#include "distribute/exchange/mode_exchange.hpp"
#include "distribute/exchange/order_passes.hpp"

namespace ringweave::detail::test {

/// Runs all passes of an exchange; make(part) computes the modes of its rows.
template <class Make>
void exchange_to_rings(ModeExchange& exchange, const OrderPasses& plan, const ModeMemory& modes,
                       const Make& make) {
  const auto end = [&](int pass) {
    if (pass < 0) return;
    exchange.end(pass);
    exchange.unpack_rings(pass, modes);
  };
  for (int pass = 0; pass < exchange.n_passes(); ++pass) {
    end(pass - exchange.n_slots());
    const auto& parts = plan.passes[to_size(pass)].parts;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      make(parts[i]);
      exchange.pack_part(pass, static_cast<int>(i), modes);
    }
    exchange.ready(pass, modes);
    exchange.begin(ModeExchange::Direction::orders_to_rings, pass, modes);
    exchange.progress();
  }
  for (int pass = exchange.n_passes() - exchange.n_slots(); pass < exchange.n_passes(); ++pass)
    end(pass);
}

/// Runs the transpose; use(part) uses the modes of its rows.
template <class Use>
void exchange_to_orders(ModeExchange& exchange, const OrderPasses& plan, const ModeMemory& modes,
                        const Use& use) {
  for (int pass = 0; pass < exchange.n_passes(); ++pass) {
    exchange.pack_rings(pass, modes);
    exchange.ready(pass, modes);
    exchange.begin(ModeExchange::Direction::rings_to_orders, pass, modes);
    exchange.progress();
    exchange.end(pass);
    const auto& parts = plan.passes[to_size(pass)].parts;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      exchange.unpack_part(pass, static_cast<int>(i), modes);
      use(parts[i]);
    }
  }
}

/// Calls visit(row) for the rows of a part: those that fold into no other, then those that fold
/// into them.
template <class Visit>
void for_each_row(const ModeLayout& layout, const OrderPasses::Part& part, const Visit& visit) {
  for (std::int64_t i = 0; i < ssize64(layout.rows()); ++i) {
    const ModeLayout::Row& row = layout.rows()[to_size(i)];
    const std::int64_t head = row.fold_into < 0 ? i : row.fold_into;
    if (part.rows.contains(head)) visit(row);
  }
}

}  // namespace ringweave::detail::test
