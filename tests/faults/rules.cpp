// SPDX-License-Identifier: GPL-3.0-or-later
// The rules of the environment: which calls they are for, and what happens to these.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <system_error>

#include "faults.hpp"

namespace faults {
namespace {

enum class Action { count, error, less, delay, random_delay, kill, stop };

constexpr std::size_t most_rules = 16, most_calls = 128, most_text = 4096;

/// Counts the calls of one name that have matched a rule.
struct Counter {
  std::atomic<const char*> call;
  std::atomic<std::int64_t> n;
};

struct Rule {
  std::string_view calls, path, from;
  std::int64_t n = 1, rank = -1, milliseconds = 0;
  std::uint64_t seed = 0, size = 0;
  bool sticky = false, has_after = false, while_mpi_runs = false;
  Action action = Action::count;
  int number = 0;  // of an error
  std::atomic<std::int64_t> met = 0;
  std::array<Counter, most_calls> counters;
};

constinit std::array<Rule, most_rules> rules;
std::size_t n_rules = 0;
std::int64_t own_rank = 0;
pid_t own_process = 0;
std::array<char, most_text> rules_text, log_name;
std::atomic<bool> ready, mpi_runs;

[[noreturn]] void refuse(std::string_view text) {
  std::array<char, most_text> message;
  const int size =
      std::snprintf(message.data(), message.size(), "RINGWEAVE_FAULT: not known: %.*s\n",
                    static_cast<int>(text.size()), text.data());
  ::syscall(SYS_write, STDERR_FILENO, message.data(), size);
  ::_exit(99);
}

/// Cuts the part before the separator off the beginning of a text and returns it.
std::string_view cut(std::string_view& text, char separator) {
  const std::size_t end = std::min(text.find(separator), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

template <class Integer>
Integer number_of(std::string_view text) {
  Integer value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) refuse(text);
  return value;
}

/// Returns the number of an error such as EIO.
int errno_of(std::string_view name) {
  constexpr int most_numbers = 256;
  for (int number = 1; number < most_numbers; ++number) {
    const char* const known = ::strerrorname_np(number);
    if (known != nullptr && name == known) return number;
  }
  refuse(name);
}

void read_action(Rule& rule, std::string_view text) {
  const std::string_view name = cut(text, ':');
  if (name == "count") {
    rule.action = Action::count;
  } else if (name == "short") {
    rule.action = Action::less;
  } else if (name == "kill") {
    rule.action = Action::kill;
  } else if (name == "stop") {
    rule.action = Action::stop;
  } else if (name == "delay" || name == "random_delay") {
    rule.action = name == "delay" ? Action::delay : Action::random_delay;
    rule.milliseconds = number_of<std::int64_t>(text);
  } else {
    rule.action = Action::error;
    rule.number = name == "error" ? EIO : errno_of(name);
  }
}

void read_rule(Rule& rule, std::string_view text) {
  while (!text.empty()) {
    std::string_view value = cut(text, ',');
    const std::string_view name = cut(value, '=');
    if (name == "call") {
      rule.calls = value;
    } else if (name == "path") {
      rule.path = value;
    } else if (name == "from") {
      rule.from = value;
    } else if (name == "n") {
      rule.n = number_of<std::int64_t>(value);
    } else if (name == "rank") {
      rule.rank = number_of<std::int64_t>(value);
    } else if (name == "seed") {
      rule.seed = number_of<std::uint64_t>(value);
    } else if (name == "size") {
      rule.size = number_of<std::uint64_t>(value);
    } else if (name == "sticky") {
      rule.sticky = value == "1";
    } else if (name == "after" && (value == "start" || value == "mpi_init")) {
      rule.has_after = true;
      rule.while_mpi_runs = value == "mpi_init";
    } else if (name == "act") {
      read_action(rule, value);
    } else {
      refuse(name);
    }
  }
  if (rule.calls.empty()) refuse("a rule without call");
}

bool is_of_mpi(std::string_view call) { return call.starts_with("MPI_"); }
bool is_of_memory(std::string_view call) { return call == "malloc" || call == "mmap"; }

bool names(std::string_view list, std::string_view call) {
  while (!list.empty()) {
    const std::string_view name = cut(list, '|');
    if (name == call) return true;
    if (name == "mpi" && is_of_mpi(call)) return true;
    if (name == "posix" && !is_of_mpi(call) && !is_of_memory(call)) return true;
  }
  return false;
}

/// Writes the absolute path of a target, as far as it has one, and returns it.
std::string_view path_of(const Target& target, std::array<char, most_text>& text) {
  std::size_t size = 0;
  if (target.path == nullptr || (target.path[0] != '/' && target.descriptor != AT_FDCWD)) {
    std::array<char, 64> link;
    std::snprintf(link.data(), link.size(), "/proc/self/fd/%d", target.descriptor);
    const ssize_t read = ::readlink(link.data(), text.data(), text.size());
    size = read < 0 ? 0 : static_cast<std::size_t>(read);
  } else if (target.path[0] != '/' && ::getcwd(text.data(), text.size()) != nullptr) {
    size = std::strlen(text.data());
  }
  if (target.path != nullptr) {
    const std::string_view name(target.path);
    if (size > 0 && size < text.size()) text[size++] = '/';
    size += name.copy(text.data() + size, text.size() - size);
  }
  return {text.data(), size};
}

/// Tells whether the object that holds this address has a name with one of these parts.
bool comes_from(const void* address, std::string_view list) {
  Dl_info object;
  if (address == nullptr || ::dladdr(address, &object) == 0 || object.dli_fname == nullptr)
    return false;
  std::string_view name(object.dli_fname);
  name.remove_prefix(name.rfind('/') + 1);
  while (!list.empty()) {
    if (name.find(cut(list, '|')) != std::string_view::npos) return true;
  }
  return false;
}

bool matches(const Rule& rule, const char* call, const Target& target) {
  if ((rule.rank >= 0 && rule.rank != own_rank) || !names(rule.calls, call)) return false;
  const bool waits_for_mpi =
      rule.has_after ? rule.while_mpi_runs : is_of_mpi(call) || is_of_memory(call);
  if ((waits_for_mpi && !mpi_runs) || target.bytes < rule.size) return false;
  if (!rule.from.empty() && !comes_from(target.caller, rule.from)) return false;
  if (rule.path.empty()) return true;
  std::array<char, most_text> text;
  return path_of(target, text).find(rule.path) != std::string_view::npos;
}

void append_to_log(const char* line, int size) {
  if (log_name[0] == '\0' || size < 0) return;
  const long file = ::syscall(SYS_openat, AT_FDCWD, log_name.data(),
                              O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (file < 0) return;
  ::syscall(SYS_write, file, line, size);
  ::syscall(SYS_close, file);
}

void tell_fault(const Rule& rule, const char* call, const Target& target) {
  std::array<char, most_text> path, line;
  const std::string_view name =
      target.descriptor == -1 && target.path == nullptr ? "" : path_of(target, path);
  append_to_log(
      line.data(),
      std::snprintf(line.data(), line.size(), "fault rank=%ld call=%s n=%ld path=%.*s\n",
                    static_cast<long>(own_rank), call, static_cast<long>(rule.n),
                    static_cast<int>(std::min<std::size_t>(name.size(), 3900)), name.data()));
}

void count(Rule& rule, const char* call) {
  for (Counter& counter : rule.counters) {
    const char* name = nullptr;
    if (counter.call.compare_exchange_strong(name, call)) name = call;
    if (std::strcmp(name, call) == 0) {
      ++counter.n;
      return;
    }
  }
}

void wait_for(std::int64_t microseconds) {
  constexpr std::int64_t in_a_second = 1000000;
  timespec pause{microseconds / in_a_second, microseconds % in_a_second * 1000};
  while (::nanosleep(&pause, &pause) != 0) {
  }
}

/// Returns a number that depends on the seed, the rank and the number of the call (splitmix64).
std::uint64_t random_number(std::uint64_t seed, std::uint64_t rank, std::uint64_t n) {
  std::uint64_t x = (seed * 1000003 + rank) * 1000003 + n + 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/// Does what a rule says for the n-th call that matches it.
Fault apply(const Rule& rule, std::int64_t n) {
  switch (rule.action) {
    case Action::count: break;
    case Action::error: return {Fault::Kind::error, rule.number};
    case Action::less: return {Fault::Kind::less, 0};
    case Action::delay: wait_for(rule.milliseconds * 1000); break;
    case Action::random_delay:
      wait_for(
          static_cast<std::int64_t>(random_number(rule.seed, static_cast<std::uint64_t>(own_rank),
                                                  static_cast<std::uint64_t>(n)) %
                                    (static_cast<std::uint64_t>(rule.milliseconds) * 1000 + 1)));
      break;
    case Action::kill: ::kill(::getpid(), SIGKILL); break;
    case Action::stop: ::kill(::getpid(), SIGSTOP); break;
  }
  return {};
}

void copy_variable(const char* name, std::array<char, most_text>& text) {
  const char* const value = std::getenv(name);
  if (value == nullptr) return;
  const std::size_t size = std::strlen(value);
  if (size >= text.size()) refuse(name);
  std::memcpy(text.data(), value, size + 1);
}

std::int64_t rank_of_process() {
  for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr) return number_of<std::int64_t>(value);
  }
  return 0;
}

/// Reads the rules before main().
__attribute__((constructor)) void read_rules() {
  copy_variable("RINGWEAVE_FAULT", rules_text);
  copy_variable("RINGWEAVE_FAULT_LOG", log_name);
  own_rank = rank_of_process();
  own_process = ::getpid();
  std::string_view text(rules_text.data());
  while (!text.empty()) {
    if (n_rules == most_rules) refuse("more rules than 16");
    read_rule(rules[n_rules++], cut(text, ';'));
  }
  ready = true;
}

/// Writes the counts at the end. A child that was forked has none of its own.
__attribute__((destructor)) void write_counts() {
  ready = false;
  if (::getpid() != own_process) return;
  for (std::size_t i = 0; i < n_rules; ++i) {
    for (const Counter& counter : rules[i].counters) {
      if (counter.call == nullptr) break;
      std::array<char, 200> line;
      append_to_log(line.data(),
                    std::snprintf(line.data(), line.size(), "count rank=%ld call=%s n=%ld\n",
                                  static_cast<long>(own_rank), counter.call.load(),
                                  static_cast<long>(counter.n.load())));
    }
  }
}

}  // namespace

void set_mpi_runs(bool runs) { mpi_runs = runs; }

Fault meet(const char* call, const Target& target) {
  if (!ready) return {};
  const int kept = errno;
  Fault fault;
  for (std::size_t i = 0; i < n_rules && fault.kind == Fault::Kind::none; ++i) {
    Rule& rule = rules[i];
    if (!matches(rule, call, target)) continue;
    const std::int64_t n = ++rule.met;
    if (rule.action == Action::count) count(rule, call);
    if (rule.action == Action::count || n < rule.n || (n > rule.n && !rule.sticky)) continue;
    if (n == rule.n) tell_fault(rule, call, target);
    fault = apply(rule, n);
  }
  errno = kept;
  return fault;
}

}  // namespace faults
