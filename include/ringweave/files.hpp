// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <ringweave/alm.hpp>
#include <ringweave/communicator.hpp>
#include <ringweave/grid.hpp>
#include <ringweave/spectra.hpp>
#include <ringweave/views.hpp>

namespace ringweave {

/// Treatment of an output file that exists.
enum class IfExists { fail, overwrite };
/// Storage of maps and a_lm in files. Arithmetic is double.
enum class Precision { single_, double_ };

/// A keyword of a file.
struct Keyword {
  std::string name;                                             ///< as in the file
  std::variant<std::string, std::int64_t, double, bool> value;  ///< text, number or logical
  std::string comment;                                          ///< behind the value; empty: none
};

/// The origin that a file states; carried over to the files that are made of it.
struct FileOrigin {
  std::vector<std::string> history;     ///< the earliest step first
  std::vector<Keyword> keywords;        ///< of its processing, and unknown ones
  std::vector<std::string> comments{};  ///< lines of free text
};

/// Origin of an output, written into every file as FITS keywords or HDF5 attributes
/// (docs/files.md).
struct Provenance {
  std::string creator = "ringweave";         ///< CREATOR: the program
  std::string version;                       ///< VERSION: of the program
  std::string date;                          ///< ISO 8601, UTC
  std::string command_line;                  ///< of the run
  std::string config_json;                   ///< the used configuration
  std::string input;                         ///< name of the input file, if any
  FileOrigin origin{};                       ///< of the input
  std::optional<double> fwhm_degrees;        ///< of this step; FWHM is the total with the input's
  std::optional<std::string> beam;           ///< BEAM_LEG: file of the beam
  std::optional<std::string> pixel_window;   ///< PIXWIN: file of the pixel window
  std::optional<std::string> spectrum_kind;  ///< CL_KIND: C_l or D_l, as the spectrum was read
  std::optional<std::uint64_t> seed;         ///< SEED: of the a_lm
  std::optional<std::string> method;         ///< SMETHOD: harmonic, ring
  std::optional<double> support_degrees;     ///< SUPPORT: where the kernel is cut
  std::optional<double> kernel_error;        ///< KERNERR: error of the cut, relative rms
  std::optional<int> lmax;                   ///< MAX-LPOL
  std::optional<int> iterations;             ///< NITERALM
  std::optional<std::string> quadrature;     ///< QUADSCHM: none, ring, pixel
  std::optional<std::string> removed;        ///< LREGRESS: none, monopole, dipole
  std::optional<std::string> mask;           ///< MASK: file of the mask
  std::optional<double> f_sky;               ///< FSKY: mean of the mask over the sphere
  std::optional<std::uint64_t> noise_seed;   ///< NSEED: of the noise in the pixels
  std::optional<std::string> split;          ///< SPLIT: l_cut and support of a split kernel
};

/// Order of the pixels of a HEALPix map in a file.
enum class Ordering { ring, nested };
/// Part of the sphere in a map file: all pixels, or those it lists.
enum class SkyCoverage { full, partial };

/// A column of a map file.
struct MapColumn {
  std::string name;       ///< as in the file, e.g. TEMPERATURE
  std::string unit;       ///< as in the file, e.g. K_CMB; empty when none is given
  int integer_bytes = 0;  ///< of a number stored as an integer or logical; 0: real, or scaled
};

/// Description of a map file.
struct MapHeader {
  std::shared_ptr<const RingGrid> grid;  ///< the full grid, also of a partial map
  Ordering ordering = Ordering::ring;  ///< order of pixels in the file; in memory it is always RING
  SkyCoverage coverage = SkyCoverage::full;  ///< all pixels, or those listed
  Precision precision = Precision::double_;  ///< of the stored numbers; integers count as double
  std::vector<MapColumn> columns;            ///< in the order of the file
  std::string coordsys;  ///< "G", "E", "C" or another text of the file; empty: none
  FileOrigin origin{};   ///< as the file states it
  /// Tells whether the file said POLCCONV=IAU: U is sign-flipped on reading, in memory it is COSMO.
  bool polarisation_was_iau = false;
  std::int64_t listed_pixels = 0;     ///< of a partial map
  std::vector<std::string> warnings;  ///< oddities of a readable file: missing ORDERING, ...
};

/// An open map file, FITS or HDF5. No rank holds more than its own pixels and a block of rows.
/// Collective: opening, observed_rings() and read().
/// Error  DataError on every rank for a broken file, ResourceError when memory fails one.
class MapReader {
 public:
  virtual ~MapReader() = default;
  const MapHeader& header() const { return header_; }  ///< of the open file

  /// Returns the rings of the full grid with at least one listed pixel; all rings of a full-sky
  /// map.
  virtual std::vector<RingId> observed_rings() = 0;

  /// Reads column columns[c] of the file, counted from 0, to component c of `map`, the pixels of
  /// `rings` in RING order. `rings` may belong to the full grid or a subset of it. Pixels that a
  /// partial map does not list become UNSEEN, as do BAD_DATA and FITS nulls.
  /// map  [component][own pixel], as many components as columns
  /// Error  UsageError also on every rank when one asks for rings of another grid or a column that
  ///        the file lacks, or has a map of another shape.
  virtual void read(std::span<const int> columns, const LocalRings& rings, AnyMapView<> map) = 0;

 protected:
  MapHeader header_;  ///< of the open file
};

/// Opens a map by its extension: .fits .fit .fits.gz, .h5 .hdf5, .nc .nc4. `variable` chooses among
/// the variables of a file of latitudes and longitudes; empty: all that are maps. Collective.
/// Error  UsageError for another extension, or a `variable` that the file cannot have; DataError
///        for a file that is missing or broken.
std::unique_ptr<MapReader> open_map(const Communicator& comm, const std::string& path,
                                    const std::string& variable = "");

/// Writes a map, whole or not at all. header.grid must be the full grid. `rings` may belong to a
/// subset of it; then the file is a partial map (header.coverage = partial), or pixels elsewhere
/// are UNSEEN (full). Component c becomes header.columns[c]. Collective.
/// map  [component][own pixel] of `rings`
/// Error  UsageError where the file exists and may not be overwritten, or its kind, the header and
///        the map do not fit each other; ResourceError from the disk.
void write_map(const Communicator& comm, const std::string& path, IfExists if_exists,
               const MapHeader& header, const Provenance& provenance, const LocalRings& rings,
               AnyConstMapView<> map);

/// Description of an a_lm file.
struct AlmHeader {
  int lmax = 0;                              ///< highest degree in the file
  int mmax = 0;                              ///< highest order in the file
  std::vector<std::string> components;       ///< "T", "E", "B" (FITS: the HDUs in order)
  Precision precision = Precision::double_;  ///< of the stored numbers
  std::string unit;                          ///< of the a_lm; empty when none is given
  std::vector<std::string> warnings;         ///< oddities of a readable file
  FileOrigin origin{};                       ///< as the file states it
  std::string coordsys{};                    ///< as that of MapHeader
};

/// An open a_lm file: FITS (index column l^2 + l + m + 1, one HDU a component), HDF5 or ICGEM.
/// Collective: opening and read().
/// Error  DataError on every rank for a broken file, ResourceError when memory fails one.
class AlmReader {
 public:
  virtual ~AlmReader() = default;
  const AlmHeader& header() const { return header_; }  ///< of the open file
  /// Reads components[c] of the file, counted from 0, to component c of `alm`, for the orders of
  /// `layout`. Degrees and orders beyond layout.lmax(), mmax() are left out; those that the file
  /// lacks become 0.
  /// alm  [component][order of `layout`][l = m..lmax], as many components as asked for
  /// Error  UsageError also on every rank when one asks for a component that the file lacks, or has
  ///        a_lm of another shape.
  virtual void read(std::span<const int> components, const AlmLayout& layout, AnyAlmView<> alm) = 0;

 protected:
  AlmHeader header_;  ///< of the open file
};

/// Opens a_lm by their extension: .fits .fit .fits.gz, .h5 .hdf5, .gfc. Collective.
/// Error  UsageError for another extension, DataError for a file that is missing or broken.
std::unique_ptr<AlmReader> open_alm(const Communicator& comm, const std::string& path);

/// Writes a_lm, whole or not at all. Together the ranks' layouts hold every order once. Collective.
/// alm  [component][order of `layout`][l = m..lmax]
/// Error  as write_map(), with header, layout and a_lm
void write_alm(const Communicator& comm, const std::string& path, IfExists if_exists,
               const AlmHeader& header, const Provenance& provenance, const AlmLayout& layout,
               AnyConstAlmView<> alm);

// Points and values at points, as text or HDF5 (docs/files.md), in equal parts: of n points rank r
// of P has n r / P to n (r + 1) / P, in the file's order. No rank holds more than these and a
// block. All collective. Error  UsageError for other kinds of files; DataError naming the place;
// ResourceError when memory cannot hold a part; agreed.

/// Points on the sphere: this rank's part of a file.
struct PointFile {
  /// Angles in radians, [theta, phi, psi][point]: colatitude, longitude, and the orientation where
  /// the file has it.
  ComponentBuffer<double> angles;
  std::int64_t first = 0;               ///< this rank's first point
  std::int64_t total = 0;               ///< points of the file
  FileOrigin origin{};                  ///< as the file states it
  std::vector<std::string> warnings{};  ///< oddities of a readable file

  bool has_psi() const { return angles.n_components() == 3; }  ///< orientations are there
  View<const double> theta() const { return angles.view().component(0); }  ///< [point], 0 to pi
  View<const double> phi() const { return angles.view().component(1); }    ///< [point]
  View<const double> psi() const { return angles.view().component(2); }    ///< where has_psi()
};

/// Reads points. Text: columns `theta phi [psi]`. HDF5: datasets theta, phi and psi, in the root or
/// in a group `points`.
/// Error  DataError also for angles that are not finite, and theta outside [0, pi].
PointFile read_points(const Communicator& comm, const std::string& path);

/// Description of values at points.
struct ValuesHeader {
  std::vector<std::string> components;       ///< names, e.g. T, Q, U
  std::string unit;                          ///< empty when none is given
  Precision precision = Precision::double_;  ///< of the stored numbers; text has 17 digits
};

/// Writes values, whole or not at all: those of rank r + 1 follow those of rank r. Component c
/// becomes header.components[c]. Text has a line for each point, HDF5 a dataset `values`
/// [component][point].
/// values  [component][point of this rank]
/// Error  UsageError also where the file exists and may not be overwritten, or the header has other
///        components; ResourceError from the disk.
void write_values(const Communicator& comm, const std::string& path, IfExists if_exists,
                  const ValuesHeader& header, const Provenance& provenance,
                  AnyConstMapView<> values);

/// Values at points: this rank's part of a file.
struct ValuesFile {
  ValuesHeader header;                  ///< of the file
  ComponentBuffer<double> values;       ///< [component][point]
  std::int64_t first = 0;               ///< this rank's first point
  std::int64_t total = 0;               ///< points of the file
  FileOrigin origin{};                  ///< as the file states it
  std::vector<std::string> warnings{};  ///< oddities of a readable file
};

/// Reads values. `n_points` is the number of points that they belong to, if it is known.
/// Error  DataError also for another number of points, and for values that are not finite.
ValuesFile read_values(const Communicator& comm, const std::string& path,
                       std::optional<std::int64_t> n_points = {});

// Fields in the plane: schema ringweave-plane (docs/files.md), and data sets of rank 2 or more of
// any HDF5 or NetCDF-4 file. The last two axes are y and x.

/// An axis of a data set.
struct PlaneFileAxis {
  std::string name;       ///< that of its dimension scale; else "y", "x" or "axis0", "axis1", ...
  std::int64_t size = 0;  ///< number of indices
  std::vector<double> coordinates{};  ///< one for each index, or none in the file
  std::string unit{};                 ///< empty when none is given
  std::string long_name{};            ///< empty when none is given
  std::vector<Keyword> attributes{};  ///< others of its dimension scale, carried over
  /// Precision of the coordinates that were read: single_ ones are rounded. Written ones are
  /// double_.
  Precision precision = Precision::double_;
};

/// Description of the fields of a data set: one for each index of the axes before y and x.
struct PlaneHeader {
  std::string name;                          ///< of the data set, without a leading slash
  std::string unit{};                        ///< of the values; empty when none is given
  std::string long_name{};                   ///< empty when none is given
  std::vector<PlaneFileAxis> axes{};         ///< those before y and x
  PlaneFileAxis y{};                         ///< of rows
  PlaneFileAxis x{};                         ///< of values within a row
  Precision precision = Precision::double_;  ///< of the stored numbers
  std::vector<Keyword> attributes{};         ///< others of the data set, carried over

  std::int64_t n_fields() const;  ///< the product of the sizes of `axes`
};

/// The part of a data set that a rank has: some of its fields (numbers in the order of the file,
/// any order) and of their rows, [begin, end).
struct PlaneFilePart {
  std::vector<std::int64_t> fields;  ///< their numbers, from 0
  std::int64_t row_begin = 0;        ///< first row
  std::int64_t row_end = 0;          ///< row after the last one
};

/// Reader of fields of a data set. Opens the file in every call. Collective: the constructor and
/// read().
class PlaneFileReader {
 public:
  /// Reads the description of the data set.
  /// field  name of a data set; empty: the only one of floating-point numbers of rank 2 or more
  ///        that is no coordinate
  /// Error  DataError for a file that is none (NetCDF-3 is named, with the command that converts
  ///        it), for data of rank 1, text or compounds; UsageError for a data set that is not
  ///        there, and where several are there and none is named (listing them).
  PlaneFileReader(const Communicator& comm, const std::string& path, const std::string& field = {});

  const PlaneHeader& header() const { return header_; }  ///< of the data set
  const FileOrigin& origin() const { return origin_; }   ///< as the file states it
  /// Oddities of a readable file.
  const std::vector<std::string>& warnings() const { return warnings_; }

  /// Reads this rank's part into values, [field of the part][row][x].
  /// Error  UsageError on all ranks when the data set lacks the part of one, or its values have
  ///        another shape; DataError on all ranks, with the first index and the number, when a
  ///        value is not finite.
  void read(const PlaneFilePart& part, AnyMapView<> values) const;

 private:
  Communicator comm_;
  std::string path_;
  PlaneHeader header_;
  FileOrigin origin_;
  std::vector<std::string> warnings_;
};

/// Writer of fields, whole or not at all: without commit() the file is removed. Collective: the
/// constructor and all calls.
class PlaneFileWriter {
 public:
  /// Creates the data set with its axes as dimension scales.
  /// Error  UsageError where the file exists and may not be overwritten, is neither HDF5 nor
  ///        NetCDF-4, or the header is impossible; ResourceError from the disk.
  PlaneFileWriter(const Communicator& comm, const std::string& path, IfExists if_exists,
                  const PlaneHeader& header, const Provenance& provenance);
  /// Removes the file unless it was committed.
  ~PlaneFileWriter();

  /// Writes this rank's part, [field of the part][row][x]; parts of ranks do not overlap.
  /// Error  UsageError on all ranks when the data set lacks the part of one, or its values have
  ///        another shape; ResourceError from the disk.
  void write(const PlaneFilePart& part, AnyConstMapView<> values);
  /// Adds an attribute to the data set, the same on every rank.
  /// Error  UsageError when it has no name, or one that describes the file itself.
  void add(const Keyword& attribute);
  /// Renames the file when all ranks agree that it is on disk.
  /// Error  ResourceError from the disk.
  void commit();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Small tables: rank 0 reads and checks, all ranks get the same. All collective.
// Error  DataError naming file and line; UsageError for other kinds of files; agreed.

/// The kind of the numbers of a spectrum file: as its header says, else C_l or D_l = l(l+1)C_l/2pi;
/// or one of the two whatever the header says.
enum class SpectrumKind { stated_or_c_l, stated_or_d_l, c_l, d_l };

/// Spectra of a file, as C_l, with their unit, warnings and origin.
struct SpectraFile {
  Spectra spectra{0};                          ///< C_l, l = 0..lmax
  bool held_d_l = false;                       ///< the file's numbers are D_l
  bool is_stated = false;                      ///< its header says so
  std::string unit{};                          ///< of C_l, e.g. uK^2; empty when none is given
  std::vector<std::string> ignored_columns{};  ///< columns that are no spectrum of T, E and B
  std::vector<std::string> warnings{};         ///< oddities of a readable file
  FileOrigin origin{};                         ///< as the file states it
};

/// Reads spectra. Text: '#' comments, columns `l TT [EE BB TE [EB TB]]`, from l = 0, 1 or 2. FITS:
/// columns TT EE BB TE TB EB (files by healpy have EB before TB). HDF5: /cl. Columns go by their
/// names; by position only where none is known.
SpectraFile read_spectra(const Communicator& comm, const std::string& path,
                         SpectrumKind kind = SpectrumKind::stated_or_c_l);
/// Writes spectra as C_l: text, FITS or HDF5, in the form that read_spectra() reads.
/// Error  UsageError also where the file exists and may not be overwritten, or there is no
///        spectrum; ResourceError from the disk.
void write_spectra(const Communicator& comm, const std::string& path, IfExists if_exists,
                   const Provenance& provenance, const Spectra& spectra, const std::string& unit);

/// A beam of a file, and warnings about it.
struct BeamFile {
  Beam beam;                          ///< b_l, from l = 0
  std::vector<std::string> warnings;  ///< oddities of a readable file
};

/// Reads a beam b_l from l = 0; b_E defaults to b_T, b_B to b_E; zero beyond the table. Text: `l
/// b_T [b_E [b_B]]`, or b_T alone. FITS: the first table that names beams alone (INT_BEAM POL_BEAM,
/// BL, or an extension BEAM...), else beams (T E B, TEMPERATURE GRADIENT CURL), else the first that
/// is no map, pixel window or weights, by position. A column without a name counts as b_E where it
/// begins within a tenth of b_T(0); others (errors) are left out with a warning.
/// Error  DataError also for maps, spectra and weights, and for a table that does not begin at l =
///        0.
BeamFile read_beam(const Communicator& comm, const std::string& path);
/// Reads the pixel window of HEALPix with `nside`, columns TEMPERATURE, POLARIZATION: a Beam with e
/// = b = polarization. Of several tables the first of this nside.
/// Error  DataError when it is that of another nside.
Beam read_pixel_window(const Communicator& comm, const std::string& path, std::int64_t nside);

/// Reads HEALPix ring weights (w - 1 stored): 2 nside rows; column TEMPERATURE WEIGHTS. Returns w
/// for the northern rings and the equator.
/// Error  DataError when the length is not 2 nside.
std::vector<double> read_ring_weights(const Communicator& comm, const std::string& path,
                                      std::int64_t nside);
/// Reads HEALPix compressed pixel weights (w - 1 stored). Returns w - 1, compressed.
/// Error  DataError on a wrong length.
std::vector<double> read_pixel_weights(const Communicator& comm, const std::string& path,
                                       std::int64_t nside);

/// Profile of a radial kernel: theta in radians, ascending from 0, and K(theta) per steradian.
struct KernelProfile {
  std::vector<double> theta;  ///< radians
  std::vector<double> value;  ///< one for each theta
};
/// Reads the profile of a radial kernel from text, two columns.
/// Error  DataError also for fewer than two rows, and for theta that does not ascend from 0 to at
///        most pi.
KernelProfile read_kernel_profile(const Communicator& comm, const std::string& path);

}  // namespace ringweave
