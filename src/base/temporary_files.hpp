// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace ringweave::detail::inline base {

/// Names a file that must not outlive this process, until it is destroyed. Names beyond `most` are
/// not kept. Any thread may have some.
class TemporaryFile {
 public:
  static constexpr int most = 256;
  explicit TemporaryFile(const std::string& path);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

 private:
  int slot_;
};

/// Removes the files that are named at present, for a process that ends without destructors. May be
/// called by handlers of signals.
void remove_temporary_files() noexcept;

}  // namespace ringweave::detail::inline base
