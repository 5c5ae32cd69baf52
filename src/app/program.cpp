// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/program.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/command_line.hpp"
#include "app/launcher_check.hpp"
#include "app/maps/stop_request.hpp"
#include "app/predict/machine_choice.hpp"
#include "app/run.hpp"
#include "app/threads.hpp"
#include "base/terminal.hpp"
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

void warn_of_threads(Run& run) {
  const int n_cores = omp_get_num_procs();
  if (run.options.threads <= n_cores) return;
  run.warn(
      fmt::format("--threads {}: there are {} cores for them; more threads than cores are slower, "
                  "and predictions "
                  "are for as many cores as threads",
                  run.options.threads, n_cores));
}

/// Throws a ResourceError where something could not be printed.
void require_printed() {
  const int error = take_output_error();
  if (error == 0) return;
  throw ResourceError(fmt::format(
      "stdout: cannot be written: {}; what this command prints is incomplete, files that it writes "
      "are in place",
      std::strerror(error)));
}

/// Runs the command line and returns the exit code. Throws Errors. `watchdog` is made where it is
/// asked for.
int work(const Communicator& comm, int argc, const char* const* argv,
         std::optional<Watchdog>& watchdog) {
  take_output_error();  // of a command before
  require_full_launch(comm);
  const ParsedCommand parsed = agreed(comm, [&] { return parse_command_line(argc, argv); });
  agree_same(comm, "the command and its options", digest(parsed.used_configuration));
  if (!parsed.text.empty()) {
    if (comm.is_root()) print_output(parsed.text);
    agree(comm, require_printed);
    return 0;
  }
  if (parsed.common.deadline > 0) watchdog.emplace(comm, parsed.common.deadline);
  set_threads(comm, parsed.plans_other_runs ? 0 : parsed.common.threads);
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
  run.outputs.keep(machine_name(run.options.machine));
  run.outputs.keep(parsed.config);
  const int code = parsed.execute(run);
  tell_stages(run);
  write_report(run);
  run.outputs.commit();
  if (!run.conclusion.empty()) run.print_line(run.conclusion);
  agree(comm, require_printed);
  return code;
}

/// Opens the standard streams that are closed: a file that is opened would get the number of one,
/// and what is printed would be written into it. stdout stays one that cannot be written.
void open_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) < 0)
      ::open("/dev/null", stream == STDERR_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace

void prepare_process() {
  open_standard_streams();
  // Without the signal, a write beyond the file size limit fails with an error and a message.
  std::signal(SIGXFSZ, SIG_IGN);
  // Freed blocks of a megabyte and more return to the system at once, so that resident memory is
  // as in the plan.
  mallopt(M_MMAP_THRESHOLD, 1 << 20);
  clean_up_at_signals();
  listen_to_sigusr1();
  // As if it were not set; LLVM's OpenMP aborts.
  if (const char* const threads = std::getenv("OMP_NUM_THREADS"); threads && *threads == '\0')
    unsetenv("OMP_NUM_THREADS");
  // Without a launcher, Open MPI starts a daemon that only programs which start others need. It
  // takes a third of a short command's time, and the end of the run waits for it.
  setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  // Such processes would have one directory for shared memory of ranks. One that ends removes it
  // while another that starts makes its own below, and does not start.
  if (is_singleton()) setenv("OMPI_MCA_orte_create_session_dirs", "0", 0);
}

bool answer_without_mpi(int argc, const char* const* argv) {
  // Others are read once, because --config may name a pipe.
  const std::vector<std::string_view> words(argv + std::min(1, argc), argv + argc);
  constexpr std::array<std::string_view, 5> asks{"-h", "--help", "-V", "--version", "help"};
  const bool asks_for_text =
      words.empty() || std::any_of(words.begin(), words.end(), [&](std::string_view word) {
        return std::find(asks.begin(), asks.end(), word) != asks.end();
      });
  if (!asks_for_text || is_launched()) return false;
  std::string text;
  try {
    text = parse_command_line(argc, argv).text;
  } catch (...) {
    // run_command() meets and reports it again
  }
  if (text.empty()) return false;
  print_output(text);
  require_printed();
  return true;
}

int run_command(const Communicator& comm, int argc, const char* const* argv) {
  std::optional<Watchdog> watchdog;
  return run_program(comm, "ringweave", [&] { return work(comm, argc, argv, watchdog); });
}

}  // namespace ringweave::detail::inline app
