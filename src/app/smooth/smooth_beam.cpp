// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/smooth/smooth_beam.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "app/cli/angle.hpp"
#include "app/table_input.hpp"
#include "app/transform_setup.hpp"
#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/file_origin.hpp"
#include "ringweave/error.hpp"
#include "ringweave/kernel.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Nothing for all degrees.
Beam no_beam(int lmax) {
  const std::vector<double> ones(to_size(std::int64_t{lmax} + 1), 1.0);
  return {ones, ones, ones};
}

/// The beam that the map is to have.
Beam beam_after(Run& run, const SmoothOptions& options, const RingGrid& grid, int lmax) {
  Beam beam = no_beam(lmax);
  if (!options.beam.empty()) beam = beam_of_file(run, options.beam, lmax, "--pixel-window");
  if (!options.kernel.empty()) {
    run.outputs.keep(options.kernel);
    const KernelProfile profile = read_kernel_profile(run.comm, options.kernel);
    const std::vector<double> k_l = agreed(run.comm, [&] {
      return RadialKernel::from_profile(profile.theta, profile.value, KernelSupport::whole())
          .multipoles(lmax);
    });
    beam = {k_l, k_l, k_l};
  }
  if (!options.fwhm.empty()) beam = gaussian_beam(parse_width(options.fwhm, "--fwhm"), lmax);
  if (options.pixel_window.empty()) return beam;
  const bool changes_grid = options.transform.nside > 0 || !options.transform.grid.empty();
  const auto after = changes_grid ? named_grid(options.transform) : nullptr;
  const std::int64_t nside = after != nullptr ? after->nside() : grid.nside();
  return beam * read_pixel_window(run.comm, options.pixel_window, nside);
}

/// The beam that the map has.
Beam beam_before(Run& run, const SmoothOptions& options, const RingGrid& grid, int lmax) {
  Beam beam = no_beam(lmax);
  if (!options.from_beam.empty())
    beam = beam_of_file(run, options.from_beam, lmax, "--from-pixel-window");
  if (!options.from_fwhm.empty())
    beam = gaussian_beam(parse_width(options.from_fwhm, "--from-fwhm"), lmax);
  if (options.from_pixel_window.empty()) return beam;
  return beam * read_pixel_window(run.comm, options.from_pixel_window, grid.nside());
}

double at(const std::vector<double>& b_l, std::size_t l) { return l < b_l.size() ? b_l[l] : 0; }

/// after / before, from a first degree to lmax; 0 below it, and where both are.
std::vector<double> ratio(const std::vector<double>& after, const std::vector<double>& before,
                          std::size_t first, int lmax) {
  std::vector<double> quotient(first, 0.0);
  for (std::size_t l = first; l <= to_size(std::int64_t{lmax}); ++l) {
    const double b = at(before, l);
    if (b == 0 && at(after, l) != 0) {
      throw UsageError(fmt::format(
          "the beam or pixel window that the map has (--from-...) is 0 at l = {}, where nothing "
          "of the map is left; use --method harmonic with --lmax {} or less",
          l, std::max<std::size_t>(l, 1) - 1));
    }
    quotient.push_back(b == 0 ? 0 : at(after, l) / b);
  }
  return quotient;
}

}  // namespace

bool has_beam_before(const SmoothOptions& options) {
  return !options.from_fwhm.empty() || !options.from_beam.empty() ||
         !options.from_pixel_window.empty();
}

void require_one_kernel(const SmoothOptions& options) {
  const int given = !options.fwhm.empty() + !options.beam.empty() + !options.kernel.empty();
  const bool changes_map = options.transform.nside > 0 || !options.transform.grid.empty() ||
                           !options.pixel_window.empty() || !options.from_pixel_window.empty();
  if (given > 1 || (given == 0 && !changes_map)) {
    throw UsageError(
        "give the smoothing as one of --fwhm ANGLE (e.g. 30arcmin), --beam FILE, --kernel FILE");
  }
  if (!options.fwhm.empty()) parse_width(options.fwhm, "--fwhm");
  if (!options.from_fwhm.empty()) parse_width(options.from_fwhm, "--from-fwhm");
  if (given == 0 && (!options.from_fwhm.empty() || !options.from_beam.empty())) {
    throw UsageError(
        "--from-fwhm and --from-beam name the beam that the map has; give the one that it is to "
        "have too, as --fwhm ANGLE, --beam FILE or --kernel FILE");
  }
}

Beam beam_of(Run& run, const SmoothOptions& options, const RingGrid& grid, int lmax) {
  if (const std::optional<double> width = gaussian_width(options))
    return gaussian_beam(*width, lmax);
  const Beam after = beam_after(run, options, grid, lmax);
  if (!has_beam_before(options)) return after;
  const Beam before = beam_before(run, options, grid, lmax);
  return agreed(run.comm, [&] {
    constexpr std::size_t of_spin = 2;  // E and B begin there
    return Beam{ratio(after.t, before.t, 0, lmax), ratio(after.e, before.e, of_spin, lmax),
                ratio(after.b, before.b, of_spin, lmax)};
  });
}

void warn_where_raised(Run& run, const SmoothOptions& options, const std::vector<double>& b_l) {
  if (!has_beam_before(options)) return;
  constexpr double noticeable = 1.01;
  const auto most = std::max_element(b_l.begin(), b_l.end());
  if (most == b_l.end() || !(*most > noticeable)) return;
  run.warn(
      fmt::format("the beam is narrower than the one the map has: a_lm are multiplied by up "
                  "to {:.3g}, at l = {}, and their noise is too",
                  *most, most - b_l.begin()));
}

std::optional<double> gaussian_width(const SmoothOptions& options) {
  const bool has_others = !options.from_beam.empty() || !options.from_pixel_window.empty() ||
                          !options.pixel_window.empty();
  if (options.fwhm.empty() || has_others) return std::nullopt;
  const double after = parse_width(options.fwhm, "--fwhm");
  if (options.from_fwhm.empty()) return after;
  const double before = parse_width(options.from_fwhm, "--from-fwhm");
  if (before > after) return std::nullopt;
  return std::sqrt((after - before) * (after + before));
}

void warn_of_second_window(Run& run, const SmoothOptions& options, const std::string& path,
                           const FileOrigin& origin) {
  if (options.pixel_window.empty() || !options.from_pixel_window.empty()) return;
  for (const Keyword& keyword : origin.keywords) {
    const std::string value = text_of_value(keyword);
    if (keyword.name != "PIXWIN" || value.empty() || value == "false") continue;
    run.warn(fmt::format(
        "{}: its header says that a pixel window was applied (PIXWIN = {}), and --pixel-window "
        "applies one more; to replace it give --from-pixel-window FILE too, else leave "
        "--pixel-window out",
        path, value));
  }
}

void warn_of_other_beam(Run& run, const SmoothOptions& options, const std::string& path,
                        const FileOrigin& origin) {
  if (options.from_fwhm.empty()) return;
  constexpr double tolerated = 0.01;
  const double given = parse_degrees(options.from_fwhm, "--from-fwhm");
  for (const Keyword& keyword : origin.keywords) {
    if (keyword.name != "FWHM") continue;
    std::optional<double> degrees;
    if (const auto* real = std::get_if<double>(&keyword.value)) degrees = *real;
    if (const auto* whole = std::get_if<std::int64_t>(&keyword.value))
      degrees = static_cast<double>(*whole);
    if (!degrees) continue;
    if (std::abs(given - *degrees) <= tolerated * *degrees) continue;
    run.warn(fmt::format(
        "{}: its header names a beam of {:.6g}arcmin (FWHM = {:.6g} degrees), and --from-fwhm {} "
        "another; if the header is right, give --from-fwhm {:.6g}arcmin",
        path, 60 * *degrees, *degrees, options.from_fwhm, 60 * *degrees));
  }
}

void put_beam(const SmoothOptions& options, Provenance& provenance) {
  std::vector<Keyword>& keywords = provenance.origin.keywords;
  const auto forget = [&](const std::string& name) {
    std::erase_if(keywords, [&](const Keyword& keyword) { return keyword.name == name; });
  };
  if (!options.from_fwhm.empty() || !options.from_beam.empty()) {
    forget("FWHM");
    forget("BEAM_LEG");
  }
  if (!options.from_pixel_window.empty()) forget("PIXWIN");
  if (!options.fwhm.empty()) provenance.fwhm_degrees = parse_degrees(options.fwhm, "--fwhm");
  if (!options.beam.empty()) provenance.beam = options.beam;
  if (!options.kernel.empty()) provenance.beam = options.kernel;
  if (!options.pixel_window.empty()) provenance.pixel_window = options.pixel_window;
}

}  // namespace ringweave::detail::inline app
