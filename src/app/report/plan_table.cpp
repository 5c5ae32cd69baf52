// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/plan_table.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace ringweave::detail::inline app {

std::string seconds_text(const Estimate& estimate) {
  const double percent = estimate.seconds > 0 ? 100 * estimate.sigma / estimate.seconds : 0;
  return fmt::format("{:.2g} s +- {:.0f} %", estimate.seconds, percent);
}

PlanTable::PlanTable(Run& run) : run_(run) {
  run.print_line(
      fmt::format("  {:<36}{:>14}{:>14}{:>14}{:>14}", "per rank", "min", "mean", "max", "sum"));
}

void PlanTable::row(const std::string& name, double value, std::string (*text)(double)) {
  const Communicator& comm = run_.comm;
  const double least = comm.min(value);
  const double most = comm.max(value);
  const double sum = comm.sum(value);
  run_.print_line(fmt::format("  {:<36}{:>14}{:>14}{:>14}{:>14}", name, text(least),
                              text(sum / comm.size()), text(most), text(sum)));
}

void PlanTable::count(const std::string& name, std::int64_t value) {
  row(name, static_cast<double>(value), [](double x) { return fmt::format("{:.0f}", x); });
}

void PlanTable::bytes(const std::string& name, std::int64_t value) {
  row(name, static_cast<double>(value), bytes_text);
}

void PlanTable::memory(const MemoryEstimate& estimate) {
  for (const MemoryItem& item : estimate.items) {
    if (run_.comm.sum(item.bytes) > 0) bytes(item.name, item.bytes);
  }
  bytes("memory high-water", estimate.total());
  run_.print_line(fmt::format("  predicted: {} for new memory",
                              seconds_text(predict_allocation(run_.comm, run_.machine, estimate))));
}

void record_memory(Run& run, const MemoryEstimate& estimate) {
  nlohmann::ordered_json& plan = run.report["plan"];
  plan["memory_high_water_bytes"] = run.comm.sum(estimate.total());
  plan["buffers_high_water_bytes"] = run.comm.sum(estimate.buffers());
  plan["predicted_memory_seconds"] = predict_allocation(run.comm, run.machine, estimate).seconds;
}

void record_files(Run& run, const FileWork& work) {
  const Estimate files = predict_files(run.machine, work);
  run.report["plan"]["predicted_file_seconds"] = files.seconds;
  if (run.options.dry_run || run.options.verbose)
    run.print_line(fmt::format("  predicted: {} for files, as HDF5", seconds_text(files)));
}

}  // namespace ringweave::detail::inline app
