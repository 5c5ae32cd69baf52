// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <hdf5.h>

#include <utility>

namespace ringweave::detail::inline io {

/// Owns one HDF5 identifier of this rank.
class Hdf5Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Hdf5Handle() = default;
  Hdf5Handle(hid_t id, Close closer) : id_(id), close_(closer) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept
      : id_(std::exchange(other.id_, H5I_INVALID_HID)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    if (this != &other) {
      close();
      id_ = std::exchange(other.id_, H5I_INVALID_HID);
      close_ = other.close_;
    }
    return *this;
  }
  ~Hdf5Handle() { close(); }

  bool valid() const { return id_ >= 0; }
  hid_t id() const { return id_; }
  /// Returns false when HDF5 reports a failure, e.g. a flush to a full disk.
  bool close() {
    if (id_ < 0) return true;
    return close_(std::exchange(id_, H5I_INVALID_HID)) >= 0;
  }

 private:
  hid_t id_ = H5I_INVALID_HID;
  Close close_ = nullptr;
};

}  // namespace ringweave::detail::inline io
