// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "app/cli/options.hpp"
#include "app/run.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/points.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail::inline app {

/// Chooses the backend of a command for this --backend; `auto` takes a device if this build has
/// CUDA and every rank has one. Puts the choice and its reason into the report, and prints them
/// with --verbose. Collective. Error  ResourceError when `cuda` finds no device, UsageError when
/// this build has no CUDA.
Backend choose_backend(Run& run, const std::string& asked);

/// Chooses the backend of a transform, and which of its stages run on a device, for this --backend
/// or --stage. `auto` takes the host, a device or one stage on it, whatever the machine file
/// predicts to be fastest; without costs of a device, as above. Collective. Error  as above.
void choose_backend(Run& run, const TransformOptions& asked, TransformSpec& spec);

/// Chooses as the first does. `auto` with costs of a device (--machine) takes the backend for which
/// the slowest rank's seconds, predict(backend), are fewer. Collective.
Backend choose_faster_backend(Run& run, const std::string& asked,
                              const std::function<Estimate(Backend)>& predict);

/// Returns the backends that the parts of a split kernel may have for this --backend, which speaks
/// of the harmonic part, or --stage: those of either part for `auto` with costs of a device
/// (--machine), else one choice. Both parts are done at once where one is on a device and MPI
/// permits it. Collective. Error  as above.
std::vector<SplitBackends> possible_split_backends(Run& run, const TransformOptions& asked);

/// Places of the parts of a split kernel.
struct PlacedSplit {
  SplitBackends backends;
  double seconds = 0;          ///< predicted, of the slowest rank
  std::string why_excluded{};  ///< why these places are left out; else empty
};
/// Puts the places that were chosen into the report, and why. Not collective.
void record_split_backends(Run& run, const PlacedSplit& chosen,
                           const std::vector<PlacedSplit>& others);

/// Chooses the backend of a transform to points for this --backend: `auto` takes whatever the
/// machine file predicts to be faster, if it has costs of a device, else the host. Collective.
/// Error  ResourceError when `cuda` finds no device, UsageError when this build has no CUDA.
/// n_points  all over the sphere
Backend choose_backend_of_points(Run& run, const std::string& asked, const PointSpec& spec,
                                 std::int64_t n_points);

/// Switches to the host, with a warning, when the device chosen by `auto` cannot be used. Not
/// collective.
Backend fall_back_to_host(Run& run, const std::string& why);

/// Returns make(); if the device that `auto` took fails it, switches `backend` to the host and
/// returns make() there. `make` is collective and looks at `backend`. Collective.
template <class Make>
auto make_with_host_fallback(Run& run, const std::string& asked, Backend& backend,
                             const Make& make) {
  try {
    return make();
  } catch (const ResourceError& failure) {
    if (backend == Backend::host || asked != "auto") throw;
    backend = fall_back_to_host(run, failure.what());
  }
  return make();
}

/// Returns the largest number of ranks that share a device; 1 if some rank has none. Collective.
int ranks_of_device(const Run& run);

}  // namespace ringweave::detail::inline app
