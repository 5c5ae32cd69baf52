// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>

#include "base/device.hpp"
#include "base/device_graph.hpp"

namespace ringweave {

/// Work for a stream that comes again: the first time it is done as it is, the second time it is
/// recorded, from then on it is given to the device in one call. Equal keys mean equal work.
template <class Key, class Graph = DeviceGraph, class Stream = DeviceStream>
class Replays {
 public:
  /// Keeps the graphs of `most` different keys, the last ones that were new.
  explicit Replays(std::size_t most) : most_(most) {}

  /// `work` gives things to the stream and does nothing else that must be repeated.
  void give(const Key& key, const Stream& stream, const std::function<void()>& work) {
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
    if (!known->graph.captured()) known->graph.capture(stream, work);
    known->graph.launch(stream);
  }
  void clear() noexcept { kept_.clear(); }

 private:
  struct Kept {
    explicit Kept(const Key& of) : key(of) {}
    Key key;
    Graph graph;
  };

  std::size_t most_;
  std::deque<Kept> kept_;  // graphs stay where they are
};

}  // namespace ringweave
