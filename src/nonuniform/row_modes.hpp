// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/mode_view.hpp"
#include "distribute/points/point_plan.hpp"
#include "fft/ring_fft.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/views.hpp"
#include "transform/host_pipeline.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail::inline nonuniform {

/// Returns, for every fine row, its first value among those of a component of this rank's rows;
/// -1: it has none here.
/// mine   the rings that stand for rows of this rank
/// rings  [fine row] RowModes::rings_of_rows()
std::vector<std::int64_t> first_values(const LocalRings& mine,
                                       const std::vector<std::int64_t>& rings,
                                       std::int64_t n_columns);

/// a_lm <-> modes of the fine rows that this rank owns, both on the host: the Legendre stage, which
/// may work on a device, and the exchange.
/// Members marked * are collective.
class RowModes {
 public:
  /// * Plans both; allocates the tables, scratch and device memory of the stage, but no modes.
  /// spare  memory that holds nothing while modes are exchanged: on all ranks with enough of it the
  ///        modes go in one pass, else in several; none on any rank: in one pass, with slots of
  ///        their own
  /// times  must outlive the object
  RowModes(const Communicator& comm, const TransformSpec& spec, std::optional<View<double>> spare,
           StageTimes* times);

  const TransformPlan& plan() const { return plan_; }
  /// Returns the FFTs of rows on the host, with its backend.
  RingRuns& runs() const { return *ring_fft_->runs(); }
  /// Returns, for every fine row, its ring in the plan; -1: it does not exist, or is another
  /// rank's.
  std::vector<std::int64_t> rings_of_rows(const PointPlan& points) const;

  /// Allocates modes and slots, not initialised.
  void allocate();
  void release() noexcept;
  ModeView<double> by_row() { return {ring_modes_.data(), ring_modes_.size()}; }

  /// * Computes the modes of the rows.
  template <class T>
  void synthesize(AlmView<const T> alm);
  /// * Applies the transpose.
  template <class T>
  void adjoint(AlmView<T> alm, Accumulate how);

  std::int64_t bytes() const;  ///< with those that allocate() takes

 private:
  using Complex = std::complex<double>;
  std::int64_t n_slots() const;
  /// Tells whether the slots are in the spare memory.
  bool fits_spare() const { return spare_ && 2 * n_slots() <= spare_->size(); }
  HostStages::Modes modes();

  TransformPlan plan_;
  std::optional<View<double>> spare_;
  std::shared_ptr<RingFft> ring_fft_;  ///< null with the backend of devices, where rows are
  std::shared_ptr<HostPipeline> pipeline_;
  HostBuffer<Complex> ring_modes_;
  HostBuffer<Complex> slots_;  ///< empty if they are in the spare memory
};

}  // namespace ringweave::detail::inline nonuniform
