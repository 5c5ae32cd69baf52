// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "perf_models/transform_model.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::inline app {

/// Returns "host" or "cuda".
const char* name_of(Backend backend);

/// Two stages of a transform, or parts of a kernel, by name, and the places where they run.
struct NamedPlaces {
  const char* first;
  Backend of_first;
  const char* second;
  Backend of_second;

  bool are_mixed() const { return of_first != of_second; }
  bool use_a_device() const { return of_first == Backend::cuda || of_second == Backend::cuda; }
  std::string text() const;  ///< as --stage takes it
};

/// Places where the stages of a transform run.
struct StagePlaces {
  Backend legendre = Backend::host;
  Backend ring_fft = Backend::host;

  NamedPlaces named() const { return {"legendre", legendre, "fft", ring_fft}; }
  bool are_mixed() const { return named().are_mixed(); }
  bool use_a_device() const { return named().use_a_device(); }
  /// Returns them as TransformSpec has them.
  StagesOnDevice on_device() const;
  std::string text() const { return named().text(); }
};

/// Returns where a transform with these stages computes.
Place place_of(const StagePlaces& stages);

/// Returns the places of --stage. Error  UsageError.
StagePlaces stage_places_named(const std::string& text);

/// Returns the backends of --stage with --method split, one after the other. Error  UsageError.
SplitBackends split_backends_named(const std::string& text);

}  // namespace ringweave::detail::inline app
