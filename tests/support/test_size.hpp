// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdlib>

namespace ringweave::detail::test {

/// Returns the size, such as nside or lmax, that a test of several sizes runs at:
/// RINGWEAVE_TEST_SIZE, by default `small`.
inline int test_size(int small) {
  const char* const size = std::getenv("RINGWEAVE_TEST_SIZE");
  return size == nullptr ? small : std::atoi(size);
}

}  // namespace ringweave::detail::test
