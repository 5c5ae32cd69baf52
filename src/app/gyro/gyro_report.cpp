// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gyro/gyro_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <variant>

#include "app/report/plan_table.hpp"
#include "app/transform_setup.hpp"
#include "base/checked_cast.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Indicators, and estimates, above these are warned of.
constexpr double worth_a_warning = 1e-6;
constexpr double estimate_worth_a_warning = 0.01;

const char* words_of(PlaneNodes nodes) {
  return nodes == PlaneNodes::chebyshev ? "Chebyshev" : "equispaced";
}

nlohmann::ordered_json json_of(const PlaneAxis& axis) {
  return {{"size", axis.size},
          {"first", axis.first},
          {"last", axis.last},
          {"nodes", words_of(axis.nodes)},
          {"boundary", word_of(axis.boundary)}};
}

std::string text_of(const PlaneAxis& axis, char name) {
  return fmt::format("{} {} {} nodes from {:.6g} to {:.6g}, {}", name, axis.size,
                     words_of(axis.nodes), axis.first, axis.last, word_of(axis.boundary));
}

/// Tells whether the method gives an error to expect: the numbers that chebyshev takes back are no
/// coefficients.
bool has_indicator(const GyroJob& job) {
  const GyroMethod method = job.spec.method;
  return method == GyroMethod::dct || (method == GyroMethod::chebyshev && !job.is_adjoint());
}

/// Bytes of a file's data set.
double bytes_of_file(const PlaneHeader& header) {
  return static_cast<double>(bytes_of(header.precision) * header.n_fields() * header.x.size) *
         static_cast<double>(header.y.size);
}

/// Bytes of the exchanges of a rank.
struct GyroTraffic {
  std::int64_t halo = 0;      ///< of rows that it receives for each field
  std::int64_t row_sums = 0;  ///< that ranks add up for each average of method chebyshev
  std::int64_t blocks = 0;    ///< of radii that it receives for each sum
  bool has_blocks = false;
};

GyroTraffic traffic_of(const GyroJob& job, const GyroPlan& plan, int rank) {
  GyroTraffic traffic;
  traffic.has_blocks = plan.forms_sums && plan.radius_parts > 1;
  if (plan.is_idle(rank)) return traffic;
  // A transpose gives back what an average fetches.
  traffic.halo = job.is_adjoint() ? plan.halo_bytes_sent(rank) : plan.halo_bytes(rank);
  traffic.row_sums = job.is_adjoint() ? plan.sum_bytes_of_transpose : plan.sum_bytes_of_average;
  if (traffic.has_blocks) {
    const std::int64_t mine = plan.part_blocks[to_size(plan.radius_part(rank) + 1)] -
                              plan.part_blocks[to_size(plan.radius_part(rank))];
    traffic.blocks = (plan.n_blocks() - mine) * buffers_of(job, plan.part(rank)).out_size *
                     std::int64_t{sizeof(double)};
  }
  return traffic;
}

/// Ranks of larger jobs are not listed one by one.
constexpr int most_ranks_listed = 16;

std::string numbers_text(const char* one, const char* several, std::int64_t begin,
                         std::int64_t end) {
  return end - begin == 1 ? fmt::format("{} {}", one, begin)
                          : fmt::format("{} {} to {}", several, begin, end - 1);
}

std::string text_of(const GyroPlan& plan, int rank) {
  if (plan.is_idle(rank)) return fmt::format("    rank {}: nothing", rank);
  const GyroPart part = plan.part(rank);
  return fmt::format("    rank {}: {}, {}, {}", rank,
                     numbers_text("radius", "radii", part.radius_begin, part.radius_end),
                     numbers_text("field", "fields", part.field_begin, part.field_end),
                     numbers_text("row", "rows", part.row_begin, part.row_end));
}

void print_plan(Run& run, const GyroJob& job, const GyroBatches& batches) {
  const GyroSpec& spec = job.spec;
  run.print_line(fmt::format("  {}; {}", text_of(spec.grid.x, 'x'), text_of(spec.grid.y, 'y')));
  const auto [least, most] = std::minmax_element(spec.radii.begin(), spec.radii.end());
  run.print_line(
      fmt::format("  method {}, {}{}: {} radii from {:.6g} to {:.6g}, {} field(s) in {} batch(es)",
                  word_of(spec.method), job.options.combine, job.is_adjoint() ? ", adjoint" : "",
                  spec.radii.size(), *least, *most, batches.n_fields, batches.count()));
  const GyroPlan& plan = batches.plan;
  run.print_line(fmt::format("  ranks: {} for radii x {} for fields x {} for rows; {}",
                             plan.radius_parts, plan.field_parts, plan.row_parts, plan.reason));
  if (plan.n_ranks > 1 && plan.n_ranks <= most_ranks_listed) {
    for (int rank = 0; rank < plan.n_ranks; ++rank) run.print_line(text_of(plan, rank));
  }
  const GyroPart part = plan.part(run.comm.rank());
  PlanTable table(run);
  table.count("radii", part.is_empty() ? 0 : part.n_radii());
  table.count("fields of a batch", part.is_empty() ? 0 : part.n_fields());
  table.count("rows of averages", part.is_empty() ? 0 : part.n_rows());
  const GyroTraffic traffic = traffic_of(job, plan, run.comm.rank());
  if (plan.halo_rows > 0) table.bytes("halo of a field", traffic.halo);
  if (plan.sum_bytes_of_average > 0) table.bytes("added up for an average", traffic.row_sums);
  if (traffic.has_blocks) table.bytes("blocks of a sum", traffic.blocks);
  if (spec.backend == Backend::cuda) table.bytes("memory of the device", batches.bytes.device);
  table.memory(batches.memory);
}

}  // namespace

void record_gyro_plan(Run& run, const GyroJob& job, const GyroBatches& batches) {
  const GyroSpec& spec = job.spec;
  const GyroPlan& plan = batches.plan;
  nlohmann::ordered_json& entry = run.report["gyroaverage"];
  entry = {{"method", word_of(spec.method)}, {"combine", job.options.combine},
           {"adjoint", job.is_adjoint()},    {"x", json_of(spec.grid.x)},
           {"y", json_of(spec.grid.y)},      {"radii", spec.radii},
           {"fields", batches.n_fields},     {"fields_of_batch", batches.size},
           {"batches", batches.count()}};
  for (const Keyword& keyword : attributes_of(job)) {
    if (const auto* number = std::get_if<std::int64_t>(&keyword.value))
      entry[keyword.name] = *number;
  }
  nlohmann::ordered_json& of_plan = run.report["plan"]["gyroaverage"];
  of_plan["radius_parts"] = plan.radius_parts;
  of_plan["field_parts"] = plan.field_parts;
  of_plan["row_parts"] = plan.row_parts;
  const GyroTraffic traffic = traffic_of(job, plan, run.comm.rank());
  of_plan["halo_bytes_of_field"] =
      run.comm.sum(traffic.halo) / (plan.radius_parts * plan.field_parts);
  of_plan["added_bytes_of_average"] = run.comm.max(traffic.row_sums);
  of_plan["block_bytes_of_sum"] = run.comm.sum(traffic.blocks);
  of_plan["table_bytes"] = run.comm.max(batches.bytes.tables);
  if (spec.backend == Backend::cuda) of_plan["device_bytes"] = run.comm.max(batches.bytes.device);
  of_plan["reason"] = plan.reason;
  record_memory(run, batches.memory);
  if (plan.n_idle() > 0 && spec.method == GyroMethod::dct) {
    run.warn(fmt::format("{} of {} ranks have nothing to do, because {}; start {}", plan.n_idle(),
                         plan.n_ranks, plan.idle_reason, plan.n_busy()));
  }
  if (run.options.dry_run || run.options.verbose) print_plan(run, job, batches);
  record_files(run, {1, bytes_of_file(job.input), 1, bytes_of_file(job.output)});
}

void record_gyro_errors(Run& run, const GyroJob& job, const GyroErrors& errors) {
  nlohmann::ordered_json& entry = run.report["gyroaverage"];
  const double indicator = errors.indicator;
  const bool is_dct = job.spec.method == GyroMethod::dct;
  if (has_indicator(job)) entry["error_indicator"] = indicator;
  if (errors.estimated) {
    entry["estimated_error"] = *errors.estimated;
    const std::string text =
        fmt::format("estimated error: {:.2g} of the largest average", *errors.estimated);
    *errors.estimated > estimate_worth_a_warning ? run.warn(text + "; use more nodes")
                                                 : run.print_line(text);
  }
  if (indicator <= worth_a_warning) return;
  run.warn(is_dct
               ? fmt::format("at the edge the fields reach {:.2g} of their largest value, and dct "
                             "has errors of that size; use --method bicubic or chebyshev",
                             indicator)
               : fmt::format("the coefficients of the highest tenth of degrees reach {:.2g} of the "
                             "largest, an error to expect; use more nodes",
                             indicator));
}

std::vector<Keyword> attributes_of(const GyroJob& job, const GyroErrors& errors) {
  std::vector<Keyword> attributes;
  if (has_indicator(job)) {
    attributes.push_back({"error_indicator", errors.indicator,
                          job.spec.method == GyroMethod::dct
                              ? "largest value at the edge over the largest"
                              : "coefficients of the highest tenth of degrees over the largest"});
  }
  if (errors.estimated) {
    attributes.push_back(
        {"estimated_error", *errors.estimated, "from every second node, over the largest average"});
  }
  return attributes;
}

void record_gyroaverages(Run& run, const GyroJob& job, std::int64_t halo_bytes_sent,
                         Gyroaverage& gyroaverage) {
  for (const auto& [stage, entry] : gyroaverage.times().entries())
    run.times.add(stage, entry.seconds);
  nlohmann::ordered_json& entry = run.report["gyroaverage"];
  entry["halo_bytes_sent"] = halo_bytes_sent;
  entry["table_and_scratch_bytes"] = over_ranks(run.comm, static_cast<double>(gyroaverage.bytes()));
  run.bytes_read += static_cast<std::int64_t>(bytes_of_file(job.input));
}

}  // namespace ringweave::detail::inline app
