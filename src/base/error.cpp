// SPDX-License-Identifier: GPL-3.0-or-later
#include "ringweave/error.hpp"

#include <new>
#include <system_error>

namespace ringweave {

std::string_view name_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::none: return "no error";
    case ErrorKind::usage: return "usage error";
    case ErrorKind::data: return "data error";
    case ErrorKind::resource: return "resource error";
    case ErrorKind::peer: return "peer error";
    case ErrorKind::internal: return "internal error";
    case ErrorKind::stopped: return "stopped early";
  }
  return "unknown error";
}

void throw_error(ErrorKind kind, const std::string& message) {
  switch (kind) {
    case ErrorKind::usage: throw UsageError(message);
    case ErrorKind::data: throw DataError("", message);
    case ErrorKind::resource: throw ResourceError(message);
    case ErrorKind::peer: throw PeerError(message);
    case ErrorKind::stopped: throw StoppedEarly(message);
    case ErrorKind::none:
    case ErrorKind::internal: break;
  }
  throw InternalError(message);
}

CaughtError describe_current_exception() noexcept {
  try {
    throw;
  } catch (const Error& error) {
    return {error.kind(), error.what()};
  } catch (const std::bad_alloc&) {
    return {ErrorKind::resource, "out of memory"};
  } catch (const std::system_error& error) {
    // No thread can be started, for example.
    const bool is_short = error.code() == std::errc::resource_unavailable_try_again ||
                          error.code() == std::errc::not_enough_memory;
    return {is_short ? ErrorKind::resource : ErrorKind::internal, error.what()};
  } catch (const std::exception& error) {
    return {ErrorKind::internal, error.what()};
  } catch (...) {
    return {ErrorKind::internal, "unknown exception"};
  }
}

}  // namespace ringweave
