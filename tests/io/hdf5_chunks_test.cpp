// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/chunks.hpp"
#include "io/hdf5/file.hpp"
#include "io/pixel_blocks.hpp"
#include "io_support.hpp"
#include "point_support.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::test {
namespace {

/// A dataset of which only some columns were ever written.
struct Unfinished {
  std::vector<hsize_t> dims;
  std::vector<hsize_t> chunk;
  std::vector<std::vector<hsize_t>> written{};  ///< where chunks begin that were
  std::optional<double> value{};                ///< of the others
};

Hdf5Handle create_unfinished(const Hdf5Handle& parent, const char* name, const Unfinished& spec) {
  const auto rank = static_cast<int>(spec.dims.size());
  const Hdf5Handle space(H5Screate_simple(rank, spec.dims.data(), nullptr), H5Sclose);
  const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  H5Pset_chunk(creation.id(), rank, spec.chunk.data());
  if (spec.value) H5Pset_fill_value(creation.id(), H5T_NATIVE_DOUBLE, &*spec.value);
  Hdf5Handle dataset(H5Dcreate2(parent.id(), name, H5T_NATIVE_DOUBLE, space.id(), H5P_DEFAULT,
                                creation.id(), H5P_DEFAULT),
                     H5Dclose);
  hsize_t count = 1;
  for (const hsize_t extent : spec.chunk) count *= extent;
  const std::vector<double> values(count, 1.5);
  const Hdf5Handle memory(H5Screate_simple(1, &count, nullptr), H5Sclose);
  for (const std::vector<hsize_t>& begin : spec.written) {
    H5Sselect_hyperslab(space.id(), H5S_SELECT_SET, begin.data(), nullptr, spec.chunk.data(),
                        nullptr);
    EXPECT_GE(H5Dwrite(dataset.id(), H5T_NATIVE_DOUBLE, memory.id(), space.id(), H5P_DEFAULT,
                       values.data()),
              0);
  }
  return dataset;
}

class UnfinishedDatasets : public testing::Test {
 protected:
  Communicator comm_ = Communicator::world();
  ScratchFolder folder_{comm_};
  std::string path_ = folder_ / "file.h5";

  void write_map(const Unfinished& spec, const char* ordering) {
    comm_.barrier();  // until no rank reads the file before it
    make_hdf5(comm_, path_, [&](const Hdf5Handle& file) {
      const Hdf5Handle map = create_unfinished(file, "map", spec);
      const Hdf5AttributeWriter attributes(map, path_);
      attributes.integer("NSIDE", 4);
      attributes.text("ORDERING", ordering);
    });
  }
  /// Returns this rank's pixels of the second column.
  std::vector<double> read(const LocalRings& rings) {
    const auto reader = open_map(comm_, path_);
    std::vector<double> map(to_size(rings.n_pixels()));
    reader->read(std::vector<int>{1}, rings, MapView<double>(map.data(), 1, rings.n_pixels()));
    return map;
  }
  void expect_unfinished(const std::string& words, const std::function<void()>& open) {
    expect_error(ErrorKind::data, words, open);
    expect_error(ErrorKind::data, "is not finished", open);
  }
};

TEST_F(UnfinishedDatasets, AreRefused) {
  write_map({{3, 192}, {1, 96}, {{0, 0}, {0, 96}, {1, 0}}}, "RING");
  expect_unfinished("/map is not finished: 3 of its 6 chunks were never written",
                    [&] { open_map(comm_, path_); });
  write_map({{3, 192}, {3, 100}, {{0, 0}}}, "RING");
  expect_unfinished("1 of its 2 chunks", [&] { open_map(comm_, path_); });
  write_map({{3, 192}, {3, 96}}, "RING");
  expect_unfinished("2 of its 2 chunks", [&] { open_map(comm_, path_); });
  make_hdf5(comm_, path_, [&](const Hdf5Handle& file) {
    create_unfinished(file, "theta", {{8}, {4}, {{0}, {4}}});
    create_unfinished(file, "phi", {{8}, {4}, {{0}}});
  });
  expect_unfinished("/phi is not finished: 1 of its 2", [&] { read_points(comm_, path_); });
  make_hdf5(comm_, path_, [&](const Hdf5Handle& file) {
    create_unfinished(file, "field", {{4, 4}, {2, 4}, {{2, 0}}});
  });
  expect_unfinished("/field is not finished", [&] { PlaneFileReader(comm_, path_); });
}

TEST_F(UnfinishedDatasets, AreReadWhereTheirWriterDefinedAValue) {
  write_map({{3, 192}, {1, 96}, {{1, 96}}, 0.25}, "RING");
  const LocalRings rings =
      deal_rings(std::make_shared<const RingGrid>(RingGrid::healpix(4)), comm_);
  const std::vector<double> map = read(rings);
  const std::vector<std::int64_t> pixels = source_pixels(rings);
  for (std::size_t i = 0; i < map.size(); ++i) EXPECT_EQ(map[i], pixels[i] < 96 ? 0.25 : 1.5);
}

TEST_F(UnfinishedDatasets, PartsOfTheSkyThatToastDidNotWriteAreUnseen) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(4));
  const LocalRings rings = deal_rings(grid, comm_);
  const std::vector<std::int64_t> pixels = source_pixels(rings);
  for (const Ordering ordering : {Ordering::ring, Ordering::nested}) {
    write_map({{3, 192}, {3, 48}, {{0, 0}, {0, 96}}},
              ordering == Ordering::ring ? "RING" : "NESTED");
    EXPECT_EQ(
        open_map(comm_, path_)->header().warnings,
        std::vector<std::string>{"96 of 192 pixels were never written; they count as UNSEEN"});
    const PixelOrder order(*grid, ordering);
    const std::vector<double> map = read(rings);
    for (std::size_t i = 0; i < map.size(); ++i) {
      const bool is_written = order.from_ring(pixels[i]) / 48 % 2 == 0;
      EXPECT_EQ(map[i], is_written ? 1.5 : unseen) << pixels[i];
    }
  }
}

}  // namespace
}  // namespace ringweave::detail::test
