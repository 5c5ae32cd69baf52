// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/cuda/block_types.hpp"
#include "base/cuda/lane_sums.hpp"

namespace ringweave::detail::gpu {

/// A thread block as loops, with the interface of DeviceBlock. Threads run one after the other, in
/// an order that changes from phase to phase; asynchronous copies happen when they are waited for,
/// so that a missing wait shows.
class EmulatedBlock {
 public:
  explicit EmulatedBlock(std::int64_t index) : index_(index) {}

  template <class T>
  class PerThread {
   public:
    PerThread() : values_(new T[block_threads]) {
      // Uninitialised memory must not look like zeros.
      std::memset(static_cast<void*>(values_.get()), 0x7f, sizeof(T) * block_threads);
    }
    T& operator[](int thread) const { return values_[to_size(thread)]; }

   private:
    std::unique_ptr<T[]> values_;
  };

  std::int64_t index() const { return index_; }

  template <class Work>
  void each(const Work& work) const {
    backwards_ = !backwards_;
    for (int i = 0; i < block_threads; ++i) work(backwards_ ? block_threads - 1 - i : i);
  }
  void sync() const {}

  void copy_ahead(Double2* to, const Double2* from) const { copies_.back().push_back({to, from}); }
  void commit_copies() const { copies_.emplace_back(); }
  void wait_for_copies_but_last() const {
    // The last commit left an open group behind it.
    while (copies_.size() > 2) {
      for (const auto& [to, from] : copies_.front()) *to = *from;
      copies_.erase(copies_.begin());
    }
  }

  void any_in_warp(PerThread<bool>& flag) const {
    for_each_warp([&](int first) {
      bool any = false;
      for (int lane = 0; lane < warp_lanes; ++lane) any = any || flag[first + lane];
      for (int lane = 0; lane < warp_lanes; ++lane) flag[first + lane] = any;
    });
  }
  void all_in_warp(PerThread<bool>& flag) const {
    for_each_warp([&](int first) {
      bool all = true;
      for (int lane = 0; lane < warp_lanes; ++lane) all = all && flag[first + lane];
      for (int lane = 0; lane < warp_lanes; ++lane) flag[first + lane] = all;
    });
  }

  template <int N>
  void sum_lanes(PerThread<Array<double, N>>& values, PerThread<bool>& wanted) const {
    for_each_warp([&](int first) {
      if (!wanted[first]) return;
      int n = N;
      for (int offset = warp_lanes / 2; offset > 0; offset /= 2) {
        const bool shared = n % 2 == 0;
        const int left = shared ? n / 2 : n;
        std::array<std::array<double, std::size_t{N}>, warp_lanes> next;
        for (int lane = 0; lane < warp_lanes; ++lane) {
          const LaneExchange mine(lane, offset);
          const LaneExchange other(lane ^ offset, offset);
          const double* const v = values[first + lane];
          const double* const w = values[first + (lane ^ offset)];
          for (int i = 0; i < left; ++i) {
            next[to_size(lane)][to_size(i)] =
                shared ? mine.kept_of_half(v, n, i) + other.given_of_half(w, n, i) : v[i] + w[i];
          }
        }
        for (int lane = 0; lane < warp_lanes; ++lane) {
          std::copy_n(next[to_size(lane)].begin(), left, values[first + lane]);
        }
        n = left;
      }
    });
  }

  template <int N, int Stride, class Values>
  void transpose_lanes(PerThread<Values>& values, int first, int step,
                       PerThread<bool>& wanted) const {
    for_each_warp([&](int warp) {
      if (!wanted[warp]) return;
      for (int offset = 1; offset < N; offset *= 2) {
        for (int i = 0; i < N; ++i) {
          if ((i & offset) != 0) continue;
          exchange_in_warp(values, warp, offset * Stride, first + i * step,
                           first + (i + offset) * step);
        }
      }
    });
  }
  template <class A, class B, class C>
  void multiply_add_8x8x4(PerThread<A>& a, int ia, PerThread<B>& b, int ib, PerThread<C>& c, int ic,
                          int ic_next, PerThread<bool>& wanted) const {
    for_each_warp([&](int warp) {
      if (!wanted[warp]) return;
      for (int lane = 0; lane < warp_lanes; ++lane) {
        const int row = lane / 4;
        for (int half = 0; half < 2; ++half) {
          const int column = 2 * (lane % 4) + half;
          double& sum = c[warp + lane][half == 0 ? ic : ic_next];
          for (int k = 0; k < 4; ++k) {
            sum += a[warp + 4 * row + k][ia] * b[warp + 4 * column + k][ib];
          }
        }
      }
    });
  }

 private:
  template <class Work>
  static void for_each_warp(const Work& work) {
    for (int first = 0; first < block_threads; first += warp_lanes) work(first);
  }
  /// Exchanges values `i` and `j` of every lane.
  template <class Values>
  static void exchange_in_warp(PerThread<Values>& values, int warp, int offset, int i, int j) {
    std::array<double, warp_lanes> given;
    for (int lane = 0; lane < warp_lanes; ++lane) {
      const Values& v = values[warp + lane];
      given[to_size(lane)] = LaneExchange(lane, offset).given_of_two(v[i], v[j]);
    }
    for (int lane = 0; lane < warp_lanes; ++lane) {
      Values& v = values[warp + lane];
      LaneExchange(lane, offset).take(given[to_size(lane ^ offset)], v[i], v[j]);
    }
  }

  std::int64_t index_;
  mutable bool backwards_ = false;
  mutable std::vector<std::vector<std::pair<Double2*, const Double2*>>> copies_{1};
};

/// Runs launches on the host, block by block.
class EmulatedMachine {
 public:
  template <class T>
  class Buffer {
   public:
    Buffer() = default;
    explicit Buffer(std::int64_t size) : values_(to_size(size)) {
      if (size > 0)
        std::memset(static_cast<void*>(values_.data()), 0x7f, sizeof(T) * to_size(size));
    }
    // As on a device, launches ignore the constness of buffers.
    T* data() const { return values_.data(); }
    std::int64_t bytes() const { return ssize64(values_) * std::int64_t{sizeof(T)}; }

   private:
    mutable std::vector<T> values_;
  };

  template <class T>
  Buffer<T> allocate(std::int64_t size) {
    return Buffer<T>(size);
  }
  template <class T>
  Buffer<T> upload(const T* values, std::int64_t size) {
    Buffer<T> buffer(size);
    std::copy_n(values, size, buffer.data());
    return buffer;
  }
  template <class T>
  Buffer<T> upload(const std::vector<T>& values) {
    return upload(values.data(), ssize64(values));
  }
  template <class Work>
  void launch(const Work& work, std::int64_t n_blocks) {
    ++n_launches;
    for (std::int64_t i = 0; i < n_blocks; ++i) {
      // Blocks run in arbitrary order.
      const EmulatedBlock block(n_launches % 2 == 0 ? i : n_blocks - 1 - i);
      const auto shared = std::make_unique<typename Work::Shared>();
      std::memset(static_cast<void*>(shared.get()), 0x7f, sizeof(typename Work::Shared));
      work(block, *shared);
    }
  }
  std::int64_t n_launches = 0;
};

}  // namespace ringweave::detail::gpu
