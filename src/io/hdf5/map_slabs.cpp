// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/hdf5/map_slabs.hpp"

#include <algorithm>

#include "base/checked_cast.hpp"

namespace ringweave {

std::vector<SlabCall> slab_calls(const Communicator& comm, std::span<const PixelRun> owned,
                                 const Hdf5Limits& limits) {
  std::vector<SlabCall> calls;
  for (const PixelRun& run : owned) {
    for (std::int64_t done = 0; done < run.count;) {
      if (calls.empty() || calls.back().count == limits.numbers_per_call ||
          ssize64(calls.back().runs) == limits.runs_per_call) {
        calls.push_back({{}, run.local + done, 0});
      }
      SlabCall& call = calls.back();
      const std::int64_t count = std::min(run.count - done, limits.numbers_per_call - call.count);
      call.runs.push_back({run.first + done, count});
      call.count += count;
      done += count;
    }
  }
  calls.resize(to_size(comm.max(ssize64(calls))));
  return calls;
}

}  // namespace ringweave
