// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>

namespace ringweave {

/// Memory spaces. They are part of the type of every view, so host code cannot touch device memory
/// by accident.
enum class MemorySpace { host, pinned, device };

/// Tells whether a result overwrites the values that are there or is added to them.
enum class Accumulate { overwrite, add };

/// A borrowed array.
template <class T, MemorySpace Space = MemorySpace::host>
class View {
 public:
  /// Makes a view of nothing.
  View() = default;
  /// Borrows `size` elements from `data` on.
  View(T* data, std::int64_t size) : data_(data), size_(size) {}
  /// Converts to a view that only reads.
  operator View<const T, Space>() const { return {data_, size_}; }

  T* data() const { return data_; }            ///< the first element
  std::int64_t size() const { return size_; }  ///< number of elements
  /// Returns element i; not for memory of a device.
  T& operator[](std::int64_t i) const requires(Space != MemorySpace::device) { return data_[i]; }

 private:
  T* data_ = nullptr;
  std::int64_t size_ = 0;
};

/// Borrowed components of equal size: component c begins at data() + c * stride(). Elements of a
/// component are contiguous; the memory between components is never touched.
template <class T, MemorySpace Space = MemorySpace::host>
class ComponentView {
 public:
  /// Makes a view of nothing.
  ComponentView() = default;
  /// Borrows components that lie one after the other.
  ComponentView(T* data, std::int64_t n_components, std::int64_t size)
      : ComponentView(data, n_components, size, size) {}
  /// Borrows components that begin `stride` elements from one another.
  ComponentView(T* data, std::int64_t n_components, std::int64_t size, std::int64_t stride)
      : data_(data), n_components_(n_components), size_(size), stride_(stride) {}
  /// Converts to a view that only reads.
  operator ComponentView<const T, Space>() const { return {data_, n_components_, size_, stride_}; }

  T* data() const { return data_; }                            ///< the first element of component 0
  std::int64_t n_components() const { return n_components_; }  ///< number of components
  std::int64_t size() const { return size_; }                  ///< elements of one component
  std::int64_t stride() const { return stride_; }  ///< elements from a component to the next
  /// Returns component c, from 0.
  View<T, Space> component(std::int64_t c) const { return {data_ + c * stride_, size_}; }
  /// Returns `count` components from `first` on.
  ComponentView components(std::int64_t first, std::int64_t count) const {
    return {data_ + first * stride_, count, size_, stride_};
  }

 private:
  T* data_ = nullptr;
  std::int64_t n_components_ = 0;
  std::int64_t size_ = 0;
  std::int64_t stride_ = 0;
};

/// Pixels of the rings a rank owns, real: [component][pixel], pixels ring by ring as LocalRings
/// orders them.
template <class T, MemorySpace Space = MemorySpace::host>
using MapView = ComponentView<T, Space>;

namespace detail::inline base {

/// Complex numbers of a real type. A class, so that all compilers call functions of a_lm by the
/// same name.
template <class T>
struct ComplexNumbers {
  using type = std::complex<T>;  ///< as constant as T
};
/// Complex numbers that do not change.
template <class T>
struct ComplexNumbers<const T> {
  using type = const std::complex<T>;  ///< as constant as T
};
template <class T>
using ComplexOf = typename ComplexNumbers<T>::type;

/// Allocates count * bytes_each bytes of uninitialised host memory, aligned to 64 bytes.
/// Error  UsageError when the product passes 64 bits, ResourceError when the system refuses.
void* allocate_elements(std::int64_t count, std::int64_t bytes_each);
/// Frees memory of allocate_elements(), with the same arguments.
void free_elements(void* memory, std::int64_t count, std::int64_t bytes_each) noexcept;
/// Returns n_components * size.
/// Error  UsageError when it passes 64 bits.
std::int64_t element_count(std::int64_t n_components, std::int64_t size);

}  // namespace detail::inline base

/// Coefficients of the orders a rank owns, complex: [component][order][l = m..lmax], indexed by
/// AlmLayout.
template <class T, MemorySpace Space = MemorySpace::host>
using AlmView = ComponentView<detail::ComplexOf<T>, Space>;

// Maps and a_lm of doubles or floats, for functions that are no templates. Either view converts to
// them; std::visit gives it back.

/// A map to be written.
template <MemorySpace Space = MemorySpace::host>
using AnyMapView = std::variant<MapView<double, Space>, MapView<float, Space>>;
/// A map to be read.
template <MemorySpace Space = MemorySpace::host>
using AnyConstMapView = std::variant<MapView<const double, Space>, MapView<const float, Space>>;
/// The a_lm to be written.
template <MemorySpace Space = MemorySpace::host>
using AnyAlmView = std::variant<AlmView<double, Space>, AlmView<float, Space>>;
/// The a_lm to be read.
template <MemorySpace Space = MemorySpace::host>
using AnyConstAlmView = std::variant<AlmView<const double, Space>, AlmView<const float, Space>>;

/// Owner of uninitialised host memory of `size` elements, aligned to 64 bytes. Move only; elements
/// are trivial.
/// Error  UsageError when the bytes pass 64 bits, ResourceError with the size when the system
///        refuses.
template <class T>
class HostBuffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// Makes an empty buffer.
  HostBuffer() = default;
  /// Allocates `size` elements.
  explicit HostBuffer(std::int64_t size) { allocate(size); }
  /// Takes the memory of another buffer, which is empty afterwards.
  HostBuffer(HostBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  /// Does the same, and frees its own.
  HostBuffer& operator=(HostBuffer&& other) noexcept {
    if (this != &other) {
      release();
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
    }
    return *this;
  }
  ~HostBuffer() { release(); }

  /// Drops the old contents and allocates memory again.
  void allocate(std::int64_t size) {
    release();
    if (size == 0) return;
    data_ = static_cast<T*>(detail::allocate_elements(size, std::int64_t{sizeof(T)}));
    size_ = size;
  }
  /// Frees the memory.
  void release() noexcept {
    if (data_ == nullptr) return;
    detail::free_elements(data_, size_, std::int64_t{sizeof(T)});
    data_ = nullptr;
    size_ = 0;
  }

  T* data() { return data_; }                                     ///< the first element
  const T* data() const { return data_; }                         ///< the first element
  std::int64_t size() const { return size_; }                     ///< number of elements
  T& operator[](std::int64_t i) { return data_[i]; }              ///< element i
  const T& operator[](std::int64_t i) const { return data_[i]; }  ///< element i
  T* begin() { return data_; }                                    ///< the first element
  T* end() { return data_ + size_; }                              ///< after the last element
  const T* begin() const { return data_; }                        ///< the first element
  const T* end() const { return data_ + size_; }                  ///< after the last element

 private:
  T* data_ = nullptr;
  std::int64_t size_ = 0;
};

/// Owner of components of equal size, one after the other (see ComponentView). Move only.
/// Error  as HostBuffer, and UsageError when the elements pass 64 bits
template <class T>
class ComponentBuffer {
 public:
  /// Makes an empty buffer.
  ComponentBuffer() = default;
  /// Allocates n_components components of `size` elements.
  ComponentBuffer(std::int64_t n_components, std::int64_t size)
      : n_components_(n_components),
        size_(size),
        data_(detail::element_count(n_components, size)) {}

  ComponentView<T> view() { return {data_.data(), n_components_, size_}; }  ///< of all components
  /// Returns a view of all components that only reads.
  ComponentView<const T> view() const { return {data_.data(), n_components_, size_}; }
  std::int64_t n_components() const { return n_components_; }  ///< number of components
  std::int64_t size() const { return size_; }                  ///< elements of one component
  /// Returns the bytes of all elements.
  std::int64_t bytes() const { return data_.size() * std::int64_t{sizeof(T)}; }
  void release() noexcept { data_.release(); }  ///< frees the memory

 private:
  std::int64_t n_components_ = 0;
  std::int64_t size_ = 0;
  HostBuffer<T> data_;
};

/// A map of this rank's rings, [component][pixel].
template <class T>
using MapBuffer = ComponentBuffer<T>;
/// The a_lm of this rank's orders, [component][order][l].
template <class T>
using AlmBuffer = ComponentBuffer<std::complex<T>>;

}  // namespace ringweave
