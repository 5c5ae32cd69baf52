// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <cstring>
#include <functional>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/exchange/cuda/mode_rounding_launch.hpp"
#include "support/emulated_block.hpp"

namespace ringweave::detail::test {

/// A device for DeviceTransport, emulated on the host: work runs as late as possible, only when
/// something waits for it, so a missing wait shows as a wrong number.
class QueuedMemory {
 public:
  using Staging = std::vector<char>;
  using Buffer = std::vector<char>;

  Staging stage(std::int64_t bytes) {
    staged_bytes += bytes;
    return Staging(to_size(bytes), 0x7f);
  }
  Buffer buffer(std::int64_t bytes) {
    buffer_bytes += bytes;
    return Buffer(to_size(bytes), 0x7f);
  }
  void down(const void* from, void* to, std::int64_t n) { copy_later(copies_, from, to, n); }
  void up(const void* from, void* to, std::int64_t n) { copy_later(copies_, from, to, n); }
  void keep(const void* from, void* to, std::int64_t n) { copy_later(work_, from, to, n); }
  /// Runs a device launch block by block.
  template <class From, class To>
  void round(const std::complex<From>* from, std::complex<To>* to, std::int64_t n) {
    work_.tasks.push_back([=, this] {
      const auto launch = gpu::RoundModes<From, To>::of(
          reinterpret_cast<const From*>(from), reinterpret_cast<To*>(to), 2 * n, largest_.data());
      machine_.launch(launch, launch.n_blocks);
    });
  }
  double pop_largest() {
    wait_for_work();
    double largest = 0;
    for (double& of_block : largest_)
      largest = larger_magnitude(largest, std::exchange(of_block, 0));
    return largest;
  }
  void copies_follow_work() { follow(copies_, work_); }
  void work_follows_copies() { follow(work_, copies_); }
  void wait_for_copies() { run(copies_, copies_.tasks.size()); }
  void wait_for_work() { run(work_, work_.tasks.size()); }

  void work(std::function<void()> task) { work_.tasks.push_back(std::move(task)); }

  std::int64_t staged_bytes = 0;  ///< staging buffers so far
  std::int64_t buffer_bytes = 0;  ///< device buffers so far

 private:
  struct Queue {
    std::vector<std::function<void()>> tasks;
    std::size_t done = 0;
  };
  static void run(Queue& queue, std::size_t end) {
    // A task may run the other queue, which may wait for this one up to an earlier task.
    while (queue.done < end) {
      const auto task = queue.tasks[queue.done];
      task();
      ++queue.done;
    }
  }
  static void follow(Queue& later, Queue& earlier) {
    later.tasks.push_back([&earlier, end = earlier.tasks.size()] { run(earlier, end); });
  }
  static void copy_later(Queue& queue, const void* from, void* to, std::int64_t bytes) {
    queue.tasks.push_back([=] { std::memcpy(to, from, to_size(bytes)); });
  }

  Queue work_;
  Queue copies_;
  gpu::EmulatedMachine machine_;
  std::vector<double> largest_ = std::vector<double>(to_size(gpu::most_rounding_blocks), 0.0);
};

}  // namespace ringweave::detail::test
