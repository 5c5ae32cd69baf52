// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace ringweave {

/// What went wrong, in the order of severity that `agree` uses when ranks disagree. The values are
/// the exit codes.
enum class ErrorKind : int {
  none = 0,
  usage = 2,
  data = 3,
  resource = 4,
  peer = 5,
  internal = 70,
  stopped = 75,
};

constexpr int exit_code(ErrorKind kind) { return static_cast<int>(kind); }

/// "usage error", "data error", ...: the words a message begins with.
std::string_view name_of(ErrorKind kind);

/// Every error Ringweave throws. The message says what, where, what was expected, what to do.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }

 private:
  ErrorKind kind_;
};

/// The caller asked for something that cannot be: flags, shapes, existing output, a part not built.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(ErrorKind::usage, message) {}
};

/// A file or value from outside is missing, broken or inconsistent. `where` names the file, ring or
/// pixel.
class DataError : public Error {
 public:
  DataError(const std::string& where, const std::string& message)
      : Error(ErrorKind::data, where.empty() ? message : where + ": " + message) {}
};

/// Memory, disk or device ran out or refused.
class ResourceError : public Error {
 public:
  explicit ResourceError(const std::string& message) : Error(ErrorKind::resource, message) {}
};

/// Another rank failed or did not answer.
class PeerError : public Error {
 public:
  explicit PeerError(const std::string& message) : Error(ErrorKind::peer, message) {}
};

/// A bug of ours.
class InternalError : public Error {
 public:
  explicit InternalError(const std::string& message) : Error(ErrorKind::internal, message) {}
};

/// Stopped on request before the end; what was finished is kept and a restart continues.
class StoppedEarly : public Error {
 public:
  explicit StoppedEarly(const std::string& message) : Error(ErrorKind::stopped, message) {}
};

/// Throws the subclass of Error that belongs to `kind` (none: InternalError).
[[noreturn]] void throw_error(ErrorKind kind, const std::string& message);

/// Kind and message of the exception being handled; std::bad_alloc is a resource error, anything
/// unknown internal.
struct CaughtError {
  ErrorKind kind = ErrorKind::none;
  std::string message;
};
CaughtError describe_current_exception() noexcept;

}  // namespace ringweave
