// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/point_memory.hpp"

#include <gtest/gtest.h>
#include <omp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <vector>

#include "base/memory_meter.hpp"
#include "nonuniform/point_problem.hpp"
#include "ringweave/points.hpp"
#include "support/expect_error.hpp"

namespace ringweave::detail::test {
namespace {

constexpr double allowed = 0.1;

/// This rank's share of points that cover the sphere evenly.
Directions even_share(const Communicator& comm, std::int64_t n) {
  Directions points;
  for (std::int64_t i = comm.rank(); i < n; i += comm.size()) {
    const auto x = static_cast<double>(i);
    points.add(std::acos(1 - (2 * x + 1) / static_cast<double>(n)), x * 2.399963229728653);
  }
  return points;
}

void expect_near(const Communicator& comm, const char* what, std::int64_t found,
                 std::int64_t predicted) {
  const auto most = static_cast<double>(comm.max(found));
  EXPECT_NEAR(static_cast<double>(predicted) / most, 1, allowed) << what << ": " << most;
}

TEST(PointMemory, PredictionIsWithinATenthOfWhatIsAllocated) {
  const Communicator comm = Communicator::world();
  const std::int64_t n_points = 150'000 * comm.size();
  for (const auto& spins : {std::vector{0}, {0, 2}}) {
    const PointSpec spec = spec_of(255, spins, 1e-6).checked();
    const Directions mine = even_share(comm, n_points);
    const PointMemory predicted = predict_memory({.spec = spec,
                                                  .n_points = n_points,
                                                  .n_angles = 2,
                                                  .n_ranks = comm.size(),
                                                  .n_threads = omp_get_max_threads()});
    const std::int64_t before = MemoryMeter::current_bytes();
    MemoryMeter::reset_high_water();
    const PointSet points(comm, spec, mine.theta, mine.phi);
    expect_near(comm, "planning of points", MemoryMeter::high_water_bytes() - before,
                predicted.set.peak());
    expect_near(comm, "points", points.bytes(), predicted.set.total());
    const PointTransform transform(comm, spec, points);
    expect_near(comm, "points and transform", MemoryMeter::current_bytes() - before,
                predicted.total());
    expect_near(comm, "bytes()", transform.bytes(), predicted.total());
  }
}

/// Limits the address space of this process while it lives.
class AddressSpaceLimit {
 public:
  explicit AddressSpaceLimit(std::int64_t bytes) {
    getrlimit(RLIMIT_AS, &before_);
    rlimit limit = before_;
    limit.rlim_cur = static_cast<rlim_t>(bytes);
    setrlimit(RLIMIT_AS, &limit);
  }
  ~AddressSpaceLimit() { setrlimit(RLIMIT_AS, &before_); }
  AddressSpaceLimit(const AddressSpaceLimit&) = delete;
  AddressSpaceLimit& operator=(const AddressSpaceLimit&) = delete;

 private:
  rlimit before_{};
};

TEST(PointMemory, MorePointsThanMemoryHoldsAreRefusedBeforeTheyAreSent) {
  if (RINGWEAVE_TEST_IS_SANITIZED != 0)
    GTEST_SKIP() << "sanitizers need more address space than any limit";
  const Communicator comm = Communicator::world();
  const PointSpec spec = spec_of(300, {0}, 1e-6);
  const Directions mine = even_share(comm, 1'000'000 * comm.size());
  PointSet(comm, spec, {}, {});  // MPI has what it needs then
  std::ifstream status("/proc/self/statm");
  std::int64_t pages = 0;
  ASSERT_TRUE(status >> pages);
  // The points and their sums take 28 MB of each rank and more.
  const AddressSpaceLimit limit(pages * sysconf(_SC_PAGESIZE) + 20'000'000);
  expect_error(ErrorKind::resource, "ranks with as much memory each",
               [&] { PointSet(comm, spec, mine.theta, mine.phi); });
}

}  // namespace
}  // namespace ringweave::detail::test
