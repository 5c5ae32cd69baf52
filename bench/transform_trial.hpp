// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ringweave/analysis.hpp"
#include "ringweave/transform.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail {

enum class Direction { synthesis, adjoint, analysis };
const char* name_of(Direction direction);
/// Returns the direction of a name. Error  UsageError.
Direction direction_named(const std::string& name);

/// Seconds of a stage over the ranks.
struct StageSeconds {
  double least = 0;
  double mean = 0;
  double largest = 0;
};

/// One measurement. Seconds, operations and bytes are those of one call; an analysis with its
/// iterations is one call. Seconds are those of the slowest rank, the rest is summed over ranks.
/// Ranks wait in the exchange, so its minimum over ranks is the time of the exchange itself.
struct Timing {
  double seconds = 0;
  StageSeconds legendre;
  StageSeconds exchange;
  StageSeconds ring_fft;
  double legendre_flops = 0;       ///< useful ones (TransformPlan::legendre_flops)
  std::int64_t bytes_sent = 0;     ///< counted where MPI is called
  std::int64_t bytes_planned = 0;  ///< TransformPlan::bytes_sent
};

/// Errors that can be computed without another program.
struct TrialErrors {
  double adjoint_gap = 0;  ///< |<S a, S a> - <a, S^T S a>| / <S a, S a>
  double round_trip = -1;  ///< largest |a - A S a| over the rms of a; -1: not requested
};

/// A transform with its data, in one storage precision.
class TransformTrial {
 public:
  /// `iterations` of the Jacobi analysis. Collective.
  template <class T>
  static std::unique_ptr<TransformTrial> make(const Communicator& comm, const TransformSpec& spec,
                                              int iterations);
  virtual ~TransformTrial() = default;

  virtual const SphericalHarmonicTransform& transform() const = 0;
  double plan_seconds() const { return plan_seconds_; }

  /// Runs everything once, which also touches all memory. Collective.
  virtual TrialErrors check(bool with_analysis) = 0;
  /// Returns the mean of `count` calls in a row. Collective.
  virtual Timing measure(Direction direction, int count) = 0;
  /// `what`: "input", "map", "alm" (of the last adjoint or analysis). Collective. Error UsageError.
  virtual void write(const std::string& what, const std::string& path) const = 0;

 protected:
  double plan_seconds_ = 0;
};

/// Measures the floating-point operations per second of all threads of all ranks together, all
/// running multiply-adds at the same time. Collective.
double all_threads_fma_peak(const Communicator& comm);

}  // namespace ringweave::detail
