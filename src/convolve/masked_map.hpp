// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

#include "ringweave/analysis.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/smoothing.hpp"
#include "ringweave/views.hpp"
#include "transform/map_preparation.hpp"

namespace ringweave::detail::inline convolve {

/// Checks and zeroes the UNSEEN pixels of an input as `policy` asks; what every analysis begins
/// with. Collective.
/// Error  DataError when every pixel of a component is UNSEEN, or one is and policy = fail.
template <class T>
UnseenMask mask_unseen(const Communicator& comm, UnseenPolicy policy, MapView<T> map);

/// A map made ready for its smoothing, and what must be done to the result.
class MaskedMap {
 public:
  /// UNSEEN pixels of `map` become zero, low multipoles are removed. Collective. Keeps a reference
  /// to the rings. Error  as mask_unseen() and fit_low_multipoles().
  template <class T>
  MaskedMap(const Communicator& comm, const LocalRings& rings, const MaskOptions& treatment,
            MapView<T> map);

  const UnseenMask& mask() const { return mask_; }
  const LowMultipoles& removed() const { return removed_; }
  /// Whether the result must be divided by the mask, smoothed as the map was.
  bool is_normalized() const {
    return treatment_.unseen == UnseenPolicy::normalize && mask_.total() > 0;
  }

  /// 1 where a pixel of the component is seen, 0 where it is not.
  template <class T>
  void write_mask(std::int64_t component, View<T> weight) const;
  /// smoothed /= smoothed_mask; UNSEEN where nearly no data went into a pixel.
  template <class T>
  static void divide(View<const T> smoothed_mask, View<T> smoothed);

  /// Puts back into the smoothed map what belongs there: UNSEEN pixels, multipoles. Collective.
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
