// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/view.hpp"
#include "distribute/mpi/communicator.hpp"
#include "io/atomic_output.hpp"
#include "io/file_kind.hpp"
#include "io/provenance.hpp"
#include "sphere/local_rings.hpp"
#include "sphere/unseen.hpp"

namespace ringweave {

enum class Ordering { ring, nested };
enum class SkyCoverage { full, partial };

struct MapColumn {
  std::string name;  ///< as in the file, e.g. TEMPERATURE
  std::string unit;  ///< as in the file, e.g. K_CMB; empty when none is given
};

/// What a map file says of its map, in our terms.
struct MapHeader {
  std::shared_ptr<const RingGrid> grid;  ///< the full grid, also of a partial map
  Ordering ordering = Ordering::ring;  ///< order of pixels in the file; in memory it is always RING
  SkyCoverage coverage = SkyCoverage::full;
  Precision precision = Precision::double_;  ///< of the stored numbers; integers count as double
  std::vector<MapColumn> columns;
  std::string coordsys;    ///< "G", "E", "C" or what stood there; empty when absent
  std::string processing;  ///< what the file says was done to the numbers: "FWHM 0.5, SMETHOD ring"
  bool polarisation_was_iau =
      false;  ///< the file said POLCCONV=IAU: U is sign-flipped on reading, memory is COSMO
  std::int64_t listed_pixels = 0;  ///< of a partial map
  std::vector<std::string>
      warnings;  ///< what was odd but could be read (missing ORDERING, NSIDE as a string, ...)
};

/// An open map file, FITS or HDF5. Opening and every member are collective; errors are DataErrors
/// on every rank. No rank ever holds more than its own pixels and a block of rows.
class MapReader {
 public:
  virtual ~MapReader() = default;
  const MapHeader& header() const { return header_; }

  /// The rings of the full grid that hold at least one listed pixel; all rings of a full-sky map.
  /// Collective.
  virtual std::vector<RingId> observed_rings() = 0;

  /// Column columns[c] of the file -> component c of `map`, the pixels of `rings` in RING order.
  /// `rings` may belong to the full grid or a subset of it. Pixels a partial map does not list
  /// become UNSEEN; BAD_DATA and FITS nulls too.
  virtual void read(std::span<const int> columns, const LocalRings& rings, AnyMapView<> map) = 0;

 protected:
  MapHeader header_;
};

/// Opens by extension (FITS, HDF5). Collective.
std::unique_ptr<MapReader> open_map(const Communicator& comm, const std::string& path);

/// Writes under the temporary name of `output`, which the caller commits (with others).
/// header.grid must be the full grid; `rings` may be of a subset of it, and then the file is
/// a partial map (header.coverage = partial) or unobserved pixels are UNSEEN (full). Component c
/// goes to header.columns[c]. Collective.
void write_map(const AtomicOutput& output, const MapHeader& header, const Provenance& provenance,
               const LocalRings& rings, AnyConstMapView<> map);

/// The same for a file by itself, whole or not at all. `map` is a MapView of float or double.
/// Collective.
template <class Values>
void write_map(const Communicator& comm, const std::string& path, IfExists if_exists,
               const MapHeader& header, const Provenance& provenance, const LocalRings& rings,
               const Values& map) {
  AtomicOutput output(comm, path, if_exists);
  write_map(output, header, provenance, rings, map);
  output.commit();
}

}  // namespace ringweave
