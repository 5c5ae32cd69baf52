// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <map>
#include <string>

namespace softdevice {

/// Tells of a finding on stderr, of several alike the first few, and makes the process exit with
/// status 77.
///
/// kind   counted together, such as "race in shared memory"
/// where  kernel, block, thread and line of the PTX, or the function of the runtime
void find(const std::string& kind, const std::string& where);

/// Returns how often each kind was found, and forgets it: for tests that want findings.
std::map<std::string, long> take_findings();

/// Keeps findings of this thread aside while it exists: neither told nor counted.
class FindingsAside {
 public:
  FindingsAside();
  ~FindingsAside();
  FindingsAside(const FindingsAside&) = delete;
  FindingsAside& operator=(const FindingsAside&) = delete;
  /// The kind of the first one, "" without.
  const std::string& first() const { return first_; }

 private:
  friend void find(const std::string& kind, const std::string& where);
  std::string first_;
};

/// The status of a process with findings.
inline constexpr int status_of_findings = 77;

}  // namespace softdevice
