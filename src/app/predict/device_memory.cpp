// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/predict/device_memory.hpp"

#include <fmt/format.h>

#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {

std::string device_shortage(const Communicator& comm, const DeviceShare& share, std::int64_t bytes,
                            const std::string& what) {
  const std::int64_t missing = missing_device_bytes(comm, share, bytes);
  if (missing <= 0) return "";
  const std::int64_t most = comm.max(bytes);
  return fmt::format(
      "{} need up to {} of a GPU on a rank, {} more than one has for its ranks; start them on more "
      "GPUs, or compute on the host",
      what, bytes_text(static_cast<double>(most)), bytes_text(static_cast<double>(missing)));
}

void require_device_memory(const Communicator& comm, const DeviceShare& share, std::int64_t bytes,
                           const std::string& what) {
  const std::string shortage = device_shortage(comm, share, bytes, what);
  if (!shortage.empty()) throw ResourceError(shortage);
}

RingDeviceMemory ring_device_memory(const RingConvolutionPlan* scalars,
                                    const RingConvolutionPlan* spins, MaskSmoothing mask) {
  const RingDeviceMemory one = scalars ? device_memory_of(*scalars) : RingDeviceMemory();
  const RingDeviceMemory other = spins ? device_memory_of(*spins) : RingDeviceMemory();
  if (mask == MaskSmoothing::yes)
    return {one.maps + other.maps, one.modes + other.modes, one.tables + other.tables};
  return one.total() >= other.total() ? one : other;
}

}  // namespace ringweave::detail::inline app
