// SPDX-License-Identifier: GPL-3.0-or-later
// Times writing and reading a map, HDF5 and FITS, against copying it in memory; one JSON line each:
//   scripts/mpirun.sh RANKS file_bench FOLDER [NSIDE [REPEATS]]
#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "bench/slowest_rank.hpp"
#include "distribute/ring_distribution.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail {
namespace {

int run(const Communicator& comm, int argc, char** argv) {
  if (argc < 2) {
    if (comm.is_root()) fmt::print(stderr, "usage: file_bench FOLDER [NSIDE [REPEATS]]\n");
    return 2;
  }
  const std::int64_t nside = argc > 2 ? std::stol(argv[2]) : 1024;
  const int repeats = argc > 3 ? std::stoi(argv[3]) : 5;
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(nside));
  const LocalRings rings =
      RingDistribution(grid, ModeLimits(*grid, 0, 0, 0), comm.size()).rings(comm.rank());
  MapBuffer<double> map(1, rings.n_pixels());
  MapBuffer<double> back(1, rings.n_pixels());
  for (const PixelSlab& slab : rings.slabs()) {
    for (std::int64_t i = 0; i < slab.count; ++i)
      map.view().data()[slab.first_local + i] = static_cast<double>(slab.first_global + i);
  }

  const double bytes = static_cast<double>(grid->n_pixels()) * 8;
  const auto report = [&](const std::string& kind, const std::string& what, double seconds) {
    if (!comm.is_root()) return;
    fmt::print(
        "{{\"kind\": \"{}\", \"what\": \"{}\", \"nside\": {}, \"ranks\": {}, \"seconds\": {:.5f}, "
        "\"gb_per_s\": {:.3f}}}\n",
        kind, what, nside, comm.size(), seconds, bytes / seconds * 1e-9);
  };
  report("memory", "copy", slowest_rank_seconds(comm, repeats, [&] {
           std::memcpy(back.view().data(), map.view().data(),
                       static_cast<std::size_t>(map.bytes()));
         }));
  for (const std::string kind : {"hdf5", "fits"}) {
    const std::string path = fmt::format("{}/file_bench.{}", argv[1], kind);
    MapHeader header;
    header.grid = grid;
    header.columns = {{"TEMPERATURE", "K"}};
    report(kind, "write", slowest_rank_seconds(comm, repeats, [&] {
             write_map(comm, path, IfExists::overwrite, header, Provenance{}, rings,
                       MapView<const double>(map.view()));
           }));
    const int column = 0;
    report(kind, "read", slowest_rank_seconds(comm, repeats, [&] {
             open_map(comm, path)->read({&column, 1}, rings, back.view());
           }));
    const auto size = static_cast<std::size_t>(map.bytes());
    if (std::memcmp(back.view().data(), map.view().data(), size) != 0)
      throw InternalError(path + ": read back wrong");
    if (comm.is_root()) std::remove(path.c_str());
  }
  return 0;
}

}  // namespace
}  // namespace ringweave::detail

int main(int argc, char** argv) {
  const ringweave::MpiSession mpi(&argc, &argv);
  return ringweave::detail::run(ringweave::Communicator::world(), argc, argv);
}
