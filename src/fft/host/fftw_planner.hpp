// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <mutex>

namespace ringweave::detail::inline fft {

/// Returns the lock of FFTW's planner, which is not thread safe. Executing plans needs no lock.
inline std::mutex& fftw_planner() {
  static std::mutex mutex;
  return mutex;
}

/// Returns the process-wide plans of a length, which are made by Plans(length) when they are asked
/// for first. Thread safe; they live until the process ends.
template <class Plans>
const Plans& shared_plans(std::int64_t length) {
  static std::map<std::int64_t, Plans> plans;
  const std::lock_guard lock(fftw_planner());
  return plans.try_emplace(length, length).first->second;
}

}  // namespace ringweave::detail::inline fft
