// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/mpi/standstill.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <map>
#include <tuple>

namespace ringweave::detail::inline distribute {
namespace {

enum class Doing { nothing, working, waiting };

Doing doing(const StandingRank& rank) {
  if (!rank.runs) return Doing::nothing;
  return rank.names.call.empty() ? Doing::working : Doing::waiting;
}

/// Returns "rank 3", "ranks 0, 2-5" for ascending numbers.
std::string rank_numbers(const std::vector<int>& ranks) {
  std::string text;
  for (std::size_t first = 0; first < ranks.size();) {
    std::size_t last = first;
    while (last + 1 < ranks.size() && ranks[last + 1] == ranks[last] + 1) ++last;
    text += fmt::format("{}{}", text.empty() ? "" : ", ", ranks[first]);
    if (last > first) text += fmt::format("-{}", ranks[last]);
    first = last + 1;
  }
  return fmt::format("rank{} {}", ranks.size() == 1 ? "" : "s", text);
}

/// Returns "in MPI_Bcast, stage read, "reading sky.h5"", with the names that are known.
std::string where_of(const Activity::Names& names, bool with_call) {
  std::vector<std::string> parts;
  if (with_call) parts.push_back(names.call);
  if (!names.stage.empty()) parts.push_back("stage " + names.stage);
  if (!names.work.empty()) parts.push_back(fmt::format("\"{}\"", names.work));
  return parts.empty() ? "between stages" : fmt::format("in {}", fmt::join(parts, ", "));
}

}  // namespace

void Standstill::look(std::span<const RankCounters> counters, double elapsed) {
  const bool is_first = last_.empty();
  last_.resize(counters.size());
  seconds_silent_.resize(counters.size(), 0);
  bool has_step = is_first;
  for (std::size_t i = 0; i < counters.size(); ++i) {
    has_step = has_step || counters[i].steps != last_[i].steps;
    const bool has_beat = is_first || counters[i].beats != last_[i].beats;
    seconds_silent_[i] = has_beat ? 0 : seconds_silent_[i] + elapsed;
    last_[i] = counters[i];
  }
  seconds_ = has_step ? 0 : seconds_ + elapsed;
}

std::int64_t Standstill::n_running_before(std::size_t place) const {
  std::int64_t n = 0;
  for (std::size_t i = 0; i < place; ++i) n += runs(i) ? 1 : 0;
  return n;
}

std::string words_of_standstill(std::span<const StandingRank> ranks, bool are_all) {
  std::map<std::tuple<Doing, std::string>, std::vector<int>> groups;
  for (const StandingRank& rank : ranks) {
    const Doing does = doing(rank);
    groups[{does, where_of(rank.names, does == Doing::waiting)}].push_back(rank.rank);
  }
  const bool all_wait = std::get<Doing>(groups.begin()->first) == Doing::waiting;
  std::vector<std::string> parts;
  for (const auto& [does_there, members] : groups) {
    const auto& [does, where] = does_there;
    const bool is_one = members.size() == 1;
    switch (does) {
      case Doing::nothing:
        parts.push_back(fmt::format("{} {} not run any more, last seen {}", rank_numbers(members),
                                    is_one ? "does" : "do", where));
        break;
      case Doing::working:
        parts.push_back(
            fmt::format("{} {} {}", rank_numbers(members), is_one ? "is" : "are", where));
        break;
      case Doing::waiting:
        parts.push_back(
            fmt::format("{} {} {}", rank_numbers(members), is_one ? "waits" : "wait", where));
        break;
    }
  }
  if (all_wait)
    parts.emplace_back(are_all ? "all wait for one another"
                               : "no other ranks can be seen from here");
  return fmt::format("{}", fmt::join(parts, "; "));
}

}  // namespace ringweave::detail::inline distribute
