// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/predict/device_memory.hpp"

#include <fmt/format.h>

#include "app/predict/memory_estimate.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {

DeviceShare require_device_memory(const Run& run, std::int64_t bytes, const std::string& what) {
  const DeviceShare share = share_of_device(run.comm);
  const std::int64_t needed = run.comm.max(bytes);
  const std::int64_t excess = run.comm.max(bytes - share.usable_bytes());
  if (excess <= 0) return share;
  throw ResourceError(fmt::format(
      "{} need up to {} of a GPU on a rank, {} more than it may use; start more ranks on more "
      "GPUs, or take --backend host",
      what, bytes_text(static_cast<double>(needed)), bytes_text(static_cast<double>(excess))));
}

RingDeviceMemory ring_device_memory(const RingConvolutionPlan* scalars,
                                    const RingConvolutionPlan* spins, bool at_once) {
  const RingDeviceMemory one = scalars ? device_memory_of(*scalars) : RingDeviceMemory();
  const RingDeviceMemory other = spins ? device_memory_of(*spins) : RingDeviceMemory();
  if (at_once) return {one.maps + other.maps, one.modes + other.modes, one.tables + other.tables};
  return one.total() >= other.total() ? one : other;
}

}  // namespace ringweave::detail::inline app
