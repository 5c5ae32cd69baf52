// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "distribute/halo/halo_exchange.hpp"
#include "distribute/halo/halo_plan.hpp"
#include "gyro/scheme.hpp"
#include "gyro/side_lines.hpp"
#include "gyro/stencil_plan.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/gyroaverage.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline gyro {

/// The rows of some planes that a worker fetches from the ranks that share them.
class RowHalo {
 public:
  /// The plan must outlive it. Collective.
  RowHalo(const Communicator& rows, const HaloPlan& plan, std::int64_t most_planes);

  /// Returns the bytes of its buffer.
  static std::int64_t bytes(const HaloPlan& plan, std::int64_t most_planes) {
    return most_planes * plan.halo_size * std::int64_t{sizeof(double)};
  }

  /// Fetches the rows of these planes. Collective.
  void fetch(ComponentView<const double> planes);
  /// Returns a row of another rank.
  const double* row(std::int64_t plane, std::int64_t y) const;
  std::int64_t bytes_sent() const { return bytes_sent_; }  ///< so far

 private:
  const HaloPlan* plan_;
  std::int64_t most_planes_;
  HostBuffer<double> values_;
  std::optional<HaloExchange> exchange_;   ///< of as many planes as are loaded at once
  std::optional<HaloExchange> one_plane_;  ///< of the last ones, if fewer
  std::int64_t bytes_sent_ = 0;
};

/// The rows of this rank, and those of the ranks that share them.
struct SharedRows {
  RowRange own;
  int part = 0;
  std::vector<std::int64_t> cuts;  ///< [part] its first row, and the end; none of one part
};
/// Collective over `rows`.
SharedRows share_rows(const GyroSpec& spec, const Communicator& rows, const RowShare& share);

/// Plans the rows that a rank fetches for its averages; none of one part.
std::optional<HaloPlan> plan_halo(const StencilPlan& plan, const SharedRows& shared);

}  // namespace ringweave::detail::inline gyro
