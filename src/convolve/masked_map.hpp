// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "ringweave/analysis.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/smoothing.hpp"
#include "ringweave/views.hpp"
#include "transform/map_preparation.hpp"

namespace ringweave::detail::inline convolve {

/// A map made ready for its analysis or its smoothing, and the steps that finish the result.
class MaskedMap {
 public:
  /// UNSEEN pixels of `map` become zero, low multipoles are removed, the rest is multiplied by the
  /// mask. Collective. Keeps a reference to the rings.
  /// Error  DataError when every pixel of a component is UNSEEN, or one is and unseen = fail; as
  /// fit_low_multipoles().
  template <class T>
  MaskedMap(const Communicator& comm, const LocalRings& rings, const MaskOptions& treatment,
            MapView<T> map);

  const UnseenMask& mask() const { return mask_; }
  /// Returns the number of UNSEEN pixels of each component over all ranks, masked ones among them.
  std::vector<std::int64_t> unseen_pixels() const;
  const LowMultipoles& removed() const { return removed_; }
  /// Returns true if a component of the result must be divided by its mask, smoothed as the map
  /// was.
  bool is_normalized(std::int64_t component) const {
    return treatment_.unseen == UnseenPolicy::normalize &&
           (mask_.count(component) > 0 || treatment_.mask != nullptr);
  }
  bool is_normalized() const;

  /// Writes 1 where a pixel of the component is seen, or its factor in the mask; 0 where it is not.
  template <class T>
  void write_mask(std::int64_t component, View<T> weight) const;
  /// Writes 1 where a pixel of the component is seen, 0 where it is not.
  template <class T>
  void write_seen(std::int64_t component, View<T> seen) const;
  /// smoothed /= smoothed_mask; UNSEEN where nearly no data went into a pixel.
  template <class T>
  static void divide(View<const T> smoothed_mask, View<T> smoothed);

  /// Puts UNSEEN pixels and removed multipoles back into the smoothed map. Collective.
  template <class T>
  void finish(MapView<T> smoothed) const;

 private:
  Communicator comm_;
  const LocalRings& rings_;
  MaskOptions treatment_;
  UnseenMask mask_;
  LowMultipoles removed_;
};

}  // namespace ringweave::detail::inline convolve
