// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/alm_plan.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>

#include "app/report/plan_table.hpp"
#include "app/transform_setup.hpp"
#include "io/hdf5/rows.hpp"

namespace ringweave::detail::inline app {

namespace {

/// Returns the memory for one read of a file, in the order of the file and in that of the ranks.
MemoryItem file_window(const Communicator& comm, const AlmPlan& plan) {
  const std::int64_t width = 2 * plan.n_components;
  const std::int64_t n_alm = AlmLayout::full_size(plan.layout.lmax(), plan.layout.mmax());
  const std::int64_t rows =
      std::min(Hdf5Limits{}.numbers_per_call / width, (n_alm + comm.size() - 1) / comm.size());
  constexpr std::int64_t n_copies = 3;
  constexpr std::int64_t bytes_of_addresses = 32;
  return {"part of a file",
          rows * (n_copies * width * std::int64_t{sizeof(double)} + bytes_of_addresses)};
}

}  // namespace

std::int64_t bytes_of_alm(const AlmPlan& plan) {
  return 2 * plan.n_components * bytes_of(plan.precision) * plan.layout.size();
}

MemoryItem rotation_memory(const Communicator& comm, const AlmPlan& plan) {
  const int lmax = plan.layout.lmax();
  const std::int64_t element = 2 * plan.n_components * bytes_of(plan.precision);
  const std::int64_t eighth = AlmLayout::full_size(lmax, lmax) / comm.size() * element / 8;
  // Each thread has a degree of its own, which is the least that a block holds.
  const std::int64_t degrees = omp_get_max_threads() * (lmax + std::int64_t{1}) * element;
  const int n_buffers = comm.size() == 1 ? 1 : 2;
  return {"degrees that are rotated", std::max(eighth, n_buffers * degrees) + degrees};
}

MemoryEstimate record_plan(Run& run, const AlmPlan& plan) {
  MemoryEstimate estimate = with_program(
      {{plan.n_held > 1 ? "a_lm of two files" : "a_lm", plan.n_held * bytes_of_alm(plan)}});
  estimate.items.insert(estimate.items.end(), plan.extra_buffers.begin(), plan.extra_buffers.end());
  estimate.items.push_back(file_window(run.comm, plan));
  record_memory(run, estimate);
  if (run.options.dry_run || run.options.verbose) {
    run.print_line(
        fmt::format("plan: a_lm, lmax {}, mmax {}, {} component(s), {} rank(s) x {} thread(s)",
                    plan.layout.lmax(), plan.layout.mmax(), plan.n_components, run.comm.size(),
                    omp_get_max_threads()));
    PlanTable table(run);
    table.count("orders m", plan.layout.n_orders());
    table.memory(estimate);
  }
  const auto all =
      static_cast<double>(AlmLayout::full_size(plan.layout.lmax(), plan.layout.mmax()) * 2 *
                          plan.n_components * bytes_of(plan.precision));
  record_files(run, {plan.n_read, all, plan.n_written, all});
  return estimate;
}

}  // namespace ringweave::detail::inline app
