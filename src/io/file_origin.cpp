// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/file_origin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

#include "io/keywords.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr auto own_names = std::to_array<std::string_view>(
    {// FITS
     "NSIDE", "ORDERING", "PIXTYPE", "INDXSCHM", "OBJECT", "FIRSTPIX", "LASTPIX", "GRAIN",
     "OBS_NPIX", "COORDSYS", "BAD_DATA", "POLAR", "POLCCONV", "BCROSS", "ASYMCL", "MAX-MPOL",
     "ALM_HDUS", "CREATOR", "VERSION", "DATE", "EXTNAME", "EXTVER", "CHECKSUM", "DATASUM",
     "LONGSTRN", "TUNIT", "TTYPE",
     // HDF5
     "UNITS", "units", "temperature_scale", "grid_mapping", "GRID", "_FillValue", "long_name",
     "lmax", "mmax", "storage", "components", "spin", "phase", "spectra", "ell_factor",
     "DIMENSION_LIST", "CLASS", "NAME", "REFERENCE_LIST", "_Netcdf4Dimid", "_Netcdf4Coordinates",
     "_NCProperties", "standard_name", "input", "history", "scale_factor", "add_offset",
     "missing_value", "valid_range", "valid_min", "valid_max", "coordinates", "keyword_comments"});

double degrees_of(const Keyword& fwhm) {
  const auto* number = std::get_if<double>(&fwhm.value);
  return number == nullptr ? 0 : *number;
}

const Keyword* find(const std::vector<Keyword>& keywords, const std::string& name) {
  const auto found = std::find_if(keywords.begin(), keywords.end(),
                                  [&](const Keyword& keyword) { return keyword.name == name; });
  return found == keywords.end() ? nullptr : &*found;
}

void put(std::vector<Keyword>& keywords, Keyword keyword) {
  std::erase_if(keywords, [&](const Keyword& other) { return other.name == keyword.name; });
  keywords.push_back(std::move(keyword));
}

}  // namespace

bool describes_its_file(const std::string& name) {
  return std::find(own_names.begin(), own_names.end(), name) != own_names.end();
}

std::vector<Keyword> keywords_of(const Provenance& provenance) {
  std::vector<Keyword> keywords;
  for (const Keyword& keyword : provenance.origin.keywords) put(keywords, keyword);
  std::erase_if(keywords, [](const Keyword& keyword) { return keyword.name == extension_keyword; });
  if (provenance.method) {
    // Of another smoothing.
    for (const char* name : {"SUPPORT", "KERNERR", "SPLIT", "NITERALM"})
      std::erase_if(keywords, [&](const Keyword& keyword) { return keyword.name == name; });
  }
  const auto put_if = [&](const char* name, const auto& value, const char* comment) {
    if (value) put(keywords, {name, *value, comment});
  };
  if (provenance.fwhm_degrees) {
    const Keyword* before = find(keywords, "FWHM");
    const double total =
        std::hypot(*provenance.fwhm_degrees, before == nullptr ? 0.0 : degrees_of(*before));
    put(keywords, {"FWHM", total, "[deg] Gaussian beam"});
  }
  put_if("BEAM_LEG", provenance.beam, "file of the beam's b_l");
  put_if("PIXWIN", provenance.pixel_window, "file of the pixel window");
  put_if("CL_KIND", provenance.spectrum_kind, "the spectrum was read as");
  const auto put_seed = [&](const char* name, const std::optional<std::uint64_t>& seed,
                            const char* comment) {
    if (!seed) return;
    if (std::in_range<std::int64_t>(*seed)) {
      put(keywords, {name, static_cast<std::int64_t>(*seed), comment});
    } else {
      put(keywords, {name, std::to_string(*seed), comment});
    }
  };
  put_seed("SEED", provenance.seed, "of the a_lm");
  put_seed("NSEED", provenance.noise_seed, "of the noise in the pixels");
  put_if("SMETHOD", provenance.method, "of the smoothing");
  put_if("SUPPORT", provenance.support_degrees, "[deg] where the kernel is cut");
  put_if("KERNERR", provenance.kernel_error, "relative rms error of the cut");
  put_if("SPLIT", provenance.split, "parts of the split kernel");
  if (provenance.lmax)
    put(keywords, {"MAX-LPOL", std::int64_t{*provenance.lmax}, "highest degree l"});
  if (provenance.iterations) {
    put(keywords, {"NITERALM", std::int64_t{*provenance.iterations}, "iterations of the analysis"});
  }
  put_if("QUADSCHM", provenance.quadrature, "quadrature weights");
  put_if("LREGRESS", provenance.removed, "removed before the analysis");
  put_if("MASK", provenance.mask, "file of the mask");
  put_if("FSKY", provenance.f_sky, "part of the sky that it leaves");
  return keywords;
}

std::string extension_of(const Provenance& provenance) {
  const Keyword* keyword = find(provenance.origin.keywords, extension_keyword);
  return keyword == nullptr ? "" : text_of_value(*keyword);
}

std::vector<std::string> history_of(const Provenance& provenance) {
  std::vector<std::string> history = provenance.origin.history;
  if (!provenance.input.empty()) history.push_back("input: " + provenance.input);
  if (!provenance.command_line.empty())
    history.push_back(fmt::format("{}: {}", provenance.date, provenance.command_line));
  return history;
}

std::string text_of_value(const Keyword& keyword) {
  return std::visit(
      [](const auto& value) {
        using Value = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<Value, double>) {
          return fmt::format("{:.6g}", value);
        } else {
          return fmt::format("{}", value);
        }
      },
      keyword.value);
}

std::string processing_text(const FileOrigin& origin) {
  std::string text;
  for (const char* name : processing_keywords) {
    const Keyword* keyword = find(origin.keywords, name);
    if (keyword == nullptr) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, text_of_value(*keyword));
  }
  return text;
}

}  // namespace ringweave::detail::inline io
