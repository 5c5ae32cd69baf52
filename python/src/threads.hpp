// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <omp.h>

namespace ringweave::python {

/// Sets the number of OpenMP threads of this thread's calls, and sets it back.
class ThreadCount {
 public:
  /// Sets it; 0: as it is.
  explicit ThreadCount(int threads) : before_(omp_get_max_threads()) {
    if (threads > 0) omp_set_num_threads(threads);
  }
  ~ThreadCount() { omp_set_num_threads(before_); }
  ThreadCount(const ThreadCount&) = delete;
  ThreadCount& operator=(const ThreadCount&) = delete;

 private:
  int before_;
};

}  // namespace ringweave::python
