// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "io/hdf5/read_driver.hpp"
#include "io/header_json.hpp"

namespace ringweave::detail::inline io {

/// Returns what `read`, which reads an HDF5 file, returns in a process of its own: libhdf5 1.10
/// crashes on some damaged files, on some only when it reads them again, follows others without end
/// or takes any memory for them. Not collective.
///
/// Error  that of `read`; DataError where libhdf5 does not survive the file, at once when it did
///        not before
std::string read_text_apart(const std::string& path, const std::function<std::string()>& read);

/// Does the same for any result that nlohmann::json can hold. Error  also where the disk fails
/// (report_failed_reads()).
template <class Read>
auto read_apart(const std::string& path, Read&& read) {
  // CBOR, unlike text, has all doubles and strings.
  const std::string bytes = read_text_apart(path, [&] {
    std::string encoded;
    report_failed_reads(path, [&] { nlohmann::json::to_cbor(nlohmann::json(read()), encoded); });
    return encoded;
  });
  return nlohmann::json::from_cbor(bytes).get<decltype(read())>();
}

}  // namespace ringweave::detail::inline io
