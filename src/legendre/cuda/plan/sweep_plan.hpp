// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "legendre/cuda/plan/sweep_types.hpp"
#include "legendre/legendre_stage.hpp"
#include "legendre/shared/recurrence.hpp"
#include "legendre/shared/ring_tables.hpp"
#include "ringweave/views.hpp"

// Plan of a device stage: plain data computed on the host without a device.
namespace ringweave::detail::gpu {

/// The rows of a stage and the layout of their modes.
struct StageRows {
  /// alm_begin  [row] start of a row among the coefficients of a component; empty: as in the shape
  explicit StageRows(const LegendreShape& shape, std::span<const std::int64_t> alm_begin = {});

  std::vector<OrderRow> orders;  ///< [row]
  std::vector<RowSegment> segments;
  /// Rows in processing order. Rows of one generation fold into different rows; generation 0 folds
  /// into none.
  std::vector<std::int64_t> sequence;
  std::vector<std::int64_t> generation_ends;  ///< in `sequence`
};

/// Cuts pairs [begin, end) of an order into spans of warps, each with a variable that keeps its
/// digits on all pairs of the span.
class SpanCutter {
 public:
  explicit SpanCutter(const RingGrid& grid);
  /// Appends to `spans`, each of at most `pairs_per_warp` pairs.
  void cut(std::int64_t begin, std::int64_t end, std::int64_t pairs_per_warp,
           std::vector<Span>& spans) const;

 private:
  std::int64_t n_well_from_pole_;         ///< end of the pairs with sin^2 < 3/4
  std::int64_t first_well_from_equator_;  ///< begin of the pairs with sin^2 > 1/4
};

/// Pairs and recurrence of one kind of sweep.
struct SweepKind {
  bool by_one;
  int spin;    ///< used with by_one
  int degree;  ///< the highest
  std::int64_t first_pair;
  std::int64_t end_pair;
  int synthesis_pairs;  ///< per thread
  int adjoint_pairs;
  friend bool operator==(const SweepKind&, const SweepKind&) = default;
};

/// Steps of some rows that need columns (synthesis) and partial sums (adjoint).
struct SweepSteps {
  std::int64_t columns = 0;
  std::int64_t partials = 0;
};

/// Plan of one kind of sweep over all rows of a stage: the items of its blocks, most expensive
/// first within a batch. Batches of rows are processed one after the other in one workspace.
struct SweepPlan {
  struct Batch {
    std::int64_t first_row;
    std::int64_t n_rows;
    std::int64_t first_synthesis_item;
    std::int64_t n_synthesis_items;
    std::int64_t first_adjoint_item;
    std::int64_t n_adjoint_items;
    SweepSteps steps;
    std::int64_t most_steps;  ///< of any row
    std::int64_t made_degrees;
    RowRange heads;  ///< contains the heads of its rows
  };
  SweepPlan(const LegendreShape& shape, const StageRows& stage, const SweepKind& kind,
            const PairIndex& places);

  SweepSteps steps_of(std::int64_t row) const;
  /// Makes the batches; to be called once. `batch_ends`: in stage.sequence, from batch_ends_for().
  void cut(const StageRows& stage, const std::vector<std::int64_t>& batch_ends);

  SweepKind kind;
  std::vector<SweepRow> rows;  ///< as in stage.sequence
  std::vector<Item> synthesis_items;
  std::vector<Item> adjoint_items;
  std::vector<Batch> batches;
};

/// Memory of a row that batches share: `swept` in the workspace of sweeps, `made` for rows and
/// coefficients computed before a sweep.
struct RowBytes {
  std::int64_t swept = 0;
  std::int64_t made = 0;
};

/// Cuts the generations of rows into batches. The largest `swept` plus the largest `made` of any
/// batch is at most `most_bytes`, unless one row needs more. `bytes` [index in stage.sequence].
std::vector<std::int64_t> batch_ends_for(const StageRows& stage, const std::vector<RowBytes>& bytes,
                                         std::int64_t most_bytes);

/// Coefficients of two-degree steps for the low orders of some rows, computed on the host because
/// they need more digits than a device has.
struct PreciseCoefficients {
  PreciseCoefficients(const StageRows& stage, int degree);
  std::vector<std::int64_t> first;  ///< [m] first step; -1: none
  HostBuffer<Double2> steps;        ///< [step][(a, g from equator), (a, g from pole)]
  HostBuffer<double> alpha;         ///< [step]

 private:
  void copy(const RecurrenceByTwo& recurrence, std::int64_t begin, std::int64_t end);
};

/// Return the number of steps of order m, rounded up to whole chunks.
std::int64_t n_steps_by_two(int m, int degree);
std::int64_t n_steps_by_one(int first_degree, int degree);

}  // namespace ringweave::detail::gpu
