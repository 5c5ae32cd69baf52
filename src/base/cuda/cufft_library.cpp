// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/cuda/cufft_library.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include "base/device.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::gpu {
namespace {

const std::string soname = "libcufft.so." + std::to_string(CUFFT_VER_MAJOR);

/// Opens the library in the loader's search path, else in the folder it had at build time.
void* open_library() {
  const std::string built_with = std::string(RINGWEAVE_CUFFT_FOLDER) + "/" + soname;
  for (const std::string& name : {soname, built_with}) {
    if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  }
  const char* reason = dlerror();
  throw ResourceError("GPU: FFTs need cuFFT (" + soname +
                      "): " + (reason == nullptr ? "not found" : reason) +
                      "; install the CUDA toolkit or its libcufft package, name its folder in "
                      "LD_LIBRARY_PATH, or choose the host backend");
}

template <class Function>
void find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  if (function != nullptr) return;
  throw ResourceError("GPU: " + soname + " has no " + name +
                      "; install the cuFFT this program was built with (" +
                      std::to_string(CUFFT_VERSION) + "), or choose the host backend");
}

std::string name_of(cufftResult status) {
  switch (status) {
    case CUFFT_ALLOC_FAILED:
      return "the device has not enough free memory for its tables: use more ranks, or end other "
             "programs on the device";
    case CUFFT_INVALID_DEVICE: return "the device is not one it can use";
    case CUFFT_SETUP_FAILED: return "it could not be initialised: look at nvidia-smi";
    case CUFFT_INVALID_SIZE: return "the length or the number of FFTs is too large for it";
    case CUFFT_EXEC_FAILED: return "the device could not run it";
    default: return "internal error";
  }
}

}  // namespace

const CufftLibrary& CufftLibrary::get() {
  static const CufftLibrary library;
  return library;
}

CufftLibrary::CufftLibrary() {
  void* library = open_library();
  find(library, "cufftCreate", create);
  find(library, "cufftDestroy", destroy);
  find(library, "cufftSetAutoAllocation", set_auto_allocation);
  find(library, "cufftMakePlanMany64", make_plan_many);
  find(library, "cufftSetWorkArea", set_work_area);
  find(library, "cufftSetStream", set_stream);
  find(library, "cufftExecZ2Z", execute);
  find(library, "cufftExecD2Z", execute_real);
  find(library, "cufftExecZ2D", execute_inverse);
}

void check_cufft(cufftResult status, const std::string& what) {
  if (status == CUFFT_SUCCESS) return;
  // Report an earlier failure of the device instead, if any. The CUDA runtime inside cuFFT does not
  // pass it on, but any call to the driver returns it.
  std::size_t free = 0;
  std::size_t total = 0;
  check_device(cudaMemGetInfo(&free, &total), what);
  throw ResourceError("GPU: " + what + ": cuFFT returned " + std::to_string(status) + ", " +
                      name_of(status) + "; or choose the host backend");
}

}  // namespace ringweave::detail::gpu
