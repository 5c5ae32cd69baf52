// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "app/maps/map_run.hpp"
#include "app/predict/memory_estimate.hpp"
#include "app/report/transform_report.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail::inline app {

/// The transform of the maps of a group, all at once. All but the accessors and count() are
/// collective.
class GroupTransform {
 public:
  /// of_one   of one map
  /// backend  the --backend from which that of `of_one` was chosen
  GroupTransform(Run& run, TransformSpec of_one, std::string backend)
      : run_(run), of_one_(std::move(of_one)), backend_(std::move(backend)) {}

  const TransformSpec& of_one() const { return of_one_; }
  std::int64_t n_components() const { return of_one_.fields.n_components(); }
  TransformPlan plan(std::int64_t n_maps) const;

  /// Chooses the groups of maps that are transformed together: of --batch maps, or of as many as
  /// are efficient and fit in memory. Results do not depend on the groups.
  std::vector<MapRange> choose_groups(const MapList& list, const MapsOptions& options,
                                      const MemoryUse& use) const;

  /// Plans for this number of maps. The last groups may be smaller than those before; the
  /// counts of the transform before go into the report.
  void plan_for(std::int64_t n_maps, const MemoryUse& use);
  /// The transform planned last; not before plan_for().
  SphericalHarmonicTransform& operator*() const { return *transform_; }
  SphericalHarmonicTransform* operator->() const { return transform_.get(); }
  void count(const TransformCount& done) { count_ += done; }
  /// Puts the counts into the report.
  void record();

 private:
  TransformSpec spec(std::int64_t n_maps) const;

  Run& run_;
  TransformSpec of_one_;
  std::string backend_;
  std::unique_ptr<SphericalHarmonicTransform> transform_;
  TransformCount count_;  ///< of transform_
};

/// Puts each map into its own group; prints the reason if --batch asks for something else.
std::vector<MapRange> one_by_one(Run& run, const MapList& list, const MapsOptions& options,
                                 const std::string& reason);

/// Returns the bytes of this rank's part of a map with all its components.
std::int64_t map_bytes(const FieldSet& fields, const LocalRings& rings, Precision precision);

/// Adds the maps that wait while others are computed.
/// bytes_of_map  map_bytes() of one
MemoryEstimate with_others(MemoryEstimate estimate, const std::vector<MapRange>& groups,
                           std::int64_t bytes_of_map);

/// Prints the groups with --dry-run and --verbose.
void tell_groups(Run& run, const MapList& list, const std::vector<MapRange>& groups);

/// Reports that all outputs exist already.
void report_nothing_to_do(Run& run, const MapList& list);

}  // namespace ringweave::detail::inline app
