// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/launcher_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include "distribute/mpi/mpi_library.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

std::string variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

int number(const char* name) { return std::atoi(variable(name).c_str()); }
bool is_set(const char* name) { return !variable(name).empty(); }

/// Tells whether a launcher of MPI, mpirun or srun --mpi, started this process.
bool is_rank() {
  constexpr std::array<const char*, 4> names{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMI_RANK",
                                             "PMIX_RANK"};
  return std::any_of(names.begin(), names.end(), is_set);
}

/// Variables with the number of ranks that a launcher started, where this process is one of them.
std::vector<const char*> counts_of_launchers() {
  std::vector<const char*> names{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
  if (is_set("SLURM_STEP_NUM_TASKS")) {
    names.push_back("SLURM_STEP_NUM_TASKS");
  } else if (is_set("SLURM_PROCID") && variable("ENVIRONMENT") != "BATCH") {
    // In a batch script, without srun, one process is right where the job has several tasks.
    names.push_back("SLURM_NTASKS");
  }
  return names;
}

}  // namespace

bool is_launched() { return is_rank() || is_set("SLURM_PROCID"); }

bool is_singleton() {
  const std::vector<const char*> counts = counts_of_launchers();
  return !is_rank() && std::all_of(counts.begin(), counts.end(),
                                   [](const char* name) { return number(name) <= 1; });
}

void require_full_launch(const Communicator& comm) {
  if (comm.size() > 1) return;
  for (const char* name : counts_of_launchers()) {
    const int count = number(name);
    if (count <= 1) continue;
    throw UsageError(fmt::format(
        "{} says that {} ranks were started, but MPI gives this one no others: the launcher is not "
        "that of the MPI in use, {}; use the mpirun of this MPI, or srun with --mpi=pmix (or "
        "unset {} if one rank is right)",
        name, count, mpi_library_version(), name));
  }
}

}  // namespace ringweave::detail::inline app
