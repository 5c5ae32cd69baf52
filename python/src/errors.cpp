// SPDX-License-Identifier: GPL-3.0-or-later
#include "errors.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <exception>
#include <new>
#include <vector>

#include <ringweave/error.hpp>

namespace ringweave::python {
namespace {

/// Outcome of a check on one rank, as ranks tell it to each other. The most severe has the largest
/// number.
enum Outcome : std::int64_t { none, usage, array, data, resource, peer, internal };

struct Failure {
  std::int64_t outcome = none;
  std::string message;
  std::exception_ptr own;
};

std::int64_t outcome_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::none: return none;
    case ErrorKind::usage: return usage;
    case ErrorKind::data: return data;
    case ErrorKind::resource: return resource;
    case ErrorKind::peer: return peer;
    default: return internal;
  }
}

[[noreturn]] void throw_outcome(std::int64_t outcome, const std::string& message) {
  switch (outcome) {
    case usage: throw UsageError(message);
    case array: throw ArrayError(message);
    case data: throw DataError("", message);
    case resource: throw ResourceError(message);
    case peer: throw PeerError(message);
    default: throw InternalError(message);
  }
}

/// Describes the exception being handled. The GIL is held.
Failure failure_of_current_exception() {
  Failure failure;
  failure.own = std::current_exception();
  try {
    throw;
  } catch (const ArrayError& error) {
    failure.outcome = array;
    failure.message = error.what();
  } catch (const nb::python_error& error) {
    failure.outcome = peer;
    failure.message = nb::cast<std::string>(error.type().attr("__name__")) + ": " +
                      nb::cast<std::string>(nb::str(error.value()));
  } catch (...) {
    const CaughtError error = describe_current_exception();
    failure.outcome = outcome_of(error.kind);
    failure.message = error.message;
  }
  return failure;
}

/// Throws on all ranks where one failed. `value` must be the same on all. Collective.
void agree_on(const Communicator& comm, const char* what, std::int64_t value,
              const Failure& failure) {
  constexpr std::int64_t values = std::int64_t{1} << 48;
  const std::vector<std::int64_t> all =
      comm.all_gather(failure.outcome * values + (failure.outcome == none ? value : 0));
  const auto worst = std::max_element(all.begin(), all.end());
  const std::int64_t outcome = *worst / values;
  if (outcome == none) {
    const auto other = std::find_if(all.begin(), all.end(),
                                    [&](std::int64_t rank_value) { return rank_value != all[0]; });
    if (other == all.end()) return;
    throw UsageError(std::string(what) +
                     " must be the same on all ranks; those of rank 0 and rank " +
                     std::to_string(other - all.begin()) + " differ");
  }
  const int rank = static_cast<int>(worst - all.begin());
  const std::string message = comm.broadcast(failure.message, rank);
  if (outcome == peer && failure.outcome == peer) std::rethrow_exception(failure.own);
  throw_outcome(outcome, "rank " + std::to_string(rank) + ": " + message);
}

void set_error(const char* name, const std::string& message) {
  const nb::object make = nb::module_::import_("ringweave.errors").attr("_make");
  const nb::object error = make(name, message);
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
}

}  // namespace

void agree(const Communicator& comm, const char* what, const std::function<std::int64_t()>& check) {
  if (comm.size() == 1) {
    check();
    return;
  }
  std::int64_t value = 0;
  Failure failure;
  try {
    value = check();
  } catch (...) {
    failure = failure_of_current_exception();
  }
  const nb::gil_scoped_release released;
  agree_on(comm, what, value, failure);
}

void agree_in_callback(const Communicator& comm, const std::function<void()>& work) {
  Failure failure;
  {
    const nb::gil_scoped_acquire acquired;
    try {
      if (PyErr_CheckSignals() != 0) throw nb::python_error();
      work();
    } catch (...) {
      if (comm.size() == 1) throw;
      failure = failure_of_current_exception();
    }
  }
  if (comm.size() > 1) agree_on(comm, "callbacks", 0, failure);
}

void translate_errors() {
  nb::register_exception_translator([](const std::exception_ptr& error, void*) {
    try {
      std::rethrow_exception(error);
    } catch (const Error& known) {
      const char* name = "InternalError";
      switch (known.kind()) {
        case ErrorKind::usage: name = "UsageError"; break;
        case ErrorKind::data: name = "DataError"; break;
        case ErrorKind::resource: name = "ResourceError"; break;
        case ErrorKind::peer: name = "PeerError"; break;
        case ErrorKind::stopped: name = "StoppedEarly"; break;
        default: break;
      }
      set_error(name, known.what());
    } catch (const ArrayError& wrong) {
      set_error("ArrayError", wrong.what());
    } catch (const std::bad_alloc&) {
      set_error("ResourceError", "out of memory");
    }
  });
}

}  // namespace ringweave::python
