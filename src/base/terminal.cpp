// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/terminal.hpp"

#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace ringweave::detail::inline base {
namespace {

std::atomic<int> output_error{0};

unsigned byte_of(std::string_view text, std::size_t i) {
  return i < text.size() ? static_cast<unsigned char>(text[i]) : 0;
}

/// Returns the bytes of the character that UTF-8 encodes at the beginning of a text; 0 where they
/// are none, or that of a control character.
std::size_t length_of_character(std::string_view text) {
  const unsigned first = byte_of(text, 0);
  const unsigned second = byte_of(text, 1);
  if (first < 0x80) return first >= ' ' && first != 0x7f ? 1 : 0;
  if (first < 0xc2 || first > 0xf4) return 0;
  // The second byte's limits leave out controls (U+0080 to U+009F), surrogates, what fewer bytes
  // can encode, and numbers above U+10FFFF.
  const unsigned least = first == 0xc2 ? 0xa0 : first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
  const unsigned most = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
  if (second < least || second > most) return 0;
  const std::size_t length = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  for (std::size_t i = 2; i < length; ++i) {
    if (byte_of(text, i) < 0x80 || byte_of(text, i) > 0xbf) return 0;
  }
  return length;
}

/// Writes all of a text and returns 0, or the number of the error.
int write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(file, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd room{file, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

}  // namespace

std::string terminal_text(std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const bool is_space = text.front() == '\n' || text.front() == '\t';
    const std::size_t length = is_space ? 1 : length_of_character(text);
    if (length > 0) {
      shown += text.substr(0, length);
    } else {
      const unsigned byte = byte_of(text, 0);
      shown += "\\x";
      shown += digits[byte >> 4];
      shown += digits[byte & 0xf];
    }
    text.remove_prefix(length > 0 ? length : 1);
  }
  return shown;
}

void print_message(std::string_view text) {
  std::fflush(stderr);
  write_all(STDERR_FILENO, terminal_text(text) + '\n');
}

void print_output(std::string_view text) {
  if (output_error.load() != 0) return;
  std::fflush(stdout);
  output_error = write_all(STDOUT_FILENO, terminal_text(text) + '\n');
}

int take_output_error() { return output_error.exchange(0); }

}  // namespace ringweave::detail::inline base
