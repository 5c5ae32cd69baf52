// SPDX-License-Identifier: GPL-3.0-or-later
// Devices and errors: CUDA Runtime API, Device Management and Error Handling.
#include <array>
#include <cstdio>
#include <cstring>
#include <string>

#include "softdevice/findings.hpp"
#include "softdevice/runtime/runtime.hpp"
#include "softdevice/settings.hpp"

namespace softdevice {
namespace {

thread_local int chosen_device = -1;

struct ErrorText {
  cudaError_t error;
  const char* name;
  const char* text;
};
constexpr std::array error_texts{
    ErrorText{cudaSuccess, "cudaSuccess", "no error"},
    ErrorText{cudaErrorInvalidValue, "cudaErrorInvalidValue", "invalid argument"},
    ErrorText{cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "out of memory"},
    ErrorText{cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration",
              "invalid configuration argument"},
    ErrorText{cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction",
              "invalid device function"},
    ErrorText{cudaErrorNoDevice, "cudaErrorNoDevice", "no CUDA-capable device is detected"},
    ErrorText{cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "invalid device ordinal"},
    ErrorText{cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle",
              "invalid resource handle"},
    ErrorText{cudaErrorIllegalState, "cudaErrorIllegalState",
              "the operation cannot be performed in the present state"},
    ErrorText{cudaErrorNotReady, "cudaErrorNotReady", "device not ready"},
    ErrorText{cudaErrorIllegalAddress, "cudaErrorIllegalAddress",
              "an illegal memory access was encountered"},
    ErrorText{cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "misaligned address"},
    ErrorText{cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "unspecified launch failure"},
    ErrorText{cudaErrorStreamCaptureUnsupported, "cudaErrorStreamCaptureUnsupported",
              "operation not permitted when stream is capturing"},
    ErrorText{cudaErrorStreamCaptureInvalidated, "cudaErrorStreamCaptureInvalidated",
              "operation failed due to a previous error during capture"},
    ErrorText{cudaErrorStreamCaptureUnjoined, "cudaErrorStreamCaptureUnjoined",
              "capture sequence contains a fork that was not joined to the primary stream"},
    ErrorText{cudaErrorStreamCaptureIsolation, "cudaErrorStreamCaptureIsolation",
              "dependency created on uncaptured work in another stream"},
    ErrorText{cudaErrorStreamCaptureWrongThread, "cudaErrorStreamCaptureWrongThread",
              "attempt to terminate a thread-local capture sequence from another thread"},
};

const ErrorText* find_text(cudaError_t error) {
  for (const ErrorText& one : error_texts) {
    if (one.error == error) return &one;
  }
  return nullptr;
}

}  // namespace

int current_device(const char* function) {
  if (chosen_device < 0 && settings().devices > 1)
    find("thread that has not chosen a device", function);
  return chosen_device < 0 ? 0 : chosen_device;
}

}  // namespace softdevice

using namespace softdevice;

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  const Call call;
  *count = settings().devices;
  return call.runtime.fail(call.runtime.sticky);
}

cudaError_t cudaGetDevice(int* device) {
  const Call call;
  *device = current_device("cudaGetDevice");
  return call.runtime.fail(call.runtime.sticky);
}

cudaError_t cudaSetDevice(int device) {
  const Call call;
  if (device < 0 || device >= settings().devices) return call.runtime.fail(cudaErrorInvalidDevice);
  chosen_device = device;
  return call.runtime.fail(call.runtime.sticky);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  const Call call;
  std::memset(properties, 0, sizeof *properties);
  std::snprintf(properties->name, sizeof properties->name, "software device");
  std::snprintf(properties->uuid.bytes, sizeof properties->uuid.bytes, "software %d", device);
  properties->major = settings().capability / 10;
  properties->minor = settings().capability % 10;
  properties->multiProcessorCount = 4;
  properties->warpSize = n_lanes;
  properties->maxThreadsPerBlock = 1024;
  properties->totalGlobalMem = static_cast<std::size_t>(settings().memory);
  return call.runtime.fail(call.runtime.sticky);
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  const Call call;
  if (attribute != cudaDevAttrClockRate) return call.runtime.fail(cudaErrorInvalidValue);
  *value = 1'000'000;
  return call.runtime.fail(call.runtime.sticky);
}

cudaError_t cudaDriverGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetLastError() {
  const Call call;
  const cudaError_t error =
      call.runtime.sticky != cudaSuccess ? call.runtime.sticky : call.runtime.last;
  call.runtime.last = cudaSuccess;
  return error;
}

const char* cudaGetErrorName(cudaError_t error) {
  const ErrorText* found = find_text(error);
  return found == nullptr ? "an error without a name here" : found->name;
}

const char* cudaGetErrorString(cudaError_t error) {
  const ErrorText* found = find_text(error);
  return found == nullptr ? "an error without a text here" : found->text;
}
}
