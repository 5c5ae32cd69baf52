// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <fitsio.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/ring_distribution.hpp"
#include "io/fits/fields.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::test {

/// A private folder that all ranks see and rank 0 removes at the end.
class FitsFiles : public testing::Test {
 protected:
  FitsFiles() : comm_(Communicator::world()) {
    const auto unique =
        std::filesystem::temp_directory_path() / ("ringweave_fits_" + std::to_string(::getpid()));
    folder_ = comm_.broadcast(unique.string(), 0);
    if (comm_.is_root()) std::filesystem::create_directories(folder_);
    comm_.barrier();
  }
  ~FitsFiles() override {
    comm_.barrier();
    if (comm_.is_root()) std::filesystem::remove_all(folder_);
  }

  const Communicator& comm() const { return comm_; }
  std::string path(const std::string& name) const {
    return (std::filesystem::path(folder_) / name).string();
  }

  /// Returns this rank's share of a grid.
  LocalRings my_rings(const std::shared_ptr<const RingGrid>& grid) const {
    return RingDistribution(grid, ModeLimits(*grid, 2, 2, 0), comm_.size()).rings(comm_.rank());
  }

  /// Runs `edit(fitsfile*)` on HDU 2 of a file, on rank 0.
  template <class Edit>
  void edit(const std::string& file, Edit&& edit_table) const {
    edit_hdu(file, 2, std::forward<Edit>(edit_table));
  }
  template <class Edit>
  void edit_hdu(const std::string& file, int hdu, Edit&& edit_table) const {
    if (comm_.is_root()) {
      fitsfile* handle = nullptr;
      int status = 0;
      fits_open_diskfile(&handle, file.c_str(), READWRITE, &status);
      fits_movabs_hdu(handle, hdu, nullptr, &status);
      edit_table(handle, &status);
      fits_close_file(handle, &status);
      EXPECT_EQ(status, 0);
    }
    comm_.barrier();
  }
  void set_keyword(const std::string& file, const char* keyword, const char* value) const {
    edit(file, [&](fitsfile* handle, int* status) {
      fits_update_key_str(handle, keyword, value, nullptr, status);
    });
  }
  void delete_keyword(const std::string& file, const char* keyword) const {
    edit(file, [&](fitsfile* handle, int* status) { fits_delete_key(handle, keyword, status); });
  }

 private:
  Communicator comm_;
  std::string folder_;
};

inline std::shared_ptr<const RingGrid> healpix(std::int64_t nside) {
  return std::make_shared<const RingGrid>(RingGrid::healpix(nside));
}

/// Returns the value of every test map: different for every pixel (of the full grid, RING) and
/// component, exact in float.
inline double test_value(std::int64_t pixel, std::int64_t component) {
  return static_cast<double>(pixel % 1000003) + 0.25 * static_cast<double>(component + 1);
}

/// Calls visit(local pixel, pixel of the full grid in RING order).
template <class Visit>
void for_each_pixel(const LocalRings& rings, Visit&& visit) {
  for (std::int64_t r = 0; r < rings.n_rings(); ++r) {
    const Ring& ring = rings.ring(LocalRing{r});
    for (std::int64_t j = 0; j < ring.n_phi; ++j)
      visit(rings.first_pixel(LocalRing{r}) + j, ring.source_pixel + j);
  }
}

template <class T>
std::vector<T> test_map(const LocalRings& rings, std::int64_t n_components) {
  std::vector<T> map(to_size(rings.n_pixels() * n_components));
  for (std::int64_t c = 0; c < n_components; ++c) {
    for_each_pixel(rings, [&](std::int64_t local, std::int64_t pixel) {
      map[to_size(c * rings.n_pixels() + local)] = static_cast<T>(test_value(pixel, c));
    });
  }
  return map;
}

template <class T>
MapView<T> view(std::vector<T>& map, std::int64_t n_components) {
  return {map.data(), n_components, ssize64(map) / n_components};
}
template <class T>
MapView<const T> view(const std::vector<T>& map, std::int64_t n_components) {
  return {map.data(), n_components, ssize64(map) / n_components};
}

inline MapHeader map_header(const std::shared_ptr<const RingGrid>& grid, std::size_t n_columns) {
  MapHeader header;
  header.grid = grid;
  header.columns.resize(n_columns);
  return header;
}

/// Runs `work` and returns the kind of Error it throws (none: no error) and its message.
template <class Work>
CaughtError error_of(Work&& work) {
  try {
    work();
  } catch (const std::exception&) {
    return describe_current_exception();
  }
  return {};
}

}  // namespace ringweave::detail::test
