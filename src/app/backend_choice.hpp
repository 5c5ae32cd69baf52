// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "app/run.hpp"
#include "base/backend.hpp"

namespace ringweave {

/// Where a command computes for this --backend; `auto` takes a device where this build has CUDA and
/// every rank has one. Says what and why with --verbose, and in the report. Collective. Error
/// ResourceError when `cuda` finds no device, UsageError when this build has no CUDA.
Backend choose_backend(Run& run, const std::string& asked);

/// For `auto`, where the device that was chosen turned out to be of no use: the host instead, which
/// is said. Not collective.
Backend give_up_device(Run& run, const std::string& why);

/// How many ranks share a device, where most do; 1 where some rank has none. Collective.
int ranks_of_device(const Run& run);

/// For what has no form for a device, named in messages as `what`. Error  UsageError for --backend
/// cuda.
void refuse_device(const std::string& asked, const std::string& what);
/// It goes on the host, which is said where `auto` would have taken a device. Collective.
void stay_on_host(Run& run, const std::string& asked, const std::string& what);

}  // namespace ringweave
