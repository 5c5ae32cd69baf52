// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// What runs on the host and on a device alike, so that device code is tested where there is no
// device. The only header that knows which compiler reads it.
#ifdef __CUDACC__
#define RINGWEAVE_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define RINGWEAVE_HOST_DEVICE inline
#endif

// Unrolls the loop that follows: what it indexes stays in registers.
#ifdef __CUDACC__
#define RINGWEAVE_UNROLL _Pragma("unroll")
#else
#define RINGWEAVE_UNROLL
#endif
