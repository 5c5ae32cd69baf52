// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/predict/file_estimate.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/report/plan_table.hpp"

namespace ringweave {

Estimate predict_files(const Machine& machine, const FileWork& work) {
  const auto all = [](std::int64_t n, const CostCurve& curve, double bytes) {
    return static_cast<double>(n) * curve.estimate(bytes, bytes);
  };
  return all(work.n_read, machine.file_read, work.read_bytes) +
         all(work.n_written, machine.file_write, work.written_bytes);
}

void record_files(Run& run, const FileWork& work) {
  const Estimate files = predict_files(run.machine, work);
  run.report["plan"]["predicted_file_seconds"] = files.seconds;
  if (run.options.dry_run || run.options.verbose)
    run.say(fmt::format("  predicted: {} for files, as HDF5", seconds_text(files)));
}

}  // namespace ringweave
