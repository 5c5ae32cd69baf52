// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>

#include "distribute/points/point_exchange.hpp"
#include "nonuniform/fine_taps.hpp"
#include "ringweave/points.hpp"

namespace ringweave::detail::inline nonuniform {

/// Bytes of a rank in a transform to points, without a_lm and values.
struct PointMemory {
  std::int64_t points = 0;   ///< angles, indices, values sent to other ranks
  std::int64_t sums = 0;     ///< of all components at the points of its rows
  std::int64_t modes = 0;    ///< of its rows, and the slots of the exchange
  std::int64_t rows = 0;     ///< in work, of all threads
  std::int64_t tables = 0;   ///< and scratch of all threads
  std::int64_t sorting = 0;  ///< most while points are sorted, when only points are there

  std::int64_t of_set() const { return points + sums; }
  std::int64_t of_transform() const { return of_set() + modes + rows + tables; }
  std::int64_t peak() const { return std::max(sorting, of_transform()); }
};

/// The size of a transform to points.
struct PointProblem {
  PointSpec spec;             ///< checked
  std::int64_t n_points = 0;  ///< of all ranks
  std::int64_t n_angles = 2;  ///< 3 with psi
  int n_ranks = 1;
  int n_threads = 1;
};

/// Predicts the memory of the rank that needs most, for points all over the sphere that all ranks
/// list an equal number of. Fewer rows are touched by points of a part of the sky. Plans nothing
/// that grows with the points. Not collective.
PointMemory predict_memory(const PointProblem& problem);
/// The same with taps that are there already.
PointMemory predict_memory(const PointProblem& problem, const FineTaps& taps);

/// Bytes of the points that a rank lists, and of about as many that it sums, and their sums.
PointMemory memory_of_points(const PointCounts& points, std::int64_t n_components);

/// Returns the ring modes of one component on the rows of the rank that has most.
std::int64_t most_modes(const PointSpec& spec, const FineTaps& taps, const RingDistribution& bands);

}  // namespace ringweave::detail::inline nonuniform
