// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "app/gyro/error_estimate.hpp"
#include "app/gyro/gyro_job.hpp"
#include "app/predict/memory_estimate.hpp"
#include "app/run.hpp"
#include "gyro/gyro_plan.hpp"
#include "gyro/gyro_setup.hpp"

namespace ringweave::detail::inline app {

/// The batches in which a run goes through its fields: of one size, each read, averaged and
/// written. The last one begins earlier where it would not be full, and makes some fields again.
struct GyroBatches {
  std::int64_t size = 1;      ///< fields of each radius
  std::int64_t n_fields = 1;  ///< of all batches
  GyroPlan plan{};            ///< of a batch
  EstimatePlan estimate{};    ///< with --estimate
  GyroBytes bytes{};          ///< of this rank, in addition to its planes
  MemoryEstimate memory{};    ///< of this rank
  bool fits = true;           ///< the memory of every rank; else batches are of one field

  std::int64_t count() const { return (n_fields + size - 1) / size; }
  std::int64_t begin(std::int64_t batch) const {
    return batch + 1 < count() ? batch * size : n_fields - size;
  }
};

/// Numbers that a rank holds of fields and results.
struct GyroBuffers {
  std::int64_t n_in = 0;  ///< components
  std::int64_t in_size = 0;
  std::int64_t n_out = 0;
  std::int64_t out_size = 0;
  /// Rows of results of --combine double, where another average needs whole fields of them.
  std::int64_t n_between = 0;
  std::int64_t between_size = 0;
};
GyroBuffers buffers_of(const GyroJob& job, const GyroPart& part);

/// Checks the job's specification, chooses the fewest batches whose planes and tables fit the
/// memory, and puts their size into the specification. Collective.
/// Error  UsageError where the specification contradicts itself.
GyroBatches plan_batches(Run& run, GyroJob& job);

/// Throws a ResourceError, with the bytes, where not even one field fits. Collective.
void require_memory(const Run& run, const GyroJob& job, const GyroBatches& batches);

}  // namespace ringweave::detail::inline app
