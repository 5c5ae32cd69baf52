// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/hdf5/read_driver.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "io/raw_file.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

/// A call of the system that failed in the driver.
struct FailedCall {
  enum class Call { none, open, lock, read } call = Call::none;
  int reason = 0;           ///< errno
  std::int64_t offset = 0;  ///< of a read
};

/// The first one of this thread since its report began.
thread_local FailedCall first_failed;

/// EFAULT is no failure of the disk: a damaged file makes libhdf5 read to where no memory is.
void note(FailedCall::Call call, std::int64_t offset = 0) {
  if (first_failed.call != FailedCall::Call::none || errno == 0 || errno == EFAULT) return;
  first_failed = {call, errno, offset};
}

[[noreturn]] void throw_error_of(const FailedCall& failed, const std::string& path) {
  const std::string reason = std::strerror(failed.reason);
  switch (failed.call) {
    case FailedCall::Call::open: refuse_to_open(path, failed.reason);
    case FailedCall::Call::lock:
      if (failed.reason == EWOULDBLOCK)
        throw DataError(path, "is being written by another program; wait until it is done");
      throw ResourceError(
          fmt::format("{}: cannot be locked: {}; if its file system has no locks, set "
                      "HDF5_USE_FILE_LOCKING=FALSE",
                      path, reason));
    default: refuse_to_read(path, failed.offset, failed.reason);
  }
}

/// HDF5's usual driver, of which this one is a copy with other functions.
H5FD_class_t usual{};

H5FD_t* open_and_note(const char* name, unsigned flags, hid_t access, haddr_t most) {
  errno = 0;
  H5FD_t* const file = usual.open(name, flags, access, most);
  if (file == nullptr) note(FailedCall::Call::open);
  return file;
}

herr_t lock_and_note(H5FD_t* file, hbool_t is_to_write) {
  errno = 0;
  const herr_t status = usual.lock(file, is_to_write);
  if (status < 0) note(FailedCall::Call::lock);
  return status;
}

herr_t query(const H5FD_t* file, unsigned long* features) {
  if (usual.query(file, features) < 0) return -1;
  *features &= ~static_cast<unsigned long>(H5FD_FEAT_ACCUMULATE_METADATA);
  return 0;
}

/// Reads as the usual driver does, which keeps no errno: zeros are beyond the end of a file.
herr_t read_and_note(H5FD_t* file, H5FD_mem_t /*type*/, hid_t /*transfer*/, haddr_t address,
                     std::size_t size, void* to) {
  constexpr auto most = static_cast<haddr_t>(INT64_MAX);
  if (address > most || size > most - address) return -1;
  void* handle = nullptr;
  if (usual.get_handle(file, H5P_FILE_ACCESS_DEFAULT, &handle) < 0) return -1;
  const int descriptor = *static_cast<const int*>(handle);
  auto* bytes = static_cast<char*>(to);
  auto offset = static_cast<std::int64_t>(address);
  while (size > 0) {
    const ssize_t count =
        ::pread(descriptor, bytes, std::min(size, RawFile::most_bytes_per_call), offset);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      note(FailedCall::Call::read, offset);
      return -1;
    }
    if (count == 0) {
      std::memset(bytes, 0, size);
      return 0;
    }
    bytes += count;
    offset += count;
    size -= static_cast<std::size_t>(count);
  }
  return 0;
}

/// Nothing can be lost here, and libhdf5 1.10 does not survive a close that fails.
herr_t close_in_any_case(H5FD_t* file) {
  usual.close(file);
  return 0;
}

/// Registers the driver.
hid_t register_driver(const std::string& path) {
  errno = 0;
  H5FD_t* const file = H5FDopen(path.c_str(), H5F_ACC_RDONLY, H5P_FILE_ACCESS_DEFAULT, HADDR_UNDEF);
  if (file == nullptr) refuse_to_open(path, errno);
  usual = *file->cls;
  H5FDclose(file);
  H5FD_class_t driver = usual;
  driver.terminate = nullptr;
  driver.open = open_and_note;
  driver.lock = usual.lock == nullptr ? nullptr : lock_and_note;
  driver.query = query;
  driver.read = read_and_note;
  driver.close = close_in_any_case;
  return H5FDregister(&driver);
}

}  // namespace

void read_without_accumulator(hid_t properties, const std::string& path) {
  static hid_t driver = H5I_INVALID_HID;
  if (driver < 0) driver = register_driver(path);
  if (driver >= 0) H5Pset_driver(properties, driver, nullptr);
}

void report_failed_reads(const std::string& path, const std::function<void()>& work) {
  const FailedCall before = std::exchange(first_failed, {});
  const auto take = [&] { return std::exchange(first_failed, before); };
  const auto report = [&](const FailedCall& failed) {
    if (failed.call != FailedCall::Call::none) throw_error_of(failed, path);
  };
  try {
    work();
  } catch (...) {
    report(take());
    throw;
  }
  report(take());
}

}  // namespace ringweave::detail::inline io
