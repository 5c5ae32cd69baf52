// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/sky_mask.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "app/analysis_checks.hpp"
#include "app/cli/angle.hpp"
#include "app/cli/field_choice.hpp"
#include "app/transform_setup.hpp"
#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Radians of --apodise; 0 without.
double apodisation_of(const AnalysisOptions& options) {
  if (options.apodise.empty()) return 0;
  if (options.mask.empty())
    throw UsageError("--apodise belongs to --mask; give the mask, or leave --apodise out");
  const double angle = parse_width(options.apodise, "--apodise");
  if (!(angle > 0 && angle <= std::numbers::pi)) {
    throw UsageError(
        fmt::format("--apodise {}: expected more than 0, at most 180deg", options.apodise));
  }
  return angle;
}

/// The column of --mask-column. Error  UsageError.
int column_of_mask(const AnalysisOptions& options, const MapHeader& header) {
  if (options.mask_column.empty()) return 0;
  return choose_column("--mask-column", options.mask_column, options.mask, header);
}

/// Makes 0 of UNSEEN pixels, and 0 or 1 of values that differ from them by rounding. Collective.
/// Error  DataError.
void require_fractions(const Communicator& comm, const std::string& path,
                       std::vector<double>& mask) {
  constexpr double rounding = 1e-6;
  std::int64_t n_outside = 0;
  double least = 0;
  double most = 0;
  bool all_zero = true;
  for (double& w : mask) {
    if (is_unseen(w)) w = 0;
    if (!(w >= -rounding && w <= 1 + rounding)) ++n_outside;
    least = std::min(least, w);
    most = std::max(most, w);
    w = std::clamp(w, 0.0, 1.0);
    all_zero = all_zero && w == 0;
  }
  n_outside = comm.sum(n_outside);
  least = comm.min(least);
  most = comm.max(most);
  if (n_outside > 0) {
    throw DataError(path, fmt::format("{} pixels are not from 0 (masked) to 1 (seen): its values "
                                      "go from {:.6g} to {:.6g}; give a mask",
                                      n_outside, least, most));
  }
  if (comm.min(std::int64_t{all_zero ? 1 : 0}) == 1)
    throw DataError(path, "masks every pixel; nothing is left of the sky");
}

}  // namespace

void check_mask(Run& run, const AnalysisOptions& options, const MapHeader& map) {
  apodisation_of(options);
  if (options.mask.empty()) {
    if (options.mask_column.empty()) return;
    throw UsageError("--mask-column belongs to --mask; give the mask, or leave it out");
  }
  run.outputs.keep(options.mask);
  const auto reader = open_map(run.comm, options.mask);
  if (!has_same_rings(*reader->header().grid, *map.grid)) {
    throw DataError(options.mask, fmt::format("its grid is {}; the mask of a map on {} has to be "
                                              "on the same",
                                              reader->header().grid->name(), map.grid->name()));
  }
  warn_of_coordinates(run, options.mask, reader->header(), "the map", map);
  column_of_mask(options, reader->header());
}

SkyMask read_mask(Run& run, const AnalysisOptions& options, const LocalRings& rings) {
  if (options.mask.empty()) return {};
  run.progress.stage("reading " + options.mask);
  const auto reader = open_map(run.comm, options.mask);
  const MapHeader& header = reader->header();
  const std::array<int, 1> column{column_of_mask(options, header)};
  if (header.columns.size() > 1 && options.mask_column.empty()) {
    run.note(fmt::format("{}: the mask is its first column, {}", options.mask,
                         header.columns.front().name));
  }
  auto values = agreed(
      run.comm, [&] { return std::make_shared<std::vector<double>>(to_size(rings.n_pixels())); });
  reader->read(column, rings, MapView<double>(values->data(), 1, rings.n_pixels()));
  require_fractions(run.comm, options.mask, *values);
  if (const double angle = apodisation_of(options); angle > 0) {
    run.progress.stage("apodising the mask");
    apodise(run.comm, rings, angle, *values);
  }
  const SkyFraction fraction = sky_fraction(run.comm, rings, *values);
  run.print_line(fmt::format("{}: f_sky {:.6g}, mean of squares {:.6g}", options.mask,
                             fraction.f_sky, fraction.of_squares));
  return {values, fraction};
}

std::vector<MemoryItem> mask_beside(const AnalysisOptions& options) {
  if (options.mask.empty()) return {};
  // The runs of masked pixels that apodise() holds are gone before a map is read.
  return {{"mask", std::int64_t{sizeof(double)}}};
}

void put_mask(const AnalysisOptions& options, const SkyFraction& fraction, Provenance& provenance) {
  if (options.mask.empty()) return;
  provenance.mask = options.mask;
  provenance.f_sky = fraction.f_sky;
}

}  // namespace ringweave::detail::inline app
