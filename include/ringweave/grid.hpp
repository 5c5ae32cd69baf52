// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace ringweave {

/// Value that HEALPix gives to pixels that were not observed; is_unseen() allows for float storage.
constexpr double unseen = -1.6375e30;
/// Tells whether a value is `unseen`, or its rounding to float.
constexpr bool is_unseen(double value) { return value < -1.6374e30 && value > -1.6376e30; }

/// A ring of the whole grid, counted from the north pole.
enum class RingId : std::int64_t {};
/// A ring among those one rank owns, in the order its pixels lie in memory.
enum class LocalRing : std::int64_t {};

/// Returns the number of a ring.
constexpr std::int64_t index(RingId ring) { return static_cast<std::int64_t>(ring); }
/// Returns the number of an owned ring.
constexpr std::int64_t index(LocalRing ring) { return static_cast<std::int64_t>(ring); }

/// Consecutive rings [begin, end) of the whole grid.
struct RingRange {
  std::int64_t begin = 0;                                              ///< first ring
  std::int64_t end = 0;                                                ///< ring after the last one
  std::int64_t size() const { return end > begin ? end - begin : 0; }  ///< number of rings
  bool empty() const { return end <= begin; }                          ///< there are none
  /// Tells whether a ring is in the range.
  bool contains(std::int64_t ring) const { return ring >= begin && ring < end; }
  friend bool operator==(const RingRange&, const RingRange&) = default;  ///< compares all members
};
/// Returns the rings that are in both ranges.
constexpr RingRange intersection(const RingRange& a, const RingRange& b) {
  return {a.begin > b.begin ? a.begin : b.begin, a.end < b.end ? a.end : b.end};
}

/// One iso-latitude ring: pixel j lies at phi0 + 2 pi j / n_phi.
struct Ring {
  double theta = 0;               ///< colatitude, radians
  double cos_theta = 0;           ///< exact to rounding, also next to the poles
  double sin_theta = 0;           ///< likewise
  double phi0 = 0;                ///< longitude of pixel 0, radians
  std::int64_t n_phi = 0;         ///< pixels
  std::int64_t first_pixel = 0;   ///< of this grid; pixels are numbered ring by ring from the north
  std::int64_t source_pixel = 0;  ///< first_pixel in the full grid of which this is a subset
  double weight = 0;  ///< quadrature weight of one pixel, steradians; 0 where the grid has none
};

/// Rings at theta and pi - theta share their Legendre functions up to a sign. Either may be
/// missing.
struct RingPair {
  static constexpr std::int64_t none = -1;  ///< in place of a missing ring
  std::int64_t north = none;                ///< RingId index; the equator's ring counts as north
  std::int64_t south = none;                ///< RingId index
  double cos_theta = 0;                     ///< of the northern one, >= 0
  double sin_theta = 0;                     ///< of both
};

/// Kind of a grid; `user` stands for rings given by arrays.
enum class GridKind { healpix, gauss_legendre, clenshaw_curtis, fejer, user };

/// A ring of a user-defined grid.
struct RingSpec {
  double theta = 0;        ///< colatitude, radians
  double phi0 = 0;         ///< longitude of pixel 0, radians
  std::int64_t n_phi = 0;  ///< pixels
  double weight = 0;       ///< quadrature weight of one pixel, steradians; 0: none
};

/// An iso-latitude grid on the sphere: rings from north to south, strictly ascending in theta.
/// Plain data, the same on every rank, made without MPI; 80 bytes a ring. Pixel counts are 64-bit:
/// nside 32768 is fine.
class RingGrid {
 public:
  static constexpr std::int64_t most_nside = 131072;                 ///< largest of HEALPix
  static constexpr std::int64_t most_rings = std::int64_t{1} << 22;  ///< of other named kinds

  /// Makes HEALPix's grid, RING order, any nside >= 1 (also no power of two). Weight 4 pi / (12
  /// nside^2).
  /// Error  UsageError unless nside is 1 to most_nside.
  ///
  /// From  Gorski et al. (2005), ApJ 622, 759
  static RingGrid healpix(std::int64_t nside);
  /// Makes a grid of Gauss-Legendre nodes, exact quadrature for degrees up to 2 n_rings - 1. n_phi
  /// 0: the least good FFT length >= 2 n_rings. first_longitude: of pixel 0 of every ring, degrees,
  /// as in names.
  /// Error  UsageError unless n_rings is 1 to most_rings, n_phi 0 or more and first_longitude -360
  ///        to 360, and when the number of pixels exceeds 64 bits.
  static RingGrid gauss_legendre(std::int64_t n_rings, std::int64_t n_phi = 0,
                                 double first_longitude = 0);
  /// Makes an equidistant grid with both poles: theta = pi i / (n_rings - 1); Clenshaw-Curtis
  /// weights, exact up to degree n_rings - 1. n_phi 0: a good FFT length >= 2 n_rings.
  /// Error  UsageError as for gauss_legendre(), and for a single ring.
  static RingGrid clenshaw_curtis(std::int64_t n_rings, std::int64_t n_phi = 0,
                                  double first_longitude = 0);
  /// Makes an equidistant grid without poles: theta = pi (i + 1/2) / n_rings; Fejer's first rule,
  /// exact up to degree n_rings - 1. n_phi 0: a good FFT length >= 2 n_rings.
  /// Error  UsageError as for gauss_legendre().
  static RingGrid fejer(std::int64_t n_rings, std::int64_t n_phi = 0, double first_longitude = 0);
  /// Makes a grid of rings given by arrays, in any order.
  /// Error  UsageError without rings; naming the ring for theta outside [0, pi], n_phi < 1, or
  ///        values that are not finite; for two rings at one theta; when the number of pixels
  ///        exceeds 64 bits.
  static RingGrid from_rings(std::vector<RingSpec> rings);
  /// Makes the grid of a name: "healpix:512", "gauss:767[,NPHI[,LON]]" (lmax),
  /// "clenshaw:1025[,NPHI[,LON]]", "fejer:1024[,NPHI[,LON]]"; LON is the longitude of pixel 0 in
  /// degrees.
  /// Error  UsageError for any other name, LMAX or NRINGS above 2^20, and as for the grid of that
  ///        kind.
  static RingGrid from_name(const std::string& name);

  /// Returns the grid with only these rings (cut sky), ascending; source_pixel keeps their places
  /// in the full grid.
  /// Error  UsageError when there are none, or they are unordered or out of range.
  RingGrid subset(std::span<const RingId> kept) const;

  GridKind kind() const { return kind_; }        ///< a subset's is that of its full grid
  std::int64_t nside() const { return nside_; }  ///< 0 unless HEALPix
  bool is_subset() const { return is_subset_; }  ///< tells whether subset() made it
  /// Returns the highest degree a map on this grid carries by default: 3 nside - 1; else the
  /// highest whose analysis is exact, that is products of degree 2 lmax are integrated exactly and
  /// rings have more than 2 lmax pixels (Gauss-Legendre: n_rings - 1, equidistant: (n_rings - 1) /
  /// 2). A user's grid counts as equidistant; a subset keeps its grid's.
  int default_lmax() const;
  /// Returns the name from_name() takes; for user grids and subsets a description.
  const std::string& name() const { return name_; }

  /// Returns the number of rings.
  std::int64_t n_rings() const { return static_cast<std::int64_t>(rings_.size()); }
  std::int64_t n_pixels() const { return n_pixels_; }                ///< of all its rings
  std::int64_t n_source_pixels() const { return n_source_pixels_; }  ///< of the full grid
  std::int64_t longest_ring() const;                                 ///< its pixels
  /// Returns a ring, numbered from 0 in the north.
  const Ring& ring(RingId id) const { return rings_[static_cast<std::size_t>(id)]; }
  std::span<const Ring> rings() const { return rings_; }  ///< from north to south
  /// Returns the pairs from the poles to the equator, cos_theta strictly descending.
  std::span<const RingPair> pairs() const { return pairs_; }
  /// Returns the number of pairs.
  std::int64_t n_pairs() const { return static_cast<std::int64_t>(pairs_.size()); }
  /// Returns the ring that holds a pixel of this grid.
  /// Error  UsageError unless the pixel is 0 to n_pixels() - 1.
  RingId ring_of_pixel(std::int64_t pixel) const;

 private:
  RingGrid(GridKind kind, std::int64_t nside, std::string name, std::vector<Ring> rings);
  void finish();  ///< numbers pixels, makes pairs

  GridKind kind_ = GridKind::user;
  std::int64_t nside_ = 0;
  bool is_subset_ = false;
  std::string name_;
  std::vector<Ring> rings_;
  std::vector<RingPair> pairs_;
  std::int64_t n_pixels_ = 0;
  std::int64_t n_source_pixels_ = 0;
  std::int64_t default_lmax_ = 0;
};

/// Consecutive pixels that are consecutive both in the grid and in a rank's memory.
struct PixelSlab {
  std::int64_t first_global = 0;  ///< number of its first pixel in the grid
  std::int64_t first_local = 0;   ///< place of that pixel in the rank's map
  std::int64_t count = 0;         ///< pixels
};

/// Consecutive rings that are consecutive both in the grid and in a rank's memory.
struct RingBand {
  RingRange rings;    ///< of the grid
  LocalRing first{};  ///< local number of rings.begin

  /// Returns the local number of a ring of the band.
  LocalRing local(std::int64_t ring) const {
    return LocalRing{index(first) + (ring - rings.begin)};
  }
};

/// The rings one rank owns: a few bands (a part of every section of the north, and their mirrors in
/// the south, see RingDistribution). Rings and pixels lie from north to south, so a rank's map is
/// as many slabs of the RING-ordered map as there are bands. Plain data; nothing is collective.
class LocalRings {
 public:
  /// Makes the rings of some bands. They go from north to south; empty ones are left out and those
  /// that touch become one.
  /// Error  UsageError when they overlap, go another way or leave the grid.
  LocalRings(std::shared_ptr<const RingGrid> grid, std::span<const RingRange> bands);
  /// Does the same with a list of bands.
  LocalRings(std::shared_ptr<const RingGrid> grid, std::initializer_list<RingRange> bands);
  /// Makes all rings of the grid (one rank).
  explicit LocalRings(std::shared_ptr<const RingGrid> grid);

  const RingGrid& grid() const { return *grid_; }  ///< the grid of the rings
  /// Returns the grid of the rings, to be kept.
  const std::shared_ptr<const RingGrid>& shared_grid() const { return grid_; }
  /// Returns the bands from north to south; none is empty and no two touch.
  std::span<const RingBand> bands() const { return bands_; }
  /// Returns the pixels of each band.
  std::span<const PixelSlab> slabs() const { return slabs_; }
  /// Returns the number of owned rings.
  std::int64_t n_rings() const { return static_cast<std::int64_t>(first_pixel_.size()); }
  std::int64_t n_pixels() const { return n_pixels_; }  ///< owned ones

  /// Returns the number of an owned ring in the whole grid.
  RingId global(LocalRing ring) const {
    const RingBand* band = &bands_.front();
    while (index(ring) >= index(band->first) + band->rings.size()) ++band;
    return RingId{band->rings.begin + index(ring) - index(band->first)};
  }
  /// Tells whether the rank owns a ring.
  bool owns(RingId ring) const { return band_of(ring) != nullptr; }
  /// Returns the local number of an owned ring.
  LocalRing local(RingId ring) const { return band_of(ring)->local(index(ring)); }
  /// Returns an owned ring.
  const Ring& ring(LocalRing ring) const { return grid_->ring(global(ring)); }
  /// Returns the local number of the ring's pixel 0.
  std::int64_t first_pixel(LocalRing ring) const {
    return first_pixel_[static_cast<std::size_t>(ring)];
  }
  /// Returns the owned rings that lie in `range`.
  LocalRings within(RingRange range) const;

 private:
  void add(RingRange rings);
  const RingBand* band_of(RingId ring) const {
    for (const RingBand& band : bands_)
      if (band.rings.contains(index(ring))) return &band;
    return nullptr;
  }

  std::shared_ptr<const RingGrid> grid_;
  std::vector<RingBand> bands_;
  std::vector<PixelSlab> slabs_;
  std::int64_t n_pixels_ = 0;
  std::vector<std::int64_t> first_pixel_;
};

/// Returns the quadrature weight of one pixel of every owned ring, [owned ring], steradians: the
/// grid's own weight, times `northern` unless empty. Not collective.
/// northern  HEALPix ring weights w, not w - 1: 2 nside, one for each northern ring and the
///           equator, used for the mirror too
/// Error  UsageError when the grid has no weights (user rings without), `northern` is given for
///        another grid than HEALPix's, or its length is wrong.
std::vector<double> ring_weights(const LocalRings& rings, std::span<const double> northern = {});

/// Returns the HEALPix full-pixel weights w (not w - 1) of the owned pixels, [own pixel]. OpenMP
/// over rings; not collective.
/// compressed  table of w - 1, (nside + 1)(3 nside + 1) / 4 numbers: one octant's pixels up to the
///             equator; the rest by symmetry
/// Error  UsageError when the grid is not HEALPix or the length is wrong.
std::vector<double> expand_pixel_weights(const LocalRings& rings,
                                         std::span<const double> compressed);

}  // namespace ringweave
