// SPDX-License-Identifier: GPL-3.0-or-later
#include "transform/map_preparation.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/error.hpp"
#include "ringweave/grid.hpp"

namespace ringweave::detail::inline transform {
namespace {

/// Calls visit(ring, pixel, x, y, z) for every pixel of the owned rings; the threads share rings.
template <class Visit>
void for_each_pixel(const LocalRings& rings, const Visit& visit) {
#pragma omp parallel for schedule(dynamic, 16)
  for (std::int64_t r = 0; r < rings.n_rings(); ++r) {
    const Ring& ring = rings.ring(LocalRing{r});
    const std::int64_t first = rings.first_pixel(LocalRing{r});
    const double step = 2 * std::numbers::pi / static_cast<double>(ring.n_phi);
    for (std::int64_t j = 0; j < ring.n_phi; ++j) {
      const double phi = ring.phi0 + step * static_cast<double>(j);
      visit(r, first + j, ring.sin_theta * std::cos(phi), ring.sin_theta * std::sin(phi),
            ring.cos_theta);
    }
  }
}

/// Upper triangle of the normal matrix of (1, x, y, z), then the right-hand side.
using NormalSums = std::array<double, 14>;

/// Solves the symmetric positive definite n x n system in place (n <= 4); returns false if it is
/// singular.
bool solve(std::array<std::array<double, 5>, 4>& system, int n, std::array<double, 4>& solution) {
  const double scale = system[0][0];
  for (int pivot = 0; pivot < n; ++pivot) {
    const auto p = static_cast<std::size_t>(pivot);
    if (!(system[p][p] > 1e-10 * scale)) return false;
    for (int row = 0; row < n; ++row) {
      const auto r = static_cast<std::size_t>(row);
      if (row == pivot) continue;
      const double factor = system[r][p] / system[p][p];
      for (std::size_t k = p; k < 5; ++k) system[r][k] -= factor * system[p][k];
    }
  }
  for (std::size_t i = 0; i < static_cast<std::size_t>(n); ++i)
    solution[i] = system[i][4] / system[i][i];
  return true;
}

}  // namespace

template <class T>
void require_finite(const Communicator& comm, const std::string& where,
                    std::span<const std::string> columns, const LocalRings& rings,
                    MapView<const T> map) {
  for (std::int64_t c = 0; c < map.n_components(); ++c) {
    const auto f = map.component(c);
    std::int64_t count = 0;
    constexpr std::int64_t nowhere = std::numeric_limits<std::int64_t>::max();
    std::int64_t first = nowhere;
#pragma omp parallel for schedule(static) reduction(+ : count) reduction(min : first)
    for (std::int64_t i = 0; i < f.size(); ++i) {
      if (std::isfinite(f[i])) continue;
      ++count;
      first = std::min(first, i);
    }
    const std::int64_t total = comm.sum(count);
    if (total == 0) continue;
    std::int64_t first_global = nowhere;
    for (std::int64_t r = 0; r < rings.n_rings() && first != nowhere; ++r) {
      const Ring& ring = rings.ring(LocalRing{r});
      const std::int64_t offset = first - rings.first_pixel(LocalRing{r});
      if (offset >= 0 && offset < ring.n_phi) first_global = ring.source_pixel + offset;
    }
    first_global = comm.min(first_global);
    throw DataError(
        where, std::to_string(total) + " pixels of column " + columns[to_size(c)] +
                   " are NaN or infinite, the first is pixel " + std::to_string(first_global) +
                   " (RING order); replace them, or set them to UNSEEN (-1.6375e30) to mask them");
  }
}

template <class T>
UnseenMask::UnseenMask(const Communicator& comm, MapView<const T> map)
    : bits_(to_size(map.n_components())), global_count_(to_size(map.n_components())) {
  for (std::int64_t c = 0; c < map.n_components(); ++c) {
    const auto f = map.component(c);
    std::int64_t count = 0;
#pragma omp parallel for schedule(static) reduction(+ : count)
    for (std::int64_t i = 0; i < f.size(); ++i) count += is_unseen(f[i]) ? 1 : 0;
    global_count_[to_size(c)] = comm.sum(count);
    if (global_count_[to_size(c)] == 0) continue;
    auto& bits = bits_[to_size(c)];
    const std::int64_t n_words = count == 0 ? 0 : (f.size() + 63) / 64;
    agree(comm, [&] { bits.assign(to_size(n_words), 0); });
#pragma omp parallel for schedule(static)
    for (std::int64_t word = 0; word < n_words; ++word) {
      for (std::int64_t i = 64 * word; i < std::min(f.size(), 64 * (word + 1)); ++i) {
        if (is_unseen(f[i])) bits[to_size(word)] |= std::uint64_t{1} << (i % 64);
      }
    }
  }
}

std::int64_t UnseenMask::total() const {
  std::int64_t sum = 0;
  for (const std::int64_t count : global_count_) sum += count;
  return sum;
}

bool UnseenMask::same(const Communicator& comm, std::int64_t a, std::int64_t b) const {
  return comm.min(std::int64_t{bits_[to_size(a)] == bits_[to_size(b)] ? 1 : 0}) == 1;
}

template <class T>
void UnseenMask::set(MapView<T> map, T value) const {
  for (std::int64_t c = 0; c < map.n_components(); ++c) {
    if (bits_[to_size(c)].empty()) continue;
    const auto f = map.component(c);
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < f.size(); ++i) {
      if (contains(c, i)) f[i] = value;
    }
  }
}

template <class T>
LowMultipoles fit_low_multipoles(const Communicator& comm, const LocalRings& rings,
                                 View<const T> map, const UnseenMask& mask, Remove what) {
  if (what == Remove::none) return {};
  // Summed ring by ring, so that the number of threads makes no difference.
  auto of_rings = agreed(comm, [&] { return std::vector<NormalSums>(to_size(rings.n_rings())); });
  for_each_pixel(rings, [&](std::int64_t r, std::int64_t pixel, double x, double y, double z) {
    if (mask.contains(0, pixel)) return;
    const double ring_weight = rings.ring(LocalRing{r}).weight;
    const double weight = ring_weight > 0 ? ring_weight : 1.0;
    const std::array<double, 4> basis{1, x, y, z};
    NormalSums& sums = of_rings[to_size(r)];
    std::size_t entry = 0;
    for (std::size_t i = 0; i < 4; ++i) {
      for (std::size_t j = i; j < 4; ++j) sums[entry++] += weight * basis[i] * basis[j];
    }
    for (std::size_t i = 0; i < 4; ++i)
      sums[entry++] += weight * basis[i] * static_cast<double>(map[pixel]);
  });
  NormalSums sums{};
  for (const NormalSums& ring : of_rings) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += ring[i];
  }
  comm.sum(sums.data(), ssize64(sums));
  std::array<std::array<double, 5>, 4> system{};
  std::size_t entry = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = i; j < 4; ++j) system[i][j] = system[j][i] = sums[entry++];
  }
  for (std::size_t i = 0; i < 4; ++i) system[i][4] = sums[entry++];
  std::array<double, 4> solution{};
  if (!solve(system, what == Remove::monopole ? 1 : 4, solution)) {
    throw DataError("", "too few seen pixels to fit a monopole or dipole; drop --remove");
  }
  return {solution[0], {solution[1], solution[2], solution[3]}};
}

template <class T>
void add_low_multipoles(const LocalRings& rings, View<T> map, const UnseenMask& mask,
                        const LowMultipoles& multipoles, double sign) {
  const std::array<double, 3>& dipole = multipoles.dipole;
  if (multipoles.monopole == 0 && dipole == std::array<double, 3>{}) return;
  for_each_pixel(rings, [&](std::int64_t, std::int64_t pixel, double x, double y, double z) {
    if (mask.contains(0, pixel)) return;
    map[pixel] = static_cast<T>(
        map[pixel] + sign * (multipoles.monopole + dipole[0] * x + dipole[1] * y + dipole[2] * z));
  });
}

#define RINGWEAVE_INSTANTIATE(T)                                                                   \
  template void require_finite(const Communicator&, const std::string&,                            \
                               std::span<const std::string>, const LocalRings&, MapView<const T>); \
  template UnseenMask::UnseenMask(const Communicator&, MapView<const T>);                          \
  template void UnseenMask::set(MapView<T>, T) const;                                              \
  template LowMultipoles fit_low_multipoles(const Communicator&, const LocalRings&, View<const T>, \
                                            const UnseenMask&, Remove);                            \
  template void add_low_multipoles(const LocalRings&, View<T>, const UnseenMask&,                  \
                                   const LowMultipoles&, double);
RINGWEAVE_INSTANTIATE(float)
RINGWEAVE_INSTANTIATE(double)
#undef RINGWEAVE_INSTANTIATE

}  // namespace ringweave::detail::inline transform
