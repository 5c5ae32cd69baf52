// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/output_part.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr std::int64_t bytes_read_at_once = std::int64_t{1} << 20;

/// Runs work that reads an output: it is no input with bad data.
template <class Work>
auto with_errors_of_disk(Work&& work) {
  try {
    return work();
  } catch (const DataError& error) {
    throw ResourceError(error.what());
  }
}

}  // namespace

void refuse_as_lost(const std::string& path, const std::string& place) {
  throw ResourceError(fmt::format(
      "{}: what was written is not what is on disk{}; is the disk failing or full?", path, place));
}

RawFile open_again(const std::string& path) {
  return with_errors_of_disk([&] { return RawFile::open_to_read(path); });
}

void read_again(const RawFile& file, std::int64_t begin, std::int64_t end,
                const std::function<void(std::span<const std::byte>)>& take) {
  with_errors_of_disk([&] {
    if (const std::int64_t size = file.size(); size < end)
      refuse_as_lost(file.path(), fmt::format(": it ends at byte {} of {}", size, end));
    std::vector<std::byte> block(to_size(std::min(bytes_read_at_once, end - begin)));
    for (std::int64_t at = begin; at < end; at += bytes_read_at_once) {
      const std::span<std::byte> bytes =
          std::span(block).first(to_size(std::min(bytes_read_at_once, end - at)));
      file.read(at, bytes);
      take(bytes);
    }
  });
}

void require_length(const std::string& path, std::int64_t bytes) {
  const std::int64_t size = with_errors_of_disk([&] { return open_again(path).size(); });
  if (size != bytes)
    refuse_as_lost(path, fmt::format(": it has {} bytes instead of {}", size, bytes));
}

OutputPart::OutputPart(RawFile file, std::int64_t begin)
    : file_(std::move(file)), begin_(begin), end_(begin) {}

OutputPart OutputPart::of_new_file(const std::string& path) { return {RawFile::create(path), 0}; }

OutputPart OutputPart::of_shared_file(const std::string& path, std::int64_t begin) {
  return {RawFile::open_to_write(path), begin};
}

void OutputPart::write(std::string_view text) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(text));
  written_.add(bytes);
  file_.write(end_, bytes);
  end_ += ssize64(bytes);
}

void OutputPart::verify() const {
  ByteDigest stored;
  read_again(open_again(file_.path()), begin_, end_,
             [&](std::span<const std::byte> bytes) { stored.add(bytes); });
  if (stored.value() != written_.value()) refuse_as_lost(file_.path(), "");
}

void write_whole_file(const std::string& path, std::string_view content) {
  OutputPart file = OutputPart::of_new_file(path);
  file.write(content);
  file.close();
  file.verify();
  require_length(path, file.end());
}

}  // namespace ringweave::detail::inline io
