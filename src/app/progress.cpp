// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/progress.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/activity.hpp"
#include "base/terminal.hpp"

namespace ringweave::detail::inline app {
namespace {

constexpr double seconds_between_lines = 30;

/// Opens the terminal that mpirun was started from in the foreground; null where there is none. Its
/// ranks are a process group of their own and have its pipe as stderr.
std::FILE* open_terminal_of_mpirun() {
  struct stat status {};
  if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr && std::getenv("PMI_SIZE") == nullptr)
    return nullptr;
  if (::fstat(STDERR_FILENO, &status) != 0 || !S_ISFIFO(status.st_mode)) return nullptr;
  std::FILE* terminal = std::fopen("/dev/tty", "w");
  if (terminal == nullptr) return nullptr;
  const int number = ::fileno(terminal);
  termios settings{};
  // With TOSTOP a background process group would be stopped by its first line.
  const bool is_usable = ::tcgetattr(number, &settings) == 0 && (settings.c_lflag & TOSTOP) == 0 &&
                         ::tcgetpgrp(number) == ::getpgid(::getppid());
  if (is_usable) return terminal;
  std::fclose(terminal);
  return nullptr;
}

std::string duration(double seconds) {
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const long whole = static_cast<long>(seconds + 0.5);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace

Progress::Progress(Mode mode, bool is_root) {
  if (!is_root || mode == Mode::off) return;
  style_ = Style::log;
  log_seconds_ = mode == Mode::on ? 0 : seconds_between_lines;
  if (::isatty(STDERR_FILENO) != 0) {
    style_ = Style::line;
  } else if (std::FILE* terminal = open_terminal_of_mpirun(); terminal != nullptr) {
    style_ = Style::line;
    terminal_.reset(terminal);
    out_ = terminal;
  }
}

Progress::Progress(Style style, std::FILE* out, double seconds)
    : style_(style), out_(out), log_seconds_(seconds) {}

Progress::~Progress() { finish(); }

double Progress::seconds_of_stage() const {
  return std::chrono::duration<double>(Clock::now() - start_).count();
}

void Progress::show(const std::string& text, const char* end) {
  const std::string shown = terminal_text(text);
  if (style_ == Style::line) std::fputs(("\r\033[K" + shown + end).c_str(), out_);
  if (style_ == Style::log) {
    const Clock::time_point now = Clock::now();
    if (std::chrono::duration<double>(now - logged_).count() < log_seconds_) return;
    logged_ = now;
    std::fputs((shown + '\n').c_str(), out_);
  }
  std::fflush(out_);
}

void Progress::stage(const std::string& name) {
  finish();
  Activity::of_process().name_work(name);
  stage_ = name;
  start_ = Clock::now();
  show(name + " ...", "");
}

void Progress::step(std::int64_t done, std::int64_t total, const std::string& note) {
  Activity::of_process().step();
  if (style_ == Style::silent || stage_.empty()) return;
  stepped_ = Clock::now();
  const std::string left =
      done > 0 ? fmt::format(", {} left", duration(seconds_of_stage() / static_cast<double>(done) *
                                                   static_cast<double>(total - done)))
               : "";
  show(fmt::format("{}: {}/{}{}{}{}", stage_, done, total, left, note.empty() ? "" : ", ", note),
       "");
}

void Progress::short_step(std::int64_t done, std::int64_t total) {
  Activity::of_process().step();
  if (Clock::now() >= std::max(stepped_, start_) + std::chrono::seconds(1)) step(done, total);
}

void Progress::finish() {
  if (stage_.empty()) return;
  show(fmt::format("{}: {}", stage_, duration(seconds_of_stage())), "\n");
  stage_.clear();
  Activity::of_process().name_work("");
}

}  // namespace ringweave::detail::inline app
