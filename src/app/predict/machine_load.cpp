// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/predict/machine_load.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>

namespace ringweave::detail::inline app {
namespace {

/// Returns the number of a line "cpu7 ..."; nothing for other lines.
std::optional<int> processor_of(const std::string& word) {
  constexpr std::size_t begin = 3;  // "cpu"
  int number = 0;
  const char* const end = word.data() + word.size();
  if (!word.starts_with("cpu") || word.size() == begin) return std::nullopt;
  const auto read = std::from_chars(word.data() + begin, end, number);
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return number;
}

/// Returns the processors that this process may use, as "0 1 5".
std::string own_processors() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (::sched_getaffinity(0, sizeof mask, &mask) != 0) return "";
  std::string text;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(static_cast<std::size_t>(i), &mask)) text += fmt::format("{} ", i);
  }
  return text;
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
}

}  // namespace

ProcessorTicks processor_ticks(const std::string& stat, const std::set<int>& processors) {
  // user, nice, system, idle, waiting for files, two kinds of interrupts, other virtual machines.
  constexpr std::size_t n_kinds = 8;
  constexpr std::size_t idle = 3;
  constexpr std::size_t waiting = 4;
  ProcessorTicks sum;
  std::istringstream lines(stat);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string name;
    words >> name;
    const std::optional<int> processor = processor_of(name);
    if (!processor || !processors.contains(*processor)) continue;
    std::array<double, n_kinds> ticks{};
    for (double& of_kind : ticks) words >> of_kind;
    ++sum.n_processors;
    for (std::size_t kind = 0; kind < n_kinds; ++kind) {
      sum.all += ticks[kind];
      if (kind != idle && kind != waiting) sum.busy += ticks[kind];
    }
  }
  return sum;
}

bool NodeLoad::is_busy() const {
  // Idle systems have a few percent of a processor at work.
  constexpr double least = 0.2;
  constexpr double share = 0.05;
  return others > std::max(least, share * n_processors);
}

std::string NodeLoad::text() const {
  return fmt::format("{:.1f} of {} processor(s)", others, n_processors);
}

NodeLoad load_between(const ProcessorTicks& before, const ProcessorTicks& after, double own_ticks) {
  const double all = after.all - before.all;
  if (!(all > 0)) return {};
  const double foreign = after.busy - before.busy - own_ticks;
  return {std::max(0.0, foreign) / all * after.n_processors, after.n_processors};
}

LoadMeter::LoadMeter(const Communicator& comm) : comm_(comm), node_(comm.node_local()) {
  for (const std::string& of_rank : node_.gather(own_processors())) {
    std::istringstream numbers(of_rank);
    for (int number = 0; numbers >> number;) processors_.insert(number);
  }
  own_begin_ = own_ticks_now();
  begin_ = ticks_now();
}

NodeLoad LoadMeter::load() const {
  const double own = own_ticks_now() - own_begin_;
  const NodeLoad mine = load_between(begin_, ticks_now(), own);
  NodeLoad most{comm_.max(mine.others), mine.n_processors};
  const bool is_of_this_node = mine.others == most.others;
  most.n_processors =
      static_cast<int>(comm_.max(std::int64_t{is_of_this_node ? mine.n_processors : 0}));
  return most;
}

ProcessorTicks LoadMeter::ticks_now() const {
  if (!node_.is_root()) return {};
  std::ifstream file("/proc/stat");
  return processor_ticks({std::istreambuf_iterator<char>(file), {}}, processors_);
}

double LoadMeter::own_ticks_now() const {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const double seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  return node_.sum(seconds) * static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace ringweave::detail::inline app
