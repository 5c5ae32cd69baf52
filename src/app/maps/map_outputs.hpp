// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "app/maps/map_list.hpp"
#include "app/run.hpp"

namespace ringweave::detail::inline app {

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
  /// Error  ResourceError.
  void commit(FileTraffic& traffic) {
    if (own_ == nullptr) return;
    traffic.bytes_written += own_->bytes();
    own_->commit();
  }

 private:
  Run* run_;
  std::unique_ptr<Outputs> own_;
};

}  // namespace ringweave::detail::inline app
