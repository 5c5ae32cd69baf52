// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>

#include "base/device.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline transform {

/// Caches graphs by key: work runs directly on first use, is captured on the second, and is
/// launched as a graph afterwards. Equal keys mean equal work. Work that cannot be captured always
/// runs directly.
template <class Key, class Graph = DeviceGraph, class Stream = DeviceStream>
class GraphCache {
 public:
  /// Keeps the graphs of the `most` newest keys.
  explicit GraphCache(std::size_t most) : most_(most) {}

  /// `work` only enqueues calls on the stream; nothing else in it is repeated.
  void submit(const Key& key, const Stream& stream, const std::function<void()>& work) {
    const auto same = [&](const Kept& kept) { return kept.key == key; };
    const auto known = std::find_if(kept_.begin(), kept_.end(), same);
    if (known == kept_.end()) {
      work();
      if (kept_.size() == most_) {
        stream.synchronize();  // the graph may still be running
        kept_.pop_front();
      }
      kept_.emplace_back(key);
      return;
    }
    // Modules that a device loads on first use must not be loaded during capture.
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
      kept.may_be_recorded = false;  // a lost device reports its error again
    }
  }

  std::size_t most_;
  std::deque<Kept> kept_;  // a deque, so that graphs do not move
};

}  // namespace ringweave::detail::inline transform
