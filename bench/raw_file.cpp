// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/raw_file.hpp"

#include <algorithm>
#include <complex>
#include <fstream>
#include <functional>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail {
namespace {

/// Empties the file, then lets every rank write its own parts.
void write_places(const Communicator& comm, const std::string& path,
                  const std::function<void(std::fstream&)>& write) {
  const auto check = [&](const std::fstream& file) {
    if (!file.good()) throw ResourceError(path + ": cannot be written");
  };
  agree(comm, [&] {
    if (comm.is_root()) check(std::fstream(path, std::ios::out | std::ios::trunc));
  });
  agree(comm, [&] {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    check(file);
    write(file);
    file.flush();
    check(file);
  });
}

/// Writes `count` numbers as To from element `place` of the file on.
template <class To, class From>
void write_run(std::fstream& file, std::int64_t place, const From* values, std::int64_t count) {
  constexpr std::int64_t piece = 1 << 16;
  std::vector<To> converted;
  file.seekp(place * static_cast<std::int64_t>(sizeof(To)));
  for (std::int64_t done = 0; done < count; done += piece) {
    converted.assign(values + done, values + std::min(count, done + piece));
    file.write(reinterpret_cast<const char*>(converted.data()),
               ssize64(converted) * static_cast<std::int64_t>(sizeof(To)));
  }
}

}  // namespace

template <class T>
void write_raw_map(const Communicator& comm, const std::string& path, const LocalRings& rings,
                   MapView<const T> map) {
  write_places(comm, path, [&](std::fstream& file) {
    for (std::int64_t c = 0; c < map.n_components(); ++c) {
      for (const PixelSlab& slab : rings.slabs()) {
        write_run<double>(file, c * rings.grid().n_pixels() + slab.first_global,
                          map.component(c).data() + slab.first_local, slab.count);
      }
    }
  });
}

template <class T>
void write_raw_alm(const Communicator& comm, const std::string& path, const AlmLayout& layout,
                   AlmView<const T> alm) {
  const int lmax = layout.lmax();
  const std::int64_t size = AlmLayout::full_size(lmax, layout.mmax());
  write_places(comm, path, [&](std::fstream& file) {
    for (std::int64_t c = 0; c < alm.n_components(); ++c) {
      for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
        const int m = layout.order(row);
        write_run<std::complex<double>>(file, c * size + AlmLayout::full_index(lmax, m, m),
                                        alm.component(c).data() + layout.index(row, m),
                                        lmax - m + 1);
      }
    }
  });
}

#define RINGWEAVE_INSTANTIATE(T)                                                             \
  template void write_raw_map<T>(const Communicator&, const std::string&, const LocalRings&, \
                                 MapView<const T>);                                          \
  template void write_raw_alm<T>(const Communicator&, const std::string&, const AlmLayout&,  \
                                 AlmView<const T>);
RINGWEAVE_INSTANTIATE(float)
RINGWEAVE_INSTANTIATE(double)
#undef RINGWEAVE_INSTANTIATE

}  // namespace ringweave::detail
