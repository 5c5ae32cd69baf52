// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <string>

#include "base/mode_view.hpp"
#include "legendre/deconvolved_rows.hpp"
#include "ringweave/alm.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/views.hpp"
#include "sphere/mode_layout.hpp"
#include "sphere/mode_limits.hpp"

namespace ringweave::detail::inline legendre {

/// Input of the plan of a Legendre stage. Row i of `rows` and of `alm` are the same order.
struct LegendreShape {
  std::shared_ptr<const RingGrid> grid;
  ModeLimits limits;
  FoldRule fold;
  AlmLayout alm;    ///< the orders this rank owns
  ModeLayout rows;  ///< layout of the ring modes of the same orders
  FieldSet fields;
  ThetaRoute route = ThetaRoute::automatic;
  /// The automatic route is chosen for at most this many of the components.
  std::int64_t route_components = std::numeric_limits<std::int64_t>::max();
  /// Limit for the device memory of a stage with Backend::cuda, without its tables, whose size is
  /// fixed. With less the stage works in smaller blocks, with the same results (fine rows: to
  /// rounding).
  std::int64_t device_bytes = std::numeric_limits<std::int64_t>::max();
  /// Null: the modes are plain. Otherwise they are those of fine rows, whatever the route. `limits`
  /// should be ModeLimits::of_fine_rows().
  std::shared_ptr<const DeconvolvedRows> fine_rows = nullptr;
};

/// Transforms between a_lm and ring modes of the orders this rank owns. Orthonormal Y_lm with
/// Condon-Shortley phase (as healpy); spin s fields as E/B <-> Q/U with HEALPix signs. Uses no MPI
/// and no FFT along rings. One call at a time per object.
class LegendreStage {
 public:
  virtual ~LegendreStage() = default;

  /// Synthesizes Delta_m(r) = sum_l a_lm lambda_lm(theta_r) for every kept mode.
  /// alm    [component][my order][l = m..lmax]; read only
  /// modes  [position][component], positions of shape.rows; overwritten (padding untouched). A
  ///        ModeView if they are in one buffer.
  /// rows   limits the call to those of these rows that fold into no other, and the rows, wherever
  ///        they are, that fold into them; only their a_lm and modes are accessed. (An exchange in
  ///        passes, OrderPasses.) Fastest for multiples of `rows_at_once`.
  /// Error  UsageError when a size differs from the shape. No allocation. Not collective.
  virtual void synthesize(AnyConstAlmView<> alm, ModePieces<double> modes,
                          RowRange rows = RowRange::all()) = 0;
  static constexpr std::int64_t rows_at_once = 8;

  /// Applies the exact transpose: a_lm = sum_r lambda_lm(theta_r) Delta_m(r) over the kept modes.
  /// No quadrature weights. `Accumulate::add` adds to alm instead of overwriting it.
  virtual void adjoint(ModePieces<const double> modes, AnyAlmView<> alm, Accumulate how,
                       RowRange rows = RowRange::all()) = 0;

  /// Returns a stage for the same orders with another layout of their modes. It shares tables,
  /// scratch and device memory with this one, so one call at a time on both.
  virtual std::unique_ptr<LegendreStage> with_rows(ModeLayout rows) const = 0;

  /// Returns the bytes of tables and scratch on the host, pinned memory included.
  virtual std::int64_t bytes() const = 0;
  /// Returns those on a device.
  virtual std::int64_t device_bytes() const { return 0; }
};

/// Makes a stage. The host has scratch for omp_get_max_threads() threads; later calls use no more.
/// Error  UsageError when the shape contradicts itself, or the backend is missing in this build or
///        cannot work for the shape.
std::unique_ptr<LegendreStage> make_legendre_stage(LegendreShape shape, Backend backend);
// The stage of each backend: on this machine's threads, or on a GPU.
std::unique_ptr<LegendreStage> make_host_legendre_stage(LegendreShape shape);
std::unique_ptr<LegendreStage> make_cuda_legendre_stage(LegendreShape shape);

/// Returns the names of the instruction sets the stage with Backend::host was compiled for, best
/// first, separated by blanks.
std::string simd_targets_compiled();
/// Returns the one used on this machine.
std::string simd_target_chosen();

}  // namespace ringweave::detail::inline legendre
