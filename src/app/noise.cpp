// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/noise.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "app/transform_setup.hpp"
#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/unit_name.hpp"
#include "ringweave/error.hpp"
#include "ringweave/spectra.hpp"

namespace ringweave::detail::inline app {
namespace {

/// The columns to read: that of --noise-column or the only one for all components, or those of the
/// fields.
std::vector<int> columns_of(const SynthesizeOptions& options, const MapHeader& header,
                            const FieldChoice& choice) {
  if (!options.noise_column.empty())
    return {choose_column("--noise-column", options.noise_column, options.noise, header)};
  if (header.columns.size() == 1) return {0};
  return choose_fields(options.noise, header, choice.name).columns;
}

/// Returns the factor from the numbers of a column to the unit of the map. Error  UsageError.
double factor_of(const SynthesizeOptions& options, const MapColumn& column,
                 const std::string& unit) {
  const std::string given = known_unit(column.unit);
  if (options.noise_per_hit || given.empty() || unit.empty() || given == unit) return 1;
  const std::optional<double> factor = temperature_factor(given, unit);
  if (!factor) {
    throw UsageError(
        fmt::format("--noise {}: its column {} is in {} and the map in {}; give an rms in the "
                    "unit of the map",
                    options.noise, column.name, given, unit));
  }
  return *factor;
}

/// Makes the rms of hits, or of the numbers themselves; infinite where there is none. Collective.
void make_rms(const Communicator& comm, const SynthesizeOptions& options, const std::string& column,
              double factor, std::vector<double>& values) {
  constexpr double none = std::numeric_limits<double>::infinity();
  std::int64_t n_wrong = 0;
  for (double& value : values) {
    if (is_unseen(value)) {
      value = none;
      continue;
    }
    if (!(value >= 0 && std::isfinite(value))) ++n_wrong;
    value = options.noise_per_hit ? (value > 0 ? *options.noise_per_hit / std::sqrt(value) : none)
                                  : factor * value;
  }
  n_wrong = comm.sum(n_wrong);
  if (n_wrong > 0) {
    throw DataError(options.noise,
                    fmt::format("column {}: {} pixels are negative, NaN or infinite; expected the "
                                "rms of each pixel, or with --noise-per-hit its hits; "
                                "--noise-column chooses another column",
                                column, n_wrong));
  }
}

}  // namespace

void check_noise(Run& run, const SynthesizeOptions& options, const RingGrid& grid,
                 const FieldChoice& choice) {
  if (options.noise.empty()) {
    if (options.noise_per_hit)
      throw UsageError("--noise-per-hit belongs to --noise; give the map of hits, or leave it out");
    if (options.noise_column.empty()) return;
    throw UsageError("--noise-column belongs to --noise; give the map of the rms, or leave it out");
  }
  run.outputs.keep(options.noise);
  const auto reader = open_map(run.comm, options.noise);
  if (!has_same_rings(*reader->header().grid, grid)) {
    throw DataError(options.noise, fmt::format("its grid is {}; noise of a map on {} has to be on "
                                               "the same",
                                               reader->header().grid->name(), grid.name()));
  }
  columns_of(options, reader->header(), choice);
}

PixelNoise read_noise(Run& run, const SynthesizeOptions& options, const LocalRings& rings,
                      const FieldChoice& choice, const std::string& unit) {
  PixelNoise noise;
  if (options.noise.empty()) return noise;
  run.progress.stage("reading " + options.noise);
  const auto reader = open_map(run.comm, options.noise);
  const MapHeader& header = reader->header();
  for (const int column : columns_of(options, header, choice)) {
    const MapColumn& named = header.columns[to_size(std::int64_t{column})];
    const double factor = factor_of(options, named, unit);
    auto values = agreed(run.comm, [&] { return std::vector<double>(to_size(rings.n_pixels())); });
    reader->read({&column, 1}, rings, MapView<double>(values.data(), 1, rings.n_pixels()));
    make_rms(run.comm, options, named.name, factor, values);
    noise.rms.push_back(std::move(values));
  }
  return noise;
}

std::vector<MemoryItem> noise_beside(const SynthesizeOptions& options, std::int64_t n_components) {
  if (options.noise.empty()) return {};
  return {{"rms of the noise", n_components * std::int64_t{sizeof(double)}}};
}

template <class T>
void add_noise(const PixelNoise& noise, std::uint64_t seed, const LocalRings& rings,
               MapView<T> map) {
  if (noise.rms.empty()) return;
  // T, Q and U have their own numbers, whichever of them the map has.
  const std::int64_t first_component = map.n_components() == 2 ? 1 : 0;
  for (std::int64_t c = 0; c < map.n_components(); ++c) {
    const auto component = static_cast<std::uint32_t>(first_component + c);
    const std::vector<double>& rms = noise.rms[noise.rms.size() == 1 ? 0 : to_size(c)];
    const auto f = map.component(c);
#pragma omp parallel for schedule(static)
    for (std::int64_t r = 0; r < rings.n_rings(); ++r) {
      const Ring& ring = rings.ring(LocalRing{r});
      const std::int64_t first = rings.first_pixel(LocalRing{r});
      for (std::int64_t j = 0; j < ring.n_phi; ++j) {
        T& value = f[first + j];
        const double of_pixel = rms[to_size(first + j)];
        value = std::isfinite(of_pixel)
                    ? static_cast<T>(
                          value + of_pixel * pixel_normal(seed, component, ring.source_pixel + j))
                    : static_cast<T>(unseen);
      }
    }
  }
}

template void add_noise(const PixelNoise&, std::uint64_t, const LocalRings&, MapView<float>);
template void add_noise(const PixelNoise&, std::uint64_t, const LocalRings&, MapView<double>);

}  // namespace ringweave::detail::inline app
