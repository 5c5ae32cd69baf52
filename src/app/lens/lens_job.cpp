// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lens/lens_job.hpp"

#include "base/stage_timer.hpp"
#include "io/field_files.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Returns the storage of a view, AnyConstMapView or AnyConstAlmView, whose first type is double.
template <class AnyView>
Precision precision_of(const AnyView& view) {
  return view.index() == 0 ? Precision::double_ : Precision::single_;
}

}  // namespace

FrameRotation rotation_of(const LensOptions& options) {
  return options.no_rotation ? FrameRotation::none : FrameRotation::carried;
}

AnalysisOptions analysis_options(const LensOptions& options) {
  AnalysisOptions analysis;
  analysis.n_iter = options.n_iter;
  analysis.unseen = "restore";
  analysis.remove = "none";
  return analysis;
}

void write_lens_map(Run& run, const LensJob& job, const std::string& path,
                    const std::vector<MapColumn>& columns, const LocalRings& rings,
                    AnyConstMapView<> map) {
  MapHeader header;
  header.grid = job.grid;
  header.precision = precision_of(map);
  header.columns = columns;
  header.coordsys = job.coordsys;
  run.progress.stage("writing " + path);
  const StageTimer timer(&run.times, "write");
  write_map(run.outputs.begin(path), header, job.provenance, rings, map);
}

void write_lens_alm(Run& run, const LensJob& job, const std::string& path,
                    const std::vector<std::string>& components, const std::string& unit,
                    const AlmLayout& layout, AnyConstAlmView<> alm) {
  AlmHeader header;
  header.lmax = layout.lmax();
  header.mmax = layout.mmax();
  header.components = components;
  header.precision = precision_of(alm);
  header.unit = unit;
  header.coordsys = job.coordsys;
  Provenance provenance = job.provenance;
  provenance.lmax = layout.lmax();
  run.progress.stage("writing " + path);
  const StageTimer timer(&run.times, "write");
  write_alm(run.outputs.begin(path), header, provenance, layout, alm);
}

}  // namespace ringweave::detail::inline app
