// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/mpi/watchdog.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <system_error>
#include <vector>

#include "base/activity.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline distribute {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// Returns the seconds by which this rank speaks later than others, so that one of them does.
double seconds_later(const NodeStates& states, const Standstill& standstill, int rank) {
  // The next rank of the node speaks where the first one has not ended the job.
  double seconds = 2.0 * static_cast<double>(standstill.n_running_before(states.own_place()));
  const bool all_wait = std::all_of(states.all().begin(), states.all().end(),
                                    [](const RankState& s) { return !s.names().call.empty(); });
  // Ranks that cannot be seen from here may know for whom.
  if (all_wait && !states.are_all()) seconds += 5 + 0.1 * std::min(rank, 20);
  return seconds;
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "this node";
}

/// Starts a thread that signals do not interrupt: they are for the threads that handled them
/// before.
template <class Work>
std::thread start_without_signals(Work work) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  try {
    std::thread thread(std::move(work));
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return thread;
  } catch (const std::system_error& error) {
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    throw ResourceError(fmt::format("the watchdog cannot start a thread: {}", error.what()));
  }
}

}  // namespace

Watchdog::Watchdog(const Communicator& comm, double seconds)
    : comm_(comm), seconds_(seconds), states_(comm) {
  Activity::of_process().watch_this_thread();
  states_.all()[states_.own_place()].show(comm_.rank(), Activity::of_process());
  comm_.barrier();
  try {
    agree(comm_, [&] { thread_ = start_without_signals([this] { watch(); }); });
  } catch (...) {
    end_watch();
    throw;
  }
}

Watchdog::~Watchdog() { end_watch(); }

void Watchdog::end_watch() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  ended_.notify_one();
  if (thread_.joinable()) thread_.join();
  Activity::of_process().end_watch();
}

void Watchdog::watch() {
  const std::span<RankState> states = states_.all();
  const std::size_t place = states_.own_place();
  const double pause = std::min(0.5, seconds_ / 8);
  Standstill standstill(std::min(3.0, seconds_ / 2));
  Clock::time_point last = Clock::now();
  std::vector<RankCounters> counters(states.size());
  std::unique_lock lock(mutex_);
  while (!ended_.wait_for(lock, Seconds(pause), [this] { return is_over_; })) {
    states[place].show(comm_.rank(), Activity::of_process());
    std::transform(states.begin(), states.end(), counters.begin(),
                   [](const RankState& state) { return state.counters(); });
    const Clock::time_point now = Clock::now();
    // A job that is suspended and resumed as a whole makes no progress meanwhile.
    standstill.look(counters, std::min(Seconds(now - last).count(), 2 * pause));
    last = now;
    if (standstill.seconds() >= seconds_ &&
        standstill.seconds() >= seconds_ + seconds_later(states_, standstill, comm_.rank()))
      end_job(standstill);
  }
}

void Watchdog::end_job(const Standstill& standstill) const {
  std::vector<StandingRank> ranks;
  for (std::size_t i = 0; i < states_.all().size(); ++i) {
    const RankState& state = states_.all()[i];
    ranks.push_back({state.rank(), standstill.runs(i), state.names()});
  }
  // A file system that does not answer may keep the process from removing its temporary files.
  ::alarm(10);
  comm_.abort(
      ErrorKind::peer,
      fmt::format("no rank on {} has made progress for {:g} s: {}; check whether the first ones "
                  "named are stopped, their node is down or their file system hangs; if they were "
                  "at work, give a longer deadline",
                  host_name(), seconds_, words_of_standstill(ranks, states_.are_all())));
}

}  // namespace ringweave::detail::inline distribute
