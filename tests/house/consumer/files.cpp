// SPDX-License-Identifier: GPL-3.0-or-later
// Writes a map to both kinds of file and reads it back.
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include <ringweave/files.hpp>
#include <ringweave/ringweave.hpp>

namespace {

using namespace ringweave;

bool comes_back(const Communicator& comm, const MapHeader& header, const std::string& path) {
  const LocalRings rings(header.grid);
  MapBuffer<double> map(3, rings.n_pixels());
  for (std::int64_t c = 0; c < map.n_components(); ++c) {
    for (std::int64_t i = 0; i < map.size(); ++i)
      map.view().component(c)[i] = static_cast<double>(c + i);
  }
  write_map(comm, path, IfExists::overwrite, header, {}, rings, map.view());

  MapBuffer<double> read(3, rings.n_pixels());
  const std::vector<int> columns{0, 1, 2};
  open_map(comm, path)->read(columns, rings, read.view());
  for (std::int64_t c = 0; c < map.n_components(); ++c) {
    for (std::int64_t i = 0; i < map.size(); ++i)
      if (map.view().component(c)[i] != read.view().component(c)[i]) return false;
  }
  return true;
}

int check(const Communicator& comm) {
  MapHeader header;
  header.grid = std::make_shared<const RingGrid>(RingGrid::healpix(16));
  header.columns = {{"TEMPERATURE", "K"}, {"Q_POLARISATION", "K"}, {"U_POLARISATION", "K"}};
  const bool same =
      comes_back(comm, header, "consumer.h5") && comes_back(comm, header, "consumer.fits");
  std::printf("files %s\n", same ? "came back" : "CHANGED");
  return same ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const MpiSession mpi(&argc, &argv);
  const Communicator comm = Communicator::world();
  return run_program(comm, "files", [&] { return check(comm); });
}
