// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "distribute/points/point_exchange.hpp"
#include "nonuniform/fine_taps.hpp"
#include "ringweave/lensing.hpp"
#include "ringweave/points.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail::inline nonuniform {

inline constexpr std::int64_t bytes_of_mode = sizeof(std::complex<double>);

/// Bytes of a rank for a set of points.
struct PointSetMemory {
  std::int64_t points = 0;   ///< angles, indices, values sent to other ranks
  std::int64_t sums = 0;     ///< of all components at the points of its rows
  std::int64_t sorting = 0;  ///< most while points are sorted, when nothing else is there
  bool lends_sums = true;    ///< to the slots of the exchange of modes

  std::int64_t total() const { return points + sums; }
  std::int64_t peak() const { return std::max(sorting, total()); }
};

/// Bytes of a rank in a transform to points, without a_lm and values.
struct PointMemory {
  PointSetMemory set;
  std::int64_t modes = 0;   ///< of its rows, and the slots of the exchange
  std::int64_t rows = 0;    ///< in work, of all threads
  std::int64_t tables = 0;  ///< and scratch of all threads

  std::int64_t total() const { return set.total() + modes + rows + tables; }
  std::int64_t of_threads() const { return rows + tables; }
};

/// Bytes of a rank's device for a transform to points.
struct DevicePointMemory {
  std::int64_t legendre = 0;  ///< sums and the rows they end at, in blocks
  std::int64_t rows = 0;      ///< fine rows, their modes and FFTs
  std::int64_t points = 0;    ///< places, turns of frames and values

  std::int64_t total() const { return legendre + rows + points; }
};

/// Predicts it in any build. Not collective. Error  UsageError.
/// to_rows   plan of the transform to fine rows on a device
/// n_summed  points that the rank sums
/// rotation  of the frames of fields of spin at the points
DevicePointMemory device_memory_of_points(const TransformPlan& to_rows, std::int64_t n_summed,
                                          FrameRotation rotation);

/// The size of a transform to points.
struct PointProblem {
  PointSpec spec;             ///< checked
  std::int64_t n_points = 0;  ///< of all ranks
  std::int64_t n_angles = 2;  ///< 3 with psi
  int n_ranks = 1;
  int n_threads = 1;

  std::int64_t n_components() const { return spec.fields.n_components(); }
};

/// Predicts the memory of the rank that needs most, for points all over the sphere that all ranks
/// list an equal number of. Fewer rows are touched by points of a part of the sky. Plans nothing
/// that grows with the points. Not collective.
PointMemory predict_memory(const PointProblem& problem);
/// The same on fine rows that are chosen already.
PointMemory predict_memory(const PointProblem& problem, const FineRows& rows);
/// Predicts the memory of a rank.
/// most_rows  that the points of a tile touch
/// modes      of one component on its rows
/// set        that of its points
PointMemory predict_memory(const PointProblem& problem, const FineRows& rows,
                           std::int64_t most_rows, std::int64_t modes, const PointSetMemory& set);

/// Plans the rows of points that are spread evenly over the sphere. Not collective.
PointPlan even_plan(const PointProblem& problem, const FineRows& rows);
/// Returns about the most points of a row of tiles.
/// points  [first tap] of all ranks
std::int64_t most_of_tile(std::span<const std::int64_t> points);
/// Predicts the memory of their set.
PointSetMemory memory_of_set(const PointProblem& problem, const PointPlan& plan);
/// Predicts the memory of a rank with so many points.
PointSetMemory memory_of_set(const PointCounts& points, std::int64_t n_components);

/// Returns the grid of fine rows as the sums over taps see it.
FineGrid grid_of(const FineRows& rows);
/// Returns the ring modes of one component on the rows of each rank.
std::vector<std::int64_t> modes_of_ranks(const PointSpec& spec, const PointPlan& plan);
/// Returns about the bytes of a thread in the Legendre stage and the row FFT.
std::int64_t thread_bytes(const PointSpec& spec, const FineGrid& grid);

}  // namespace ringweave::detail::inline nonuniform
