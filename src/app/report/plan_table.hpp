// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>

#include "app/predict/file_estimate.hpp"
#include "app/predict/memory_estimate.hpp"
#include "app/run.hpp"
#include "perf_models/estimate.hpp"

namespace ringweave {

/// "3.2 s +- 10 %".
std::string seconds_text(const Estimate& estimate);

/// The rows of a printed plan: of a number of every rank the least, mean, greatest and the sum.
/// Every member is collective.
class PlanTable {
 public:
  /// Prints the heading.
  explicit PlanTable(Run& run);
  void count(const std::string& name, std::int64_t value);
  void bytes(const std::string& name, std::int64_t value);
  /// What any rank has, then the sum, then the seconds that takes.
  void memory(const MemoryEstimate& estimate);

 private:
  void row(const std::string& name, double value, std::string (*text)(double));

  Run& run_;
};

/// Into the plan of the report; also said where a plan is asked for. A run of many maps reads and
/// writes beside its computation and may hide it. Not collective.
void record_files(Run& run, const FileWork& work);

}  // namespace ringweave
