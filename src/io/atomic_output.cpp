// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/atomic_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <vector>

#include "distribute/mpi/agree.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr mode_t permissions = S_IRWXU | S_IRWXG | S_IRWXO;

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// Returns the name to be replaced: `path`, or the regular file it links to, so that a link stays a
/// link.
std::string final_name(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISLNK(status.st_mode)) return path;
  std::error_code error;
  const std::filesystem::path target = std::filesystem::canonical(path, error);
  if (error)
    throw UsageError(
        fmt::format("{}: is a link that leads nowhere; remove it or name its target", path));
  return target.string();
}

void check_name(const std::string& path, IfExists if_exists) {
  require_name_of_file(path);
  struct stat status {};
  if (if_exists == IfExists::fail && ::stat(path.c_str(), &status) == 0)
    throw UsageError(fmt::format("{}: exists already; pass --overwrite to replace it", path));
}

void check_folder(const std::string& path) {
  const std::string folder = folder_of(path);
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      throw UsageError(fmt::format("{}: there is no folder {}; create it first", path, folder));
    throw ResourceError(fmt::format("{}: its folder cannot be used: {}; choose another", path,
                                    std::strerror(errno)));
  }
  if (!S_ISDIR(status.st_mode))
    throw UsageError(fmt::format("{}: {} is not a folder; choose another", path, folder));
  if (::access(folder.c_str(), W_OK | X_OK) != 0) {
    throw ResourceError(fmt::format("{}: its folder cannot be written: {}; choose another", path,
                                    std::strerror(errno)));
  }
}

/// Checks the name and the folder of an output, and returns its final_name().
std::string checked_final_name(const std::string& path, IfExists if_exists) {
  check_name(path, if_exists);
  check_folder(path);
  return final_name(path);
}

/// Returns a name that ends with the final name, because libraries find the kind of file by its
/// extension. It cannot be guessed: other containers may have a process of the same number, and a
/// link could wait in its place.
std::string temporary_name(const std::string& path) {
  const std::filesystem::path final(path);
  std::uint64_t random = 0;
  if (::getrandom(&random, sizeof random, 0) != sizeof random)
    throw ResourceError(fmt::format("{}: the system gives no random numbers", path));
  const std::string name =
      fmt::format(".tmp.{}-{:016x}.{}", ::getpid(), random, final.filename().string());
  return (final.parent_path() / name).string();
}

/// Returns the final name at the end of a temporary file's name; empty for other files.
std::string final_part(const std::string& temporary) {
  static const std::regex form(R"(\.tmp\.[0-9]+(-[0-9a-f]{16})?\.(.+))");
  std::smatch parts;
  return std::regex_match(temporary, parts, form) ? parts[2].str() : "";
}

/// Makes the temporary file, which only this user can read, and returns the state of new files.
/// Permissions alone do not tell that this is possible (root, read-only and full file systems).
struct stat create_temporary(const std::string& temporary, const std::string& path) {
  const int file =
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0) {
    throw ResourceError(fmt::format("{}: cannot be created: {}; choose another {}", path,
                                    std::strerror(errno),
                                    errno == ENAMETOOLONG ? "name, a shorter one" : "folder"));
  }
  struct stat status {};
  ::fstat(file, &status);
  // Some file systems have no modes.
  [[maybe_unused]] const int ignored = ::fchmod(file, S_IRUSR | S_IWUSR);
  ::close(file);
  return status;
}

/// Waits until a file or folder is on disk. Returns the reason why it is not, empty otherwise.
std::string sync(const std::string& path, int flags) {
  const int file = ::open(path.c_str(), flags | O_CLOEXEC);
  const bool synced = file >= 0 && (::fsync(file) == 0 || errno == EINVAL || errno == EROFS);
  std::string reason = synced ? "" : std::strerror(errno);
  if (file >= 0) ::close(file);
  return reason;
}

void sync_contents(const AtomicOutput& output) {
  // Other nodes may not see a folder in which rank 0 alone writes.
  if (!output.comm().is_root() && ::access(output.temporary_path().c_str(), F_OK) != 0) return;
  const std::string reason = sync(output.temporary_path(), O_RDONLY);
  if (!reason.empty())
    throw ResourceError(fmt::format("{}: not safely on disk: {}", output.path(), reason));
}

/// Gives a file the mode of the one that it is about to replace, and the group, where this user
/// may.
void take_over_mode(const std::string& temporary, const struct stat& old) {
  constexpr mode_t of_group = S_IRWXG;
  mode_t mode = old.st_mode & permissions;
  // Another group may no more than all others may.
  if (::chown(temporary.c_str(), static_cast<uid_t>(-1), old.st_gid) != 0)
    mode = (mode & ~of_group) | (mode & (mode << 3) & of_group);
  // Some file systems have no modes.
  [[maybe_unused]] const int ignored = ::chmod(temporary.c_str(), mode);
}

std::string name_of_file(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

using FilesByFolder = std::map<std::string, std::set<std::string>>;

/// Removes the temporary files of these names. Returns how many.
std::int64_t remove_temporary_files_of(const FilesByFolder& names) {
  std::int64_t n_removed = 0;
  for (const auto& [folder, finals] : names) {
    std::vector<std::filesystem::path> left;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      const std::string name = entry.path().filename().string();
      if (finals.contains(final_part(name))) left.push_back(entry.path());
    }
    for (const auto& path : left) n_removed += ::unlink(path.c_str()) == 0 ? 1 : 0;
  }
  return n_removed;
}

[[noreturn]] void refuse_to_replace(const std::string& path) {
  throw UsageError(fmt::format(
      "{}: appeared during this run and was not replaced; pass --overwrite or give another name",
      path));
}

/// Renames a file to a name that must be new.
void rename_to_new(const std::string& temporary, const std::string& final) {
  if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, final.c_str(), RENAME_NOREPLACE) == 0)
    return;
  if (errno == EINVAL || errno == ENOSYS) {  // not on this file system
    if (::link(temporary.c_str(), final.c_str()) == 0) {
      ::unlink(temporary.c_str());
      return;
    }
    const bool has_no_links = errno == EPERM || errno == ENOTSUP || errno == ENOSYS;
    if (has_no_links && ::access(final.c_str(), F_OK) != 0 &&
        std::rename(temporary.c_str(), final.c_str()) == 0)
      return;
    if (has_no_links && ::access(final.c_str(), F_OK) == 0) errno = EEXIST;
  }
  if (errno == EEXIST) refuse_to_replace(final);
  throw ResourceError(
      fmt::format("{}: cannot be renamed to {}: {}", temporary, final, std::strerror(errno)));
}

/// Puts a file in the place of another, which takes the temporary name where the file system can
/// do that. Returns true if so.
bool rename_over(const std::string& temporary, const std::string& final) {
  if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, final.c_str(), RENAME_EXCHANGE) == 0)
    return true;
  if (std::rename(temporary.c_str(), final.c_str()) == 0) return false;
  throw ResourceError(
      fmt::format("{}: cannot be renamed to {}: {}", temporary, final, std::strerror(errno)));
}

}  // namespace

AtomicOutput::AtomicOutput(const Communicator& comm, const std::string& path, IfExists if_exists)
    : comm_(comm), path_(path), if_exists_(if_exists) {
  agree(comm, [&] {
    if (!comm.is_root()) return;
    final_path_ = checked_final_name(path, if_exists);
    claim_ = OutputClaim::make(final_path_, path);
    temporary_path_ = temporary_name(final_path_);
    at_early_exit_.emplace(temporary_path_);
    const struct stat created = create_temporary(temporary_path_, path);
    mode_ = created.st_mode & permissions;
    owner_ = created.st_uid;
  });
  try {
    temporary_path_ = comm.broadcast(temporary_path_, 0);
  } catch (...) {
    // Without a destructor.
    if (comm.is_root()) ::unlink(temporary_path_.c_str());
    throw;
  }
}

AtomicOutput::~AtomicOutput() {
  if (!committed_ && comm_.is_root()) ::unlink(temporary_path_.c_str());
}

void AtomicOutput::throw_with_final_name() const {
  const CaughtError error = describe_current_exception();
  std::string message = error.message;
  for (std::size_t at = 0; (at = message.find(temporary_path_, at)) != std::string::npos;)
    message.replace(at, temporary_path_.size(), path_);
  throw_error(error.kind, message);
}

void AtomicOutput::commit() {
  AtomicOutput* const alone[] = {this};
  commit(comm_, alone);
}

void AtomicOutput::rename() {
  struct stat written {};
  if (::lstat(temporary_path_.c_str(), &written) != 0 || !S_ISREG(written.st_mode) ||
      written.st_uid != owner_)
    throw ResourceError(fmt::format("{}: its temporary file {} was removed or replaced by others",
                                    path_, temporary_path_));
  if (written.st_size == 0)
    throw ResourceError(fmt::format("{}: not safely on disk: nothing was written", path_));
  struct stat old {};
  const bool replaces = ::stat(final_path_.c_str(), &old) == 0;
  if (replaces && if_exists_ == IfExists::fail) refuse_to_replace(final_path_);
  if (replaces && !S_ISREG(old.st_mode))
    throw ResourceError(fmt::format("{}: is no regular file any more, so it was kept", path_));
  if (replaces) {
    take_over_mode(temporary_path_, old);
    replaced_ = rename_over(temporary_path_, final_path_) ? Replaced::exchanged : Replaced::lost;
    return;
  }
  // Some file systems have no modes.
  [[maybe_unused]] const int ignored = ::chmod(temporary_path_.c_str(), mode_);
  rename_to_new(temporary_path_, final_path_);
}

void AtomicOutput::undo_rename() const {
  if (replaced_ == Replaced::none) std::rename(final_path_.c_str(), temporary_path_.c_str());
  if (replaced_ == Replaced::exchanged) {
    ::renameat2(AT_FDCWD, final_path_.c_str(), AT_FDCWD, temporary_path_.c_str(), RENAME_EXCHANGE);
  }
}

void AtomicOutput::commit(const Communicator& comm, std::span<AtomicOutput* const> outputs) {
  agree(comm, [&] {
    for (const AtomicOutput* output : outputs) sync_contents(*output);
  });
  agree(comm, [&] {
    if (!comm.is_root()) return;
    std::size_t n_renamed = 0;
    try {
      for (; n_renamed < outputs.size(); ++n_renamed) outputs[n_renamed]->rename();
    } catch (...) {
      for (std::size_t i = n_renamed; i-- > 0;) outputs[i]->undo_rename();
      throw;
    }
    for (const AtomicOutput* output : outputs) {
      if (output->replaced_ == Replaced::exchanged) ::unlink(output->temporary_path_.c_str());
    }
    for (const AtomicOutput* output : outputs) {
      const std::string reason = sync(folder_of(output->final_path_), O_RDONLY | O_DIRECTORY);
      if (reason.empty()) continue;
      throw ResourceError(fmt::format(
          "{}: is complete and in its place, but its folder could not be synced: {}; after a loss "
          "of power it may be as before",
          output->path_, reason));
    }
  });
  for (AtomicOutput* output : outputs) {
    output->committed_ = true;
    output->claim_.reset();
    output->at_early_exit_.reset();
  }
}

void require_name_of_file(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  if (name.empty() || name == "." || name == "..")
    throw UsageError(fmt::format("{}: is not the name of a file", path));
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return;
  if (S_ISDIR(status.st_mode))
    throw UsageError(fmt::format("{}: is a folder; give the name of a file in it", path));
  if (!S_ISREG(status.st_mode)) {
    throw UsageError(fmt::format(
        "{}: is a device, pipe or socket, which the output would replace; give another name",
        path));
  }
}

std::vector<std::shared_ptr<OutputClaim>> AtomicOutput::check(const Communicator& comm,
                                                              std::span<const std::string> paths,
                                                              IfExists if_exists) {
  std::vector<std::shared_ptr<OutputClaim>> claims;
  agree(comm, [&] {
    if (!comm.is_root()) return;
    FilesByFolder names;
    for (const std::string& path : paths) {
      const std::string final = checked_final_name(path, if_exists);
      claims.push_back(OutputClaim::make(final, path));
      const std::string temporary = temporary_name(final);
      const TemporaryFile at_early_exit(temporary);
      create_temporary(temporary, path);
      ::unlink(temporary.c_str());
      if (claims.back()->is_locked()) names[folder_of(final)].insert(name_of_file(final));
    }
    remove_temporary_files_of(names);
  });
  return claims;
}

std::int64_t AtomicOutput::remove_unfinished(const Communicator& comm,
                                             std::span<const std::string> paths) {
  std::int64_t n_removed = 0;
  agree(comm, [&] {
    if (!comm.is_root()) return;
    FilesByFolder names;
    for (const std::string& path : paths) {
      const std::string final = final_name(path);
      names[folder_of(final)].insert(name_of_file(final));
    }
    for (const auto& [folder, finals] : names) {
      // The claims of killed runs go with ours.
      for (const std::string& final : finals) {
        const std::string path = (std::filesystem::path(folder) / final).string();
        if (OutputClaim::was_made(path)) OutputClaim::make(path, path);
      }
    }
    n_removed = remove_temporary_files_of(names);
  });
  return comm.sum(n_removed);
}

}  // namespace ringweave::detail::inline io
