// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/maps/map_run.hpp"
#include "app/predict/memory_estimate.hpp"
#include "app/smooth/smooth_job.hpp"
#include "app/smooth/smooth_kernel.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::inline app {

/// One way to smooth the maps of a job. It is made without anything large. All members are
/// collective.
class SmoothingMethod {
 public:
  SmoothingMethod(Run& run, SmoothJob& job) : run_(run), job_(job) {}
  SmoothingMethod(const SmoothingMethod&) = delete;
  SmoothingMethod& operator=(const SmoothingMethod&) = delete;
  virtual ~SmoothingMethod() = default;

  /// The value of --method.
  virtual std::string name() const = 0;
  /// Names this one among those that --method auto compares.
  virtual std::string label() const = 0;
  /// The relative error it keeps to; 0 where it computes with the whole kernel.
  virtual double error() const = 0;
  /// Seconds of all maps of the job with the plan they share; the same on all ranks.
  virtual Estimate predict() = 0;
  /// Returns whether the memory is there, as far as it is known before plan().
  virtual bool fits() const { return true; }

  /// Plans the work and returns the groups that maps go through it in. Error  ResourceError where
  /// maps alone do not fit. To be called before the functions below.
  virtual std::vector<MapRange> plan() = 0;
  virtual const LocalRings& rings() const = 0;
  /// Returns the rings of the smoothed maps.
  virtual const LocalRings& new_rings() const { return rings(); }
  /// Returns the memory that the largest group needs.
  virtual MemoryEstimate memory() const = 0;
  /// Puts the plan into the report and, with --dry-run or --verbose, prints it.
  virtual void report_plan(const MemoryEstimate& estimate) = 0;

  /// Reads other inputs, before the first map.
  virtual void prepare() {}
  /// Smooths the maps of a group and adds to their provenance.
  virtual SmoothingReport smooth(AnyMapGroup group) = 0;
  /// Frees the memory of the computation; smooth() takes it again.
  virtual void release() = 0;
  /// Puts the work done into the report.
  virtual void record() {}
  /// Says in a few words how the maps were smoothed.
  virtual std::string summary() const = 0;

 protected:
  void read_weights(const WeightFiles& files) {
    job_.smoothing.weights =
        std::make_shared<const AnalysisWeights>(load_weights(run_, files, rings()));
  }

  Run& run_;
  SmoothJob& job_;
};

/// Makes the harmonic method with these options instead of the job's.
/// Error  UsageError.
std::unique_ptr<SmoothingMethod> harmonic_method(Run& run, SmoothJob& job,
                                                 const TransformOptions& options);

/// Makes the method that takes maps to another grid.
std::unique_ptr<SmoothingMethod> resolution_method(Run& run, SmoothJob& job);

/// Cuts the kernel at a support for rings. Error  UsageError where the kernel, --error and the grid
/// do not go together, or the job is not for rings; ResourceError where maps alone do not fit.
CutKernel cut_for_rings(Run& run, const SmoothJob& job);
std::unique_ptr<SmoothingMethod> ring_method(Run& run, SmoothJob& job, CutKernel cut);

/// Returns why a job cannot be done with a split kernel, in words that follow "because"; empty
/// where it can: for a full HEALPix map.
std::string why_not_split(const SmoothJob& job);
/// Searches for the fastest split. Error  UsageError where the job does not allow one or none keeps
/// --error.
std::unique_ptr<SmoothingMethod> split_method(Run& run, SmoothJob& job);

/// Makes the method of --method auto: the one that is predicted to be the fastest to --error, among
/// those that compute the same thing. Says in one line which it is and why. Collective.
std::unique_ptr<SmoothingMethod> fastest_method(Run& run, SmoothJob& job);

}  // namespace ringweave::detail::inline app
