// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "base/backend.hpp"
#include "base/view.hpp"
#include "sphere/alm_layout.hpp"
#include "sphere/field_set.hpp"
#include "sphere/mode_layout.hpp"
#include "sphere/mode_limits.hpp"
#include "sphere/ring_grid.hpp"

namespace ringweave {

/// Where the sums over degrees are formed: on the rings of the grid, or on lmax + 1 equidistant
/// rings from which the grid's are interpolated, to 1e-13 and with an exact transpose. Automatic
/// takes what is estimated to cost less.
enum class ThetaRoute { automatic, direct, resampled };

/// Everything a Legendre stage is planned from. Row i of `rows` and of `alm` are the same order.
struct LegendreShape {
  std::shared_ptr<const RingGrid> grid;
  ModeLimits limits;
  FoldRule fold;
  AlmLayout alm;    ///< the orders this rank owns
  ModeLayout rows;  ///< the same orders; where their ring modes lie
  FieldSet fields;
  ThetaRoute route = ThetaRoute::automatic;
  /// The automatic route is the one for at most so many of the components.
  std::int64_t route_components = std::numeric_limits<std::int64_t>::max();
  /// What a stage with Backend::cuda should take of its device at most, tables aside, which are
  /// what they are: with less it works in smaller pieces, to the same results.
  std::int64_t device_bytes = std::numeric_limits<std::int64_t>::max();
};

/// a_lm <-> ring modes of the orders this rank owns. Orthonormal Y_lm with Condon-Shortley phase
/// (healpy's); spin s fields as E/B <-> Q/U with HEALPix signs. Knows no MPI and no FFT. One call
/// at a time per object.
class LegendreStage {
 public:
  virtual ~LegendreStage() = default;

  /// Synthesis, Delta_m(r) = sum_l a_lm lambda_lm(theta_r) for every kept mode.
  /// alm    [component][my order][l = m..lmax]; read only
  /// modes  [position][component], positions of shape.rows; overwritten (padding untouched). A
  ///        ModeView where they lie in one piece of memory.
  /// Error  UsageError when a size differs from the shape. No allocation. Not collective.
  ///
  /// Of `rows`, those that fold into no other are taken, and the rows, wherever they are, that fold
  /// into them. Only their a_lm and modes are read and written. (An exchange in passes,
  /// OrderPasses.) Fastest for multiples of `rows_at_once`.
  virtual void synthesize(AnyConstAlmView<> alm, ModePieces<double> modes,
                          RowRange rows = RowRange::all()) = 0;
  static constexpr std::int64_t rows_at_once = 8;

  /// Exact transpose: a_lm = sum_r lambda_lm(theta_r) Delta_m(r) over the kept modes. No quadrature
  /// weights. `Accumulate::add` adds to what alm holds instead of overwriting it.
  using Accumulate = ringweave::Accumulate;
  virtual void adjoint(ModePieces<const double> modes, AnyAlmView<> alm, Accumulate how,
                       RowRange rows = RowRange::all()) = 0;

  /// A stage for the same orders with other places for their modes. It shares tables, scratch and
  /// what it holds of a device with this one, so one call at a time on both.
  virtual std::unique_ptr<LegendreStage> with_rows(ModeLayout rows) const = 0;

  /// Bytes of tables and per-thread scratch held.
  virtual std::int64_t bytes() const = 0;
};

/// Error  UsageError when this build lacks the backend.
std::unique_ptr<LegendreStage> make_legendre_stage(LegendreShape shape, Backend backend);

/// Names of the instruction sets the stage with Backend::host was compiled for, best first,
/// separated by blanks.
std::string simd_targets_compiled();
/// The one this machine runs.
std::string simd_target_chosen();

}  // namespace ringweave
