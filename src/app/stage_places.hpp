// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "ringweave/convolution.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::inline app {

/// Returns "host" or "cuda".
const char* name_of(Backend backend);

/// Places where the stages of a transform run.
struct StagePlaces {
  Backend legendre = Backend::host;
  Backend ring_fft = Backend::host;

  bool are_mixed() const { return legendre != ring_fft; }
  bool use_a_device() const { return legendre == Backend::cuda || ring_fft == Backend::cuda; }
  /// Returns them as TransformSpec has them.
  StagesOnDevice on_device() const;
  std::string text() const;  ///< as --stage takes it
};

/// Returns the places of --stage. Error  UsageError.
StagePlaces stage_places_named(const std::string& text);

/// Returns the backends of --stage with --method split, one after the other. Error  UsageError.
SplitBackends split_backends_named(const std::string& text);

}  // namespace ringweave::detail::inline app
