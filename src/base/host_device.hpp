// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What runs on the host and on a device alike, so that device code is tested where there is no
// device. The only header that knows which compiler reads it.
#ifdef __CUDACC__
#define RINGWEAVE_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define RINGWEAVE_HOST_DEVICE inline
#endif

// What a block of a launch does: written against a block of threads, it is compiled for the device
// by the CUDA compiler and, with loops in place of threads, for the host by every other.
#ifdef __CUDACC__
#define RINGWEAVE_LAUNCH __device__ __forceinline__
#else
#define RINGWEAVE_LAUNCH inline
#endif

// Unrolls the loop that follows: what it indexes stays in registers.
#ifdef __CUDACC__
#define RINGWEAVE_UNROLL _Pragma("unroll")
#else
#define RINGWEAVE_UNROLL
#endif
