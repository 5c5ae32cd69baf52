// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cuda_pipeline_primitives.h>

#include <cstdint>

#include "base/cuda/block_types.hpp"
#include "base/cuda/lane_sums.hpp"

namespace ringweave::detail::gpu {

/// A thread block on the device. Code written against it also runs on the host, with loops in place
/// of threads (tests/support/emulated_block.hpp).
class DeviceBlock {
 public:
  /// One value per thread.
  template <class T>
  class PerThread {
   public:
    __device__ __forceinline__ T& operator[](int) { return value_; }

   private:
    T value_;
  };

  __device__ __forceinline__ std::int64_t index() const { return blockIdx.x; }

  /// Runs work(thread) in every thread, without synchronization.
  template <class Work>
  __device__ __forceinline__ void each(const Work& work) const {
    work(static_cast<int>(threadIdx.x));
  }
  /// Makes earlier writes to shared memory visible to all threads.
  __device__ __forceinline__ void sync() const { __syncthreads(); }

  /// Starts an asynchronous copy from device to shared memory, ordered by commit and wait.
  __device__ __forceinline__ void copy_ahead(Double2* to, const Double2* from) const {
    __pipeline_memcpy_async(to, from, sizeof(Double2));
  }
  __device__ __forceinline__ void commit_copies() const { __pipeline_commit(); }
  /// Waits for this thread's copies except those of the last commit.
  __device__ __forceinline__ void wait_for_copies_but_last() const { __pipeline_wait_prior(1); }

  __device__ __forceinline__ void any_in_warp(PerThread<bool>& flag) const {
    flag[0] = __any_sync(0xffffffffU, flag[0]) != 0;
  }
  __device__ __forceinline__ void all_in_warp(PerThread<bool>& flag) const {
    flag[0] = __all_sync(0xffffffffU, flag[0]) != 0;
  }

  /// Sums over the lanes of each warp (LaneSums). `wanted` is uniform in a warp.
  template <int N>
  __device__ __forceinline__ void sum_lanes(PerThread<Array<double, N>>& values,
                                            PerThread<bool>& wanted) const {
    if (!wanted[0]) return;
    halve<N, warp_lanes / 2>(values[0]);
  }

  /// Transposes N x N values, N = 2^n, over lanes that are `Stride` apart: value first + j step of
  /// the i-th of N lanes becomes value first + i step of the j-th. `wanted` is uniform in a warp.
  template <int N, int Stride, class Values>
  __device__ __forceinline__ void transpose_lanes(PerThread<Values>& values, int first, int step,
                                                  PerThread<bool>& wanted) const {
    if (!wanted[0]) return;
    exchange<N, Stride, 1>(values[0] + first, step);
  }
  /// c += a b for matrices of 8 x 4 and 4 x 8 in the lanes of each warp (FP64 tensor instructions).
  /// Lane 4 i + j has a[i][j], b[j][i], c[i][2 j] in value `ic` and c[i][2 j + 1] in value
  /// `ic_next`. `wanted` is uniform in a warp.
  template <class A, class B, class C>
  __device__ __forceinline__ void multiply_add_8x8x4(PerThread<A>& a, int ia, PerThread<B>& b,
                                                     int ib, PerThread<C>& c, int ic, int ic_next,
                                                     PerThread<bool>& wanted) const {
    if (!wanted[0]) return;
    asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+d"(c[0][ic]), "+d"(c[0][ic_next])
                 : "d"(a[0][ia]), "d"(b[0][ib]));
  }

 private:
  __device__ __forceinline__ static double exchanged(double given, int offset) {
    return __shfl_xor_sync(0xffffffffU, given, offset);
  }
  template <int N, int Stride, int Offset>
  __device__ __forceinline__ static void exchange(double* v, int step) {
    if constexpr (Offset < N) {
      const LaneExchange lanes(static_cast<int>(threadIdx.x), Offset * Stride);
#pragma unroll
      for (int i = 0; i < N; ++i) {
        if ((i & Offset) != 0) continue;
        double& first = v[i * step];
        double& second = v[(i + Offset) * step];
        lanes.take(exchanged(lanes.given_of_two(first, second), Offset * Stride), first, second);
      }
      exchange<N, Stride, 2 * Offset>(v, step);
    }
  }
  template <int N, int Offset>
  __device__ __forceinline__ static void halve(double* v) {
    if constexpr (Offset > 0) {
      if constexpr (N % 2 == 0) {
        const LaneExchange lanes(static_cast<int>(threadIdx.x), Offset);
#pragma unroll
        for (int i = 0; i < N / 2; ++i) {
          const double given = exchanged(lanes.given_of_half(v, N, i), Offset);
          v[i] = lanes.kept_of_half(v, N, i) + given;
        }
        halve<N / 2, Offset / 2>(v);
      } else {
#pragma unroll
        for (int i = 0; i < N; ++i) v[i] += exchanged(v[i], Offset);
        halve<N, Offset / 2>(v);
      }
    }
  }
};

}  // namespace ringweave::detail::gpu
