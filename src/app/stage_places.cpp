// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/stage_places.hpp"

#include <fmt/format.h>

#include <sstream>

#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {

const char* name_of(Backend backend) { return backend == Backend::cuda ? "cuda" : "host"; }

StagesOnDevice StagePlaces::on_device() const {
  if (!are_mixed()) return StagesOnDevice::both;
  return legendre == Backend::cuda ? StagesOnDevice::legendre : StagesOnDevice::ring_fft;
}

std::string StagePlaces::text() const {
  return fmt::format("legendre={},fft={}", name_of(legendre), name_of(ring_fft));
}

StagePlaces stage_places_named(const std::string& text) {
  const auto fail = [&]() -> StagePlaces {
    throw UsageError(fmt::format(
        "--stage {}: expected legendre=PLACE,fft=PLACE, each PLACE host or cuda", text));
  };
  StagePlaces stages;
  bool has_legendre = false;
  bool has_fft = false;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const std::size_t sign = part.find('=');
    if (sign == std::string::npos) return fail();
    const std::string place = part.substr(sign + 1);
    if (place != "host" && place != "cuda") return fail();
    const bool is_legendre = part.substr(0, sign) == "legendre";
    bool& has_it = is_legendre ? has_legendre : has_fft;
    if ((!is_legendre && part.substr(0, sign) != "fft") || has_it) return fail();
    has_it = true;
    (is_legendre ? stages.legendre : stages.ring_fft) =
        place == "cuda" ? Backend::cuda : Backend::host;
  }
  return has_legendre && has_fft ? stages : fail();
}

}  // namespace ringweave::detail::inline app
