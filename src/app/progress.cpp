// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace ringweave::detail::inline app {
namespace {

/// mpirun gives ranks a pseudo-terminal for stdout even when its own is a file, but passes stderr
/// through a pipe, so only stderr is checked.
bool someone_watches() {
  for (const char* batch : {"SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "CI"}) {
    if (std::getenv(batch) != nullptr) return false;
  }
  return isatty(STDERR_FILENO) != 0;
}

std::string duration(double seconds) {
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const long whole = static_cast<long>(seconds + 0.5);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace

Progress::Progress(Mode mode, bool is_root)
    : active_(is_root && (mode == Mode::on || (mode == Mode::automatic && someone_watches()))) {}

Progress::~Progress() { finish(); }

void Progress::line(const std::string& text) const { fmt::print(stderr, "\r\033[K{}", text); }

void Progress::stage(const std::string& name) {
  finish();
  stage_ = name;
  start_ = Clock::now();
  if (active_) line(name + " ...");
}

void Progress::step(int done, int total, const std::string& note) {
  if (!active_ || stage_.empty()) return;
  const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
  const std::string left =
      done > 0 ? fmt::format(", {} left", duration(seconds / done * (total - done))) : "";
  line(fmt::format("{}: {}/{}{}{}{}", stage_, done, total, left, note.empty() ? "" : ", ", note));
}

void Progress::finish() {
  if (active_ && !stage_.empty()) {
    line(fmt::format("{}: {}\n", stage_,
                     duration(std::chrono::duration<double>(Clock::now() - start_).count())));
  }
  stage_.clear();
}

}  // namespace ringweave::detail::inline app
