// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/predict/point_prediction.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <cmath>
#include <memory>

#include "app/transform_setup.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/memory_check.hpp"
#include "legendre/deconvolved_rows.hpp"
#include "nonuniform/point_memory.hpp"
#include "nonuniform/tap_choice.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Values that go from the ranks that sum points to those that list them, where every point is
/// listed by some other rank.
double sent_values(std::int64_t n_points, int n_ranks, std::int64_t n_components) {
  const double of_rank = std::ceil(static_cast<double>(n_points) / n_ranks);
  const double elsewhere = 1 - 1.0 / n_ranks;
  return static_cast<double>(n_components) * sizeof(double) * of_rank * elsewhere;
}

}  // namespace

TransformSpec transform_to_rows(const PointSpec& spec, const FineRows& rows) {
  auto fine = std::make_shared<DeconvolvedRows>();
  fine->n_rows = rows.n_rows();
  TransformSpec transform;
  transform.grid = rows.grid;
  transform.lmax = spec.lmax;
  transform.mmax = spec.mmax;
  transform.fields = spec.fields;
  transform.exchange = spec.exchange;
  transform.backend = spec.backend;
  transform.fine_rows = std::move(fine);
  return transform;
}

TransformSpec transform_to_rows(const PointSpec& spec, const PointPlan& plan) {
  TransformSpec transform = transform_to_rows(spec, plan.rows());
  transform.grid = plan.rings().grid();
  transform.ring_bands = std::make_shared<const RingDistribution>(plan.rings());
  return transform;
}

EvenPoints::EvenPoints(const PointSpec& spec, std::int64_t n_points, std::int64_t n_angles)
    : spec_(spec.checked()),
      n_points_(n_points),
      n_angles_(n_angles),
      taps_(std::make_shared<const FineTaps>(spec_, n_points)),
      rows_(transform_to_rows(spec_, taps_->rows(UntouchedRows::left_out))),
      report_(report_among(1)) {}

std::int64_t EvenPoints::n_value_components() const {
  return n_angles_ == 3 ? 1 : spec_.fields.n_components();
}

PointReport EvenPoints::report_among(int n_ranks) const {
  const PointProblem problem{spec_, n_points_, n_angles_, n_ranks, 1};
  return report_of(spec_, taps_->choice, even_plan(problem, taps_->rows(UntouchedRows::left_out)));
}

PointWork EvenPoints::work(int n_ranks, int n_threads) const {
  return point_work(rows_, report_among(n_ranks),
                    sent_values(n_points_, n_ranks, n_value_components()), {n_ranks, n_threads});
}

std::vector<MemoryItem> EvenPoints::memory(int n_ranks, int n_threads, Precision precision) const {
  const PointMemory held = predict_memory({spec_, n_points_, n_angles_, n_ranks, n_threads},
                                          taps_->rows(UntouchedRows::left_out));
  // The first rank has as many coefficients as any.
  const AlmLayout layout = TransformPlan(rows_, 0, n_ranks).alm;
  const std::int64_t listed = (n_points_ + n_ranks - 1) / n_ranks;
  return {{"a_lm", 2 * bytes_of(precision) * spec_.fields.n_components() * layout.size()},
          {"points", held.set.total()},
          {"ring modes", held.modes},
          {"fine rows in work", held.rows},
          {"tables and scratch of threads", held.tables},
          {"values", listed * bytes_of(precision) * n_value_components()}};
}

PointShare EvenPoints::share(int n_ranks, int n_threads) const {
  return {work(n_ranks, n_threads),
          MemoryEstimate{memory(n_ranks, n_threads, Precision::double_)}.total()};
}

PointWork point_work(const PointTransform& transform, int n_ranks, int n_threads) {
  const PointReport& report = transform.points().report();
  return point_work(transform.plan().spec, report,
                    sent_values(report.points, n_ranks, transform.points().n_components()),
                    {n_ranks, n_threads});
}

PointWork point_work(const TransformSpec& rows, const PointReport& report, double sent_bytes,
                     const Processors& processors) {
  return {
      .lmax = rows.lmax,
      .operations = static_cast<double>(report.most_points) *
                    tap_operations(report.theta_taps, report.phi_taps, rows.fields.n_components()),
      .sent_bytes = sent_bytes,
      .n_ranks = processors.n_ranks,
      .n_threads = processors.n_threads};
}

void require_memory_for_points(const Communicator& comm, const PointSpec& spec,
                               const PointFile& points, Precision precision) {
  const int n_threads = omp_get_max_threads();
  const EvenPoints even =
      agreed(comm, [&] { return EvenPoints(spec, points.total, points.angles.n_components()); });
  const auto bytes_among = [&](int n_ranks) {
    return MemoryEstimate{even.memory(n_ranks, n_threads, precision)}.total();
  };
  distribute::require_memory_for(comm, agreed(comm, [&] { return bytes_among(comm.size()); }),
                                 fmt::format("{} points with lmax = {}", points.total, spec.lmax),
                                 bytes_among);
}

}  // namespace ringweave::detail::inline app
