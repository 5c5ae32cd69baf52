// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/point_memory.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/memory_meter.hpp"
#include "nonuniform/inverse_deflection.hpp"
#include "nonuniform/lensing_memory.hpp"
#include "nonuniform/lensing_problem.hpp"
#include "nonuniform/point_problem.hpp"
#include "ringweave/points.hpp"
#include "support/address_space_limit.hpp"
#include "support/expect_error.hpp"
#include "support/sanitizer.hpp"
#include "support/tolerance.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail::test {
namespace {

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
  EXPECT_NEAR(static_cast<double>(predicted) / most, 1, tolerance::predicted_memory)
      << what << ": " << most;
}

TEST(PointMemory, PredictionIsWithinATenthOfWhatIsAllocated) {
  const Communicator comm = Communicator::world();
  const std::int64_t n_points = 150'000 * comm.size();
  const Directions mine = even_share(comm, n_points);
  // Fields, and whether points have psi.
  for (const auto& [spins, has_psi] :
       {std::pair{std::vector{0}, false}, {std::vector{0, 2}, false}, {std::vector{0, 2}, true}}) {
    SCOPED_TRACE(testing::PrintToString(spins) + (has_psi ? " with psi" : ""));
    const PointSpec spec = spec_of(255, spins, 1e-6).checked();
    const std::vector<double> psi(has_psi ? mine.theta.size() : 0, 0.3);
    const PointMemory predicted = predict_memory({.spec = spec,
                                                  .n_points = n_points,
                                                  .n_angles = has_psi ? 3 : 2,
                                                  .n_ranks = comm.size(),
                                                  .n_threads = omp_get_max_threads()});
    const std::int64_t before = MemoryMeter::current_bytes();
    MemoryMeter::reset_high_water();
    const PointSet points(comm, spec, mine.theta, mine.phi, psi);
    expect_near(comm, "planning of points", MemoryMeter::high_water_bytes() - before,
                predicted.set.peak());
    expect_near(comm, "points", points.bytes(), predicted.set.total());
    const PointTransform transform(comm, spec, points);
    expect_near(comm, "points and transform", MemoryMeter::current_bytes() - before,
                predicted.total());
    expect_near(comm, "bytes()", transform.bytes(), predicted.total());
  }
}

/// Returns the most bytes of all buffers while work() runs, in addition to those before it.
template <class Work>
std::int64_t most_bytes_of(const Work& work) {
  const std::int64_t before = MemoryMeter::current_bytes();
  MemoryMeter::reset_high_water();
  work();
  return MemoryMeter::high_water_bytes() - before;
}

TEST(PointMemory, AFieldOnFineRowsHoldsTheRowsAndWhileItIsSetTheModes) {
  const Communicator comm = Communicator::world();
  constexpr std::int64_t n_points = 1'000'000;
  for (const auto& spins : {std::vector{0}, {0, 2}}) {
    const PointSpec spec = spec_of(511, spins, 1e-6).checked();
    const std::int64_t n_components = spec.fields.n_components();
    const FineRows rows = rows_of(choose_taps(spec, n_points), UntouchedRows::kept);
    const PointPlan plan = even_plan({spec, 0, 2, comm.size(), 1}, rows);
    const std::int64_t of_rows =
        8 * n_components * plan.rings().n_rings(comm.rank()) * rows.n_columns();
    const std::int64_t of_modes =
        16 * n_components * modes_of_ranks(spec, plan)[to_size(comm.rank())];
    const std::int64_t of_threads = omp_get_max_threads() * thread_bytes(spec, grid_of(rows));

    std::optional<FineField> field;
    const std::int64_t made = most_bytes_of([&] { field.emplace(comm, spec, n_points); });
    expect_near(comm, "field", made, comm.max(of_rows + of_threads));
    AlmBuffer<double> alm = field->make_alm<double>();
    std::fill_n(alm.view().data(), n_components * alm.size(), 0.0);
    const std::int64_t more = most_bytes_of([&] { field->set(alm); });
    const std::int64_t at_most = comm.max(of_rows + of_threads + of_modes);
    expect_near(comm, "field while it is set", made + more, at_most);
    expect_near(comm, "bytes()", field->bytes(), at_most);
  }
}

constexpr int potential_lmax = 255;

TransformSpec spec_on(const std::shared_ptr<const RingGrid>& grid, const FieldSet& fields) {
  TransformSpec spec;
  spec.grid = grid;
  spec.lmax = potential_lmax;
  spec.fields = fields;
  return spec;
}

TEST(LensingMemory, PredictionOfADeflectionIsWithinATenthOfWhatIsAllocated) {
  const Communicator comm = Communicator::world();
  const auto grid = shared(RingGrid::healpix(256));
  const RandomPotential potential(comm, potential_lmax, 1e-2);
  const TransformPlan plan(spec_on(grid, FieldSet({1})), comm.rank(), comm.size());
  const DeflectionMemory predicted = memory_of_deflection(plan, omp_get_max_threads());
  std::optional<Deflection> deflection;
  expect_near(comm, "making of a deflection",
              most_bytes_of([&] { deflection.emplace(comm, grid, potential.view()); }),
              comm.max(predicted.peak()));
  expect_near(comm, "deflection", deflection->bytes(), comm.max(predicted.total()));
}

TEST(LensingMemory, PredictionsOfInverseLensingAndDelensingAreWithinATenth) {
  const Communicator comm = Communicator::world();
  const auto grid = shared(RingGrid::healpix(128));
  const RandomPotential potential(comm, potential_lmax, 1e-2);
  const int n_threads = omp_get_max_threads();
  const Deflection deflection(comm, grid, potential.view());
  const RingDistribution& bands = *deflection.ring_bands();

  const LensingProblem of_d{spec_of_inverse(potential_lmax, potential_lmax, {}, deflection.rms()),
                            deflection.largest(), n_threads};
  const InverseMemory of_inverse =
      memory_of_inverse(of_d, pixels_of_inverse(of_d, bands), comm.rank());
  std::optional<Deflection> inverse;
  expect_near(comm, "inverse", most_bytes_of([&] { inverse.emplace(deflection.inverse()); }),
              comm.max(of_inverse.peak()));
  expect_near(comm, "found inverse", inverse->bytes(), comm.max(of_inverse.total()));

  const LensingProblem problem{spec_of(potential_lmax, {0, 2}, 1e-6).checked(),
                               deflection.largest(), n_threads};
  const PointMemory of_lensing =
      memory_of_lensing(problem, pixels_of_lensing(problem, bands), comm.rank());
  std::optional<Lensing> lensing;
  expect_near(comm, "planning of lensing",
              most_bytes_of([&] { lensing.emplace(comm, deflection, problem.spec); }),
              comm.max(of_lensing.total()));
  expect_near(comm, "lensing", lensing->bytes(), comm.max(of_lensing.total()));
  lensing.reset();

  const TransformPlan plan(spec_on(grid, problem.spec.fields), comm.rank(), comm.size());
  for (const int n_iter : {0, 1}) {
    const DelensingMemory of_delensing = memory_of_delensing(of_lensing, plan, n_iter, n_threads);
    MapBuffer<double> map(3, deflection.rings().n_pixels());
    std::fill_n(map.view().data(), 3 * map.size(), 1.0);
    expect_near(comm, "delensing", most_bytes_of([&] {
                  Delensing delensing(comm, *inverse, problem.spec, n_iter);
                  delensing.delens<double>(std::as_const(map).view(), map.view());
                }),
                comm.max(of_delensing.peak()));
  }
}

TEST(LensingMemory, RowsThatOnlyDeflectedPixelsTouchArePredicted) {
  const Communicator comm = Communicator::world();
  // Rings 18 rows apart, of which points touch 6.
  const Deflection deflection(comm, shared(RingGrid::gauss_legendre(24, 600)),
                              RandomPotential(comm, 10, 0.1).view());
  const LensingProblem problem{spec_of(potential_lmax, {0}, 1e-4).checked(), deflection.largest(),
                               omp_get_max_threads()};
  const Lensing lensing(comm, deflection, problem.spec);
  const PixelPoints pixels = pixels_of_lensing(problem, *deflection.ring_bands());
  const double rows = lensing.transform().points().report().mean_rows * comm.size();
  EXPECT_GT(rows, 2 * 24 * 6);
  EXPECT_NEAR(static_cast<double>(pixels.plan().total().rows) / rows, 1,
              tolerance::predicted_memory);
}

TEST(PointMemory, MorePointsThanMemoryHoldsAreRefusedBeforeTheyAreSent) {
  if (is_sanitized()) GTEST_SKIP() << "sanitizers need more address space than any limit";
  const Communicator comm = Communicator::world();
  const PointSpec spec = spec_of(600, {0}, 1e-6);
  const Directions mine = even_share(comm, 1'000'000 * comm.size());
  PointSet(comm, spec, {}, {});  // MPI has what it needs then
  // The points and their sums take 28 MB of each rank and more.
  const AddressSpaceLimit limit(20'000'000);
  expect_error(ErrorKind::resource, "ranks with as much memory each",
               [&] { PointSet(comm, spec, mine.theta, mine.phi); });
}

TEST(LensingMemory, MorePixelsThanMemoryHoldsAreRefused) {
  if (is_sanitized()) GTEST_SKIP() << "sanitizers need more address space than any limit";
  const Communicator comm = Communicator::world();
  // More ranks do not help where the rows of threads alone are too large.
  const int n_threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const RandomPotential potential(comm, 20, 1e-2);
  // A million pixels of each rank take 16 MB, a map of three components 24 MB; the modes and rows
  // of the large lmax 30 MB and more.
  const auto grid = shared(RingGrid::fejer(256, 4096 * std::int64_t{comm.size()}));
  const Deflection deflection(comm, grid, potential.view());
  const AddressSpaceLimit limit(20'000'000);
  const auto refused = [&](const char* what, const auto& work) {
    const Thrown thrown = thrown_by(work);
    EXPECT_EQ(thrown.kind, ErrorKind::resource) << thrown.message;
    for (const char* text : {what, "ranks with as much memory each"})
      EXPECT_NE(thrown.message.find(text), std::string::npos) << thrown.message;
  };
  refused("pixels and ring modes of a deflection", [&] {
    const auto larger = shared(RingGrid::fejer(512, 8192 * std::int64_t{comm.size()}));
    Deflection(comm, larger, potential.view());
  });
  refused("deflected pixels, fine rows and ring modes", [&] {
    Lensing(comm, deflection, spec_of(1500, {0, 2}, 1e-6));
  });
  refused("analysis and transform of delensing", [&] {
    Delensing(comm, deflection, spec_of(20, {0, 2}, 1e-6), 1);
  });
  refused("pixels of an inverse deflection", [&] { deflection.inverse(); });
  omp_set_num_threads(n_threads);
}

}  // namespace
}  // namespace ringweave::detail::test
