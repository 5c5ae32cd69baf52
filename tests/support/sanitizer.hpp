// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

extern "C" {
void __asan_init() __attribute__((weak));
void __tsan_init() __attribute__((weak));
}

namespace ringweave::detail::test {

/// Tells whether this program has a sanitizer of addresses or threads, whether or not the test
/// itself was compiled with it.
inline bool is_sanitized() { return &__asan_init != nullptr || &__tsan_init != nullptr; }

}  // namespace ringweave::detail::test
