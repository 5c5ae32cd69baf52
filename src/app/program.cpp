// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/program.hpp"

#include <fmt/format.h>
#include <malloc.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "app/command_line.hpp"
#include "app/launcher_check.hpp"
#include "app/maps/stop_request.hpp"
#include "app/predict/machine_choice.hpp"
#include "app/run.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/collective_exit.hpp"
#include "distribute/mpi/watchdog.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline app {
namespace {

Progress::Mode progress_mode(const std::string& name) {
  return name == "on"    ? Progress::Mode::on
         : name == "off" ? Progress::Mode::off
                         : Progress::Mode::automatic;
}

std::int64_t digest(const std::string& text) {
  return static_cast<std::int64_t>(std::hash<std::string>{}(text));
}

/// Sets the number of threads: --threads, else OMP_NUM_THREADS, else this rank's share of the node.
/// Without either, every rank of an unbound job would start as many threads as the node has cores.
void set_threads(const Communicator& comm, int asked) {
  const int ranks_on_node = comm.node_local().size();
  if (asked > 0) {
    omp_set_num_threads(asked);
  } else if (std::getenv("OMP_NUM_THREADS") == nullptr) {
    const int cores = static_cast<int>(std::thread::hardware_concurrency());
    omp_set_num_threads(std::clamp(cores / ranks_on_node, 1, omp_get_num_procs()));
  }
}

void warn_of_threads(Run& run) {
  const int n_cores = omp_get_num_procs();
  if (run.options.threads <= n_cores) return;
  run.warn(
      fmt::format("--threads {}: there are {} cores for them; more threads than cores are slower, "
                  "and predictions "
                  "are for as many cores as threads",
                  run.options.threads, n_cores));
}

/// Runs the command line and returns the exit code. Throws Errors. `watchdog` is made where it is
/// asked for.
int work(const Communicator& comm, int argc, const char* const* argv,
         std::optional<Watchdog>& watchdog) {
  require_full_launch(comm);
  const ParsedCommand parsed = agreed(comm, [&] { return parse_command_line(argc, argv); });
  agree_same(comm, "the command and its options", digest(parsed.used_configuration));
  if (!parsed.text.empty()) {
    if (comm.is_root()) fmt::print("{}\n", parsed.text);
    return 0;
  }
  if (parsed.common.deadline > 0) watchdog.emplace(comm, parsed.common.deadline);
  set_threads(comm, parsed.common.threads);
  Run run{comm,
          parsed.common,
          parsed.command_line,
          parsed.used_configuration,
          choose_machine(comm, parsed.common.machine),
          Progress(progress_mode(parsed.common.progress), comm.is_root()),
          {},
          {},
          Outputs(comm,
                  parsed.common.overwrite || parsed.resumes ? IfExists::overwrite : IfExists::fail),
          0,
          {}};
  if (!parsed.plans_other_runs) warn_of_threads(run);
  run.outputs.announce(run.options.report, OutputContent::report);
  run.outputs.keep(run.options.machine);
  const int code = parsed.execute(run);
  tell_stages(run);
  write_report(run);
  run.outputs.commit();
  if (!run.conclusion.empty()) run.print_line(run.conclusion);
  return code;
}

}  // namespace

void prepare_process() {
  // Without the signal, a write beyond the file size limit fails with an error and a message.
  std::signal(SIGXFSZ, SIG_IGN);
  // Freed blocks of a megabyte and more return to the system at once, so that resident memory is
  // as in the plan.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  clean_up_at_signals();
  listen_to_sigusr1();
  // Without a launcher, Open MPI starts a daemon that only programs which start others need. It
  // takes a third of a short command's time, and the end of the run waits for it.
  setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  // Such processes would have one directory for shared memory of ranks. One that ends removes it
  // while another that starts makes its own below, and does not start.
  if (is_singleton()) setenv("OMPI_MCA_orte_create_session_dirs", "0", 0);
}

bool answer_without_mpi(int argc, const char* const* argv) {
  // Others are read once, because --config may name a pipe.
  const std::vector<std::string_view> words(argv + 1, argv + argc);
  constexpr std::array<std::string_view, 5> asks{"-h", "--help", "-V", "--version", "help"};
  const bool asks_for_text =
      words.empty() || std::any_of(words.begin(), words.end(), [&](std::string_view word) {
        return std::find(asks.begin(), asks.end(), word) != asks.end();
      });
  if (!asks_for_text || is_launched()) return false;
  try {
    const std::string text = parse_command_line(argc, argv).text;
    if (text.empty()) return false;
    fmt::print("{}\n", text);
    return true;
  } catch (...) {
    return false;  // run_command() meets and reports it again
  }
}

int run_command(const Communicator& comm, int argc, const char* const* argv) {
  std::optional<Watchdog> watchdog;
  return run_program(comm, "ringweave", [&] { return work(comm, argc, argv, watchdog); });
}

}  // namespace ringweave::detail::inline app
