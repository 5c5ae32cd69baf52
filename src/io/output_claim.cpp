// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/output_claim.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <map>
#include <mutex>

#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr mode_t mode_of_locks = 0666;

std::string lock_path_of(const std::string& path) {
  const std::filesystem::path final(path);
  return (final.parent_path() / (".tmp.lock." + final.filename().string())).string();
}

int open_lock(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, mode_of_locks);
  // One that another user left.
  return file < 0 && errno == EACCES ? ::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
                                     : file;
}

/// Returns true unless the process that had the lock removed its file in the meantime.
bool is_still_there(int file, const std::string& path) {
  struct stat opened {};
  struct stat named {};
  return ::fstat(file, &opened) == 0 && ::lstat(path.c_str(), &named) == 0 &&
         opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

/// Returns what the owner of a lock wrote into its file.
std::string owner_of(int file) {
  std::array<char, 300> text{};
  const ssize_t count = ::pread(file, text.data(), text.size(), 0);
  return count > 0 ? std::string(text.data(), static_cast<std::size_t>(count)) : "another process";
}

void write_owner(int file) {
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const std::string text = fmt::format("process {} on {}", ::getpid(), host.data());
  // Only messages need it.
  if (::ftruncate(file, 0) != 0 || ::pwrite(file, text.data(), text.size(), 0) < 0) return;
}

}  // namespace

std::shared_ptr<OutputClaim> OutputClaim::make(const std::string& path, const std::string& shown) {
  static std::mutex guard;
  static std::map<std::string, std::weak_ptr<OutputClaim>> claims;
  std::error_code error;
  const std::string name = std::filesystem::absolute(path, error).string();
  const std::lock_guard lock(guard);
  std::erase_if(claims, [](const auto& claim) { return claim.second.expired(); });
  std::weak_ptr<OutputClaim>& known = claims[name];
  if (auto claim = known.lock()) return claim;
  std::shared_ptr<OutputClaim> claim(new OutputClaim);
  claim->lock(path, shown);
  known = claim;
  return claim;
}

bool OutputClaim::was_made(const std::string& path) {
  struct stat status {};
  return ::lstat(lock_path_of(path).c_str(), &status) == 0;
}

void OutputClaim::lock(const std::string& path, const std::string& shown) {
  lock_path_ = lock_path_of(path);
  // Another run may remove its file meanwhile. The limit is for file systems on which an open file
  // and its name never have the same number.
  constexpr int most_tries = 1000;
  for (int i = 0; i < most_tries && file_ < 0; ++i) {
    const int file = open_lock(lock_path_);
    if (file < 0) return;
    if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
      const bool is_taken = errno == EWOULDBLOCK;
      const std::string owner = is_taken ? owner_of(file) : "";
      ::close(file);
      if (!is_taken) {
        ::unlink(lock_path_.c_str());
        return;
      }
      throw UsageError(
          fmt::format("{}: another run is writing it ({}); wait for its end or give another name",
                      shown, owner));
    }
    if (is_still_there(file, lock_path_)) {
      file_ = file;
    } else {
      ::close(file);
    }
  }
  if (file_ < 0) return;
  write_owner(file_);
  at_early_exit_.emplace(lock_path_);
}

OutputClaim::~OutputClaim() {
  if (file_ < 0) return;
  ::unlink(lock_path_.c_str());
  ::close(file_);
}

}  // namespace ringweave::detail::inline io
