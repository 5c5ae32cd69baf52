// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include "base/checked_cast.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/fields.hpp"
#include "io_support.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail {
namespace {

using test::deal_rings;
using test::pixel_value;
using test::pixel_values;
using test::ScratchFolder;
using test::source_pixels;

constexpr std::int64_t n_components = 3;

MapHeader header_of(std::shared_ptr<const RingGrid> grid, Ordering ordering = Ordering::ring) {
  MapHeader header;
  header.grid = std::move(grid);
  header.ordering = ordering;
  header.columns = {
      {"TEMPERATURE", "K_CMB"}, {"Q_POLARISATION", "K_CMB"}, {"U_POLARISATION", "K_CMB"}};
  header.coordsys = "G";
  return header;
}

std::shared_ptr<const RingGrid> healpix(std::int64_t nside) {
  return std::make_shared<const RingGrid>(RingGrid::healpix(nside));
}

std::shared_ptr<const RingGrid> subset(const RingGrid& grid,
                                       std::initializer_list<std::int64_t> rings) {
  std::vector<RingId> kept;
  for (const std::int64_t ring : rings) kept.push_back(RingId{ring});
  return std::make_shared<const RingGrid>(grid.subset(kept));
}

template <class T>
std::vector<T> read_all(const Communicator& comm, const std::string& path, const LocalRings& rings,
                        const Hdf5Limits& limits = {}) {
  const auto reader = open_hdf5_map(comm, path, limits);
  std::vector<T> map(to_size(n_components * rings.n_pixels()));
  const std::vector<int> columns{0, 1, 2};
  reader->read(columns, rings, MapView<T>(map.data(), n_components, rings.n_pixels()));
  return map;
}

template <class T>
void write_values(const Communicator& comm, const std::string& path, const MapHeader& header,
                  const LocalRings& rings, const std::vector<T>& map,
                  const Hdf5Limits& limits = {}) {
  write_hdf5_map(comm, path, header, test::sample_provenance(), rings,
                 MapView<const T>(map.data(), n_components, rings.n_pixels()), limits);
}

constexpr Hdf5Limits tiny{37, 2};

template <class Stored, class Read>
void expect_round_trip(Ordering ordering, Precision precision) {
  const Communicator comm = Communicator::world();
  const ScratchFolder folder(comm);
  const LocalRings rings = deal_rings(healpix(8), comm);
  MapHeader header = header_of(rings.shared_grid(), ordering);
  header.precision = precision;
  write_values(comm, folder / "map.h5", header, rings, pixel_values<Stored>(rings, n_components));
  EXPECT_EQ(read_all<Read>(comm, folder / "map.h5", rings),
            pixel_values<Read>(rings, n_components));
  EXPECT_EQ(read_all<Read>(comm, folder / "map.h5", rings, tiny),
            pixel_values<Read>(rings, n_components));
  EXPECT_EQ(open_hdf5_map(comm, folder / "map.h5")->header().precision, precision);
}

TEST(Hdf5Map, RingMapsComeBackPixelByPixel) {
  expect_round_trip<double, double>(Ordering::ring, Precision::double_);
  expect_round_trip<float, float>(Ordering::ring, Precision::single_);
}

TEST(Hdf5Map, NestedMapsComeBackPixelByPixel) {
  expect_round_trip<double, double>(Ordering::nested, Precision::double_);
  expect_round_trip<float, float>(Ordering::nested, Precision::single_);
}

TEST(Hdf5Map, StorageAndMemoryMayDifferInPrecision) {
  expect_round_trip<double, float>(Ordering::ring, Precision::single_);
  expect_round_trip<float, double>(Ordering::nested, Precision::double_);
}

TEST(Hdf5Map, BytesDependOnNeitherRanksNorTransferSize) {
  const Communicator comm = Communicator::world();
  const ScratchFolder folder(comm);
  const auto grid = healpix(8);
  const LocalRings rings = deal_rings(grid, comm);
  for (const Ordering ordering : {Ordering::ring, Ordering::nested}) {
    const MapHeader header = header_of(grid, ordering);
    write_values(comm, folder / "together.h5", header, rings,
                 pixel_values<double>(rings, n_components));
    write_values(comm, folder / "split.h5", header, rings,
                 pixel_values<double>(rings, n_components), tiny);
    test::on_root(comm, [&] {
      const LocalRings all(grid);
      write_values(Communicator::self(), folder / "alone.h5", header, all,
                   pixel_values<double>(all, n_components));
      EXPECT_TRUE(test::bytes_of(folder / "together.h5") == test::bytes_of(folder / "alone.h5"));
      EXPECT_TRUE(test::bytes_of(folder / "split.h5") == test::bytes_of(folder / "alone.h5"));
    });
  }
}

TEST(Hdf5Map, HeaderComesBack) {
  const Communicator comm = Communicator::world();
  const ScratchFolder folder(comm);
  const LocalRings rings = deal_rings(healpix(4), comm);
  const MapHeader header = header_of(rings.shared_grid(), Ordering::nested);
  write_values(comm, folder / "map.h5", header, rings, pixel_values<double>(rings, n_components));
  const auto reader = open_hdf5_map(comm, folder / "map.h5");
  const MapHeader& read = reader->header();
  EXPECT_EQ(read.grid->nside(), 4);
  EXPECT_EQ(read.ordering, Ordering::nested);
  EXPECT_EQ(read.coverage, SkyCoverage::full);
  ASSERT_EQ(read.columns.size(), 3u);
  EXPECT_EQ(read.columns[1].name, "Q_POLARISATION");
  EXPECT_EQ(read.columns[1].unit, "K_CMB");
  EXPECT_EQ(read.coordsys, "G");
  EXPECT_FALSE(read.polarisation_was_iau);
  EXPECT_TRUE(read.warnings.empty()) << read.warnings.front();
  EXPECT_EQ(reader->observed_rings().size(), 15u);
}

TEST(Hdf5Map, ColumnsAreChosenInAnyOrder) {
  const Communicator comm = Communicator::world();
  const ScratchFolder folder(comm);
  const LocalRings rings = deal_rings(healpix(4), comm);
  for (const Ordering ordering : {Ordering::ring, Ordering::nested}) {
    write_values(comm, folder / "map.h5", header_of(rings.shared_grid(), ordering), rings,
                 pixel_values<double>(rings, n_components));
    const auto reader = open_hdf5_map(comm, folder / "map.h5");
    std::vector<double> map(to_size(2 * rings.n_pixels()));
    reader->read(std::vector<int>{2, 0}, rings, MapView<double>(map.data(), 2, rings.n_pixels()));
    const std::vector<std::int64_t> pixels = source_pixels(rings);
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      EXPECT_EQ(map[i], pixel_value(2, pixels[i]));
      EXPECT_EQ(map[pixels.size() + i], pixel_value(0, pixels[i]));
    }
  }
}

TEST(Hdf5Map, SomeRingsOfAFullMapAreRead) {
  const Communicator comm = Communicator::world();
  const ScratchFolder folder(comm);
  const auto grid = healpix(4);
  const LocalRings part = deal_rings(subset(*grid, {0, 2, 3, 7, 11, 14}), comm);
  for (const Ordering ordering : {Ordering::ring, Ordering::nested}) {
    const LocalRings rings = deal_rings(grid, comm);
    write_values(comm, folder / "map.h5", header_of(grid, ordering), rings,
                 pixel_values<double>(rings, n_components));
    EXPECT_EQ(read_all<double>(comm, folder / "map.h5", part, tiny),
              pixel_values<double>(part, n_components));
  }
}

TEST(Hdf5Map, AFullMapOfSomeRingsIsUnseenElsewhere) {
  const Communicator comm = Communicator::world();
  const ScratchFolder folder(comm);
  const auto grid = healpix(4);
  const LocalRings part = deal_rings(subset(*grid, {1, 6, 7}), comm);
  write_values(comm, folder / "map.h5", header_of(grid), part,
               pixel_values<double>(part, n_components), tiny);
  const LocalRings rings = deal_rings(grid, comm);
  const std::vector<double> map = read_all<double>(comm, folder / "map.h5", rings);
  const std::vector<std::int64_t> pixels = source_pixels(rings);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    const std::int64_t ring = index(grid->ring_of_pixel(pixels[i]));
    const bool kept = ring == 1 || ring == 6 || ring == 7;
    EXPECT_EQ(map[i], kept ? pixel_value(0, pixels[i]) : unseen);
  }
}

TEST(Hdf5Map, PartialMapsListTheObservedPixels) {
  const Communicator comm = Communicator::world();
  const ScratchFolder folder(comm);
  const auto grid = healpix(4);
  const auto part = subset(*grid, {1, 6, 7});
  const LocalRings rings = deal_rings(part, comm);
  std::vector<double> map = pixel_values<double>(rings, n_components);
  const std::vector<std::int64_t> pixels = source_pixels(rings);
  const std::int64_t masked = grid->ring(RingId{7}).first_pixel + 3;
  for (std::size_t i = 0; i < map.size(); ++i) {
    if (pixels[i % pixels.size()] == masked) map[i] = unseen;
  }
  for (const Ordering ordering : {Ordering::ring, Ordering::nested}) {
    MapHeader header = header_of(grid, ordering);
    header.coverage = SkyCoverage::partial;
    write_values(comm, folder / "part.h5", header, rings, map);
    write_values(comm, folder / "split.h5", header, rings, map, tiny);
    test::on_root(comm, [&] {
      EXPECT_TRUE(test::bytes_of(folder / "part.h5") == test::bytes_of(folder / "split.h5"));
    });

    const auto reader = open_hdf5_map(comm, folder / "part.h5", tiny);
    EXPECT_EQ(reader->header().coverage, SkyCoverage::partial);
    EXPECT_EQ(reader->header().listed_pixels, 8 + 16 + 16 - 1);
    EXPECT_EQ(reader->observed_rings(), (std::vector<RingId>{RingId{1}, RingId{6}, RingId{7}}));
    EXPECT_EQ(read_all<double>(comm, folder / "part.h5", rings), map);
    EXPECT_EQ(read_all<double>(comm, folder / "part.h5", rings, tiny), map);

    const LocalRings whole = deal_rings(grid, comm);
    const std::vector<double> sky = read_all<double>(comm, folder / "part.h5", whole, tiny);
    std::int64_t seen = 0;
    for (std::int64_t i = 0; i < whole.n_pixels(); ++i) seen += is_unseen(sky[to_size(i)]) ? 0 : 1;
    EXPECT_EQ(comm.sum(seen), 39);
  }
}

TEST(Hdf5Map, PixelNumbersBeyond32BitsComeBackAsWritten) {
  const Communicator comm = Communicator::world();
  const ScratchFolder folder(comm);
  const auto grid = healpix(16384);
  const std::vector<RingId> kept{RingId{60000}, RingId{60001}, RingId{60002}};
  const auto south = std::make_shared<const RingGrid>(grid->subset(kept));
  const LocalRings rings = deal_rings(south, comm);
  MapHeader header = header_of(grid);
  header.coverage = SkyCoverage::partial;
  const auto values = pixel_values<double>(rings, n_components);
  write_values(comm, folder / "map.h5", header, rings, values);
  const auto reader = open_hdf5_map(comm, folder / "map.h5");
  EXPECT_EQ(reader->header().listed_pixels, south->n_pixels());
  EXPECT_EQ(reader->observed_rings(), kept);
  EXPECT_EQ(read_all<double>(comm, folder / "map.h5", rings), values);
}

TEST(Hdf5Map, PartialMapsWithoutAPixelAreRefused) {
  const Communicator comm = Communicator::world();
  const ScratchFolder folder(comm);
  const LocalRings rings = deal_rings(healpix(2), comm);
  MapHeader header = header_of(rings.shared_grid());
  header.coverage = SkyCoverage::partial;
  const std::vector<double> nothing(to_size(n_components * rings.n_pixels()), unseen);
  test::expect_error(ErrorKind::usage, "no pixel is observed",
                     [&] { write_values(comm, folder / "part.h5", header, rings, nothing); });
}

TEST(Hdf5Map, OtherGridsKeepTheirRings) {
  const Communicator comm = Communicator::world();
  const ScratchFolder folder(comm);
  const double pi = std::numbers::pi;
  const std::vector<std::shared_ptr<const RingGrid>> grids{
      std::make_shared<const RingGrid>(RingGrid::gauss_legendre(12)),
      std::make_shared<const RingGrid>(RingGrid::clenshaw_curtis(9, 20)),
      std::make_shared<const RingGrid>(RingGrid::fejer(8)),
      std::make_shared<const RingGrid>(
          RingGrid::from_rings({{0.3, 0.1, 5, 0.01}, {pi / 3, 0.2, 9, 0.02}, {2.5, 0, 7, 0.03}}))};
  for (const auto& grid : grids) {
    const LocalRings rings = deal_rings(grid, comm);
    write_values(comm, folder / "map.h5", header_of(grid), rings,
                 pixel_values<double>(rings, n_components));
    EXPECT_EQ(read_all<double>(comm, folder / "map.h5", rings),
              pixel_values<double>(rings, n_components));
    const auto reader = open_hdf5_map(comm, folder / "map.h5");
    const RingGrid& read = *reader->header().grid;
    EXPECT_EQ(read.kind(), grid->kind());
    EXPECT_EQ(read.name(), grid->name());
    ASSERT_EQ(read.n_rings(), grid->n_rings());
    for (std::int64_t r = 0; r < read.n_rings(); ++r) {
      EXPECT_EQ(read.ring(RingId{r}).theta, grid->ring(RingId{r}).theta);
      EXPECT_EQ(read.ring(RingId{r}).phi0, grid->ring(RingId{r}).phi0);
      EXPECT_EQ(read.ring(RingId{r}).weight, grid->ring(RingId{r}).weight);
    }
  }
}

TEST(Hdf5Map, NestedOrderNeedsAPowerOfTwo) {
  const Communicator comm = Communicator::world();
  const ScratchFolder folder(comm);
  const LocalRings rings = deal_rings(healpix(6), comm);
  test::expect_error(ErrorKind::usage, "power of two", [&] {
    write_values(comm, folder / "map.h5", header_of(rings.shared_grid(), Ordering::nested), rings,
                 pixel_values<double>(rings, n_components));
  });
}

TEST(Hdf5Map, ValuesThatAreNotNumbersPass) {
  const Communicator comm = Communicator::world();
  const ScratchFolder folder(comm);
  const LocalRings rings = deal_rings(healpix(2), comm);
  const std::vector<double> nan(to_size(n_components * rings.n_pixels()),
                                std::numeric_limits<double>::quiet_NaN());
  write_values(comm, folder / "map.h5", header_of(rings.shared_grid()), rings, nan);
  for (const double value : read_all<double>(comm, folder / "map.h5", rings))
    EXPECT_TRUE(std::isnan(value));
}

void replace_attributes(const std::string& path,
                        const std::function<void(const Hdf5AttributeWriter&)>& write,
                        std::initializer_list<const char*> removed) {
  const Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
  const Hdf5Handle dataset(H5Dopen2(file.id(), "map", H5P_DEFAULT), H5Dclose);
  for (const char* name : removed) H5Adelete(dataset.id(), name);
  write(Hdf5AttributeWriter(dataset, path));
}

TEST(Hdf5Map, IauPolarisationTurnsTheSignOfU) {
  const Communicator comm = Communicator::world();
  const ScratchFolder folder(comm);
  const LocalRings rings = deal_rings(healpix(2), comm);
  write_values(comm, folder / "map.h5", header_of(rings.shared_grid()), rings,
               pixel_values<double>(rings, n_components));
  test::on_root(comm, [&] {
    replace_attributes(folder / "map.h5", [](const auto& to) { to.text("POLCCONV", "IAU"); },
                       {"POLCCONV"});
  });
  const std::vector<double> map = read_all<double>(comm, folder / "map.h5", rings);
  const std::vector<std::int64_t> pixels = source_pixels(rings);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    EXPECT_EQ(map[pixels.size() + i], pixel_value(1, pixels[i]));
    EXPECT_EQ(map[2 * pixels.size() + i], -pixel_value(2, pixels[i]));
  }
  EXPECT_TRUE(open_hdf5_map(comm, folder / "map.h5")->header().polarisation_was_iau);
}

TEST(Hdf5Map, BadDataOfOtherProgramsBecomesUnseen) {
  const Communicator comm = Communicator::world();
  const ScratchFolder folder(comm);
  const LocalRings rings = deal_rings(healpix(2), comm);
  write_values(comm, folder / "map.h5", header_of(rings.shared_grid()), rings,
               pixel_values<double>(rings, n_components));
  test::on_root(comm, [&] {
    replace_attributes(folder / "map.h5",
                       [](const auto& to) { to.real("BAD_DATA", pixel_value(0, 5)); },
                       {"BAD_DATA"});
  });
  const std::vector<double> map = read_all<double>(comm, folder / "map.h5", rings);
  const std::vector<std::int64_t> pixels = source_pixels(rings);
  for (std::size_t i = 0; i < pixels.size(); ++i) EXPECT_EQ(is_unseen(map[i]), pixels[i] == 5);
}

TEST(Hdf5Map, ChunkedCompressedIntegersWithoutMetadataAreRead) {
  const Communicator comm = Communicator::world();
  const ScratchFolder folder(comm);
  test::on_root(comm, [&] {
    const Hdf5Handle file(
        H5Fcreate((folder / "toast.h5").c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
        H5Fclose);
    const hsize_t dims[2] = {3, 192};
    const hsize_t chunk[2] = {3, 48};
    const Hdf5Handle space(H5Screate_simple(2, dims, nullptr), H5Sclose);
    const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_chunk(creation.id(), 2, chunk);
    H5Pset_shuffle(creation.id());
    H5Pset_deflate(creation.id(), 4);
    const Hdf5Handle map(H5Dcreate2(file.id(), "map", H5T_STD_I32BE, space.id(), H5P_DEFAULT,
                                    creation.id(), H5P_DEFAULT),
                         H5Dclose);
    std::vector<int> values;
    for (int i = 0; i < 3 * 192; ++i) values.push_back(i);
    H5Dwrite(map.id(), H5T_NATIVE_INT, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
  });
  const LocalRings rings = deal_rings(healpix(4), comm);
  const std::vector<double> map = read_all<double>(comm, folder / "toast.h5", rings, tiny);
  const std::vector<std::int64_t> pixels = source_pixels(rings);
  for (std::size_t i = 0; i < map.size(); ++i) {
    const std::int64_t c = static_cast<std::int64_t>(i / pixels.size());
    EXPECT_EQ(map[i], static_cast<double>(192 * c + pixels[i % pixels.size()]));
  }
  EXPECT_EQ(open_hdf5_map(comm, folder / "toast.h5")->header().warnings.size(), 2u);
}

TEST(Hdf5Map, TwoOwnersOfARingAreRefused) {
  const Communicator comm = Communicator::world();
  if (comm.size() == 1) GTEST_SKIP() << "needs two ranks";
  const ScratchFolder folder(comm);
  const LocalRings all(healpix(2));
  test::expect_error(ErrorKind::usage, "more than one rank", [&] {
    write_values(comm, folder / "map.h5", header_of(all.shared_grid(), Ordering::nested), all,
                 pixel_values<double>(all, n_components));
  });
}

}  // namespace
}  // namespace ringweave::detail
