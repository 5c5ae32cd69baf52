// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <vector>

#include "app/predict/memory_estimate.hpp"
#include "app/run.hpp"
#include "ringweave/alm.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline app {

/// Work on a_lm alone, without a map.
struct AlmPlan {
  const AlmLayout& layout;  ///< of this rank
  std::int64_t n_components = 1;
  Precision precision = Precision::double_;
  std::int64_t n_held = 1;                  ///< sets of a_lm in memory at once
  std::vector<MemoryItem> extra_buffers{};  ///< others in memory
  std::int64_t n_read = 1, n_written = 1;   ///< a_lm files
};

/// Returns this rank's bytes of one set of a_lm.
std::int64_t bytes_of_alm(const AlmPlan& plan);

/// Returns the blocks of degrees of rotate() with its own options, and the scratch of threads.
MemoryItem rotation_memory(const Communicator& comm, const AlmPlan& plan);

/// Prints the plan where one is asked for, and puts it into the report. Collective.
/// return  the memory, for require_memory()
MemoryEstimate record_plan(Run& run, const AlmPlan& plan);

}  // namespace ringweave::detail::inline app
