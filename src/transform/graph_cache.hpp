// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>

#include "base/device.hpp"
#include "base/device_graph.hpp"
#include "base/error.hpp"

namespace ringweave {

/// Work for a stream that comes again: the first time it is done as it is, the second time it is
/// recorded, from then on it is given to the device in one call. Equal keys mean equal work. What
/// cannot be recorded is done as it is each time.
template <class Key, class Graph = DeviceGraph, class Stream = DeviceStream>
class GraphCache {
 public:
  /// Keeps the graphs of `most` different keys, the last ones that were new.
  explicit GraphCache(std::size_t most) : most_(most) {}

  /// `work` gives things to the stream and does nothing else that must be repeated.
  void submit(const Key& key, const Stream& stream, const std::function<void()>& work) {
    const auto same = [&](const Kept& kept) { return kept.key == key; };
    const auto known = std::find_if(kept_.begin(), kept_.end(), same);
    if (known == kept_.end()) {
      work();
      if (kept_.size() == most_) {
        stream.synchronize();  // or it may still run
        kept_.pop_front();
      }
      kept_.emplace_back(key);
      return;
    }
    // What a device loads the first time it must not load while it records.
    if (!known->graph.captured() && known->may_be_recorded) record(*known, stream, work);
    if (known->graph.captured())
      known->graph.launch(stream);
    else
      work();
  }
  void clear() noexcept { kept_.clear(); }

 private:
  struct Kept {
    explicit Kept(const Key& of) : key(of) {}
    Key key;
    Graph graph;
    bool may_be_recorded = true;
  };

  static void record(Kept& kept, const Stream& stream, const std::function<void()>& work) {
    try {
      kept.graph.capture(stream, work);
    } catch (const ResourceError&) {
      kept.may_be_recorded = false;  // a device that is lost says so again
    }
  }

  std::size_t most_;
  std::deque<Kept> kept_;  // graphs stay where they are
};

}  // namespace ringweave
