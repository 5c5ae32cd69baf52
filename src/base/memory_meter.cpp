// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/memory_meter.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <limits>
#include <string>

#include "base/control_groups.hpp"
#include "base/host_memory.hpp"

namespace ringweave::detail::inline base {
namespace {

std::atomic<std::int64_t> current{0};
std::atomic<std::int64_t> high_water{0};
std::atomic<std::int64_t> touched{0};
std::atomic<double> touching{0};

/// Returns the value in bytes of a "Name:   123 kB" line; 0 if the file or line is missing.
std::int64_t proc_field(const char* path, const std::string& name) {
  std::ifstream file(path);
  std::string key;
  std::int64_t kilobytes = 0;
  std::string rest;
  while (file >> key) {
    if (key == name && file >> kilobytes) return kilobytes * 1024;
    std::getline(file, rest);
  }
  return 0;
}

}  // namespace

void MemoryMeter::add(std::int64_t bytes) {
  const std::int64_t now = current.fetch_add(bytes) + bytes;
  std::int64_t seen = high_water.load();
  while (now > seen && !high_water.compare_exchange_weak(seen, now)) {
  }
}

void MemoryMeter::remove(std::int64_t bytes) { current.fetch_sub(bytes); }
std::int64_t MemoryMeter::current_bytes() { return current.load(); }
std::int64_t MemoryMeter::high_water_bytes() { return high_water.load(); }
void MemoryMeter::reset_high_water() { high_water.store(current.load()); }

void MemoryMeter::add_touched(std::int64_t bytes, double seconds) {
  touched.fetch_add(bytes);
  touching.fetch_add(seconds);
}

std::int64_t MemoryMeter::touched_bytes() { return touched.load(); }
double MemoryMeter::touch_seconds() { return touching.load(); }

std::int64_t resident_bytes() { return proc_field("/proc/self/status", "VmRSS:"); }
std::int64_t peak_resident_bytes() { return proc_field("/proc/self/status", "VmHWM:"); }
std::int64_t virtual_bytes() { return proc_field("/proc/self/status", "VmSize:"); }

std::int64_t available_bytes() {
  constexpr std::int64_t unlimited = std::numeric_limits<std::int64_t>::max();
  std::int64_t available = proc_field("/proc/meminfo", "MemAvailable:");
  if (available == 0) available = unlimited;
  available = std::min(available, control_group_bytes());
  return available == unlimited ? unlimited : available + kept_host_bytes();
}

std::int64_t available_bytes_of_process() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::numeric_limits<std::int64_t>::max();
  }
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(limit.rlim_cur) - virtual_bytes()) +
         kept_host_bytes();
}

}  // namespace ringweave::detail::inline base
