// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>
#include <variant>

namespace ringweave {

/// Where memory lies; part of the type of every view, so host code cannot touch device memory by
/// accident.
enum class MemorySpace { host, pinned, device };

/// Whether a result overwrites the values that are there or is added to them.
enum class Accumulate { overwrite, add };

/// A borrowed run of elements.
template <class T, MemorySpace Space = MemorySpace::host>
class View {
 public:
  View() = default;
  View(T* data, std::int64_t size) : data_(data), size_(size) {}
  operator View<const T, Space>() const { return {data_, size_}; }

  T* data() const { return data_; }
  std::int64_t size() const { return size_; }
  T& operator[](std::int64_t i) const requires(Space != MemorySpace::device) { return data_[i]; }

 private:
  T* data_ = nullptr;
  std::int64_t size_ = 0;
};

/// Borrowed components of equal size: component c begins at data() + c * stride().
template <class T, MemorySpace Space = MemorySpace::host>
class ComponentView {
 public:
  ComponentView() = default;
  /// Components lie one after the other.
  ComponentView(T* data, std::int64_t n_components, std::int64_t size)
      : ComponentView(data, n_components, size, size) {}
  ComponentView(T* data, std::int64_t n_components, std::int64_t size, std::int64_t stride)
      : data_(data), n_components_(n_components), size_(size), stride_(stride) {}
  operator ComponentView<const T, Space>() const { return {data_, n_components_, size_, stride_}; }

  T* data() const { return data_; }
  std::int64_t n_components() const { return n_components_; }
  std::int64_t size() const { return size_; }  ///< elements of one component
  std::int64_t stride() const { return stride_; }
  View<T, Space> component(std::int64_t c) const { return {data_ + c * stride_, size_}; }
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

namespace detail {
template <class T>
using ComplexOf = std::conditional_t<std::is_const_v<T>, const std::complex<std::remove_const_t<T>>,
                                     std::complex<T>>;
}

/// Coefficients of the orders a rank owns, complex: [component][order][l = m..lmax], indexed by
/// AlmLayout.
template <class T, MemorySpace Space = MemorySpace::host>
using AlmView = ComponentView<detail::ComplexOf<T>, Space>;

/// A map or a_lm of doubles or of floats: what a virtual function takes in place of a template's
/// argument. Either view converts to it, std::visit gives it back.
template <MemorySpace Space = MemorySpace::host>
using AnyMapView = std::variant<MapView<double, Space>, MapView<float, Space>>;
template <MemorySpace Space = MemorySpace::host>
using AnyConstMapView = std::variant<MapView<const double, Space>, MapView<const float, Space>>;
template <MemorySpace Space = MemorySpace::host>
using AnyAlmView = std::variant<AlmView<double, Space>, AlmView<float, Space>>;
template <MemorySpace Space = MemorySpace::host>
using AnyConstAlmView = std::variant<AlmView<const double, Space>, AlmView<const float, Space>>;

/// Ring modes, complex double: [position][component], positions given by a ModeLayout.
template <class T = double, MemorySpace Space = MemorySpace::host>
using ModeView = View<detail::ComplexOf<T>, Space>;

/// Ring modes in two pieces of memory, the second of which may be empty: positions begin in the
/// first and go on in the second. No segment of a ModeLayout lies in both.
template <class T>
class ModePieces {
 public:
  using Value = detail::ComplexOf<T>;

  template <class U>
  ModePieces(View<U> all) : ModePieces(all, {}) {}
  ModePieces() : ModePieces(ModeView<T>(), {}) {}
  ModePieces(ModeView<T> first, ModeView<T> second) : first_(first), second_(second) {}
  operator ModePieces<const T>() const { return {first_, second_}; }

  ModeView<T> first() const { return first_; }
  ModeView<T> second() const { return second_; }
  std::int64_t size() const { return first_.size() + second_.size(); }
  /// Element i, and those behind it in its piece.
  Value* at(std::int64_t i) const {
    return i < first_.size() ? first_.data() + i : second_.data() + (i - first_.size());
  }

 private:
  ModeView<T> first_;
  ModeView<T> second_;
};

}  // namespace ringweave
