// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/hdf5/memory_driver.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/checked_cast.hpp"
#include "io/output_part.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

/// A file as HDF5 sees it.
struct MemoryFile {
  H5FD_t driver{};
  std::shared_ptr<Hdf5Image>* image = nullptr;
  haddr_t allocated = 0;
};

MemoryFile* memory_file(H5FD_t* file) { return reinterpret_cast<MemoryFile*>(file); }
const MemoryFile* memory_file(const H5FD_t* file) {
  return reinterpret_cast<const MemoryFile*>(file);
}

/// Runs work of a callback; HDF5 takes no exceptions.
template <class Work>
herr_t status_of(Work&& work) {
  try {
    std::forward<Work>(work)();
    return 0;
  } catch (...) {
    return -1;
  }
}

H5FD_t* open_in_memory(const char* name, unsigned flags, hid_t /*access*/, haddr_t /*most*/) {
  auto file = std::make_unique<MemoryFile>();
  const auto open = [&] {
    const bool is_new = (flags & (H5F_ACC_TRUNC | H5F_ACC_CREAT)) != 0;
    auto image = is_new ? std::make_shared<Hdf5Image>() : std::make_shared<Hdf5Image>(name);
    file->image = new std::shared_ptr<Hdf5Image>(std::move(image));
  };
  return status_of(open) < 0 ? nullptr : &file.release()->driver;
}

herr_t close_in_memory(H5FD_t* file) {
  const std::unique_ptr<MemoryFile> closed(memory_file(file));
  delete closed->image;
  return 0;
}

int compare_in_memory(const H5FD_t* a, const H5FD_t* b) { return a < b ? -1 : (a > b ? 1 : 0); }

herr_t query_in_memory(const H5FD_t* /*file*/, unsigned long* features) {
  if (features != nullptr) *features = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA;
  return 0;
}

haddr_t end_of_allocation(const H5FD_t* file, H5FD_mem_t /*type*/) {
  return memory_file(file)->allocated;
}

herr_t set_end_of_allocation(H5FD_t* file, H5FD_mem_t /*type*/, haddr_t end) {
  memory_file(file)->allocated = end;
  return 0;
}

haddr_t end_of_file(const H5FD_t* file, H5FD_mem_t /*type*/) {
  return static_cast<haddr_t>((*memory_file(file)->image)->size());
}

herr_t handle_of_image(H5FD_t* file, hid_t /*access*/, void** handle) {
  *handle = memory_file(file)->image;
  return 0;
}

herr_t read_from_memory(H5FD_t* file, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t offset,
                        std::size_t size, void* to) {
  return status_of([&] {
    (*memory_file(file)->image)
        ->read(static_cast<std::int64_t>(offset), {static_cast<std::byte*>(to), size});
  });
}

herr_t write_to_memory(H5FD_t* file, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t offset,
                       std::size_t size, const void* from) {
  return status_of([&] {
    (*memory_file(file)->image)
        ->write(static_cast<std::int64_t>(offset), {static_cast<const std::byte*>(from), size});
  });
}

herr_t truncate_in_memory(H5FD_t* file, hid_t /*transfer*/, hbool_t /*closing*/) {
  MemoryFile* const truncated = memory_file(file);
  (*truncated->image)->resize(static_cast<std::int64_t>(truncated->allocated));
  return 0;
}

hid_t register_memory_driver() {
  H5FD_class_t driver{};
  driver.name = "ringweave_memory";
  driver.maxaddr = (haddr_t{1} << 62) - 1;
  driver.fc_degree = H5F_CLOSE_STRONG;
  driver.open = open_in_memory;
  driver.close = close_in_memory;
  driver.cmp = compare_in_memory;
  driver.query = query_in_memory;
  driver.get_eoa = end_of_allocation;
  driver.set_eoa = set_end_of_allocation;
  driver.get_eof = end_of_file;
  driver.get_handle = handle_of_image;
  driver.read = read_from_memory;
  driver.write = write_to_memory;
  driver.truncate = truncate_in_memory;
  constexpr H5FD_mem_t kinds[H5FD_MEM_NTYPES] = H5FD_FLMAP_DICHOTOMY;
  std::copy(std::begin(kinds), std::end(kinds), std::begin(driver.fl_map));
  return H5FDregister(&driver);
}

}  // namespace

Hdf5Image::Hdf5Image(const std::string& path)
    : base_(RawFile::open_to_read(path)), base_size_(base_.size()), size_(base_size_) {}

Hdf5Image::Page Hdf5Image::stored_page(std::int64_t number) const {
  Page page{};
  const std::int64_t begin = number * page_bytes;
  const std::int64_t end = std::min(begin + page_bytes, base_size_);
  if (end > begin) base_.read(begin, std::span(page).first(to_size(end - begin)));
  return page;
}

void Hdf5Image::read(std::int64_t offset, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const std::int64_t number = offset / page_bytes;
    const std::int64_t within = offset - number * page_bytes;
    const std::size_t count = std::min(bytes.size(), to_size(page_bytes - within));
    const auto found = pages_.find(number);
    const Page page = found != pages_.end() ? found->second : stored_page(number);
    std::memcpy(bytes.data(), page.data() + within, count);
    offset += static_cast<std::int64_t>(count);
    bytes = bytes.subspan(count);
  }
}

void Hdf5Image::write(std::int64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const std::int64_t number = offset / page_bytes;
    const std::int64_t within = offset - number * page_bytes;
    const std::size_t count = std::min(bytes.size(), to_size(page_bytes - within));
    auto found = pages_.find(number);
    if (found == pages_.end()) found = pages_.emplace(number, stored_page(number)).first;
    std::memcpy(found->second.data() + within, bytes.data(), count);
    offset += static_cast<std::int64_t>(count);
    bytes = bytes.subspan(count);
    size_ = std::max(size_, offset);
  }
}

void Hdf5Image::save(const RawFile& file) const {
  for (const auto& [number, page] : pages_) {
    const std::int64_t begin = number * page_bytes;
    const std::int64_t end = std::min(begin + page_bytes, size_);
    if (end > begin) file.write(begin, std::span(page).first(to_size(end - begin)));
  }
}

void Hdf5Image::require_saved(const std::string& path) const {
  const RawFile file = open_again(path);
  for (const auto& numbered : pages_) {
    const Page& page = numbered.second;
    const std::int64_t begin = numbered.first * page_bytes;
    const std::int64_t end = std::min(begin + page_bytes, size_);
    if (end <= begin) continue;
    read_again(file, begin, end, [&](std::span<const std::byte> bytes) {
      if (!std::equal(bytes.begin(), bytes.end(), page.begin()))
        refuse_as_lost(path, fmt::format(" at byte {}", begin));
    });
  }
}

void write_in_memory(hid_t properties) {
  static const hid_t driver = register_memory_driver();
  if (driver < 0 || H5Pset_driver(properties, driver, nullptr) < 0)
    throw InternalError(
        "this version of HDF5 does not take Ringweave's driver for files in memory");
}

std::shared_ptr<const Hdf5Image> image_of(const Hdf5Handle& file) {
  void* handle = nullptr;
  if (H5Fget_vfd_handle(file.id(), H5P_DEFAULT, &handle) < 0) return nullptr;
  return *static_cast<std::shared_ptr<Hdf5Image>*>(handle);
}

}  // namespace ringweave::detail::inline io
