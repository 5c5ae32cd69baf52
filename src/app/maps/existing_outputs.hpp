// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

#include "app/maps/map_list.hpp"
#include "app/outputs.hpp"
#include "app/run.hpp"

namespace ringweave::detail::inline app {

/// Names the first option in which the configurations of an output and of this run differ, of those
/// that decide what an output holds: "was made with --lmax 16, and this run has --lmax 32". Options
/// on where and how the program runs, and the names of outputs, are not among them. Returns an
/// empty text where there is none. Not collective.
/// made, now  as Provenance::config_json
std::string first_difference(const std::string& made, const std::string& now);

/// Checks outputs that exist when a run resumes. Not collective.
class ExistingOutputs {
 public:
  explicit ExistingOutputs(const Run& run);

  /// Checks the outputs of a map that are there. Returns why they must be made again: the name of
  /// one that is empty, cut short or broken, and what is wrong with it; empty where none is.
  /// Error  UsageError for a whole file of another kind, program, configuration, seed or input.
  std::string flaw(const MapTask& task) const;

 private:
  struct Checked;

  Checked check(const std::string& path, OutputContent kind, const MapTask& task) const;

  std::string config_json_;   ///< of this run
  bool draws_alm_ = false;    ///< from the seed of each map
  bool draws_noise_ = false;  ///< the same
};

}  // namespace ringweave::detail::inline app
