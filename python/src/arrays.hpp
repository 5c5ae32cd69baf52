// SPDX-License-Identifier: GPL-3.0-or-later
// Arrays of Python as views of the library, without copies.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <complex>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "errors.hpp"

#include <ringweave/views.hpp>

namespace ringweave::python {

/// Numbers of an array: real of 4 or 8 bytes, or complex of twice as many.
enum class Numbers { real, complex_ };
/// Access to an array that is needed.
enum class Access { read, write };

/// A borrowed array of the shape (n,), (components, n) or (batch, components, n), whose last axis
/// is contiguous.
struct Rows {
  nb::ndarray<nb::ro> owner;      ///< keeps the memory
  void* data = nullptr;           ///< first element
  bool is_single = false;         ///< numbers are float or complex<float>
  int n_axes = 1;                 ///< of the array
  std::int64_t n_batch = 1;       ///< arrays that are treated one after the other
  std::int64_t n_components = 1;  ///< rows of each
  std::int64_t size = 0;          ///< elements of a row
  std::int64_t batch_stride = 0;  ///< elements between arrays of a batch
  std::int64_t stride = 0;        ///< elements between rows

  /// Returns a view of one array of the batch.
  template <class T>
  ComponentView<T> view(std::int64_t batch = 0) const {
    return {static_cast<T*>(data) + batch * batch_stride, n_components, size, stride};
  }
  /// Returns a number that ranks must share: precision and number of arrays.
  std::int64_t digest() const { return n_batch * 2 + (is_single ? 1 : 0); }
};

/// Borrows an array. `name` is that of the argument, for messages.
/// Error  ArrayError when it is no array of such numbers in the memory of the host, when its last
///        axis is not contiguous, its rows overlap or go backwards, or it cannot be written.
Rows borrow_rows(nb::handle array, const char* name, Numbers numbers, Access access);

/// Throws UsageError unless rows have this shape; `whose` says what has it.
void require_shape(const Rows& rows, const char* name, std::int64_t n_components, std::int64_t size,
                   const char* whose);

/// Throws ArrayError unless an output has the precision and the leading axes of an input, and
/// UsageError where their memory overlaps.
void require_match(const Rows& in, const char* in_name, const Rows& out, const char* out_name,
                   Numbers in_numbers, Numbers out_numbers);

/// Returns an array in the host's memory, of any framework, as one of numpy without a copy. It is
/// read-only where the other one is.
/// Error  ArrayError for other objects, and for arrays in the memory of a device.
nb::object numpy_view(nb::handle array);

/// Makes an array of numpy, not initialised, aligned to 64 bytes.
/// Error  ResourceError without memory.
nb::object new_array(Numbers numbers, bool is_single, std::span<const std::int64_t> shape);

/// Makes an array with the leading axes of `like`, and its precision.
nb::object new_array_like(const Rows& like, Numbers numbers, std::int64_t n_components,
                          std::int64_t size);

/// Returns an output: `out` checked against the input, or a new array where it is None.
nb::object output_for(const Rows& in, const char* in_name, Numbers in_numbers, nb::handle out,
                      Numbers numbers, std::int64_t n_components, std::int64_t size,
                      const char* whose, Rows& rows);

/// Makes an array of numpy of a vector.
template <class T>
nb::object array_of(std::vector<T> values) {
  auto* const kept = new std::vector<T>(std::move(values));
  const nb::capsule owner(
      kept, [](void* memory) noexcept { delete static_cast<std::vector<T>*>(memory); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner));
}

/// Makes an array of numpy of a buffer, which it keeps: (components, n).
template <class T>
nb::object array_of(ComponentBuffer<T> buffer) {
  auto* const kept = new ComponentBuffer<T>(std::move(buffer));
  const nb::capsule owner(
      kept, [](void* memory) noexcept { delete static_cast<ComponentBuffer<T>*>(memory); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<2>>(
      kept->view().data(),
      {static_cast<std::size_t>(kept->n_components()), static_cast<std::size_t>(kept->size())},
      owner));
}

/// Contiguous doubles of one axis, which Python has made sure of.
using Doubles = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Copies doubles, for small tables.
inline std::vector<double> vector_of(const Doubles& values) {
  return {values.data(), values.data() + values.size()};
}

}  // namespace ringweave::python
