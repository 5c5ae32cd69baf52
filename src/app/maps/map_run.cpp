// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/maps/map_run.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "app/maps/stop_request.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {

namespace {

/// Returns the mode of file access for these groups: concurrent with the computation if there are
/// several.
FileQueue::Mode file_mode(const std::vector<MapRange>& ranges) {
  return ranges.size() > 1 ? FileQueue::Mode::beside : FileQueue::Mode::at_once;
}

}  // namespace

std::vector<MapRange> even_ranges(std::int64_t n_maps, std::int64_t most) {
  const std::int64_t n_ranges = (n_maps + most - 1) / most;
  std::vector<MapRange> ranges;
  for (std::int64_t i = 0, first = 0; i < n_ranges; ++i) {
    const std::int64_t count = n_maps / n_ranges + (i < n_maps % n_ranges ? 1 : 0);
    ranges.push_back({first, count});
    first += count;
  }
  return ranges;
}

bool holds_others(const std::vector<MapRange>& ranges) {
  return FileQueue::possible(file_mode(ranges)) == FileQueue::Mode::beside;
}

MapRun::MapRun(Run& run, const MapList& list, std::vector<MapRange> ranges)
    : run_(run), list_(list), ranges_(std::move(ranges)), files_(run.comm, file_mode(ranges_)) {
  if (ranges_.size() > 1) reuse_.emplace();
  if (!list_.is_single()) listen_to_sigterm();
}

bool MapRun::is_last(const MapRange& range) const { return range.first == ranges_.back().first; }

bool MapRun::must_stop() const { return is_asked_to_stop(run_.comm); }

void MapRun::show(const MapRange& range) const {
  if (list_.is_single()) return;
  const std::int64_t first = range.first + 1;
  const std::int64_t last = range.first + range.count;
  run_.progress.stage(last == first ? fmt::format("map {} of {}", first, list_.n())
                                    : fmt::format("maps {} to {} of {}", first, last, list_.n()));
}

void MapRun::finish_after_error() {
  const CaughtError error = describe_current_exception();
  files_.finish_after(error.kind, error.message);
}

MapsDone MapRun::conclude(bool stopped) {
  add_traffic(run_, files_.traffic());
  run_.report["maps"] = {{"done", done_.done},
                         {"skipped", list_.total - list_.n()},
                         {"again", list_.n_again},
                         {"total", list_.total},
                         {"batch", ranges_.front().count}};
  done_.stopped = stopped;
  if (stopped) {
    run_.conclusion = fmt::format(
        "stopped on request: {} of {} maps are done; the same command with --resume "
        "goes on",
        list_.total - list_.n() + done_.done, list_.total);
  }
  return done_;
}

}  // namespace ringweave::detail::inline app
