// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/terminal.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace ringweave::detail {
namespace {

TEST(Terminal, TextInAnyLanguageStaysAsItIs) {
  for (const std::string text :
       {"", "sky.fits: 5 µK", "line\n\ttwo", "\u00a0\u07ff\u0800\ud7ff\ue000\uffff", "𝄞\U0010ffff"})
    EXPECT_EQ(terminal_text(text), text);
}

TEST(Terminal, ControlCharactersBecomeVisible) {
  EXPECT_EQ(terminal_text("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(terminal_text(std::string("a\0b\rc\x7f", 6)), "a\\x00b\\x0dc\\x7f");
  // U+0080 to U+009F, of which U+009B begins a command as ESC [ does.
  EXPECT_EQ(terminal_text("\u0080\u009b1m\u009f"), "\\xc2\\x80\\xc2\\x9b1m\\xc2\\x9f");
}

TEST(Terminal, BytesThatAreNotUtf8BecomeVisible) {
  EXPECT_EQ(terminal_text("out\xe9.h5"), "out\\xe9.h5");
  EXPECT_EQ(terminal_text("\x9b"), "\\x9b");
  EXPECT_EQ(terminal_text("\xc3"), "\\xc3");
  EXPECT_EQ(terminal_text("\xe2\x82"), "\\xe2\\x82");
  // Longer than necessary, a surrogate, above U+10FFFF.
  EXPECT_EQ(terminal_text("\xc0\x9b"), "\\xc0\\x9b");
  EXPECT_EQ(terminal_text("\xe0\x82\x9b"), "\\xe0\\x82\\x9b");
  EXPECT_EQ(terminal_text("\xed\xa0\x80"), "\\xed\\xa0\\x80");
  EXPECT_EQ(terminal_text("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
  EXPECT_EQ(terminal_text("\xf0\x9d\x84z"), "\\xf0\\x9d\\x84z");
}

TEST(Terminal, AnOutputThatCannotBeWrittenIsRemembered) {
  const int stdout_before = ::dup(STDOUT_FILENO);
  const int full = ::open("/dev/full", O_WRONLY);
  ASSERT_GE(stdout_before, 0);
  ASSERT_GE(full, 0);
  ASSERT_GE(::dup2(full, STDOUT_FILENO), 0);
  print_output("nowhere");
  ASSERT_GE(::dup2(stdout_before, STDOUT_FILENO), 0);
  ::close(full);
  ::close(stdout_before);
  EXPECT_EQ(take_output_error(), ENOSPC);
  EXPECT_EQ(take_output_error(), 0);
  print_output("somewhere");
  EXPECT_EQ(take_output_error(), 0);
}

}  // namespace
}  // namespace ringweave::detail
