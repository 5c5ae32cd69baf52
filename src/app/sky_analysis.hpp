// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/cli/field_choice.hpp"
#include "app/cli/options.hpp"
#include "app/predict/memory_estimate.hpp"
#include "app/report/transform_report.hpp"
#include "app/run.hpp"
#include "app/transform_setup.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/files.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail::inline app {

/// A map to analyse.
struct Sky {
  std::string path;
  std::unique_ptr<MapReader> reader;
  FieldChoice choice;

  const std::string& unit() const;
};

/// Opens a map and chooses the fields of --fields; warns of oddities. Collective.
/// Error  DataError.
Sky open_sky(Run& run, const std::string& path, const std::string& variable,
             const std::string& fields);
/// The same for a map that is open.
Sky sky_of(Run& run, const std::string& path, std::unique_ptr<MapReader> reader,
           const std::string& fields);

/// Returns the first of the options that is given, of those that only an analysis has; null without
/// any.
const char* given_analysis_option(const AnalysisOptions& options);

/// The analysis of one map, or of several alike.
struct SkyAnalysis {
  AnalysisOptions options{};
  int n_iter = 0;
  Precision precision = Precision::double_;
  WeightFiles weights{};
  MemoryUse use{};
  TransformCount of_one{};  ///< transforms of one map
  std::unique_ptr<SphericalHarmonicTransform> transform{};
};

/// Plans the analysis of maps on one grid with the same fields: rings to visit, corrections,
/// weights, precision, the transform. Collective. Error  UsageError, DataError; ResourceError where
/// map and a_lm alone do not fit.
SkyAnalysis plan_analysis(Run& run, const AnalysisOptions& options,
                          const TransformOptions& transform, const std::vector<Sky>& skies);

/// a_lm, and information on the analysis.
template <class T>
struct Analysed {
  AlmBuffer<T> alm;
  AnalysisReport report;
};

/// Makes the a_lm of the map `path`, whose contents are lost, and reports the residuals.
/// Collective. Error  DataError where they diverge.
template <class T>
Analysed<T> transform_map(Run& run, const SkyAnalysis& analysis, const std::string& path,
                          std::shared_ptr<const AnalysisWeights> weights, MapBuffer<T>& map);

/// The analyses of all maps of a run, and the sky that the mask left of them.
template <class T>
struct Analyses {
  std::vector<Analysed<T>> results;
  SkyFraction fraction;
};

/// Reads the maps and makes their a_lm, and puts the transforms into the report. Weights, mask and
/// the workspace of the transform are freed. Collective.
template <class T>
Analyses<T> analyse_all(Run& run, const SkyAnalysis& analysis, const std::vector<Sky>& skies);

/// Records how maps were analysed.
void put_analysis(const SkyAnalysis& analysis, const SkyFraction& fraction, int iterations,
                  Provenance& provenance);

}  // namespace ringweave::detail::inline app
