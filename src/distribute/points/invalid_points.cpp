// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/points/invalid_points.hpp"

#include <fmt/format.h>

#include "ringweave/error.hpp"

namespace ringweave::detail::inline distribute {

void throw_on_invalid_points(const Communicator& comm, const InvalidPoints& mine,
                             std::string_view what, const std::string& description,
                             std::string_view advice) {
  const std::int64_t total = comm.sum(mine.count);
  if (total == 0) return;
  const auto rank =
      static_cast<int>(comm.min(std::int64_t{mine.count > 0 ? comm.rank() : comm.size()}));
  const std::string first = comm.broadcast(
      fmt::format("point {} of rank {}, {}", mine.first, comm.rank(), description), rank);
  throw DataError("points", fmt::format("{} at {} {}; the first is {}; {}", what, total,
                                        total == 1 ? "point" : "points", first, advice));
}

}  // namespace ringweave::detail::inline distribute
