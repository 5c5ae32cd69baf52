// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <memory>

#include "base/device.hpp"

namespace ringweave::detail::inline distribute {

/// round_modes() for contiguous modes on a device, in stream order.
class DeviceModeRounding {
 public:
  /// Uses this thread's device; `stream` must outlive it. Error  UsageError when this build has no
  /// CUDA; ResourceError.
  explicit DeviceModeRounding(const DeviceStream& stream);
  ~DeviceModeRounding();

  template <class From, class To>
  void round(const std::complex<From>* from, std::complex<To>* to, std::int64_t n) const;

  /// Returns the largest magnitude of a real or imaginary part since the last call (NaN counts as
  /// 0), for require_single_range(). Waits for the stream. Error  ResourceError.
  double pop_largest() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringweave::detail::inline distribute
