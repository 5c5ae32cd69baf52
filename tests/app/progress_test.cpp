// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/progress.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>

namespace ringweave::detail::test {
namespace {

using File = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

std::string written(std::FILE* file) {
  std::string text;
  std::rewind(file);
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  return text;
}

/// Returns the output of a stage of two steps.
std::string shown(Progress::Style style, double seconds) {
  const File file(std::tmpfile(), std::fclose);
  Progress progress(style, file.get(), seconds);
  progress.stage("smoothing");
  progress.step(1, 2, "residual 1e-3");
  progress.finish();
  return written(file.get());
}

TEST(Progress, OnATerminalIsOneLine) {
  const std::string text = shown(Progress::Style::line, 0);
  EXPECT_NE(text.find("\r\033[Ksmoothing: 1/2, "), std::string::npos) << text;
  EXPECT_NE(text.find("residual 1e-3"), std::string::npos) << text;
  EXPECT_EQ(text.find('\n'), text.size() - 1) << text;
}

TEST(Progress, InALogIsPlainLines) {
  const std::string text = shown(Progress::Style::log, 0);
  EXPECT_EQ(text.find('\r'), std::string::npos) << text;
  EXPECT_TRUE(text.starts_with("smoothing ...\nsmoothing: 1/2, ")) << text;
}

TEST(Progress, InALogIsSilentForShortWork) {
  EXPECT_EQ(shown(Progress::Style::log, 30), "");
  EXPECT_EQ(shown(Progress::Style::silent, 0), "");
}

}  // namespace
}  // namespace ringweave::detail::test
