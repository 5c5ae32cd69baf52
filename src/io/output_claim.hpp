// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/temporary_files.hpp"

namespace ringweave::detail::inline io {

/// The claim of this process to write a file: a lock on `.tmp.lock.NAME` beside it, which is
/// removed with the claim. Where the file system has no locks, other runs do not see it.
class OutputClaim {
 public:
  /// Returns the claim of this process to `path`, which its threads share. `shown` is the name in
  /// messages. Not collective. Error  UsageError when another process has the claim.
  static std::shared_ptr<OutputClaim> make(const std::string& path, const std::string& shown);
  /// Tells whether the claim of any process, also a killed one, lies beside the file.
  static bool was_made(const std::string& path);
  ~OutputClaim();
  OutputClaim(const OutputClaim&) = delete;
  OutputClaim& operator=(const OutputClaim&) = delete;

  /// Returns false where the file system has no locks.
  bool is_locked() const { return file_ >= 0; }

 private:
  OutputClaim() = default;
  void lock(const std::string& path, const std::string& shown);

  std::string lock_path_;
  int file_ = -1;
  std::optional<TemporaryFile> at_early_exit_;
};

}  // namespace ringweave::detail::inline io
