// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/cli/field_choice.hpp"
#include "app/run.hpp"
#include "ringweave/alm.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/files.hpp"
#include "ringweave/spectra.hpp"

namespace ringweave::detail::inline app {

/// The options that name the a_lm of a command, either --alm or --cl, and their unit.
struct SourceOptions {
  std::string alm, cl, cl_kind, fields, unit;
};

/// Source of a_lm: a file, or a spectrum and a seed.
struct AlmSource {
  std::unique_ptr<AlmReader> alm;
  std::optional<Spectra> spectra;
  FieldChoice choice;
  int lmax = -1;  ///< of the file
  int mmax = -1;  ///< of the file
  Precision precision = Precision::double_;
  std::string unit;                   ///< of the map
  double factor = 1;                  ///< by which the a_lm come to have it
  std::optional<std::string> kind{};  ///< C_l or D_l, of the spectrum
  FileOrigin origin{};
  std::string coordsys{};
};

/// Opens the file of a_lm or reads the spectrum, which no output may replace. Collective.
/// Error  DataError; UsageError where --unit is one that the source is not converted to.
AlmSource open_source(Run& run, const SourceOptions& options);

/// Says where the spectrum of a source ends below lmax.
void warn_of_short_spectrum(Run& run, const std::string& path, const AlmSource& source, int lmax);

/// Multiplies all a_lm by a factor.
template <class T>
void scale(AlmView<T> alm, double factor);

/// Returns a seed that differs from run to run, the same on every rank. Collective.
std::uint64_t fresh_seed(const Communicator& comm);

}  // namespace ringweave::detail::inline app
