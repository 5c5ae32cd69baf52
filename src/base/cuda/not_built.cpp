// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/device.hpp"
#include "base/device_buffer.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline base {
namespace {

[[noreturn]] void lack() { throw UsageError("GPU: " + device_unavailable_reason()); }

}  // namespace

int device_count() noexcept { return 0; }

std::string device_unavailable_reason() {
  return "this build has no CUDA: configure with nvcc in reach and -DRINGWEAVE_CUDA=ON, or choose "
         "the host backend";
}

std::string cuda_version() { return ""; }

int choose_device(int) { lack(); }
int current_device() { lack(); }
DeviceMemory device_memory() { lack(); }
DeviceIdentity device_identity() { lack(); }
void check_device(int, const std::string&) { lack(); }

DeviceStream::DeviceStream() { lack(); }
DeviceStream::~DeviceStream() = default;
void DeviceStream::synchronize() const { lack(); }
void DeviceStream::finish() const noexcept {}
void DeviceStream::wait_for(const DeviceEvent&) const { lack(); }

DeviceEvent::DeviceEvent() { lack(); }
DeviceEvent::~DeviceEvent() = default;
void DeviceEvent::record(const DeviceStream&) { lack(); }
double DeviceEvent::seconds_since(const DeviceEvent&) const { lack(); }
void DeviceEvent::wait() const { lack(); }

DeviceGraph::~DeviceGraph() = default;
void DeviceGraph::capture(const DeviceStream&, const std::function<void()>&) { lack(); }
void DeviceGraph::launch(const DeviceStream&) const { lack(); }
void DeviceGraph::release() noexcept {}

DeviceProperties device_properties() { lack(); }

void* allocate_device_memory(std::int64_t) { lack(); }
void free_device_memory(void*) noexcept {}
void* allocate_pinned_memory(std::int64_t) { lack(); }
void free_pinned_memory(void*) noexcept {}
void copy_to_device(const void*, void*, std::int64_t, const DeviceStream&) { lack(); }
void copy_to_host(const void*, void*, std::int64_t, const DeviceStream&) { lack(); }
void copy_on_device(const void*, void*, std::int64_t, const DeviceStream&) { lack(); }
void zero_device_memory(void*, std::int64_t, const DeviceStream&) { lack(); }

}  // namespace ringweave::detail::inline base
