// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace ringweave {

/// Kinds of errors, in ascending severity: where ranks meet different errors, the severest is
/// thrown on all. The values are the exit codes of the program.
enum class ErrorKind : int {
  none = 0,
  usage = 2,
  data = 3,
  resource = 4,
  peer = 5,
  internal = 70,
  stopped = 75,
};

/// Returns the exit code of a kind of error.
constexpr int exit_code(ErrorKind kind) { return static_cast<int>(kind); }

/// Returns "usage error", "data error", ...: the words a message begins with.
std::string_view name_of(ErrorKind kind);

/// Base of every exception Ringweave throws. The message says what failed, where, what was expected
/// and what to do.
class Error : public std::runtime_error {
 public:
  /// Makes an error of a kind; what() is the message.
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const { return kind_; }  ///< its value is the exit code

 private:
  ErrorKind kind_;
};

/// Impossible request: options, shapes, an existing output file, a part that was not built.
class UsageError : public Error {
 public:
  /// Makes the error; what() is the message.
  explicit UsageError(const std::string& message) : Error(ErrorKind::usage, message) {}
};

/// Missing, broken or inconsistent file or value from outside. `where` names the file, ring or
/// pixel.
class DataError : public Error {
 public:
  /// Makes the error; what() is `where: message`, or the message alone where `where` is empty.
  DataError(const std::string& where, const std::string& message)
      : Error(ErrorKind::data, where.empty() ? message : where + ": " + message) {}
};

/// Memory, disk or device that ran out or failed.
class ResourceError : public Error {
 public:
  /// Makes the error; what() is the message.
  explicit ResourceError(const std::string& message) : Error(ErrorKind::resource, message) {}
};

/// Failure of another rank or of MPI.
class PeerError : public Error {
 public:
  /// Makes the error; what() is the message.
  explicit PeerError(const std::string& message) : Error(ErrorKind::peer, message) {}
};

/// Bug in Ringweave.
class InternalError : public Error {
 public:
  /// Makes the error; what() is the message.
  explicit InternalError(const std::string& message) : Error(ErrorKind::internal, message) {}
};

/// Stop on request before the end. Finished outputs are kept, and a restart continues.
class StoppedEarly : public Error {
 public:
  /// Makes the error; what() is the message.
  explicit StoppedEarly(const std::string& message) : Error(ErrorKind::stopped, message) {}
};

/// Throws the subclass of Error that belongs to `kind` (none: InternalError).
[[noreturn]] void throw_error(ErrorKind kind, const std::string& message);

/// Kind and message of an exception.
struct CaughtError {
  ErrorKind kind = ErrorKind::none;  ///< none: there was no exception
  std::string message;               ///< its what()
};
/// Describes the exception being handled: std::bad_alloc is a resource error, as is a
/// std::system_error for want of memory or threads; an unknown one internal.
CaughtError describe_current_exception() noexcept;

}  // namespace ringweave
