// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/hdf5/global_heap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string_view>

#include "base/checked_cast.hpp"
#include "io/hdf5/handle.hpp"
#include "io/raw_file.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

/// Bytes of all elements, and of one collection of the heap.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 26;

/// The bytes of the numbers in a file, and where it begins.
struct FileNumbers {
  std::size_t address = 0;
  std::size_t length = 0;
  hsize_t user_block = 0;
};

/// An element as an attribute holds it: its entries lie in an object of a collection.
struct HeapReference {
  std::uint64_t entries = 0;
  std::uint64_t collection = 0;
  std::uint64_t object = 0;
};

FileNumbers numbers_of(hid_t attribute) {
  const Hdf5Handle file(H5Iget_file_id(attribute), H5Fclose);
  const Hdf5Handle creation(H5Fget_create_plist(file.id()), H5Pclose);
  FileNumbers numbers;
  H5Pget_sizes(creation.id(), &numbers.address, &numbers.length);
  H5Pget_userblock(creation.id(), &numbers.user_block);
  return numbers;
}

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// Converts nothing. Between variable-length and opaque elements HDF5 has no conversion; with this
/// one a read returns the references as the file has them.
herr_t keep_bytes(hid_t from, hid_t to, H5T_cdata_t* /*state*/, std::size_t /*count*/,
                  std::size_t /*stride*/, std::size_t /*background_stride*/, void* /*elements*/,
                  void* /*background*/, hid_t /*transfer*/) {
  return H5Tget_size(from) == H5Tget_size(to) ? 0 : -1;
}

/// HDF5 converts variable-length to opaque elements so while it exists.
class RawReferences {
 public:
  RawReferences(hid_t from, hid_t to) : from_(from), to_(to) {
    H5Tregister(H5T_PERS_SOFT, name, from_, to_, keep_bytes);
  }
  ~RawReferences() { H5Tunregister(H5T_PERS_SOFT, name, from_, to_, keep_bytes); }
  RawReferences(const RawReferences&) = delete;
  RawReferences& operator=(const RawReferences&) = delete;

 private:
  static constexpr const char* name = "raw references";
  hid_t from_;
  hid_t to_;
};

/// Returns an empty vector where libhdf5 reports an error.
std::vector<HeapReference> references_of(hid_t attribute, const FileNumbers& numbers) {
  constexpr std::size_t of_count = 4;
  const std::size_t each = of_count + numbers.address + 4;
  const Hdf5Handle space(H5Aget_space(attribute), H5Sclose);
  const Hdf5Handle stored(H5Aget_type(attribute), H5Tclose);
  const Hdf5Handle opaque(H5Tcreate(H5T_OPAQUE, each), H5Tclose);
  const RawReferences conversion(stored.id(), opaque.id());
  std::string bytes(to_size(H5Sget_simple_extent_npoints(space.id())) * each, '\0');
  if (H5Aread(attribute, opaque.id(), bytes.data()) < 0) return {};
  std::vector<HeapReference> references;
  for (std::size_t at = 0; at < bytes.size(); at += each) {
    const std::string_view one = std::string_view(bytes).substr(at, each);
    references.push_back({little_endian(one.substr(0, of_count)),
                          little_endian(one.substr(of_count, numbers.address)),
                          little_endian(one.substr(of_count + numbers.address))});
  }
  return references;
}

/// A collection of the heap: its objects by number.
class HeapCollection {
 public:
  HeapCollection(const std::string& path, std::uint64_t address, const FileNumbers& numbers)
      : numbers_(numbers) {
    const std::uint64_t begin = address + numbers.user_block;
    is_sound_ = begin >= address && read(path, begin) && find_objects();
  }
  HeapCollection(const HeapCollection&) = delete;
  HeapCollection& operator=(const HeapCollection&) = delete;

  bool is_sound() const { return is_sound_; }
  std::uint64_t size() const { return bytes_.size(); }
  /// Returns the object of a number; null without one.
  const std::string_view* object(std::uint64_t number) const {
    const auto found = objects_.find(number);
    return found == objects_.end() ? nullptr : &found->second;
  }

 private:
  static std::uint64_t padded(std::uint64_t bytes) { return (bytes + 7) / 8 * 8; }
  /// Returns the bytes of the header of the collection, and of each object.
  std::uint64_t head_bytes() const { return padded(8 + numbers_.length); }
  std::uint64_t number_at(std::uint64_t at, std::size_t bytes) const {
    return little_endian(std::string_view(bytes_).substr(at, bytes));
  }

  bool read(const std::string& path, std::uint64_t begin) {
    const RawFile file = RawFile::open_to_read(path);
    const auto file_bytes = static_cast<std::uint64_t>(file.size());
    const auto read_bytes = [&](std::uint64_t count) {
      if (begin > file_bytes || count > file_bytes - begin) return false;
      bytes_.resize(count);
      file.read(static_cast<std::int64_t>(begin), std::as_writable_bytes(std::span(bytes_)));
      return true;
    };
    if (!read_bytes(head_bytes()) || !bytes_.starts_with(std::string_view("GCOL\x01", 5)))
      return false;
    const std::uint64_t size = number_at(8, numbers_.length);
    return size >= head_bytes() && size <= most_bytes && read_bytes(size);
  }

  bool find_objects() {
    const std::uint64_t head = head_bytes();
    for (std::uint64_t at = head; size() - at >= head;) {
      const std::uint64_t number = number_at(at, 2);
      const std::uint64_t length = number_at(at + 8, numbers_.length);
      const std::uint64_t room = size() - at;
      if (number == 0) {
        // Free space, whose length counts its head.
        if (length < head || length > room) return false;
        at += length;
        continue;
      }
      if (length > room - head) return false;
      objects_[number] = std::string_view(bytes_).substr(at + head, length);
      at += std::min(room, head + padded(length));
    }
    return true;
  }

  FileNumbers numbers_;
  bool is_sound_ = false;
  std::string bytes_;
  std::map<std::uint64_t, std::string_view> objects_;
};

}  // namespace

std::vector<std::string> read_hdf5_variable_length(hid_t attribute, const std::string& name,
                                                   std::size_t width, const std::string& path) {
  const FileNumbers numbers = numbers_of(attribute);
  const std::vector<HeapReference> references = references_of(attribute, numbers);
  const auto require = [&](bool good) {
    if (!good)
      throw DataError(path, fmt::format("attribute {} is broken; copy the file again", name));
  };
  require(!references.empty());
  std::map<std::uint64_t, HeapCollection> collections;
  std::vector<std::string> elements;
  std::uint64_t read = 0;
  for (const HeapReference& reference : references) {
    elements.emplace_back();
    if (reference.collection == 0 || reference.entries == 0) continue;
    const auto [collection, is_new] =
        collections.try_emplace(reference.collection, path, reference.collection, numbers);
    require(collection->second.is_sound());
    const std::uint64_t bytes = reference.entries * width;
    read += bytes + (is_new ? collection->second.size() : 0);
    const std::string_view* object = collection->second.object(reference.object);
    require(object != nullptr && object->size() >= bytes && read <= most_bytes);
    elements.back() = object->substr(0, bytes);
  }
  return elements;
}

}  // namespace ringweave::detail::inline io
