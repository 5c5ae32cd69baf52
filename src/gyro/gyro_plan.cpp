// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/gyro_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/checked_cast.hpp"
#include "gyro/chebyshev_blocks.hpp"
#include "gyro/gyro_checks.hpp"
#include "gyro/interpolation.hpp"
#include "gyro/row_bands.hpp"
#include "gyro/schemes.hpp"

namespace ringweave::detail::inline gyro {
namespace {

// Messages of a plane take as long as so many nodes.
constexpr double nodes_of_a_message = 4096;
// Bands that are thinner than their halo must gain this much.
constexpr double factor_of_thin_bands = 1.25;
// Coefficients and exchange of method chebyshev, over the sums of all rows.
constexpr double shared_part_of_chebyshev = 0.1;
// Entries of its operator that take as long as a node that is transformed.
constexpr double entries_of_a_node = 100;

/// The begin of a part when `total` items are cut evenly.
std::int64_t even_cut(std::int64_t total, std::int64_t part, std::int64_t n_parts) {
  return total * part / n_parts;
}
std::int64_t most_of_a_part(std::int64_t total, std::int64_t n_parts) {
  return (total + n_parts - 1) / n_parts;
}
/// The fewest parts whose largest is no larger than that of n_parts.
std::int64_t fewest_parts(std::int64_t total, std::int64_t n_parts) {
  return most_of_a_part(total, most_of_a_part(total, n_parts));
}

bool is_stencil(GyroMethod method) {
  return method == GyroMethod::bilinear || method == GyroMethod::bicubic;
}

/// Returns the rows that act on a band at each end, in addition to its own: the reach of the
/// largest circle.
std::int64_t halo_of_band(const GyroSpec& spec) {
  if (!is_stencil(spec.method)) return 0;
  double radius = 0;
  for (const double r : spec.radii) {
    if (!is_beyond(spec.grid, r)) radius = std::max(radius, r);
  }
  const auto n = static_cast<double>(spec.grid.y.size);
  const auto rows = static_cast<std::int64_t>(std::min(radius_in_spacings(spec.grid.y, radius), n));
  return std::min(rows + (spec.method == GyroMethod::bicubic ? 3 : 1), spec.grid.y.size);
}

/// Predicts times, in nodes that are transformed once.
struct CostModel {
  const GyroSpec& spec;
  std::int64_t halo;

  std::int64_t rows_of_whole_plane() const {
    const std::int64_t n = spec.grid.y.size;
    if (spec.grid.y.boundary == PlaneBoundary::mirror) return 2 * (n - 1);
    return spec.grid.y.boundary == PlaneBoundary::periodic ? n : n + halo;
  }
  /// Returns the cost of one field and radius, for a rank with 1 / row_parts of the rows.
  double of_plane(std::int64_t row_parts) const {
    const std::int64_t n = spec.grid.y.size;
    if (spec.method == GyroMethod::chebyshev) {
      const double whole = nodes(n) * std::max(1.0, nodes(n) / entries_of_a_node);
      if (row_parts == 1) return whole;
      return whole * (1 / static_cast<double>(row_parts) + shared_part_of_chebyshev) +
             nodes_of_a_message;
    }
    if (row_parts == 1) return nodes(rows_of_whole_plane());
    const double thin = halo > n / row_parts ? factor_of_thin_bands : 1;
    return thin * (nodes(most_of_a_part(n, row_parts) + 2 * halo) + nodes_of_a_message);
  }
  double nodes(std::int64_t rows) const {
    return static_cast<double>(rows) * static_cast<double>(spec.grid.x.size);
  }
};

/// A way of cutting, and its predicted time.
struct Candidate {
  std::int64_t radius_parts = 1;
  std::int64_t field_parts = 1;
  std::int64_t row_parts = 1;
  double cost = 0;

  static constexpr double noise = 1e-9;  ///< of costs
  bool is_faster_than(const Candidate& other) const { return cost < (1 - noise) * other.cost; }
  bool is_better_than(const Candidate& other) const {
    if (is_faster_than(other)) return true;
    if (other.is_faster_than(*this)) return false;
    if (row_parts != other.row_parts) return row_parts < other.row_parts;
    return radius_parts < other.radius_parts;
  }
};

std::int64_t most_rows_cut(const GyroSpec& spec, const PlaneGrid& targets) {
  if (spec.method == GyroMethod::dct) return 1;
  return spec.method == GyroMethod::chebyshev ? std::min(targets.y.size, most_chebyshev_chunks)
                                              : targets.y.size;
}

/// Returns the most radii of a part when blocks are dealt evenly.
std::int64_t most_radii(const std::vector<std::int64_t>& blocks, std::int64_t parts) {
  const std::int64_t n = ssize64(blocks) - 1;
  std::int64_t most = 0;
  for (std::int64_t p = 0; p < parts; ++p) {
    most = std::max(
        most, blocks[to_size(even_cut(n, p + 1, parts))] - blocks[to_size(even_cut(n, p, parts))]);
  }
  return most;
}

Candidate choose(const GyroSpec& spec, const std::vector<std::int64_t>& blocks,
                 std::int64_t most_rows, std::int64_t n_ranks) {
  const CostModel model{spec, halo_of_band(spec)};
  const std::int64_t n_blocks = ssize64(blocks) - 1;
  Candidate best;
  best.cost = std::numeric_limits<double>::infinity();
  for (std::int64_t radii = 1; radii <= std::min(n_blocks, n_ranks); ++radii) {
    if (radii != fewest_parts(n_blocks, radii)) continue;
    const std::int64_t left = n_ranks / radii;
    const auto radii_of_part = static_cast<double>(most_radii(blocks, radii));
    for (std::int64_t fields = 1; fields <= std::min(spec.n_fields, left); ++fields) {
      if (fields != fewest_parts(spec.n_fields, fields)) continue;
      const double planes =
          radii_of_part * static_cast<double>(most_of_a_part(spec.n_fields, fields));
      const std::int64_t rows = fewest_parts(most_rows, std::min(left / fields, most_rows));
      for (const std::int64_t row_parts : {std::int64_t{1}, rows}) {
        const Candidate candidate{radii, fields, row_parts, planes * model.of_plane(row_parts)};
        if (candidate.is_better_than(best)) best = candidate;
      }
    }
  }
  return best;
}

/// Returns why ranks are idle: the faster plan that is not allowed, or that there is none.
std::string idle_reason_of(const GyroSpec& spec, const GyroPlan& plan, const Candidate& best) {
  const std::int64_t n_radii = plan.n_radii();
  const std::int64_t all_rows = plan.targets.y.size;
  const std::int64_t most_rows = most_rows_cut(spec, plan.targets);
  const auto gains = [&](GyroSums sums, std::int64_t rows) {
    return choose(spec, blocks_of_radii(n_radii, sums), rows, plan.n_ranks).is_faster_than(best);
  };
  if (plan.forms_sums && gains(GyroSums::none, most_rows)) {
    return fmt::format("sums over radii are formed of {} blocks of radii on any number of ranks",
                       plan.n_blocks());
  }
  if (spec.method == GyroMethod::dct &&
      best.radius_parts * best.field_parts == plan.n_blocks() * plan.n_fields) {
    GyroSpec bicubic = spec;
    bicubic.method = GyroMethod::bicubic;
    const bool would_be_cut =
        choose(bicubic, plan.block_begin, all_rows, plan.n_ranks).row_parts > 1;
    return fmt::format("method dct is never cut into rows{}",
                       would_be_cut ? " (bilinear or bicubic would be)" : "");
  }
  if (spec.method == GyroMethod::chebyshev && gains(spec.sums, all_rows))
    return fmt::format("method chebyshev is cut into {} parts of rows at most", most_rows);
  return "smaller parts would not be faster";
}

std::string reason_of(const GyroPlan& plan) {
  std::string cuts;
  const auto add = [&](int parts, const char* what) {
    if (parts > 1) cuts += fmt::format("{}{} into {}", cuts.empty() ? "" : ", ", what, parts);
  };
  add(plan.field_parts, "fields");
  add(plan.radius_parts, "radii");
  add(plan.row_parts, "rows");
  std::string reason =
      cuts.empty() ? std::string("nothing is cut")
                   : fmt::format(
                         "cut {}: the slowest rank has {} of {} fields, {} of {} radii and "
                         "{} of {} rows",
                         cuts, most_of_a_part(plan.n_fields, plan.field_parts), plan.n_fields,
                         most_radii(plan.block_begin, plan.radius_parts), plan.n_radii(),
                         most_of_a_part(plan.targets.y.size, plan.row_parts), plan.targets.y.size);
  if (plan.row_parts > 1 && plan.halo_rows > 0)
    reason += fmt::format(", and fetches {} rows of others", plan.halo_rows);
  if (plan.n_idle() > 0) {
    reason += fmt::format("; {} of {} ranks are idle, because {}", plan.n_idle(), plan.n_ranks,
                          plan.idle_reason);
  }
  return reason;
}

}  // namespace

std::vector<std::int64_t> blocks_of_radii(std::int64_t n_radii, GyroSums sums) {
  const std::int64_t n_blocks = sums == GyroSums::none ? n_radii : std::min(n_radii, most_blocks);
  std::vector<std::int64_t> begin;
  for (std::int64_t block = 0; block <= n_blocks; ++block)
    begin.push_back(even_cut(n_radii, block, n_blocks));
  return begin;
}

std::optional<HaloPlan> GyroPlan::row_halo(int rank) const {
  if (row_parts == 1 || needs_whole_fields || is_idle(rank)) return std::nullopt;
  std::vector<std::int64_t> cuts;
  for (std::int64_t part = 0; part <= row_parts; ++part)
    cuts.push_back(even_cut(grid.y.size, part, row_parts));
  return plan_row_halo(grid.y.boundary, cuts, row_part(rank), halo_reach, grid.x.size);
}

std::int64_t GyroPlan::halo_bytes(int rank) const {
  const std::optional<HaloPlan> halo = row_halo(rank);
  return halo ? halo->halo_bytes(1, sizeof(double)) : 0;
}

std::int64_t GyroPlan::halo_bytes_sent(int rank) const {
  const std::optional<HaloPlan> halo = row_halo(rank);
  return halo ? halo->sent_bytes(1, sizeof(double)) : 0;
}

GyroPart GyroPlan::part(int rank) const {
  if (is_idle(rank)) return {};
  const std::int64_t radii = radius_part(rank);
  const std::int64_t fields = field_part(rank);
  const std::int64_t rows = row_part(rank);
  GyroPart part;
  part.radius_begin = block_begin[to_size(part_blocks[to_size(radii)])];
  part.radius_end = block_begin[to_size(part_blocks[to_size(radii + 1)])];
  part.field_begin = even_cut(n_fields, fields, field_parts);
  part.field_end = even_cut(n_fields, fields + 1, field_parts);
  part.row_begin = even_cut(targets.y.size, rows, row_parts);
  part.row_end = even_cut(targets.y.size, rows + 1, row_parts);
  part.field_row_begin = needs_whole_fields ? 0 : part.row_begin;
  part.field_row_end = needs_whole_fields ? grid.y.size : part.row_end;
  return part;
}

int GyroPlan::row_group(int rank) const {
  return is_idle(rank) ? radius_parts * field_parts : rank / row_parts;
}

int GyroPlan::radius_group(int rank) const {
  const int n_groups = field_parts * row_parts;
  return is_idle(rank) ? n_groups : rank % n_groups;
}

int GyroPlan::owner_of(std::int64_t block) const {
  const auto next = std::upper_bound(part_blocks.begin(), part_blocks.end(), block);
  return static_cast<int>(next - part_blocks.begin()) - 1;
}

GyroPlan plan_gyroaverage(const GyroSpec& spec, int n_ranks) {
  GyroPlan plan;
  plan.n_ranks = n_ranks;
  plan.n_fields = spec.n_fields;
  plan.grid = spec.grid;
  plan.targets = targets_of(spec);
  plan.needs_whole_fields = !is_stencil(spec.method);
  plan.adds_radius_by_radius = spec.method == GyroMethod::chebyshev;
  plan.data = spec.data;
  plan.forms_sums = spec.sums == GyroSums::formed;
  plan.takes_floats = spec.numbers == GyroNumbers::any;
  plan.block_begin = blocks_of_radii(ssize64(spec.radii), spec.sums);
  const Candidate best = choose(spec, plan.block_begin, most_rows_cut(spec, plan.targets), n_ranks);
  plan.radius_parts = checked_cast<int>(best.radius_parts, "parts of the radii");
  plan.field_parts = checked_cast<int>(best.field_parts, "parts of the fields");
  plan.row_parts = checked_cast<int>(best.row_parts, "parts of the rows");
  for (std::int64_t part = 0; part <= plan.radius_parts; ++part)
    plan.part_blocks.push_back(even_cut(plan.n_blocks(), part, plan.radius_parts));

  const std::int64_t fields = most_of_a_part(spec.n_fields, plan.field_parts);
  if (plan.row_parts > 1 && is_stencil(spec.method)) {
    const std::int64_t others = spec.grid.y.size - spec.grid.y.size / std::int64_t{plan.row_parts};
    // All targets that an outermost source reaches are held.
    const bool ends = spec.grid.y.boundary == PlaneBoundary::zero;
    const std::int64_t margin = spec.method == GyroMethod::bicubic
                                    ? margin_of(Interpolation::bicubic)
                                    : margin_of(Interpolation::bilinear);
    plan.halo_reach = halo_of_band(spec) + (ends ? margin - 1 : 0);
    plan.halo_rows = std::min(2 * plan.halo_reach, others);
  }
  if (plan.row_parts > 1 && spec.method == GyroMethod::chebyshev) {
    constexpr std::int64_t number = sizeof(double);
    plan.sum_bytes_of_average = plan.targets.n_nodes() * number;
    plan.sum_bytes_of_transpose =
        plan.sum_bytes_of_average + chebyshev_chunk_coefficients(spec) * number;
  }
  // One message for several planes; one pass over the operator for several planes.
  const bool gains_by_planes =
      spec.method == GyroMethod::chebyshev || spec.backend == Backend::cuda;
  const std::int64_t together = gains_by_planes ? 32 : plan.row_parts > 1 ? 8 : 1;
  plan.most_planes = std::min(together, fields);
  if (plan.n_idle() > 0) plan.idle_reason = idle_reason_of(spec, plan, best);
  plan.reason = reason_of(plan);
  return plan;
}

}  // namespace ringweave::detail::inline gyro
