// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/fits/header.hpp"

#include <utility>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr std::size_t longest_plain_text = 68;

void put_history(const FitsFile& file, const std::string& text) {
  int status = 0;
  fits_write_history(file.handle(), printable(text).c_str(), &status);
  file.check(status, "write HISTORY");
}

}  // namespace

void put_text(const FitsFile& file, const char* keyword, const std::string& value,
              const char* comment) {
  const std::string text = printable(value);
  int status = 0;
  if (text.size() > longest_plain_text) {
    fits_write_key_longwarn(file.handle(), &status);
    fits_write_key_longstr(file.handle(), keyword, text.c_str(), comment, &status);
  } else {
    fits_write_key_str(file.handle(), keyword, text.c_str(), comment, &status);
  }
  file.check(status, std::string("write keyword ") + keyword);
}

void put_integer(const FitsFile& file, const char* keyword, std::int64_t value,
                 const char* comment) {
  int status = 0;
  fits_write_key_lng(file.handle(), keyword, value, comment, &status);
  file.check(status, std::string("write keyword ") + keyword);
}

void put_real(const FitsFile& file, const char* keyword, double value, const char* comment) {
  constexpr int significant_digits = -15;
  int status = 0;
  fits_write_key_dbl(file.handle(), keyword, value, significant_digits, comment, &status);
  file.check(status, std::string("write keyword ") + keyword);
}

void put_logical(const FitsFile& file, const char* keyword, bool value, const char* comment) {
  int status = 0;
  fits_write_key_log(file.handle(), keyword, value ? 1 : 0, comment, &status);
  file.check(status, std::string("write keyword ") + keyword);
}

void put_provenance(const FitsFile& file, const Provenance& provenance) {
  put_text(file, "CREATOR", provenance.creator, "program that wrote this file");
  if (!provenance.version.empty()) put_text(file, "VERSION", provenance.version, "of the program");
  if (!provenance.date.empty()) put_text(file, "DATE", provenance.date, "UTC");
  if (provenance.fwhm_degrees)
    put_real(file, "FWHM", *provenance.fwhm_degrees, "[deg] Gaussian beam");
  if (provenance.beam) put_text(file, "BEAM_LEG", *provenance.beam, "file of the beam's b_l");
  if (provenance.pixel_window)
    put_text(file, "PIXWIN", *provenance.pixel_window, "file of the pixel window");
  if (provenance.spectrum_kind)
    put_text(file, "CL_KIND", *provenance.spectrum_kind, "the spectrum was read as");
  if (provenance.seed && std::in_range<std::int64_t>(*provenance.seed)) {
    put_integer(file, "SEED", static_cast<std::int64_t>(*provenance.seed), "of the a_lm");
  } else if (provenance.seed) {
    put_text(file, "SEED", std::to_string(*provenance.seed), "of the a_lm");
  }
  if (provenance.method) put_text(file, "SMETHOD", *provenance.method, "of the smoothing");
  if (provenance.support_degrees)
    put_real(file, "SUPPORT", *provenance.support_degrees, "[deg] where the kernel is cut");
  if (provenance.kernel_error)
    put_real(file, "KERNERR", *provenance.kernel_error, "relative rms error of the cut");
  if (provenance.lmax) put_integer(file, "MAX-LPOL", *provenance.lmax, "highest degree l");
  if (provenance.iterations)
    put_integer(file, "NITERALM", *provenance.iterations, "iterations of the analysis");
  if (provenance.quadrature)
    put_text(file, "QUADSCHM", *provenance.quadrature, "quadrature weights");
  if (provenance.removed)
    put_text(file, "LREGRESS", *provenance.removed, "removed before the analysis");
  if (!provenance.input.empty()) put_history(file, "input: " + provenance.input);
  if (!provenance.command_line.empty()) put_history(file, "command: " + provenance.command_line);
  if (!provenance.config_json.empty())
    put_history(file, "configuration: " + provenance.config_json);
}

void append_table(const FitsFile& file, const std::string& extension_name, std::int64_t rows,
                  const std::vector<FitsColumnSpec>& columns) {
  // cfitsio takes char* arrays that it only reads.
  std::vector<char*> names;
  std::vector<char*> formats;
  std::vector<char*> units;
  std::vector<FitsColumnSpec> texts = columns;
  for (FitsColumnSpec& column : texts) {
    column.name = printable(column.name);
    column.unit = printable(column.unit);
    names.push_back(column.name.data());
    formats.push_back(column.format.data());
    units.push_back(column.unit.data());
  }
  int status = 0;
  fits_create_tbl(file.handle(), BINARY_TBL, rows,
                  checked_cast<int>(columns.size(), "columns of a FITS table"), names.data(),
                  formats.data(), units.data(), extension_name.c_str(), &status);
  file.check(status, "append a table");
}

}  // namespace ringweave::detail::inline io
