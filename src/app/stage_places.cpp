// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/stage_places.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <sstream>
#include <utility>

#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {

namespace {

/// Returns the places of two stages of these names.
std::pair<Backend, Backend> places_named(const std::string& text, const std::string& first,
                                         const std::string& second, const std::string& hint) {
  std::optional<Backend> of_first;
  std::optional<Backend> of_second;
  bool is_understood = true;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t sign = std::min(part.find('='), part.size());
    const std::string name = part.substr(0, sign);
    const std::string place = part.substr(sign);
    std::optional<Backend>& found = name == first ? of_first : of_second;
    is_understood = is_understood && (name == first || name == second) && !found &&
                    (place == "=host" || place == "=cuda");
    found = place == "=cuda" ? Backend::cuda : Backend::host;
  }
  if (is_understood && of_first && of_second) return {*of_first, *of_second};
  throw UsageError(fmt::format("--stage {}: expected {}=PLACE,{}=PLACE, each PLACE host or cuda{}",
                               text, first, second, hint));
}

}  // namespace

const char* name_of(Backend backend) { return backend == Backend::cuda ? "cuda" : "host"; }

StagesOnDevice StagePlaces::on_device() const {
  if (!are_mixed()) return StagesOnDevice::both;
  return legendre == Backend::cuda ? StagesOnDevice::legendre : StagesOnDevice::ring_fft;
}

std::string NamedPlaces::text() const {
  return fmt::format("{}={},{}={}", first, name_of(of_first), second, name_of(of_second));
}

Place place_of(const StagePlaces& stages) {
  return !stages.use_a_device() ? Place::host
         : stages.are_mixed()   ? Place::device_in_blocks
                                : Place::device;
}

StagePlaces stage_places_named(const std::string& text) {
  const auto [legendre, ring_fft] =
      places_named(text, "legendre", "fft",
                   text.starts_with("harmonic") || text.starts_with("rings")
                       ? "; those of a split kernel need --method split"
                       : "");
  return {legendre, ring_fft};
}

SplitBackends split_backends_named(const std::string& text) {
  const auto [harmonic, rings] = places_named(text, "harmonic", "rings", "");
  return {harmonic, rings};
}

}  // namespace ringweave::detail::inline app
