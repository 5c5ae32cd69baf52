// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ringweave/analysis.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline transform {

/// DataError on every rank when a pixel is NaN or infinite, naming `where`, the first place and the
/// count. `columns` names the components. Collective.
template <class T>
void require_finite(const Communicator& comm, const std::string& where,
                    std::span<const std::string> columns, const LocalRings& rings,
                    MapView<const T> map);

/// The pixels of this rank that are UNSEEN, component by component, one bit a pixel; components
/// without any hold nothing.
class UnseenMask {
 public:
  /// Collective.
  template <class T>
  UnseenMask(const Communicator& comm, MapView<const T> map);

  /// UNSEEN pixels of a component over all ranks.
  std::int64_t count(std::int64_t component) const {
    return global_count_[static_cast<std::size_t>(component)];
  }
  std::int64_t total() const;
  std::int64_t n_components() const { return static_cast<std::int64_t>(global_count_.size()); }
  bool contains(std::int64_t component, std::int64_t pixel) const {
    const auto& bits = bits_[static_cast<std::size_t>(component)];
    return !bits.empty() && (bits[static_cast<std::size_t>(pixel / 64)] >> (pixel % 64) & 1u) != 0;
  }
  /// Tells whether two components have the same mask on every rank. Collective.
  bool same(const Communicator& comm, std::int64_t a, std::int64_t b) const;

  /// Sets the masked pixels to zero / to UNSEEN.
  template <class T>
  void set_zero(MapView<T> map) const {
    set(map, T{0});
  }
  template <class T>
  void set_unseen(MapView<T> map) const {
    set(map, static_cast<T>(unseen));
  }

 private:
  template <class T>
  void set(MapView<T> map, T value) const;

  std::vector<std::vector<std::uint64_t>> bits_;
  std::vector<std::int64_t> global_count_;
};

/// Least-squares fit on the seen pixels of component 0, every pixel weighing by its area (equal
/// where the grid has no weights). Collective. Error  DataError when too few pixels are seen.
template <class T>
LowMultipoles fit_low_multipoles(const Communicator& comm, const LocalRings& rings,
                                 View<const T> map, const UnseenMask& mask, Remove what);

/// map += sign * multipoles on the seen pixels of component 0.
template <class T>
void add_low_multipoles(const LocalRings& rings, View<T> map, const UnseenMask& mask,
                        const LowMultipoles& multipoles, double sign);

}  // namespace ringweave::detail::inline transform
