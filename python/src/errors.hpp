// SPDX-License-Identifier: GPL-3.0-or-later
// Exceptions on their way from C++ to Python, and agreement of ranks on them.
#pragma once

#include <nanobind/nanobind.h>

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

#include <ringweave/communicator.hpp>

namespace ringweave::python {

namespace nb = nanobind;

/// Array that is not what was expected: its type, strides, device or access. In Python ArrayError,
/// which is a UsageError and a TypeError.
class ArrayError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Makes Python's exceptions of Ringweave's, by the classes of ringweave.errors.
void translate_errors();

/// Runs `check` on every rank and lets all return its values, or throws the same error on all.
/// Ranks that return different values throw UsageError, which says `what` must be the same.
/// Python's own exceptions stay what they are on the rank that met them and are PeerError on the
/// others. The GIL is held during `check` and released while ranks agree. Collective.
void agree(const Communicator& comm, const char* what, const std::function<std::int64_t()>& check);

/// Runs `work` with the GIL held, lets Ctrl-C through, and agrees on exceptions as agree() does. To
/// be called without the GIL. Collective.
void agree_in_callback(const Communicator& comm, const std::function<void()>& work);

}  // namespace ringweave::python
