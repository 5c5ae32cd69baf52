// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "app/predict/memory_estimate.hpp"
#include "distribute/mpi/device_sharers.hpp"
#include "nonuniform/fine_taps.hpp"
#include "nonuniform/point_memory.hpp"
#include "perf_models/point_model.hpp"
#include "ringweave/files.hpp"
#include "ringweave/points.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail::inline app {

/// Work of a rank for points, and the bytes that it holds with them.
struct PointShare {
  PointWork work;
  std::int64_t bytes = 0;
};

/// A rank's device, and the part of its memory that a transform to points takes.
struct PointDevice {
  DeviceShare share;
  DevicePointMemory planned;
};

/// Points all over the sphere, as many near any place, before anything of their transform is
/// planned. Not collective.
class EvenPoints {
 public:
  /// n_angles  2, or 3 with psi
  /// Error  UsageError when the specification contradicts itself.
  EvenPoints(const PointSpec& spec, std::int64_t n_points, std::int64_t n_angles);

  const PointReport& report() const { return report_; }  ///< of one rank
  /// The transform between a_lm and fine rows.
  const TransformSpec& rows() const { return rows_; }
  /// Work of a rank of so many for them.
  PointWork work(int n_ranks, int n_threads) const;
  /// The same, with the memory for doubles.
  PointShare share(int n_ranks, int n_threads) const;
  /// Memory of a rank of so many, without the program and the angles it lists.
  std::vector<MemoryItem> memory(int n_ranks, int n_threads, Precision precision) const;

 private:
  PointReport report_among(int n_ranks) const;
  std::int64_t n_value_components() const;

  PointSpec spec_;
  std::int64_t n_points_;
  std::int64_t n_angles_;
  std::shared_ptr<const FineTaps> taps_;
  TransformSpec rows_;
  PointReport report_;
};

/// Returns the transform between a_lm and all fine rows, or those of a plan, without the
/// deconvolution of the taps.
TransformSpec transform_to_rows(const PointSpec& spec, const FineRows& rows);
TransformSpec transform_to_rows(const PointSpec& spec, const PointPlan& plan);

struct Processors {
  int n_ranks = 1;
  int n_threads = 1;  ///< of a rank
};

/// Returns the work of the rank with most points, of which every one is listed by another rank. Not
/// collective.
PointWork point_work(const PointTransform& transform, int n_ranks, int n_threads);
/// Returns the work of the rank with most points.
/// rows        the transform to fine rows
/// sent_bytes  values that go to other ranks
PointWork point_work(const TransformSpec& rows, const PointReport& report, double sent_bytes,
                     const Processors& processors);

/// Throws a ResourceError on all ranks where points that are read, spread evenly, and their
/// transform do not fit the memory; says on how many ranks they would. Collective.
void require_memory_for_points(const Communicator& comm, const PointSpec& spec,
                               const PointFile& points, Precision precision);

}  // namespace ringweave::detail::inline app
