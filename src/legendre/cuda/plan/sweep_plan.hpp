// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/buffer.hpp"
#include "legendre/cuda/plan/sweep_types.hpp"
#include "legendre/legendre_stage.hpp"
#include "legendre/shared/recurrence.hpp"
#include "legendre/shared/ring_tables.hpp"

// What a device stage is planned from, as plain data made on the host: nothing here needs a device.
namespace ringweave::gpu {

/// The rows of a stage, and where their modes lie.
struct StageRows {
  /// alm_begin  [row] where a row begins among the coefficients of a component; empty: as the
  ///            shape says
  explicit StageRows(const LegendreShape& shape, std::span<const std::int64_t> alm_begin = {});

  std::vector<OrderRow> orders;  ///< [row]
  std::vector<RowSegment> segments;
  /// The rows in the order they are worked on. Rows of one generation fold into different rows;
  /// generation 0 folds into none.
  std::vector<std::int64_t> sequence;
  std::vector<std::int64_t> generation_ends;  ///< in `sequence`
};

/// Pairs [begin, end) of an order as spans of warps, each in a variable that keeps its digits on
/// all of them.
class SpanCutter {
 public:
  explicit SpanCutter(const RingGrid& grid);
  /// Appends to `spans`; `pairs_per_warp` at most in one.
  void cut(std::int64_t begin, std::int64_t end, std::int64_t pairs_per_warp,
           std::vector<Span>& spans) const;

 private:
  std::int64_t n_well_from_pole_;         ///< sin^2 < 3/4 on the pairs before
  std::int64_t first_well_from_equator_;  ///< sin^2 > 1/4 on the pairs from here
};

/// Which pairs a kind of sweep covers, and how.
struct SweepKind {
  bool by_one;
  int spin;    ///< by one
  int degree;  ///< highest
  std::int64_t first_pair;
  std::int64_t end_pair;
  int synthesis_pairs;  ///< per thread
  int adjoint_pairs;
  friend bool operator==(const SweepKind&, const SweepKind&) = default;
};

/// Steps of which rows have columns (synthesis) and partial sums (adjoint).
struct SweepSteps {
  std::int64_t columns = 0;
  std::int64_t partials = 0;
};

/// One kind of sweep over all rows of a stage: what its blocks do, dearest first within a batch.
/// Batches of rows go one after the other, through one workspace.
struct SweepPlan {
  struct Batch {
    std::int64_t first_row;
    std::int64_t n_rows;
    std::int64_t first_synthesis_item;
    std::int64_t n_synthesis_items;
    std::int64_t first_adjoint_item;
    std::int64_t n_adjoint_items;
    SweepSteps steps;
    std::int64_t most_steps;  ///< of a row
    std::int64_t made_degrees;
    RowRange heads;  ///< within which its rows have theirs
  };
  SweepPlan(const LegendreShape& shape, const StageRows& stage, const SweepKind& kind,
            const PairIndex& places);

  SweepSteps steps_of(std::int64_t row) const;
  /// Makes the batches; once. `batch_ends` in stage.sequence, from batch_ends_for().
  void cut(const StageRows& stage, const std::vector<std::int64_t>& batch_ends);

  SweepKind kind;
  std::vector<SweepRow> rows;  ///< as in stage.sequence
  std::vector<Item> synthesis_items;
  std::vector<Item> adjoint_items;
  std::vector<Batch> batches;
};

/// What a row takes of memory that batches share: `swept` of the workspace of sweeps, `made` of
/// what is made for a batch before.
struct RowBytes {
  std::int64_t swept = 0;
  std::int64_t made = 0;
};

/// Cuts the generations of rows into batches of which the most that any takes of both, together,
/// is `most_bytes`, but where one row takes more. `bytes` [place in stage.sequence].
std::vector<std::int64_t> batch_ends_for(const StageRows& stage, const std::vector<RowBytes>& bytes,
                                         std::int64_t most_bytes);

/// The coefficients of steps of two degrees of the low orders among some rows, which need more
/// digits than a device has.
struct PreciseCoefficients {
  PreciseCoefficients(const StageRows& stage, int degree);
  std::vector<std::int64_t> first;  ///< [m] first step, -1: not here
  HostBuffer<Double2> steps;        ///< [step][(a, g from equator), (a, g from pole)]
  HostBuffer<double> alpha;         ///< [step]

 private:
  void copy(const RecurrenceByTwo& recurrence, std::int64_t begin, std::int64_t end);
};

/// Whole chunks of steps of two degrees of order m.
std::int64_t n_steps_by_two(int m, int degree);
std::int64_t n_steps_by_one(int first_degree, int degree);
/// lambda_mm / sin(theta)^m, its sign included, for m = 0..mmax.
std::vector<double> sectoral_values(int mmax);

}  // namespace ringweave::gpu
