// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/config_text.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>

#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

// The parser takes a second for a list of this size, and the square of the size for more.
constexpr std::size_t most_kibibytes = 256;

/// A file that is closed at the end.
class ConfigSource {
 public:
  /// Does not wait for somebody who writes to a pipe.
  explicit ConfigSource(const std::string& path)
      : path_(path), file_(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC)) {
    if (file_ < 0) fail_by(errno);
  }
  ConfigSource(const ConfigSource&) = delete;
  ConfigSource& operator=(const ConfigSource&) = delete;
  ~ConfigSource() {
    if (file_ >= 0) ::close(file_);
  }

  std::string text() {
    struct stat status {};
    if (::fstat(file_, &status) != 0) fail_by(errno);
    if (S_ISDIR(status.st_mode)) fail("is a folder; give the name of a file");
    const bool is_pipe = S_ISFIFO(status.st_mode);
    if (!is_pipe && !S_ISREG(status.st_mode)) fail("is neither a file nor a pipe");
    std::string text;
    auto last = Clock::now();
    while (true) {
      std::array<char, 4096> block{};
      const ssize_t n = ::read(file_, block.data(), block.size());
      if (n > 0) {
        text.append(block.data(), static_cast<std::size_t>(n));
        if (text.size() > most_kibibytes * 1024)
          fail(fmt::format("has more than {} KiB; expected a text of options", most_kibibytes));
        last = Clock::now();
      } else if (n < 0 && errno != EAGAIN && errno != EINTR) {
        fail_by(errno);
      } else if (n == 0 && (!is_pipe || !text.empty())) {
        return text;
      } else {
        // Nobody writes yet, or no longer (0), or nothing has come yet.
        const auto patience = std::chrono::seconds(n == 0 ? 2 : 30);
        if (Clock::now() - last > patience)
          fail(fmt::format("is a pipe from which nothing came for {} s", patience.count()));
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
    }
  }

 private:
  using Clock = std::chrono::steady_clock;

  [[noreturn]] void fail(const std::string& reason) const {
    throw UsageError(fmt::format("--config {}: {}", path_, reason));
  }
  [[noreturn]] void fail_by(int error) const {
    fail(fmt::format("cannot be read: {}", std::strerror(error)));
  }

  const std::string& path_;
  int file_;
};

}  // namespace

std::string read_config_text(const std::string& path) { return ConfigSource(path).text(); }

}  // namespace ringweave::detail::inline app
