// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/alm_source.hpp"

#include <fmt/format.h>

#include <random>
#include <utility>

#include "app/table_input.hpp"
#include "io/unit_name.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Makes --unit the unit of the map. Error  UsageError where the source has a unit that is not
/// converted to it.
void set_unit(AlmSource& source, const std::string& path, const std::string& of_source,
              const std::string& asked) {
  source.unit = asked.empty() ? of_source : asked;
  if (asked.empty() || of_source.empty() || asked == of_source) return;
  const std::optional<double> factor = temperature_factor(of_source, asked);
  if (!factor) {
    throw UsageError(fmt::format(
        "--unit {}: {} makes a map in {}, which is converted to K, mK, uK, nK and pK of the same "
        "scale only; leave --unit out",
        asked, path, of_source));
  }
  source.factor = *factor;
}

}  // namespace

AlmSource open_source(Run& run, const SourceOptions& options) {
  AlmSource source;
  if (!options.cl.empty()) {
    SpectraFile file = spectra_of_file(run, options.cl, options.cl_kind);
    set_unit(source, options.cl, unit_of_root(file.unit), options.unit);
    source.kind = name_of_kind(file);
    source.origin = file.origin;
    source.spectra = std::move(file.spectra);
    source.choice = fields_named(!options.fields.empty()          ? options.fields
                                 : source.spectra->is_polarised() ? "TQU"
                                                                  : "T");
    return source;
  }
  run.outputs.keep(options.alm);
  source.alm = open_alm(run.comm, options.alm);
  const AlmHeader& header = source.alm->header();
  for (const std::string& warning : header.warnings) run.warn(options.alm + ": " + warning);
  source.choice = choose_components(options.alm, header, options.fields);
  source.lmax = header.lmax;
  source.mmax = header.mmax;
  source.origin = header.origin;
  source.coordsys = header.coordsys;
  source.precision = header.precision;
  set_unit(source, options.alm, known_unit(header.unit), options.unit);
  return source;
}

void warn_of_short_spectrum(Run& run, const std::string& path, const AlmSource& source, int lmax) {
  if (!source.spectra || source.spectra->lmax() >= lmax) return;
  run.warn(fmt::format("{}: ends at l = {}; degrees up to lmax = {} are zero", path,
                       source.spectra->lmax(), lmax));
}

template <class T>
void scale(AlmView<T> alm, double factor) {
  if (factor == 1) return;
  for (std::int64_t c = 0; c < alm.n_components(); ++c) {
    const auto values = alm.component(c);
    for (std::int64_t i = 0; i < values.size(); ++i) values[i] *= static_cast<T>(factor);
  }
}

std::uint64_t fresh_seed(const Communicator& comm) {
  std::random_device device;
  std::uint64_t seed = (std::uint64_t{device()} << 32) ^ device();
  comm.broadcast(&seed, sizeof seed, 0);
  return seed;
}

template void scale<float>(AlmView<float>, double);
template void scale<double>(AlmView<double>, double);

}  // namespace ringweave::detail::inline app
