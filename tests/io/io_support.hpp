// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"
#include "ringweave/grid.hpp"
#include "support/expect_error.hpp"

namespace ringweave::detail::test {

/// A folder of this launch, made by rank 0 and removed by it at the end. Collective.
class ScratchFolder {
 public:
  explicit ScratchFolder(Communicator comm) : comm_(std::move(comm)) {
    std::string name;
    if (comm_.is_root()) {
      // mkdtemp() replaces the six X.
      name =
          (std::filesystem::temp_directory_path() / "ringweave_io_").string() + std::string(6, 'X');
      if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error("no scratch folder");
    }
    path_ = comm_.broadcast(name, 0);
  }
  ~ScratchFolder() {
    comm_.barrier();
    std::error_code ignored;
    if (comm_.is_root()) std::filesystem::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  Communicator comm_;
  std::string path_;
};

/// Runs `work` on rank 0 while the others wait. Collective.
inline void on_root(const Communicator& comm, const std::function<void()>& work) {
  if (comm.is_root()) work();
  comm.barrier();
}

/// A band next to the pole and one next to the equator with their mirrors, equally many ring pairs
/// per rank.
inline LocalRings deal_rings(std::shared_ptr<const RingGrid> grid, const Communicator& comm) {
  const std::int64_t n = grid->n_rings();
  const std::int64_t n_pairs = (n + 1) / 2;
  const std::int64_t n_polar = n_pairs / 2;
  const auto part = [&](std::int64_t first, std::int64_t count, int part_of) {
    return RingRange{first + count * part_of / comm.size(),
                     first + count * (part_of + 1) / comm.size()};
  };
  const auto mirror = [&](const RingRange& north) {
    return RingRange{std::max(n - north.end, n_pairs), n - north.begin};
  };
  const RingRange polar = part(0, n_polar, comm.rank());
  const RingRange middle = part(n_polar, n_pairs - n_polar, comm.size() - 1 - comm.rank());
  return {std::move(grid), {polar, middle, mirror(middle), mirror(polar)}};
}

/// Returns the full grid's numbers of this rank's pixels, in its order.
inline std::vector<std::int64_t> source_pixels(const LocalRings& rings) {
  std::vector<std::int64_t> pixels;
  for (std::int64_t r = 0; r < rings.n_rings(); ++r) {
    const Ring& ring = rings.ring(LocalRing{r});
    for (std::int64_t j = 0; j < ring.n_phi; ++j) pixels.push_back(ring.source_pixel + j);
  }
  return pixels;
}

/// Identifies component and pixel, exactly in single precision.
inline double pixel_value(std::int64_t component, std::int64_t pixel) {
  return static_cast<double>(component * 100000 + pixel) + 0.5;
}

template <class T>
std::vector<T> pixel_values(const LocalRings& rings, std::int64_t n_components) {
  std::vector<T> map;
  for (std::int64_t c = 0; c < n_components; ++c) {
    for (const std::int64_t pixel : source_pixels(rings))
      map.push_back(static_cast<T>(pixel_value(c, pixel)));
  }
  return map;
}

inline std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void write_text(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline Provenance sample_provenance() {
  Provenance provenance;
  provenance.version = "0.1.0";
  provenance.date = "2026-01-01T00:00:00Z";
  provenance.command_line = "ringweave smooth in.h5 out.h5 --fwhm 1deg";
  provenance.config_json = "{}";
  provenance.fwhm_degrees = 1.0;
  provenance.lmax = 47;
  return provenance;
}

}  // namespace ringweave::detail::test
