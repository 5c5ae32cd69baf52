// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/healpix_data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "distribute/mpi/agree.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Returns the names of a table, the usual one first.
std::vector<std::string> names_of(HealpixTable table, std::int64_t nside) {
  switch (table) {
    case HealpixTable::pixel_window: return {fmt::format("pixel_window_n{:04}.fits", nside)};
    case HealpixTable::ring_weights: return {fmt::format("weight_ring_n{:05}.fits", nside)};
    default:
      // The second is that of HEALPix C++ and healpy.
      return {fmt::format("weight_pixel_n{:05}.fits", nside),
              fmt::format("healpix_full_weights_nside_{:04}.fits", nside)};
  }
}

void add_places(const std::string& root, std::vector<std::filesystem::path>& places) {
  places.push_back(std::filesystem::path(root) / "data");
  places.emplace_back(root);
}

/// Searches on this rank. Error  DataError.
std::string search(const std::vector<std::string>& names, const std::string& option,
                   const std::string& value) {
  std::error_code ignored;
  const bool is_auto = value == where_healpix_is;
  if (!is_auto && !std::filesystem::is_directory(value, ignored)) return value;
  std::vector<std::filesystem::path> places;
  if (is_auto) {
    places.emplace_back(".");
    const char* const root = std::getenv("HEALPIX");
    if (root != nullptr && *root != '\0') add_places(root, places);
  } else {
    add_places(value, places);
  }
  std::vector<std::string> looked;
  for (const std::filesystem::path& place : places) {
    for (const std::string& name : names) {
      if (std::filesystem::exists(place / name, ignored)) return (place / name).string();
    }
    looked.push_back(place.string());
  }
  throw DataError(
      fmt::format("{}", fmt::join(names, " or ")),
      fmt::format("not found in {}; name it or its folder with {}{}", fmt::join(looked, ", "),
                  option, is_auto ? ", or set HEALPIX to the folder of HEALPix" : ""));
}

}  // namespace

std::string healpix_file(const Communicator& comm, HealpixTable table, const std::string& option,
                         const std::string& value, std::int64_t nside) {
  std::string path;
  agree(comm, [&] {
    if (comm.is_root()) path = search(names_of(table, nside), option, value);
  });
  return comm.broadcast(path, 0);
}

std::string window_file(Run& run, const std::string& option, const std::string& value,
                        const RingGrid& grid) {
  if (value.empty()) return {};
  if (grid.nside() == 0) {
    throw UsageError(
        fmt::format("{}: the {} grid has none; it is for HEALPix maps", option, grid.name()));
  }
  std::string path =
      healpix_file(run.comm, HealpixTable::pixel_window, option, value, grid.nside());
  run.outputs.keep(path);
  return path;
}

}  // namespace ringweave::detail::inline app
