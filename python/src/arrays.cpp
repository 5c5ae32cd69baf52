// SPDX-License-Identifier: GPL-3.0-or-later
#include "arrays.hpp"

#include <nanobind/stl/string.h>

#include <array>

#include <ringweave/error.hpp>

namespace ringweave::python {
namespace {

using AnyArray = nb::ndarray<nb::ro>;

std::string text_of(nb::handle object) { return nb::cast<std::string>(nb::str(object)); }

/// Describes an object of Python by its type, or by the type of its elements.
std::string description(nb::handle object) {
  if (nb::hasattr(object, "dtype")) return "an array of " + text_of(object.attr("dtype"));
  return "an object of type " + text_of(nb::handle(object.type()).attr("__name__"));
}

std::string expected_numbers(Numbers numbers) {
  return numbers == Numbers::real ? "float64 or float32" : "complex128 or complex64";
}

std::string type_name(Numbers numbers, bool is_single) {
  if (numbers == Numbers::real) return is_single ? "float32" : "float64";
  return is_single ? "complex64" : "complex128";
}

[[noreturn]] void refuse(const char* name, const std::string& problem) {
  throw ArrayError(std::string(name) + ": " + problem);
}

/// Tells whether an object's buffer is read-only: that of jax's arrays, whose DLPack does not say
/// so.
bool refuses_writing(nb::handle object) {
  if (PyObject_CheckBuffer(object.ptr()) == 0) return false;
  Py_buffer buffer;
  if (PyObject_GetBuffer(object.ptr(), &buffer, PyBUF_STRIDED_RO) != 0) {
    PyErr_Clear();
    return false;
  }
  const bool result = buffer.readonly != 0;
  PyBuffer_Release(&buffer);
  return result;
}

AnyArray borrow(nb::handle array, const char* name, Numbers numbers, Access access) {
  AnyArray result;
  if (access == Access::read) {
    if (nb::try_cast(array, result, false)) return result;
  } else {
    nb::ndarray<> writable;
    if (!refuses_writing(array) && nb::try_cast(array, writable, false)) return AnyArray(writable);
    if (nb::try_cast(array, result, false))
      refuse(name, "is read-only; expected an array to write to");
  }
  refuse(name, "is " + description(array) + "; expected an array of " + expected_numbers(numbers));
}

std::string text_of_shape(const Rows& rows) {
  std::string text = "(";
  if (rows.n_axes > 2) text += std::to_string(rows.n_batch) + ", ";
  if (rows.n_axes > 1) text += std::to_string(rows.n_components) + ", ";
  text += std::to_string(rows.size);
  return text + (rows.n_axes == 1 ? ",)" : ")");
}

/// Returns the bytes from the first element to the one after the last.
std::int64_t extent(const Rows& rows, Numbers numbers) {
  const std::int64_t bytes = (rows.is_single ? 4 : 8) * (numbers == Numbers::complex_ ? 2 : 1);
  if (rows.n_batch == 0 || rows.n_components == 0 || rows.size == 0) return 0;
  return bytes * ((rows.n_batch - 1) * rows.batch_stride + (rows.n_components - 1) * rows.stride +
                  rows.size);
}

template <class T>
nb::object make_array(std::span<const std::int64_t> shape) {
  std::int64_t size = 1;
  std::vector<std::size_t> axes;
  for (const std::int64_t axis : shape) {
    size *= axis;
    axes.push_back(static_cast<std::size_t>(axis));
  }
  auto* const memory = new HostBuffer<T>(size);
  const nb::capsule owner(memory,
                          [](void* kept) noexcept { delete static_cast<HostBuffer<T>*>(kept); });
  return nb::cast(nb::ndarray<nb::numpy, T>(memory->data(), axes.size(), axes.data(), owner));
}

}  // namespace

Rows borrow_rows(nb::handle array, const char* name, Numbers numbers, Access access) {
  Rows rows;
  rows.owner = borrow(array, name, numbers, access);
  const AnyArray& owner = rows.owner;
  if (owner.device_type() != nb::device::cpu::value)
    refuse(name, "is in the memory of a device; expected the host's");
  const auto code =
      numbers == Numbers::real ? nb::dlpack::dtype_code::Float : nb::dlpack::dtype_code::Complex;
  const int bits = owner.dtype().bits / (numbers == Numbers::complex_ ? 2 : 1);
  if (owner.dtype().code != static_cast<std::uint8_t>(code) || (bits != 32 && bits != 64) ||
      owner.dtype().lanes != 1) {
    refuse(name,
           "is " + description(array) + "; expected an array of " + expected_numbers(numbers));
  }
  rows.is_single = bits == 32;
  const std::size_t n_axes = owner.ndim();
  if (n_axes < 1 || n_axes > 3) {
    refuse(name, "has " + std::to_string(n_axes) +
                     " axes; expected (n,), (components, n) or (batch, components, n)");
  }
  rows.n_axes = static_cast<int>(n_axes);
  rows.data = const_cast<void*>(owner.data());
  if (reinterpret_cast<std::uintptr_t>(rows.data) % (rows.is_single ? 4 : 8) != 0)
    refuse(name, "is not aligned to its numbers; copy it");
  const auto axis = [&](std::size_t from_last) {
    return static_cast<std::int64_t>(owner.shape(n_axes - 1 - from_last));
  };
  const auto step = [&](std::size_t from_last) {
    return static_cast<std::int64_t>(owner.stride(n_axes - 1 - from_last));
  };
  rows.size = axis(0);
  rows.n_components = n_axes > 1 ? axis(1) : 1;
  rows.n_batch = n_axes > 2 ? axis(2) : 1;
  if (rows.size > 1 && step(0) != 1) {
    refuse(name, "has a last axis that is not contiguous (a step of " + std::to_string(step(0)) +
                     " elements); copy it");
  }
  rows.stride = rows.n_components > 1 ? step(1) : rows.size;
  if (rows.stride < rows.size)
    refuse(name, "has components that overlap or go backwards in memory; copy it");
  const std::int64_t one = (rows.n_components - 1) * rows.stride + rows.size;
  rows.batch_stride = rows.n_batch > 1 ? step(2) : one;
  // An axis of components within that of the batch, as of a transposed array, is no overlap.
  const bool is_nested = rows.batch_stride >= one ||
                         (rows.batch_stride >= rows.size &&
                          rows.stride >= (rows.n_batch - 1) * rows.batch_stride + rows.size);
  if (!is_nested) refuse(name, "has a batch that overlaps or goes backwards in memory; copy it");
  return rows;
}

void require_shape(const Rows& rows, const char* name, std::int64_t n_components, std::int64_t size,
                   const char* whose) {
  if (rows.n_components == n_components && rows.size == size) return;
  std::string expected = "(" + std::to_string(n_components) + ", " + std::to_string(size) + ")";
  if (n_components == 1) expected += " or (" + std::to_string(size) + ",)";
  throw UsageError(std::string(name) + ": has the shape " + text_of_shape(rows) + "; " + whose +
                   " has " + expected + " on this rank, behind any axis of a batch");
}

void require_match(const Rows& in, const char* in_name, const Rows& out, const char* out_name,
                   Numbers in_numbers, Numbers out_numbers) {
  if (in.is_single != out.is_single) {
    refuse(out_name, "is of " + type_name(out_numbers, out.is_single) +
                         ", which does not go with " + in_name + " of " +
                         type_name(in_numbers, in.is_single));
  }
  if (in.n_batch != out.n_batch || (in.n_axes == 3) != (out.n_axes == 3)) {
    throw UsageError(std::string(out_name) + ": has the shape " + text_of_shape(out) +
                     ", whose batch " + "is not that of " + in_name + " with the shape " +
                     text_of_shape(in));
  }
  const auto begin_in = reinterpret_cast<std::intptr_t>(in.data);
  const auto begin_out = reinterpret_cast<std::intptr_t>(out.data);
  if (begin_in < begin_out + extent(out, out_numbers) &&
      begin_out < begin_in + extent(in, in_numbers)) {
    throw UsageError(std::string(out_name) + ": shares memory with " + in_name +
                     "; expected other memory");
  }
}

nb::object numpy_view(nb::handle array) {
  AnyArray owner;
  nb::ndarray<> writable;
  const bool is_writable = !refuses_writing(array) && nb::try_cast(array, writable, false);
  if (is_writable) {
    owner = AnyArray(writable);
  } else if (!nb::try_cast(array, owner, false)) {
    refuse("array", "is " + description(array) + "; expected an array of numbers");
  }
  if (owner.device_type() != nb::device::cpu::value)
    refuse("array", "is in the memory of a device; expected the host's");
  std::vector<std::size_t> shape;
  std::vector<std::int64_t> strides;
  for (std::size_t axis = 0; axis < owner.ndim(); ++axis) {
    shape.push_back(owner.shape(axis));
    strides.push_back(owner.stride(axis));
  }
  const nb::capsule kept(new AnyArray(owner),
                         [](void* memory) noexcept { delete static_cast<AnyArray*>(memory); });
  void* const data = const_cast<void*>(owner.data());
  if (is_writable) {
    return nb::cast(nb::ndarray<nb::numpy>(data, owner.ndim(), shape.data(), kept, strides.data(),
                                           owner.dtype()));
  }
  return nb::cast(nb::ndarray<nb::numpy, nb::ro>(data, owner.ndim(), shape.data(), kept,
                                                 strides.data(), owner.dtype()));
}

nb::object new_array(Numbers numbers, bool is_single, std::span<const std::int64_t> shape) {
  if (numbers == Numbers::real)
    return is_single ? make_array<float>(shape) : make_array<double>(shape);
  return is_single ? make_array<std::complex<float>>(shape)
                   : make_array<std::complex<double>>(shape);
}

nb::object new_array_like(const Rows& like, Numbers numbers, std::int64_t n_components,
                          std::int64_t size) {
  const std::array<std::int64_t, 3> shape{like.n_batch, n_components, size};
  // An input without an axis of components has an output without, if that has one component.
  const int n_axes = like.n_axes == 1 && n_components > 1 ? 2 : like.n_axes;
  return new_array(numbers, like.is_single,
                   std::span(shape).subspan(static_cast<std::size_t>(3 - n_axes)));
}

nb::object output_for(const Rows& in, const char* in_name, Numbers in_numbers, nb::handle out,
                      Numbers numbers, std::int64_t n_components, std::int64_t size,
                      const char* whose, Rows& rows) {
  nb::object result = nb::borrow<nb::object>(out);
  if (out.is_none()) {
    result = new_array_like(in, numbers, n_components, size);
    rows = borrow_rows(result, "out", numbers, Access::write);
    return result;
  }
  rows = borrow_rows(out, "out", numbers, Access::write);
  require_shape(rows, "out", n_components, size, whose);
  require_match(in, in_name, rows, "out", in_numbers, numbers);
  return result;
}

}  // namespace ringweave::python
