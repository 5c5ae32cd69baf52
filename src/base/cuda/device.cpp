// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/device.hpp"

#include <cuda_runtime_api.h>

#include <utility>

#include "base/checked_cast.hpp"
#include "base/cuda/device_errors.hpp"
#include "base/cuda/native_stream.hpp"
#include "base/device_buffer.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline base {
namespace {

using gpu::forget;
using gpu::native;
cudaEvent_t event(void* handle) { return static_cast<cudaEvent_t>(handle); }

/// Skips empty copies: ranks without orders or rings have buffers without an address.
void copy(const void* from, void* to, std::int64_t bytes, cudaMemcpyKind kind,
          const DeviceStream& stream, const char* what) {
  if (bytes == 0) return;
  check_device(cudaMemcpyAsync(to, from, to_size(bytes), kind, native(stream)), what);
}

int attribute(cudaDeviceAttr which) {
  int value = 0;
  check_device(cudaDeviceGetAttribute(&value, which, current_device()),
               "asking for a property of the device");
  return value;
}

/// A graph until it leaves the scope.
struct RecordedGraph {
  cudaGraph_t graph = nullptr;
  ~RecordedGraph() {
    if (graph != nullptr) forget(cudaGraphDestroy(graph));
  }
};

/// Ends a recording that failed, so that the stream is an ordinary one again.
void abandon(const DeviceStream& stream) {
  RecordedGraph recorded;
  forget(cudaStreamEndCapture(native(stream), &recorded.graph));
}

}  // namespace

int device_count() noexcept {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();
  return 0;
}

std::string device_unavailable_reason() {
  int count = 0;
  cudaError_t status = cudaGetDeviceCount(&count);
  cudaGetLastError();
  if (status == cudaSuccess && count > 0) return "";
  if (status == cudaSuccess) status = cudaErrorNoDevice;
  return std::string(cudaGetErrorString(status)) + "; " + gpu::advice(status);
}

std::string cuda_version() {
  return std::to_string(CUDART_VERSION / 1000) + "." + std::to_string(CUDART_VERSION % 1000 / 10);
}

int choose_device(int local_rank) {
  gpu::require_device_alive();
  const int count = device_count();
  if (count == 0) throw ResourceError("GPU: " + device_unavailable_reason());
  static const int device = local_rank % count;
  check_device(cudaSetDevice(device), "choosing device " + std::to_string(device));
  return device;
}

int current_device() {
  int device = 0;
  check_device(cudaGetDevice(&device), "asking for the device of this thread");
  return device;
}

DeviceMemory device_memory() {
  std::size_t free = 0;
  std::size_t total = 0;
  check_device(cudaMemGetInfo(&free, &total), "asking for the memory of the device");
  return {static_cast<std::int64_t>(free), static_cast<std::int64_t>(total)};
}

DeviceIdentity device_identity() {
  cudaDeviceProp properties{};
  check_device(cudaGetDeviceProperties(&properties, current_device()), "querying its properties");
  constexpr char digits[] = "0123456789abcdef";
  std::string uuid;
  for (const char byte : properties.uuid.bytes) {
    const auto value = static_cast<unsigned char>(byte);
    uuid += digits[value / 16];
    uuid += digits[value % 16];
  }
  return {properties.name, uuid};
}

DeviceProperties device_properties() {
  cudaDeviceProp properties{};
  check_device(cudaGetDeviceProperties(&properties, current_device()),
               "asking for the properties of the device");
  DeviceProperties found;
  found.name = properties.name;
  found.compute_capability = 10 * properties.major + properties.minor;
  found.n_multiprocessors = properties.multiProcessorCount;
  found.clock_hz = 1e3 * attribute(cudaDevAttrClockRate);
  found.memory_bytes = device_memory().total_bytes;
  check_device(cudaDriverGetVersion(&found.driver_version), "asking for the driver");
  check_device(cudaRuntimeGetVersion(&found.runtime_version), "asking for the CUDA runtime");
  return found;
}

DeviceStream::DeviceStream() {
  cudaStream_t stream = nullptr;
  check_device(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
  handle_ = stream;
}

DeviceStream::~DeviceStream() {
  if (handle_ != nullptr) forget(cudaStreamDestroy(static_cast<cudaStream_t>(handle_)));
}

void DeviceStream::synchronize() const {
  check_device(cudaStreamSynchronize(native(*this)), "waiting for the device");
}

void DeviceStream::finish() const noexcept { forget(cudaStreamSynchronize(native(*this))); }

void DeviceStream::wait_for(const DeviceEvent& point) const {
  check_device(cudaStreamWaitEvent(native(*this), event(point.handle_), 0), "waiting for an event");
}

DeviceEvent::DeviceEvent() {
  cudaEvent_t made = nullptr;
  check_device(cudaEventCreate(&made), "making an event");
  handle_ = made;
}

DeviceEvent::~DeviceEvent() {
  if (handle_ != nullptr) forget(cudaEventDestroy(event(handle_)));
}

void DeviceEvent::record(const DeviceStream& stream) {
  check_device(cudaEventRecord(event(handle_), native(stream)), "recording an event");
}

void DeviceEvent::wait() const {
  check_device(cudaEventSynchronize(event(handle_)), "waiting for an event");
}

double DeviceEvent::seconds_since(const DeviceEvent& earlier) const {
  float milliseconds = 0;
  check_device(cudaEventElapsedTime(&milliseconds, event(earlier.handle_), event(handle_)),
               "timing");
  return 1e-3 * static_cast<double>(milliseconds);
}

DeviceGraph::~DeviceGraph() { release(); }

void DeviceGraph::release() noexcept {
  if (executable_ == nullptr) return;
  forget(cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(std::exchange(executable_, nullptr))));
}

void DeviceGraph::capture(const DeviceStream& stream, const std::function<void()>& work) {
  release();
  gpu::require_device_alive();
  // Other threads (of an MPI library, say) may go on with calls that a recording forbids.
  check_device(cudaStreamBeginCapture(native(stream), cudaStreamCaptureModeThreadLocal),
               "beginning to record a graph");
  try {
    work();
  } catch (...) {
    abandon(stream);
    throw;
  }
  RecordedGraph recorded;
  check_device(cudaStreamEndCapture(native(stream), &recorded.graph), "recording a graph");
  cudaGraphExec_t executable = nullptr;
  check_device(cudaGraphInstantiateWithFlags(&executable, recorded.graph, 0),
               "making a graph ready to run");
  executable_ = executable;
}

void DeviceGraph::launch(const DeviceStream& stream) const {
  if (executable_ == nullptr) throw InternalError("GPU: a graph was launched before its recording");
  check_device(cudaGraphLaunch(static_cast<cudaGraphExec_t>(executable_), native(stream)),
               "launching a graph");
}

void* allocate_device_memory(std::int64_t bytes) {
  gpu::require_device_alive();
  void* memory = nullptr;
  const cudaError_t status = cudaMalloc(&memory, to_size(bytes));
  if (status == cudaSuccess) return memory;
  cudaGetLastError();
  std::size_t free = 0;
  std::size_t total = 0;
  std::string state;
  if (cudaMemGetInfo(&free, &total) == cudaSuccess) {
    state = " (" + std::to_string(free) + " of its " + std::to_string(total) + " are free)";
  }
  check_device(status, "allocating " + std::to_string(bytes) + " bytes" + state);
  return nullptr;
}

void free_device_memory(void* memory) noexcept { forget(cudaFree(memory)); }

void* allocate_pinned_memory(std::int64_t bytes) {
  void* memory = nullptr;
  const cudaError_t status = cudaMallocHost(&memory, to_size(bytes));
  const std::string what = "allocating " + std::to_string(bytes) + " bytes of pinned host memory";
  if (status == cudaErrorMemoryAllocation) {
    forget(status);
    throw ResourceError("GPU: " + what +
                        ": the host has no more that can be pinned: use fewer ranks on a node or a "
                        "smaller batch, look at its limit of locked memory (ulimit -l), or choose "
                        "the host backend");
  }
  check_device(status, what);
  return memory;
}

void free_pinned_memory(void* memory) noexcept { forget(cudaFreeHost(memory)); }

void copy_to_device(const void* from, void* to, std::int64_t bytes, const DeviceStream& stream) {
  copy(from, to, bytes, cudaMemcpyHostToDevice, stream, "copying to the device");
}

void copy_to_host(const void* from, void* to, std::int64_t bytes, const DeviceStream& stream) {
  copy(from, to, bytes, cudaMemcpyDeviceToHost, stream, "copying to the host");
}

void copy_on_device(const void* from, void* to, std::int64_t bytes, const DeviceStream& stream) {
  copy(from, to, bytes, cudaMemcpyDeviceToDevice, stream, "copying on the device");
}

void zero_device_memory(void* memory, std::int64_t bytes, const DeviceStream& stream) {
  if (bytes == 0) return;
  check_device(cudaMemsetAsync(memory, 0, to_size(bytes), native(stream)), "clearing memory");
}

}  // namespace ringweave::detail::inline base
