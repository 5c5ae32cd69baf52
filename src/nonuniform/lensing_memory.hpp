// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "distribute/points/point_exchange.hpp"
#include "distribute/ring_distribution.hpp"
#include "nonuniform/point_memory.hpp"
#include "ringweave/lensing.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail::inline nonuniform {

/// Bytes of a rank for the deflection of a potential.
struct DeflectionMemory {
  std::int64_t alm = 0;      ///< of d
  std::int64_t vectors = 0;  ///< of the pixels
  std::int64_t modes = 0;    ///< of rings, and slots of the exchange, while d is computed
  std::int64_t tables = 0;   ///< and scratch of threads, during that time

  std::int64_t total() const { return alm + vectors; }
  std::int64_t peak() const { return total() + modes + tables; }
};

/// Predicts it from the plan of the transform of d, of any rank. Not collective.
DeflectionMemory memory_of_deflection(const TransformPlan& plan, int n_threads);

/// Bytes of a rank for the inverse of a deflection, in addition to the deflection.
struct InverseMemory {
  std::int64_t vectors = 0;  ///< of the pixels
  std::int64_t rows = 0;     ///< of the fine field
  std::int64_t tables = 0;   ///< and scratch of threads
  std::int64_t setting = 0;  ///< a_lm and ring modes, until the rows are there
  std::int64_t search = 0;   ///< of the pixels that are searched at once, and their points

  std::int64_t total() const { return vectors; }
  std::int64_t peak() const { return vectors + rows + tables + std::max(setting, search); }
};

/// The pixels of a grid as points, before it is known where a deflection moves them: those of a
/// ring are spread evenly over the rows that they may reach. Plain data, the same on every rank.
class PixelPoints {
 public:
  /// largest  deflection, radians
  /// bands    the rings of the ranks
  PixelPoints(const FineRows& rows, double largest, const RingDistribution& bands);

  const PointPlan& plan() const { return plan_; }
  std::int64_t most_of_tile() const { return most_of_tile_; }  ///< points, about
  int busiest_rank() const;                                    ///< sums most points
  /// Returns the points that a rank has to do with if it lists the pixels of its rings.
  const PointCounts& counts(int rank) const { return counts_[static_cast<std::size_t>(rank)]; }

 private:
  PixelPoints(const FineRows& rows, double largest, const RingDistribution& bands,
              std::span<const std::int64_t> points);

  PointPlan plan_;
  std::int64_t most_of_tile_;
  std::vector<PointCounts> counts_;  ///< [rank]
};

/// The size of a transform to deflected pixels.
struct LensingProblem {
  PointSpec spec;      ///< checked
  double largest = 0;  ///< deflection, radians
  int n_threads = 1;
};

/// Returns the pixels on the rows that are chosen for a transform to them.
PixelPoints pixels_of_lensing(const LensingProblem& problem, const RingDistribution& bands);
/// Predicts the memory of a rank for the transform to deflected pixels. Not collective.
PointMemory memory_of_lensing(const LensingProblem& problem, const PixelPoints& pixels, int rank);

/// Bytes of a rank for delensing, in addition to the inverse deflection and maps of doubles.
struct DelensingMemory {
  PointMemory lensing;
  std::int64_t alm = 0;     ///< as the analysis and as the transform to pixels have them
  std::int64_t modes = 0;   ///< of rings, and slots of the exchange, from the first call on
  std::int64_t map = 0;     ///< that an analysis with corrections works on
  std::int64_t tables = 0;  ///< and scratch of threads, of the analysis

  std::int64_t peak() const { return tables + lensing.total() + alm + modes + map; }
  std::int64_t of_threads() const { return tables + lensing.of_threads(); }
};

/// Predicts it for the analysis with this plan. Not collective.
DelensingMemory memory_of_delensing(const PointMemory& lensing, const TransformPlan& analysis,
                                    int n_iter, int n_threads);

/// Returns the pixels on the rows from which an inverse is found.
/// problem  spec: that of d at points
PixelPoints pixels_of_inverse(const LensingProblem& problem, const RingDistribution& bands);
/// Predicts the memory of a rank while an inverse is found. Not collective.
/// problem  spec: that of d at points
/// pixels   on the rows of its fine field
InverseMemory memory_of_inverse(const LensingProblem& problem, const PixelPoints& pixels, int rank);

}  // namespace ringweave::detail::inline nonuniform
