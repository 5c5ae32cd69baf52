// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/predict/point_prediction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>

#include "app/predict/scaling_prediction.hpp"
#include "app/transform_setup.hpp"
#include "base/checked_cast.hpp"
#include "base/memory_meter.hpp"
#include "distribute/mpi/agree.hpp"
#include "legendre/deconvolved_rows.hpp"
#include "nonuniform/tap_choice.hpp"
#include "ringweave/error.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail::inline app {
namespace {

TransformSpec rows_of(const PointSpec& spec, const TapChoice& choice) {
  auto fine = std::make_shared<DeconvolvedRows>();
  fine->n_rows = choice.theta.length;
  TransformSpec rows;
  rows.grid =
      std::make_shared<const RingGrid>(RingGrid::fejer(choice.theta.length, choice.phi.length));
  rows.lmax = spec.lmax;
  rows.mmax = spec.mmax;
  rows.fields = spec.fields;
  rows.exchange = spec.exchange;
  rows.fine_rows = std::move(fine);
  return rows;
}

/// Values that go from the ranks that sum points to those that list them, where every point is
/// listed by some other rank.
double sent_values(std::int64_t n_points, int n_ranks, std::int64_t n_components) {
  const double of_rank = std::ceil(static_cast<double>(n_points) / n_ranks);
  const double elsewhere = 1 - 1.0 / n_ranks;
  return static_cast<double>(n_components) * sizeof(double) * of_rank * elsewhere;
}

std::int64_t whole_bytes(double count) { return static_cast<std::int64_t>(std::ceil(count)); }

std::int64_t bytes_on(const EvenPoints& points, int n_ranks, Precision precision) {
  return MemoryEstimate{points.memory(n_ranks, precision)}.total();
}

/// Returns the fewest ranks, more than `n_ranks`, whose memory is at most `available` each; 0 where
/// there is no such number.
int ranks_that_fit(const EvenPoints& points, Precision precision, int n_ranks, double available) {
  const auto fits = [&](int n) {
    return static_cast<double>(bytes_on(points, n, precision)) <= available;
  };
  int too_few = n_ranks;
  int enough = n_ranks;
  while (!fits(enough)) {
    if (enough > most_predicted_ranks / 2) return 0;
    too_few = enough;
    enough *= 2;
  }
  while (enough - too_few > 1) {
    const int middle = too_few + (enough - too_few) / 2;
    (fits(middle) ? enough : too_few) = middle;
  }
  return enough;
}

}  // namespace

EvenPoints::EvenPoints(const PointSpec& spec, std::int64_t n_points, std::int64_t n_angles)
    : spec_(spec.checked()), n_points_(n_points), n_angles_(n_angles) {
  const TapChoice choice =
      choose_taps({.lmax = spec_.lmax,
                   .mmax = spec_.mmax,
                   .epsilon = spec_.epsilon,
                   .n_points = n_points,
                   .n_components = static_cast<int>(spec_.fields.n_components())});
  rows_ = rows_of(spec_, choice);
  report_.theta_taps = choice.theta.width;
  report_.phi_taps = choice.phi.width;
  report_.fine_rows = choice.theta.length;
  report_.fine_columns = choice.phi.length;
  report_.theta_oversampling = static_cast<double>(choice.theta.length) / (spec_.lmax + 1);
  report_.phi_oversampling = static_cast<double>(choice.phi.length) / (2 * spec_.mmax + 2);
  report_.predicted_error = choice.error;
  report_.points = n_points;
}

std::int64_t EvenPoints::n_value_components() const {
  return n_angles_ == 3 ? 1 : spec_.fields.n_components();
}

double EvenPoints::summed(int n_ranks) const {
  const double of_rank = std::ceil(static_cast<double>(n_points_) / n_ranks);
  // A rank has a band of rows and its mirror; points next to a cut are summed on both sides.
  const double band = static_cast<double>(report_.fine_rows) / (2.0 * n_ranks);
  const double times = 1 + (report_.theta_taps - 1) / band;
  return of_rank * std::min({times, 1.0 * report_.theta_taps, 1.0 * n_ranks});
}

PointWork EvenPoints::work(int n_ranks, int n_threads) const {
  return {.lmax = spec_.lmax,
          .operations = summed(n_ranks) * tap_operations(report_.theta_taps, report_.phi_taps,
                                                         spec_.fields.n_components()),
          .sent_bytes = sent_values(n_points_, n_ranks, n_value_components()),
          .n_ranks = n_ranks,
          .n_threads = n_threads};
}

std::int64_t EvenPoints::point_bytes(int n_ranks) const {
  const double listed = std::ceil(static_cast<double>(n_points_) / n_ranks);
  const double elsewhere = 1 - 1.0 / n_ranks;
  const auto n_components = static_cast<double>(spec_.fields.n_components());
  constexpr double number = sizeof(double);
  constexpr double index = sizeof(std::int32_t);
  // Sorted angles, where values go, and the values that are sent and received.
  return whole_bytes(summed(n_ranks) *
                         (static_cast<double>(n_angles_) * number + index * elsewhere +
                          n_components * number * (1 + elsewhere)) +
                     listed * (index + n_components * number * elsewhere));
}

std::int64_t EvenPoints::value_bytes(int n_ranks, Precision precision) const {
  return whole_bytes(std::ceil(static_cast<double>(n_points_) / n_ranks) *
                     static_cast<double>(bytes_of(precision) * n_value_components()));
}

std::int64_t EvenPoints::bytes(int n_ranks) const {
  return point_bytes(n_ranks) + value_bytes(n_ranks, Precision::double_);
}

std::vector<MemoryItem> EvenPoints::memory(int n_ranks, Precision precision) const {
  // The first rank has as many rows and modes as any.
  const TransformPlan plan(rows_, 0, n_ranks);
  const double touched = std::min(1.0, static_cast<double>(n_points_) * report_.theta_taps /
                                           static_cast<double>(report_.fine_rows));
  const std::int64_t components = spec_.fields.n_components();
  const auto rows = static_cast<double>(components * plan.rings.n_pixels()) * sizeof(double);
  return {{"a_lm", 2 * bytes_of(precision) * components * plan.alm.size()},
          {"fine rows", whole_bytes(touched * rows)},
          {"points", point_bytes(n_ranks)},
          {"ring modes", whole_bytes(touched * static_cast<double>(plan.by_ring_bytes()))},
          {"values", value_bytes(n_ranks, precision)}};
}

PointWork point_work(const PointTransform& transform, int n_ranks, int n_threads) {
  const PointReport& report = transform.points().report();
  const TransformSpec& spec = transform.plan().spec;
  return {
      .lmax = spec.lmax,
      .operations = static_cast<double>(report.most_points) *
                    tap_operations(report.theta_taps, report.phi_taps, spec.fields.n_components()),
      .sent_bytes = sent_values(report.points, n_ranks, transform.points().n_components()),
      .n_ranks = n_ranks,
      .n_threads = n_threads};
}

void require_memory_for_points(const Run& run, const PointSpec& spec, const PointFile& points,
                               Precision precision) {
  const Communicator& comm = run.comm;
  const double of_node = static_cast<double>(available_bytes()) / comm.node_local().size();
  const double available =
      std::min(comm.min(of_node), static_cast<double>(comm.min(available_bytes_of_process())));
  const EvenPoints even =
      agreed(comm, [&] { return EvenPoints(spec, points.total, points.angles.n_components()); });
  const auto needed =
      static_cast<double>(agreed(comm, [&] { return bytes_on(even, comm.size(), precision); }));
  if (needed <= available) return;
  const int enough =
      agreed(comm, [&] { return ranks_that_fit(even, precision, comm.size(), available); });
  const std::string remedy = enough > 0 ? fmt::format("use {} ranks or more, on more nodes", enough)
                                        : std::string("no number of ranks would do");
  throw ResourceError(
      fmt::format("{} points with lmax = {} need {} on a rank, which has {}; {}, fewer points at a "
                  "time or a lower --lmax (--dry-run shows what needs how much)",
                  points.total, spec.lmax, bytes_text(needed), bytes_text(available), remedy));
}

}  // namespace ringweave::detail::inline app
