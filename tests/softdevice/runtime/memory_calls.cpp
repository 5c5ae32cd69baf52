// SPDX-License-Identifier: GPL-3.0-or-later
// Memory, copies and clearing: CUDA Runtime API, Memory Management.
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>

#include "softdevice/findings.hpp"
#include "softdevice/runtime/runtime.hpp"
#include "softdevice/settings.hpp"

namespace softdevice {
namespace {

std::uint64_t number(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

/// Tells of a problem of a copy.
void tell(const char* problem, const Operation& operation) {
  if (*problem != 0) find(std::string("global memory: ") + problem, operation.name);
}

Work to_device(void* to, const void* from, std::size_t bytes, bool is_pinned) {
  // Pageable memory may be changed when the call has returned.
  std::vector<std::byte> kept;
  if (!is_pinned) {
    kept.resize(bytes);
    std::memcpy(kept.data(), from, bytes);
  }
  return [=, kept = std::move(kept)](OrderedMemory& memory, const Operation& operation,
                                     Moment moment) {
    const char* problem = memory.write_range(number(to), bytes);
    tell(problem, operation);
    if (is_pinned) Runtime::get().note_host_use(from, bytes, operation, moment, false);
    if (memory.has_bytes(number(to), bytes))
      std::memcpy(memory.bytes_at(number(to)), is_pinned ? from : kept.data(), bytes);
  };
}

Work to_host(void* to, const void* from, std::size_t bytes, bool is_pinned) {
  return [=](OrderedMemory& memory, const Operation& operation, Moment moment) {
    bool is_defined = true;
    tell(memory.read_range(number(from), bytes, is_defined), operation);
    if (!is_defined && settings().checks)
      find("copy to the host of values that were never written", operation.name);
    if (is_pinned) Runtime::get().note_host_use(to, bytes, operation, moment, true);
    if (memory.has_bytes(number(from), bytes))
      std::memcpy(to, memory.bytes_at(number(from)), bytes);
  };
}

Work on_device(void* to, const void* from, std::size_t bytes) {
  return [=](OrderedMemory& memory, const Operation& operation, Moment) {
    tell(memory.copy_range(number(from), number(to), bytes), operation);
  };
}

}  // namespace
}  // namespace softdevice

using namespace softdevice;

extern "C" {

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  const Call call;
  const int device = current_device("cudaMalloc");
  if (is_forbidden("cudaMalloc")) return call.runtime.fail(cudaErrorStreamCaptureUnsupported);
  if (call.runtime.sticky != cudaSuccess) return call.runtime.fail(call.runtime.sticky);
  *memory = nullptr;
  if (bytes == 0) return cudaSuccess;
  const std::uint64_t address = GlobalMemory::get().allocate(bytes, device);
  if (address == 0) return call.runtime.fail(cudaErrorMemoryAllocation);
  *memory = reinterpret_cast<void*>(address);
  return cudaSuccess;
}

cudaError_t cudaFree(void* memory) {
  const Call call;
  if (memory == nullptr) return cudaSuccess;
  if (is_forbidden("cudaFree")) return call.runtime.fail(cudaErrorStreamCaptureUnsupported);
  Allocation* allocation = GlobalMemory::get().find(number(memory));
  if (allocation == nullptr || allocation->begin != number(memory) || !allocation->is_live)
    return call.runtime.fail(cudaErrorInvalidValue);
  // It waits for the device, which the manual does not promise.
  call.runtime.run_all();
  for (const auto& [stream, moment] : allocation->last_use) {
    if (call.runtime.host.of(stream) < moment.count && settings().checks &&
        call.runtime.sticky == cudaSuccess)
      find("memory freed while a stream may use it", "cudaFree, stream " + std::to_string(stream));
  }
  GlobalMemory::get().free(number(memory));
  return call.runtime.fail(call.runtime.sticky);
}

cudaError_t cudaMallocHost(void** memory, std::size_t bytes) {
  const Call call;
  if (is_forbidden("cudaMallocHost")) return call.runtime.fail(cudaErrorStreamCaptureUnsupported);
  if (call.runtime.sticky != cudaSuccess) return call.runtime.fail(call.runtime.sticky);
  *memory = nullptr;
  if (bytes == 0) return cudaSuccess;
  if (posix_memalign(memory, 4096, bytes) != 0) return call.runtime.fail(cudaErrorMemoryAllocation);
  std::memset(*memory, 0xff, bytes);
  call.runtime.pinned[number(*memory)] = number(*memory) + bytes;
  return cudaSuccess;
}

cudaError_t cudaFreeHost(void* memory) {
  const Call call;
  if (memory == nullptr) return cudaSuccess;
  const auto found = call.runtime.pinned.find(number(memory));
  if (found == call.runtime.pinned.end()) return call.runtime.fail(cudaErrorInvalidValue);
  call.runtime.run_all();
  if (call.runtime.sticky == cudaSuccess)
    call.runtime.check_freed_host_memory(found->first, found->second);
  call.runtime.pinned.erase(found);
  std::free(memory);
  return call.runtime.fail(call.runtime.sticky);
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const Call call;
  *free =
      static_cast<std::size_t>(GlobalMemory::get().free_bytes(current_device("cudaMemGetInfo")));
  *total = static_cast<std::size_t>(settings().memory);
  return call.runtime.fail(call.runtime.sticky);
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  const Call call;
  if (is_dropped("cudaMemcpyAsync", -1)) return cudaSuccess;
  if (stream == nullptr) find("default stream", "cudaMemcpyAsync");
  const GlobalMemory& memory = GlobalMemory::get();
  const bool to_is_device = memory.is_address(number(to));
  const bool from_is_device = memory.is_address(number(from));
  if ((kind == cudaMemcpyHostToDevice && (!to_is_device || from_is_device)) ||
      (kind == cudaMemcpyDeviceToHost && (to_is_device || !from_is_device)) ||
      (kind == cudaMemcpyDeviceToDevice && (!to_is_device || !from_is_device))) {
    find("kind of a copy against its addresses", "cudaMemcpyAsync");
    return call.runtime.fail(cudaErrorInvalidValue);
  }
  if (kind == cudaMemcpyDeviceToDevice)
    return call.runtime.enqueue(stream, "copy on the device", on_device(to, from, bytes));
  const bool is_upload = kind == cudaMemcpyHostToDevice;
  const bool is_pinned = call.runtime.is_pinned(is_upload ? from : to, bytes);
  if (!is_pinned && stream->recording != nullptr)
    find("pageable copy in a recording", "cudaMemcpyAsync");
  if (is_upload)
    return call.runtime.enqueue(stream, "copy to the device",
                                to_device(to, from, bytes, is_pinned));
  const cudaError_t status =
      call.runtime.enqueue(stream, "copy to the host", to_host(to, from, bytes, is_pinned));
  // To pageable memory it returns when the values have arrived.
  if (status != cudaSuccess || is_pinned || stream->recording != nullptr) return status;
  return call.runtime.wait_for(stream->last, stream->clock);
}

cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  const Call call;
  if (is_dropped("cudaMemsetAsync", -1)) return cudaSuccess;
  if (stream == nullptr) find("default stream", "cudaMemsetAsync");
  return call.runtime.enqueue(stream, "clearing",
                              [=](OrderedMemory& ordered, const Operation& operation, Moment) {
                                tell(ordered.write_range(number(memory), bytes), operation);
                                if (ordered.has_bytes(number(memory), bytes))
                                  std::memset(ordered.bytes_at(number(memory)), value, bytes);
                              });
}
}
