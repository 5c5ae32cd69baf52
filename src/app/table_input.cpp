// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/table_input.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "app/cli/angle.hpp"
#include "base/checked_cast.hpp"
#include "io/beam_table.hpp"
#include "io/file_kind.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Tells whether power rises, or does not fall, up to l = 200: so do the D_l of the CMB, but also
/// white noise.
bool looks_like_d_l(const Spectra& spectra) {
  constexpr int low = 10;
  constexpr int high = 200;
  const Spectra::Name name = spectra.has(Spectra::TT) ? Spectra::TT : Spectra::EE;
  const int last = std::min(spectra.lmax(), high);
  if (!spectra.has(name) || last < 3 * low) return false;
  const auto mean = [&](int from, int to) {
    double sum = 0;
    for (int l = from; l <= to; ++l) sum += spectra(name, l);
    return sum / (to - from + 1);
  };
  const double begin = mean(low, 2 * low);
  constexpr double flat = 0.9;  // the mean of measured white noise scatters
  return begin > 0 && mean(last - low, last) >= flat * begin;
}

}  // namespace

SpectrumKind spectrum_kind(const std::string& cl_kind) {
  if (cl_kind.empty()) return SpectrumKind::stated_or_c_l;
  return cl_kind == "dl" ? SpectrumKind::d_l : SpectrumKind::c_l;
}

SpectrumKind unstated_kind(const std::string& cl_kind) {
  return cl_kind == "dl" ? SpectrumKind::stated_or_d_l : SpectrumKind::stated_or_c_l;
}

const char* name_of_kind(const SpectraFile& file) { return file.held_d_l ? "D_l" : "C_l"; }

void tell_of_spectra(Run& run, const std::string& path, const SpectraFile& file,
                     const std::string& cl_kind) {
  const std::string why = file.is_stated     ? "as its header says"
                          : !cl_kind.empty() ? "--cl-kind " + cl_kind
                                             : "its header does not say; for D_l give --cl-kind dl";
  run.note(fmt::format("{}: read as {}{} ({})", path, name_of_kind(file),
                       file.unit.empty() ? "" : " in " + file.unit, why));
  for (const std::string& warning : file.warnings) run.warn(path + ": " + warning);
  if (cl_kind.empty() && !file.is_stated && looks_like_d_l(file.spectra)) {
    run.warn(path +
             ": does not fall towards high degrees, as C_l of the CMB do; if it holds D_l, "
             "give --cl-kind dl, and if it is right so, --cl-kind cl");
  }
  if (!file.ignored_columns.empty()) {
    run.note(fmt::format("{}: columns left out: {}", path, fmt::join(file.ignored_columns, ", ")));
  }
}

SpectraFile spectra_of_file(Run& run, const std::string& path, const std::string& cl_kind) {
  run.outputs.keep(path);
  SpectraFile file = read_spectra(run.comm, path, spectrum_kind(cl_kind));
  tell_of_spectra(run, path, file, cl_kind);
  return file;
}

Beam factors_of_file(Run& run, const std::string& path, int lmax) {
  constexpr double small = 1e-3;
  run.outputs.keep(path);
  // The methods that --method auto compares ask for the same.
  auto found = run.beams.find(path);
  if (found == run.beams.end()) found = run.beams.emplace(path, read_beam(run.comm, path)).first;
  const BeamFile& file = found->second;
  for (const std::string& warning : file.warnings) run.warn(path + ": " + warning);
  const std::vector<double>& b_l = file.beam.t;
  if (ssize64(b_l) <= lmax && std::abs(b_l.back()) > small * std::abs(b_l.front())) {
    run.warn(
        fmt::format("{}: ends at l = {}, where the beam is still {:.3g}; degrees up to lmax = "
                    "{} are zero",
                    path, b_l.size() - 1, b_l.back(), lmax));
  }
  return file.beam;
}

void note_where_nothing_is_smoothed(Run& run, const std::string& fwhm) {
  if (fwhm.empty() || parse_width(fwhm, "--fwhm") > 0) return;
  run.note(fmt::format("--fwhm {}: a beam without width smooths nothing", fwhm));
}

Beam beam_of_file(Run& run, const std::string& path, int lmax, const std::string& window_option) {
  if (!window_option.empty() && file_kind(path) == FileKind::fits &&
      is_pixel_window(table_heads(run.comm, path))) {
    throw DataError(path, fmt::format("holds a pixel window; expected a beam: give the window to "
                                      "{}",
                                      window_option));
  }
  Beam beam = factors_of_file(run, path, lmax);
  const double mean = beam.t.front();
  if (mean != 0 && std::abs(mean - 1) > 0.1) {
    run.warn(
        fmt::format("{}: begins with {:.4g} at l = 0, so that it changes the mean of a map; "
                    "beams begin near 1; is it a beam?",
                    path, mean));
  }
  return beam;
}

}  // namespace ringweave::detail::inline app
