// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <hdf5.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "io/hdf5/handle.hpp"
#include "io/raw_file.hpp"

namespace ringweave::detail::inline io {

/// The pages of a file that HDF5 wrote, in memory. Places that it left out, such as the numbers of
/// datasets that are written later, take none.
class Hdf5Image {
 public:
  /// Starts with a new file.
  Hdf5Image() = default;
  /// Starts with a file on disk.
  explicit Hdf5Image(const std::string& path);

  bool is_new() const { return !base_.is_open(); }
  std::int64_t size() const { return size_; }
  void resize(std::int64_t size) { size_ = size; }
  void read(std::int64_t offset, std::span<std::byte> bytes) const;
  void write(std::int64_t offset, std::span<const std::byte> bytes);
  /// Writes the pages to a file on disk. Error  ResourceError.
  void save(const RawFile& file) const;
  /// Reads a closed file again. Error  ResourceError unless it holds the pages.
  void require_saved(const std::string& path) const;

 private:
  static constexpr std::int64_t page_bytes = 4096;
  using Page = std::array<std::byte, page_bytes>;
  Page stored_page(std::int64_t number) const;

  RawFile base_;
  std::int64_t base_size_ = 0;
  std::int64_t size_ = 0;
  std::map<std::int64_t, Page> pages_;
};

/// Makes files that are opened for writing with `properties` live in memory: libhdf5 1.10 does not
/// survive a disk that fails when it closes a file. Error  InternalError.
void write_in_memory(hid_t properties);

/// Returns the image of a file opened with such properties; it stays when the file is closed.
std::shared_ptr<const Hdf5Image> image_of(const Hdf5Handle& file);

}  // namespace ringweave::detail::inline io
