// SPDX-License-Identifier: GPL-3.0-or-later
#include "softdevice/findings.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <utility>

namespace softdevice {
namespace {

constexpr int most_told = 5;

struct Findings {
  std::mutex mutex;
  std::map<std::string, long> by_kind;
};

thread_local FindingsAside* aside = nullptr;

/// Never destroyed: it is used until the process ends.
Findings& findings() {
  static auto* all = new Findings;
  return *all;
}

/// Runs after what the program itself does at its end.
void end_with_findings() {
  const Findings& all = findings();
  if (all.by_kind.empty()) return;
  std::fflush(stdout);
  for (const auto& [kind, count] : all.by_kind)
    std::fprintf(stderr, "softdevice: %ld times: %s\n", count, kind.c_str());
  std::fflush(stderr);
  _exit(status_of_findings);
}

[[maybe_unused]] const int registered = std::atexit(end_with_findings);

}  // namespace

FindingsAside::FindingsAside() { aside = this; }
FindingsAside::~FindingsAside() { aside = nullptr; }

void find(const std::string& kind, const std::string& where) {
  if (aside != nullptr) {
    if (aside->first_.empty()) aside->first_ = kind;
    return;
  }
  Findings& all = findings();
  const std::lock_guard lock(all.mutex);
  if (++all.by_kind[kind] <= most_told)
    std::fprintf(stderr, "softdevice: %s: %s\n", kind.c_str(), where.c_str());
}

std::map<std::string, long> take_findings() {
  const std::lock_guard lock(findings().mutex);
  return std::exchange(findings().by_kind, {});
}

}  // namespace softdevice
