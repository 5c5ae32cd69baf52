// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/output_part.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

constexpr std::int64_t read_bytes = std::int64_t{1} << 20;
constexpr int no_file = -1;

[[noreturn]] void refuse_disk(const std::string& path, const char* doing, int reason) {
  throw ResourceError(fmt::format("{}: cannot be {}: {}", path, doing, std::strerror(reason)));
}

int open_without_links(const std::string& path, int flags, const char* purpose) {
  const int file = ::open(path.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0) refuse_disk(path, purpose, errno);
  return file;
}

/// A file that is open for reading.
class ReadFile {
 public:
  explicit ReadFile(const std::string& path)
      : file_(open_without_links(path, O_RDONLY, "read again")) {}
  ~ReadFile() { ::close(file_); }
  ReadFile(const ReadFile&) = delete;
  ReadFile& operator=(const ReadFile&) = delete;
  int number() const { return file_; }

 private:
  int file_;
};

}  // namespace

void refuse_as_lost(const std::string& path, const std::string& place) {
  throw ResourceError(fmt::format(
      "{}: what was written is not what is on disk{}; is the disk failing or full?", path, place));
}

void read_again(const std::string& path, std::int64_t begin, std::int64_t end,
                const std::function<void(std::span<const unsigned char>)>& take) {
  const ReadFile file(path);
  std::vector<unsigned char> block(to_size(std::min(read_bytes, end - begin)));
  for (std::int64_t at = begin; at < end;) {
    const std::int64_t wanted = std::min(read_bytes, end - at);
    for (std::int64_t count = 0; count < wanted;) {
      const ssize_t now =
          ::pread(file.number(), block.data() + count, to_size(wanted - count), at + count);
      if (now < 0 && errno == EINTR) continue;
      if (now < 0) refuse_disk(path, "read again", errno);
      if (now == 0)
        refuse_as_lost(path, fmt::format(": it ends at byte {} of {}", at + count, end));
      count += now;
    }
    take(std::span<const unsigned char>(block).first(to_size(wanted)));
    at += wanted;
  }
}

void require_length(const std::string& path, std::int64_t bytes) {
  const ReadFile file(path);
  struct stat status {};
  if (::fstat(file.number(), &status) != 0) refuse_disk(path, "read again", errno);
  if (status.st_size != bytes)
    refuse_as_lost(path, fmt::format(": it has {} bytes instead of {}", status.st_size, bytes));
}

OutputPart::OutputPart(const std::string& path, int flags, std::int64_t begin)
    : path_(path),
      file_(open_without_links(path, flags, "written")),
      begin_(begin),
      end_(begin),
      sum_(crc32(0, nullptr, 0)) {}

OutputPart OutputPart::of_new_file(const std::string& path) {
  return {path, O_WRONLY | O_CREAT | O_TRUNC, 0};
}

OutputPart OutputPart::of_shared_file(const std::string& path, std::int64_t begin) {
  return {path, O_WRONLY, begin};
}

OutputPart::OutputPart(OutputPart&& other) noexcept
    : path_(std::move(other.path_)),
      file_(std::exchange(other.file_, no_file)),
      begin_(other.begin_),
      end_(other.end_),
      sum_(other.sum_) {}

OutputPart::~OutputPart() {
  if (file_ != no_file) ::close(file_);
}

void OutputPart::write(std::string_view bytes) {
  sum_ = crc32_z(sum_, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  while (!bytes.empty()) {
    const ssize_t count = ::pwrite(file_, bytes.data(), bytes.size(), end_);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) refuse_disk(path_, "written", count == 0 ? EIO : errno);
    end_ += count;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
}

void OutputPart::close() {
  // Linux frees the number even when it reports EINTR.
  if (::close(std::exchange(file_, no_file)) != 0 && errno != EINTR)
    refuse_disk(path_, "written", errno);
}

void OutputPart::verify() const {
  unsigned long sum = crc32(0, nullptr, 0);
  read_again(path_, begin_, end_, [&](std::span<const unsigned char> block) {
    sum = crc32_z(sum, block.data(), block.size());
  });
  if (sum != sum_) refuse_as_lost(path_, "");
}

void write_whole_file(const std::string& path, std::string_view content) {
  OutputPart file = OutputPart::of_new_file(path);
  file.write(content);
  file.close();
  file.verify();
  require_length(path, file.end());
}

}  // namespace ringweave::detail::inline io
