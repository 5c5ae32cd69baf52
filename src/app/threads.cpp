// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/threads.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <pthread.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <mutex>
#include <string_view>
#include <thread>
#include <vector>

#include "app/predict/memory_estimate.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

// Transforms need up to 100 KiB, pictures and FITS files too.
constexpr std::int64_t least_stack_bytes = std::int64_t{256} << 10;

std::string_view without_spaces(std::string_view text) {
  constexpr std::string_view spaces = " \t";
  const std::size_t begin = std::min(text.size(), text.find_first_not_of(spaces));
  text.remove_prefix(begin);
  return text.substr(0, text.find_last_not_of(spaces) + 1);
}

/// Takes a number of 1 or more from the beginning of a text; the largest one where it is above.
std::optional<std::int64_t> take_number(std::string_view& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc::result_out_of_range) value = std::numeric_limits<std::int64_t>::max();
  if (error == std::errc::invalid_argument || value < 1) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

std::string text_of_variable(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? "" : text;
}

/// Stacks of the threads of OpenMP, and what sets their size.
struct Stacks {
  std::int64_t bytes;
  std::string set_by;
};

Stacks stacks_of_openmp() {
  for (const char* name : {"OMP_STACKSIZE", "GOMP_STACKSIZE"}) {
    const std::string text = text_of_variable(name);
    if (const auto bytes = bytes_of_stack_size(text))
      return {*bytes, fmt::format("{}={}", name, text)};
  }
  pthread_attr_t usual;
  std::size_t bytes = 0;
  if (::pthread_getattr_default_np(&usual) != 0) return {least_stack_bytes, ""};
  ::pthread_attr_getstacksize(&usual, &bytes);
  ::pthread_attr_destroy(&usual);
  return {static_cast<std::int64_t>(bytes), "ulimit -s"};
}

void require_stack(const Stacks& stack) {
  if (stack.bytes >= least_stack_bytes) return;
  throw ResourceError(fmt::format("stacks of {} ({}) are too small; give {} or more",
                                  bytes_text(static_cast<double>(stack.bytes)), stack.set_by,
                                  bytes_text(static_cast<double>(least_stack_bytes))));
}

/// The stack of this thread, which grows up to the limit.
Stacks stack_of_process() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur > least_stack_bytes)
    return {least_stack_bytes, ""};
  return {static_cast<std::int64_t>(limit.rlim_cur), "ulimit -s"};
}

/// Threads that wait until the object ends.
class WaitingThreads {
 public:
  WaitingThreads() : closed_(gate_) {}
  WaitingThreads(const WaitingThreads&) = delete;
  WaitingThreads& operator=(const WaitingThreads&) = delete;
  ~WaitingThreads() {
    closed_.unlock();
    for (const pthread_t thread : threads_) ::pthread_join(thread, nullptr);
  }

  std::int64_t count() const { return static_cast<std::int64_t>(threads_.size()); }

  /// Starts so many; returns the number of an error (errno), 0 where all were started.
  int start(std::int64_t n, std::int64_t stack_bytes) {
    threads_.reserve(static_cast<std::size_t>(n));
    pthread_attr_t attributes;
    int error = ::pthread_attr_init(&attributes);
    if (error != 0) return error;
    error = ::pthread_attr_setstacksize(&attributes, static_cast<std::size_t>(stack_bytes));
    while (error == 0 && count() < n) {
      pthread_t thread{};
      error = ::pthread_create(&thread, &attributes, wait_at, &gate_);
      if (error == 0) threads_.push_back(thread);
    }
    ::pthread_attr_destroy(&attributes);
    return error;
  }

 private:
  static void* wait_at(void* gate) {
    const std::scoped_lock<std::mutex> lock(*static_cast<std::mutex*>(gate));
    return nullptr;
  }

  std::mutex gate_;
  std::unique_lock<std::mutex> closed_;
  std::vector<pthread_t> threads_;
};

/// A number of threads, and what asks for it.
struct AskedThreads {
  std::int64_t count;
  std::string asked_by;
};

/// Returns what --threads or OMP_NUM_THREADS ask for; otherwise a part of the node's cores.
AskedThreads asked_threads(int option, int ranks_on_node) {
  if (option > 0) return {option, fmt::format("--threads {}", option)};
  if (const std::string text = text_of_variable("OMP_NUM_THREADS"); !text.empty()) {
    const std::string asked_by = fmt::format("OMP_NUM_THREADS={}", text);
    if (const auto count = threads_of_list(text)) return {*count, asked_by};
    throw UsageError(fmt::format(
        "{}: expected a number of threads of 1 or more, or a list such as 4,2", asked_by));
  }
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const int count = std::clamp(cores / ranks_on_node, 1, omp_get_num_procs());
  return {count, fmt::format("{} threads, the cores of this rank", count)};
}

void require_sensible(const AskedThreads& asked) {
  const std::int64_t most =
      std::max<std::int64_t>(1024, std::int64_t{16} * std::thread::hardware_concurrency());
  if (asked.count <= most) return;
  throw UsageError(
      fmt::format("{}: expected at most {} threads on this computer", asked.asked_by, most));
}

void start_all(WaitingThreads& threads, const AskedThreads& asked, const Stacks& stack) {
  // This thread is one of the team.
  const int error = threads.start(asked.count - 1, stack.bytes);
  if (error == 0) return;
  throw ResourceError(fmt::format(
      "{}: of {} more threads with stacks of {} ({}) the system starts {}: {}; give fewer threads "
      "or smaller stacks, or raise the limits (ulimit -u, ulimit -v)",
      asked.asked_by, asked.count - 1, bytes_text(static_cast<double>(stack.bytes)), stack.set_by,
      threads.count(), std::strerror(error)));
}

}  // namespace

std::optional<std::int64_t> threads_of_list(const std::string& text) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  std::int64_t product = 1;
  std::string_view rest = text;
  while (true) {
    rest = without_spaces(rest);
    const std::optional<std::int64_t> number = take_number(rest);
    if (!number) return std::nullopt;
    product = std::min(most, product * std::min(most, *number));
    rest = without_spaces(rest);
    if (rest.empty()) return product;
    if (rest.front() != ',') return std::nullopt;
    rest.remove_prefix(1);
  }
}

std::optional<std::int64_t> bytes_of_stack_size(const std::string& text) {
  constexpr std::string_view units = "bkmg";
  std::string_view rest = without_spaces(text);
  const std::optional<std::int64_t> number = take_number(rest);
  if (!number) return std::nullopt;
  rest = without_spaces(rest);
  if (rest.size() > 1) return std::nullopt;
  const std::size_t unit = rest.empty() ? 1 : units.find(static_cast<char>(rest.front() | 0x20));
  if (unit == std::string_view::npos) return std::nullopt;
  std::int64_t bytes = 0;
  const std::int64_t factor = std::int64_t{1} << (10 * unit);
  return __builtin_mul_overflow(*number, factor, &bytes) ? std::numeric_limits<std::int64_t>::max()
                                                         : bytes;
}

void set_threads(const Communicator& comm, int asked) {
  const int ranks_on_node = comm.node_local().size();
  WaitingThreads threads;
  const auto n_threads = agreed(comm, [&] {
    const AskedThreads wanted = asked_threads(asked, ranks_on_node);
    require_sensible(wanted);
    require_stack(stack_of_process());
    if (wanted.count > 1) {
      const Stacks stack = stacks_of_openmp();
      require_stack(stack);
      start_all(threads, wanted, stack);
    }
    return wanted.count;
  });
  // OpenMP has read its variable itself, with all levels of a list.
  const bool is_in_environment = asked == 0 && !text_of_variable("OMP_NUM_THREADS").empty();
  if (!is_in_environment) omp_set_num_threads(static_cast<int>(n_threads));
}

}  // namespace ringweave::detail::inline app
