// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "ringweave/error.hpp"
#include "ringweave/grid.hpp"

namespace ringweave {
namespace {

[[noreturn]] void refuse(std::string_view name, std::string_view reason) {
  throw UsageError(
      fmt::format("grid '{}': {}; expected healpix:NSIDE, gauss:LMAX[,NPHI[,LON]], "
                  "clenshaw:NRINGS[,NPHI[,LON]] or fejer:NRINGS[,NPHI[,LON]]",
                  name, reason));
}

// Plans of more rings take long, and no computer has the memory for their maps.
constexpr std::int64_t most_named_rings = std::int64_t{1} << 20;
constexpr std::int64_t most_pixels_of_ring = std::int64_t{1} << 40;

std::int64_t parse_number(std::string_view name, std::string_view text, std::int64_t most) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || value < 0 || value > most) {
    refuse(name, fmt::format("'{}' is not a whole number up to {}", text, most));
  }
  return value;
}

double parse_longitude(std::string_view name, std::string_view text) {
  double degrees = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, degrees);
  if (error != std::errc{} || stop != end)
    refuse(name, fmt::format("'{}' is not a longitude in degrees", text));
  return degrees;
}

}  // namespace

RingGrid RingGrid::from_name(const std::string& name) {
  const std::string_view text = name;
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) refuse(name, "it has no size");
  const std::string_view kind = text.substr(0, colon);
  const std::string_view numbers = text.substr(colon + 1);
  const std::size_t comma = numbers.find(',');
  const std::int64_t size = parse_number(name, numbers.substr(0, comma),
                                         kind == "healpix" ? most_nside : most_named_rings);
  std::int64_t n_phi = 0;
  double longitude = 0;
  if (comma != std::string_view::npos) {
    const std::string_view rest = numbers.substr(comma + 1);
    const std::size_t second = rest.find(',');
    n_phi = parse_number(name, rest.substr(0, second), most_pixels_of_ring);
    if (second != std::string_view::npos)
      longitude = parse_longitude(name, rest.substr(second + 1));
    if (n_phi == 0) refuse(name, "a ring has at least one pixel");
  }

  if (kind == "healpix") {
    if (comma != std::string_view::npos) refuse(name, "HEALPix fixes the pixels of its rings");
    return healpix(size);
  }
  if (kind == "gauss") return gauss_legendre(size + 1, n_phi, longitude);
  if (kind == "clenshaw") return clenshaw_curtis(size, n_phi, longitude);
  if (kind == "fejer") return fejer(size, n_phi, longitude);
  refuse(name, fmt::format("there is no kind '{}'", kind));
}

}  // namespace ringweave
