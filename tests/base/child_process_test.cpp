// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/child_process.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string>

#include "ringweave/error.hpp"

namespace ringweave::detail::test {
namespace {

using How = ChildEnd::How;

std::chrono::steady_clock::duration time_of(const ChildLimits& limits, std::string (*work)(),
                                            How how) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(run_in_child(work, limits).how, how);
  return std::chrono::steady_clock::now() - begin;
}

TEST(ChildProcess, ReturnsItsResultAndChangesNothingHere) {
  int changed = 0;
  const ChildEnd end = run_in_child([&] {
    changed = 1;
    std::printf("not shown\n");
    std::fflush(stdout);
    return std::string("result");
  });
  EXPECT_EQ(end.how, How::done);
  EXPECT_EQ(end.result, "result");
  EXPECT_EQ(changed, 0);
}

TEST(ChildProcess, ReturnsBytesOfAnyKindAndNumber) {
  std::string bytes(std::size_t{1000000}, '\0');
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<char>(i % 251);
  EXPECT_TRUE(run_in_child([&] { return bytes; }).result == bytes);
  EXPECT_EQ(run_in_child([] { return std::string(); }).how, How::done);
}

TEST(ChildProcess, TellsWhatTheWorkThrew) {
  const ChildEnd data =
      run_in_child([]() -> std::string { throw DataError("map.h5", "is broken"); });
  EXPECT_EQ(data.how, How::failed);
  EXPECT_EQ(data.error.kind, ErrorKind::data);
  EXPECT_EQ(data.error.message, "map.h5: is broken");
  const ChildEnd usage = run_in_child([]() -> std::string { throw UsageError(""); });
  EXPECT_EQ(usage.error.kind, ErrorKind::usage);
  const std::string large(std::size_t{40000}, 'x');
  EXPECT_EQ(run_in_child([&]() -> std::string { throw DataError("", large); }).error.message,
            large);
}

TEST(ChildProcess, TellsOfCrashes) {
  for (const int signal : {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGKILL})
    EXPECT_EQ(run_in_child([&] { return std::to_string(std::raise(signal)); }).how, How::crashed)
        << signal;
}

TEST(ChildProcess, TellsOfAnEndWithinTheWork) {
  const ChildEnd end = run_in_child([] {
    const std::string words = "a library ends the program";
    if (::write(STDERR_FILENO, words.data(), words.size()) > 0) ::_exit(0);
    return words;
  });
  EXPECT_EQ(end.how, How::gave_up);
  EXPECT_EQ(end.error.message, "a library ends the program");
}

TEST(ChildProcess, EndsWorkThatComputesTooLong) {
  const auto loop = [] {
    for (volatile bool goes_on = true; goes_on;) {
    }
    return std::string();
  };
  ChildLimits limits;
  limits.cpu_seconds = 1;
  EXPECT_LT(time_of(limits, loop, How::timed_out), std::chrono::seconds(7));
  limits = {.seconds = 4};
  EXPECT_LT(time_of(limits, loop, How::timed_out), std::chrono::seconds(7));
}

TEST(ChildProcess, DoesNotBlameWorkThatWaits) {
  const auto wait = [] { return std::to_string(::sleep(100)); };
  EXPECT_LT(time_of({.seconds = 1}, wait, How::no_judgement), std::chrono::seconds(4));
}

TEST(ChildProcess, LimitsMemory) {
  const ChildLimits limits{.bytes = std::int64_t{64} << 20};
  const ChildEnd end = run_in_child(
      [] {
        void* const memory = std::malloc(std::size_t{1} << 30);
        const bool is_refused = memory == nullptr;
        std::free(memory);
        if (is_refused) throw std::bad_alloc();
        return std::string();
      },
      limits);
  EXPECT_EQ(end.how, How::lacked_memory);
  EXPECT_EQ(end.error.kind, ErrorKind::resource);
}

TEST(ChildProcess, HasOneThread) {
#pragma omp parallel num_threads(4)
  {}
  const ChildEnd end = run_in_child([] {
    int sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < 100; ++i) sum += i;
    return std::to_string(sum);
  });
  EXPECT_EQ(end.result, "4950");
}

}  // namespace
}  // namespace ringweave::detail::test
