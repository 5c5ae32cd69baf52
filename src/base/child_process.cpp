// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/child_process.hpp"

#include <fcntl.h>
#include <omp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <mutex>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "base/memory_meter.hpp"

namespace ringweave::detail::inline base {
namespace {

// A child sends whatever its libraries print, then this, how it ended, the kind of its error, the
// message or the result, and this again.
constexpr std::string_view mark =
    "\x1f"
    "end of work\x1f";
constexpr std::size_t most_printed = std::size_t{1} << 16;

/// Less computing than this in the whole time: the child waited for a disk or for other programs.
constexpr double least_cpu_seconds = 0.5;

/// A file descriptor.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int number() const { return number_; }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

/// Held from the pipe of a child until this process has closed its end: another child that starts
/// in between would keep it open.
std::mutex starting;

using Resource = decltype(RLIMIT_CPU);

void limit(Resource resource, std::int64_t most) {
  rlimit limits{};
  if (getrlimit(resource, &limits) != 0) return;
  limits.rlim_cur = std::min(limits.rlim_cur, static_cast<rlim_t>(most));
  setrlimit(resource, &limits);
}

/// Makes the child harmless: within its limits, silent, without the handlers of this program and of
/// MPI, and gone when its parent is.
void prepare_child(int answer, const ChildLimits& limits, std::int64_t used_bytes) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  prctl(PR_SET_DUMPABLE, 0);
  for (const int signal : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGXCPU})
    std::signal(signal, SIG_DFL);
  // The parent decides what they mean.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGPIPE})
    std::signal(signal, SIG_IGN);
  ::dup2(answer, STDOUT_FILENO);
  ::dup2(answer, STDERR_FILENO);
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, limits.cpu_seconds);
  if (used_bytes > 0) limit(RLIMIT_AS, used_bytes + limits.bytes);
  // The other threads of a team stayed in the parent.
  omp_set_num_threads(1);
}

void send(int answer, std::string_view text) {
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t count = ::write(answer, text.data() + sent, text.size() - sent);
    if (count <= 0 && errno != EINTR) return;
    if (count > 0) sent += static_cast<std::size_t>(count);
  }
}

/// Runs the work and ends the child, without what a process does at its end: that is the parent's.
[[noreturn]] void work_in_child(int answer, const std::function<std::string()>& work,
                                const ChildLimits& limits, std::int64_t used_bytes) {
  prepare_child(answer, limits, used_bytes);
  ChildEnd end{ChildEnd::How::done, {}, {}};
  try {
    end.result = work();
  } catch (const std::bad_alloc&) {
    end.how = ChildEnd::How::lacked_memory;
    end.error = describe_current_exception();
  } catch (...) {
    end.how = ChildEnd::How::failed;
    end.error = describe_current_exception();
  }
  send(answer, mark);
  send(answer, std::string{static_cast<char>(end.how), static_cast<char>(end.error.kind)});
  send(answer, end.how == ChildEnd::How::done ? end.result : end.error.message);
  send(answer, mark);
  ::_exit(0);
}

/// Reads until the child closes its end or the time is over. Returns false in the latter case.
bool receive(int answer, int seconds, std::string& text) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point end = Clock::now() + std::chrono::seconds(seconds);
  std::vector<char> block(most_printed);
  while (true) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return false;
    pollfd ready{answer, POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(left.count())) <= 0) continue;
    const ssize_t count = ::read(answer, block.data(), block.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return true;
    text.append(block.data(), static_cast<std::size_t>(count));
    if (text.size() > 2 * most_printed && text.find(mark) == std::string::npos)
      text.erase(0, text.size() - most_printed);
  }
}

double seconds_of(const rusage& usage) {
  const auto sum = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_usec);
  };
  return sum(usage.ru_utime) + sum(usage.ru_stime);
}

/// The end of a child as the system tells it.
struct Status {
  bool is_known = false;  ///< false where something else in this process waits for all children
  int code = 0;
  rusage usage{};
};

Status wait_for(pid_t child) {
  Status status;
  while (::wait4(child, &status.code, 0, &status.usage) != child) {
    if (errno != EINTR) return status;
  }
  status.is_known = true;
  return status;
}

ChildEnd end_of(const std::string& text, bool is_in_time, const Status& status) {
  using enum ChildEnd::How;
  const std::size_t begin = text.find(mark);
  const std::size_t first = begin + mark.size() + 2;
  if (begin != std::string::npos && text.ends_with(mark) && text.size() >= first + mark.size()) {
    const auto how = static_cast<ChildEnd::How>(text[first - 2]);
    const auto kind = static_cast<ErrorKind>(text[first - 1]);
    std::string answer = text.substr(first, text.size() - mark.size() - first);
    if (how == done) return {done, std::move(answer), {}};
    return {how, {}, {kind, std::move(answer)}};
  }
  const int signal = WIFSIGNALED(status.code) ? WTERMSIG(status.code) : 0;
  if (!is_in_time || signal == SIGXCPU) {
    const bool has_waited = status.is_known && seconds_of(status.usage) < least_cpu_seconds;
    return {has_waited ? no_judgement : timed_out, {}, {}};
  }
  if (signal != 0 || !status.is_known) return {crashed, {}, {}};
  return {gave_up, {}, {ErrorKind::internal, text}};
}

}  // namespace

ChildEnd run_in_child(const std::function<std::string()>& work, const ChildLimits& limits) {
  std::unique_lock lock(starting);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw ResourceError(std::string("no pipe to another process: ") + std::strerror(errno) +
                        "; raise the limit of open files (ulimit -n)");
  }
  const Descriptor out(ends[0]);
  Descriptor in(ends[1]);
  const std::int64_t used_bytes = virtual_bytes();
  const pid_t child = ::fork();
  if (child < 0) return {};
  if (child == 0) {
    lock.unlock();
    work_in_child(in.number(), work, limits, used_bytes);
  }
  in.close();
  lock.unlock();
  std::string text;
  const bool is_in_time = receive(out.number(), limits.seconds, text);
  if (!is_in_time) ::kill(child, SIGKILL);
  return end_of(text, is_in_time, wait_for(child));
}

}  // namespace ringweave::detail::inline base
