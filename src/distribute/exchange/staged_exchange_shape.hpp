// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "distribute/exchange/device_route.hpp"
#include "distribute/exchange/exchange_plan.hpp"
#include "distribute/exchange/row_parts.hpp"

namespace ringweave {

/// What an exchange where modes lie on a device is made from.
struct StagedExchangeShape {
  const ExchangePlan& plan;    ///< may go afterwards
  std::vector<RowPart> parts;  ///< of plan.by_order
  std::int64_t n_components;
  DeviceRoute route;
  ModePrecision precision = ModePrecision::double_;
};

}  // namespace ringweave
