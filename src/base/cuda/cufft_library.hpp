// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cufft.h>

#include <string>

namespace ringweave::detail::gpu {

/// cuFFT, loaded at first use: a program linked to its 300 MB starts more slowly everywhere, and
/// not at all where it is not installed. Error  ResourceError when it is not found, or too old.
class CufftLibrary {
 public:
  static const CufftLibrary& get();

  // Named and declared as in cufft.h.
  decltype(&cufftCreate) create;
  decltype(&cufftDestroy) destroy;
  decltype(&cufftSetAutoAllocation) set_auto_allocation;
  decltype(&cufftMakePlanMany64) make_plan_many;
  decltype(&cufftSetWorkArea) set_work_area;
  decltype(&cufftSetStream) set_stream;
  decltype(&cufftExecZ2Z) execute;
  decltype(&cufftExecD2Z) execute_real;
  decltype(&cufftExecZ2D) execute_inverse;

 private:
  CufftLibrary();
};

/// Checks the return value of a cuFFT call. Error  ResourceError unless it is success.
void check_cufft(cufftResult status, const std::string& what);

}  // namespace ringweave::detail::gpu
