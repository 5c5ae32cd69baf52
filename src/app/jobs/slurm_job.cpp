// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/jobs/slurm_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <sstream>
#include <utility>

#include "app/jobs/job_templates.hpp"
#include "app/predict/memory_estimate.hpp"
#include "ringweave/error.hpp"
#include "ringweave/transform.hpp"
#include "transform/device_memory_plan.hpp"
#include "transform/transform_estimate.hpp"

namespace ringweave::detail::inline app {
namespace {

std::string filled(const std::string& line, const std::vector<JobLine>& values) {
  const auto holds = [&](const JobLine& value) { return line.starts_with(value.begin); };
  const auto found = std::find_if(values.begin(), values.end(), holds);
  if (found == values.end()) return line;
  if (std::find_if(found + 1, values.end(), holds) != values.end())
    throw InternalError("two values for one line of a job: " + line);
  return found->begin + found->value;
}

/// Resident of a rank before it has any data, the libraries' buffers for messages included.
constexpr std::int64_t program_bytes = std::int64_t{64} << 20;

}  // namespace

std::vector<std::string> job_names() {
  std::vector<std::string> names;
  for (const JobTemplate& job : job_templates) names.emplace_back(job.name);
  return names;
}

std::string job_script(std::string_view name, const std::vector<JobLine>& lines) {
  const auto job = std::find_if(job_templates.begin(), job_templates.end(),
                                [&](const JobTemplate& j) { return j.name == name; });
  if (job == job_templates.end()) throw InternalError("no job of the name " + std::string(name));
  std::istringstream text{std::string(job->text)};
  std::string script;
  for (std::string line; std::getline(text, line);) script += filled(line, lines) + '\n';
  return script;
}

JobPrediction predict_job(const TransformScaling& scaling, const TransformSpec& spec,
                          const JobWork& work, int n_ranks, const ScalingPlace& place,
                          const Machine& machine) {
  const TransformShares shares = scaling.shares(n_ranks);
  TransformWork transform = shares.largest;
  transform.n_threads = place.n_threads;
  transform.place = place.place;
  transform.on_device = place.on_device;
  JobPrediction prediction;
  prediction.largest_bytes = shares.largest_bytes + (work.n_maps_held - 1 + work.n_residual_maps) *
                                                        transform.fft_pixel_bytes;
  prediction.transforms =
      (work.n_transforms - work.n_on_spectra) * estimate_transform(transform, machine).total() +
      work.n_on_spectra * estimate_transform(on_spectra(transform), machine).total();

  const auto memory = static_cast<double>(prediction.largest_bytes);
  const double map_bytes =
      static_cast<double>(spec.grid->n_pixels() * spec.fields.n_components()) * sizeof(double);
  prediction.whole = prediction.transforms + estimate_planning(spec, machine) +
                     1.0 / place.n_threads * machine.new_memory.estimate(memory, memory) +
                     predict_files(machine, {work.n_maps_read, map_bytes, 1, map_bytes});
  return prediction;
}

std::int64_t largest_device_bytes(const TransformSpec& spec, int n_ranks) {
  const int n_plans = std::min(n_ranks, most_device_plans);
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < n_plans; ++i) {
    const auto rank = static_cast<int>(i * n_ranks / n_plans);
    most = std::max(most, plan_device_memory(TransformPlan(spec, rank, n_ranks)).total());
  }
  return most;
}

std::int64_t node_bytes(const JobPrediction& prediction, int n_ranks) {
  return n_ranks * (prediction.largest_bytes + program_bytes) / 5 * 6;
}

double slurm_seconds(const std::string& text, const std::string& option) {
  static const std::regex format("(?:(\\d{1,4})-)?(\\d{1,6})(?::(\\d{1,2}))?(?::(\\d{1,2}))?");
  std::smatch parts;
  if (!std::regex_match(text, parts, format)) {
    throw UsageError(fmt::format(
        "{} {}: expected a limit such as 90 (minutes), 02:00:00 or 1-12:00:00", option, text));
  }
  const auto number = [&](std::size_t i) {
    return parts[i].matched ? std::stod(parts[i].str()) : 0.0;
  };
  if (parts[1].matched) return ((number(1) * 24 + number(2)) * 60 + number(3)) * 60 + number(4);
  if (parts[4].matched) return (number(2) * 60 + number(3)) * 60 + number(4);
  return number(2) * 60 + number(3);
}

std::string slurm_time(double seconds) {
  const auto minutes = static_cast<std::int64_t>(std::ceil(seconds / 60));
  const std::int64_t days = minutes / (24 * 60);
  return fmt::format("{}{:02}:{:02}:00", days > 0 ? fmt::format("{}-", days) : "",
                     minutes / 60 % 24, minutes % 60);
}

std::string duration_text(double seconds) {
  const auto [unit, name] = seconds < 100    ? std::pair{1.0, "s"}
                            : seconds < 6000 ? std::pair{60.0, "min"}
                                             : std::pair{3600.0, "h"};
  const double value = seconds / unit;
  return value < 99.5 ? fmt::format("{:.2g} {}", value, name)
                      : fmt::format("{:.0f} {}", value, name);
}

}  // namespace ringweave::detail::inline app
