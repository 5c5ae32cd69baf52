// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cstdio>
#include <utility>

#include "ringweave/communicator.hpp"

namespace {

using ringweave::Communicator;

/// Prints to stderr, with the rank's number, the failures on a rank whose ordinary output is
/// silenced.
class FailuresWithRank : public testing::EmptyTestEventListener {
 public:
  explicit FailuresWithRank(int rank) : rank_(rank) {}

 private:
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "[rank %d] %s:%d: failure\n%s\n", rank_,
                 result.file_name() != nullptr ? result.file_name() : "?", result.line_number(),
                 result.message());
    std::fflush(stderr);
  }
  int rank_;
};

/// Lets a test fail on every rank when it failed on one.
class OneVerdict : public testing::EmptyTestEventListener {
 public:
  explicit OneVerdict(Communicator comm) : comm_(std::move(comm)) {}

 private:
  void OnTestEnd(const testing::TestInfo& test) override {
    const bool failed_here = test.result()->Failed();
    const std::int64_t failures = comm_.sum(std::int64_t{failed_here});
    if (failures > 0 && !failed_here) ADD_FAILURE() << "failed on " << failures << " other ranks";
  }
  Communicator comm_;
};

}  // namespace

// The main() of every test that runs under mpirun. Also runs alone, as one rank.
int main(int argc, char** argv) {
  const ringweave::MpiSession session(&argc, &argv);
  testing::InitGoogleTest(&argc, argv);
  const Communicator world = Communicator::world();
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  if (!world.is_root()) {
    delete listeners.Release(listeners.default_result_printer());
    delete listeners.Release(listeners.default_xml_generator());
    listeners.Append(new FailuresWithRank(world.rank()));
  }
  // Appended last, it is notified of a test's end first, before the result is printed.
  listeners.Append(new OneVerdict(world));
  return RUN_ALL_TESTS();
}
