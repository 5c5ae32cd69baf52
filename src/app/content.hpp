// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "io/table_kind.hpp"
#include "ringweave/alm.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/files.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/spectra.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline app {

/// Content of a file: exactly one of these is set and not empty.
struct Content {
  std::unique_ptr<MapReader> map;
  std::unique_ptr<AlmReader> alm;
  std::optional<SpectraFile> spectra;
  std::vector<TableHead> tables;    ///< of beams, pixel windows and weights
  std::vector<std::string> planes;  ///< data sets of fields in the plane
};

/// Opens a file as a map, as a_lm, as tables of beams, pixel windows and weights (FITS), or as
/// spectra, whichever succeeds first; text as spectra or else as a beam. HDF5 that holds nothing on
/// the sphere may hold fields in the plane. Collective. Error
/// DataError with the reason each attempt failed. `variable` as for open_map().
Content open_content(const Communicator& comm, const std::string& path, SpectrumKind kind,
                     const std::string& variable = "");

/// Opens a file as a map or else as a_lm. Collective. Error  DataError with the reason why it is no
/// map.
Content open_map_or_alm(const Communicator& comm, const std::string& path,
                        const std::string& variable);

/// Throws a DataError where a file holds a beam, a pixel window, weights or fields in the plane.
void refuse_table(const std::string& path, const Content& content);

/// Returns this rank's bands of a map that is not transformed, balanced by pixels.
LocalRings bands_of_pixels(const Communicator& comm, const std::shared_ptr<const RingGrid>& grid);

/// Returns this rank's orders of a_lm that are not transformed.
AlmLayout own_orders(const Communicator& comm, int lmax, int mmax);

inline bool is_finite(double value) { return std::isfinite(value); }
template <class T>
bool is_finite(const std::complex<T>& value) {
  return std::isfinite(value.real()) && std::isfinite(value.imag());
}

/// Returns how many numbers of a map or of a_lm are NaN or infinite, over all ranks. Collective.
template <class Element>
std::int64_t count_not_finite(const Communicator& comm, ComponentView<Element> values) {
  std::int64_t count = 0;
  for (std::int64_t c = 0; c < values.n_components(); ++c) {
    const auto f = values.component(c);
    for (std::int64_t i = 0; i < f.size(); ++i) count += is_finite(f[i]) ? 0 : 1;
  }
  return comm.sum(count);
}

}  // namespace ringweave::detail::inline app
