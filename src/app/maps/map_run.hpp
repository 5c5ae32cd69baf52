// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "app/maps/file_queue.hpp"
#include "app/maps/map_list.hpp"
#include "app/run.hpp"
#include "base/host_memory.hpp"
#include "ringweave/files.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline app {

/// Consecutive maps of a list that form a group.
struct MapRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// Returns the fewest ranges of at most `most` maps, as even as possible, larger ones first.
std::vector<MapRange> even_ranges(std::int64_t n_maps, std::int64_t most);

/// Outputs of one map, which appear together: at the end of the run if it is the only map,
/// otherwise as soon as they are written. All collective.
class MapOutputs {
 public:
  MapOutputs(Run& run, const MapList& list, const FileTraffic& traffic)
      : run_(&run),
        own_(list.is_single() ? nullptr : std::make_unique<Outputs>(run.outputs.on(traffic.comm))) {
  }

  AtomicOutput& begin(const std::string& path) {
    return own_ != nullptr ? own_->begin(path) : run_->outputs.begin(path);
  }
  /// Makes the outputs of one map of several appear. Error  ResourceError.
  void commit(FileTraffic& traffic) {
    if (own_ == nullptr) return;
    traffic.bytes_written += own_->bytes();
    own_->commit();
  }

 private:
  Run* run_;
  std::unique_ptr<Outputs> own_;
};

/// A group of maps between reading and writing, on this rank.
template <class T>
struct MapGroup {
  MapRange range;                    ///< shortened to the maps that were read
  MapBuffer<T> map{};                ///< [map, component][own pixel]
  std::vector<MapHeader> headers{};  ///< of the inputs, as in their files
  std::vector<MapOutputs> outputs{};
  Provenance provenance{};       ///< of all of them; smoothed maps add their input
  std::exception_ptr failure{};  ///< of the first map that could not be read; the same on all ranks
};

/// Groups of maps of either type, for functions that are no templates.
using AnyMapGroup = std::variant<MapGroup<double>*, MapGroup<float>*>;

/// Steps for the maps of a group; all collective.
template <class T>
struct MapSteps {
  /// Fills group.map. A task of the queue, ahead of the computation.
  std::function<void(FileTraffic&, MapGroup<T>&)> read;
  std::function<void(MapGroup<T>&)> compute;
  /// Writes and commits. A task of the queue.
  std::function<void(FileTraffic&, MapGroup<T>&)> write;
};

/// Number of maps done, and their entry in the report.
struct MapsDone {
  std::int64_t done = 0;
  bool stopped = false;  ///< on request, before the last map
};

/// Returns whether maps of another group are in memory while one is computed: read ahead or waiting
/// to be written.
bool holds_others(const std::vector<MapRange>& ranges);

/// Parts of run_maps() that do not depend on the type of the maps.
class MapRun {
 public:
  MapRun(Run& run, const MapList& list, std::vector<MapRange> ranges);

  FileQueue& files() { return files_; }
  const std::vector<MapRange>& ranges() const { return ranges_; }
  bool is_last(const MapRange& range) const;
  /// Returns whether the run must stop; called after each group. Collective.
  bool must_stop() const;
  /// Begins a new stage of the progress, "map 3 of 16" or "maps 3 to 6 of 16", if there are
  /// several.
  void show(const MapRange& range) const;
  void count(const MapRange& range) { done_.done += range.count; }
  void finish_after_error();
  /// Adds up times and bytes of the files; if the run was stopped, prints how far it came.
  MapsDone conclude(bool stopped);

 private:
  Run& run_;
  const MapList& list_;
  std::vector<MapRange> ranges_;
  std::optional<HostMemoryPool> reuse_;  ///< shared by all groups
  FileQueue files_;
  MapsDone done_;
};

/// Processes all maps group by group. While a group is computed, the next is read and the last
/// written. The first error ends the run; maps before it are written. If the program is asked to
/// stop, the remaining groups are not processed. Collective.
template <class T>
MapsDone run_maps(MapRun& map_run, const MapSteps<T>& steps) {
  using Group = MapGroup<T>;
  FileQueue& files = map_run.files();
  const std::vector<MapRange>& ranges = map_run.ranges();
  struct Reading {
    std::shared_ptr<Group> group;
    FileQueue::Ticket ticket = 0;
  };
  const auto start_reading = [&](std::size_t i) {
    Reading reading{std::make_shared<Group>(Group{ranges[i]})};
    reading.ticket = files.add(
        [&steps, group = reading.group](FileTraffic& traffic) { steps.read(traffic, *group); });
    return reading;
  };
  bool stopped = false;
  try {
    Reading next;
    FileQueue::Ticket last_written = 0;
    for (std::size_t i = 0; i < ranges.size() && !stopped; ++i) {
      Reading now = next.group != nullptr ? std::move(next) : start_reading(i);
      next = {};
      if (files.mode() == FileQueue::Mode::beside && i + 1 < ranges.size())
        next = start_reading(i + 1);
      files.wait(now.ticket);
      if (now.group->range.count > 0) {
        map_run.show(now.group->range);
        steps.compute(*now.group);
        files.wait(last_written);
        last_written = files.add(
            [&steps, group = now.group](FileTraffic& traffic) { steps.write(traffic, *group); });
        map_run.count(now.group->range);
      }
      if (now.group->failure != nullptr) {
        files.wait(last_written);
        std::rethrow_exception(now.group->failure);
      }
      now.group.reset();
      stopped = i + 1 < ranges.size() && map_run.must_stop();
    }
    files.finish();
  } catch (...) {
    map_run.finish_after_error();
    throw;
  }
  return map_run.conclude(stopped);
}

}  // namespace ringweave::detail::inline app
