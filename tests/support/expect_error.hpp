// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "ringweave/error.hpp"

namespace ringweave::detail::test {

/// Kind and message of an error; empty when `work` throws nothing.
struct Thrown {
  ErrorKind kind = ErrorKind::none;
  std::string message;
};
inline Thrown thrown_by(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    return {error.kind(), error.what()};
  }
  return {};
}

/// `work` throws this kind of error and its message holds `words`.
inline void expect_error(ErrorKind kind, const std::string& words,
                         const std::function<void()>& work) {
  const Thrown thrown = thrown_by(work);
  EXPECT_EQ(thrown.kind, kind) << thrown.message;
  EXPECT_NE(thrown.message.find(words), std::string::npos)
      << "message: " << thrown.message << "\nlacks: " << words;
}

}  // namespace ringweave::detail::test
