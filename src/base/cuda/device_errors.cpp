// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/cuda/device_errors.hpp"

#include <mutex>

#include "base/device.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline base {
namespace {

/// Keeps the first failure after which the process can no longer use its device.
class FatalDeviceError {
 public:
  static FatalDeviceError& of_process() {
    static FatalDeviceError error;
    return error;
  }
  void keep(const std::string& message) {
    const std::lock_guard lock(mutex_);
    if (message_.empty()) message_ = message;
  }
  void require_none() {
    const std::lock_guard lock(mutex_);
    if (!message_.empty()) throw ResourceError(message_);
  }

 private:
  std::mutex mutex_;
  std::string message_;
};

/// Tells whether every later call of the process will fail too.
bool is_sticky(cudaError_t status) {
  // cudaErrorContained and cudaErrorTensorMemoryLeak, which older toolkits do not name.
  if (status == static_cast<cudaError_t>(226) || status == static_cast<cudaError_t>(721))
    return true;
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorMisalignedAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorHardwareStackError:
    case cudaErrorAssert:
    case cudaErrorLaunchTimeout:
    case cudaErrorLaunchFailure:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContextIsDestroyed:
    case cudaErrorExternalDevice:
    case cudaErrorECCUncorrectable: return true;
    default: return false;
  }
}

}  // namespace
}  // namespace ringweave::detail::inline base

namespace ringweave::detail::gpu {

std::string advice(cudaError_t status) {
  switch (status) {
    case cudaErrorNoDevice:
      return "no GPU is visible: look at nvidia-smi and CUDA_VISIBLE_DEVICES, or choose the host "
             "backend";
    case cudaErrorInsufficientDriver:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorUnsupportedPtxVersion: {
      int runtime = 0;
      cudaRuntimeGetVersion(&runtime);
      return "the driver is missing or older than CUDA " + std::to_string(runtime / 1000) + "." +
             std::to_string(runtime % 1000 / 10) +
             ", which this program was built with: install a newer driver, or choose the host "
             "backend";
    }
    case cudaErrorMemoryAllocation:
      return "the device has not enough free memory: use more ranks or a smaller batch, end other "
             "programs on the device, or choose the host backend";
    case cudaErrorNoKernelImageForDevice:
      return "this build has no code for the device: configure with "
             "-DCMAKE_CUDA_ARCHITECTURES=<its compute capability>";
    case cudaErrorDevicesUnavailable:
      return "another program has the device for itself: choose another one by "
             "CUDA_VISIBLE_DEVICES";
    default: break;
  }
  if (is_sticky(status)) {
    return "the device can no longer be used by this process: run it again, and please report this "
           "if it comes back";
  }
  return "look at nvidia-smi, or choose the host backend";
}

void require_device_alive() { FatalDeviceError::of_process().require_none(); }

void forget(cudaError_t status) {
  if (status != cudaSuccess) cudaGetLastError();
}

}  // namespace ringweave::detail::gpu

namespace ringweave::detail::inline base {

void check_device(int status, const std::string& what) {
  gpu::require_device_alive();
  const auto error = static_cast<cudaError_t>(status);
  if (error == cudaSuccess) return;
  cudaGetLastError();  // clears the error, which the next call would report again
  const std::string message = "GPU: " + what + ": " + cudaGetErrorString(error) + " (" +
                              cudaGetErrorName(error) + "); " + gpu::advice(error);
  if (is_sticky(error)) FatalDeviceError::of_process().keep(message);
  throw ResourceError(message);
}

}  // namespace ringweave::detail::inline base
