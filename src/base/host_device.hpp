// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Marks code compiled for both the host and a device, so that device code is tested without a
// device. This is the only header that depends on the compiler.
#ifdef __CUDACC__
#define RINGWEAVE_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define RINGWEAVE_HOST_DEVICE inline
#endif

// Marks the code of a thread block: compiled for the device by the CUDA compiler and, with loops in
// place of threads, for the host by every other compiler.
#ifdef __CUDACC__
#define RINGWEAVE_LAUNCH __device__ __forceinline__
#else
#define RINGWEAVE_LAUNCH inline
#endif

// Unrolls the next loop, so that the arrays it indexes stay in registers.
#ifdef __CUDACC__
#define RINGWEAVE_UNROLL _Pragma("unroll")
#else
#define RINGWEAVE_UNROLL
#endif
