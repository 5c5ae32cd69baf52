// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>

#include "base/json_text.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/files.hpp"

// Headers that rank 0 reads, as JSON for the other ranks.

namespace nlohmann {

/// A full grid: its name where that suffices, else its rings.
template <>
struct adl_serializer<std::shared_ptr<const ringweave::RingGrid>> {
  static void to_json(json& encoded, const std::shared_ptr<const ringweave::RingGrid>& grid);
  static void from_json(const json& encoded, std::shared_ptr<const ringweave::RingGrid>& grid);
};

template <class T>
struct adl_serializer<std::optional<T>> {
  static void to_json(json& encoded, const std::optional<T>& value) {
    if (value) encoded = *value;
  }
  static void from_json(const json& encoded, std::optional<T>& value) {
    if (!encoded.is_null()) value = encoded.get<T>();
  }
};

/// The value of a keyword; a number that is not finite becomes an empty text.
template <>
struct adl_serializer<std::variant<std::string, std::int64_t, double, bool>> {
  using Value = std::variant<std::string, std::int64_t, double, bool>;
  static void to_json(json& encoded, const Value& value) {
    std::visit([&](const auto& of) { encoded = of; }, value);
  }
  static void from_json(const json& encoded, Value& value) {
    if (encoded.is_boolean()) {
      value = encoded.get<bool>();
    } else if (encoded.is_number_integer()) {
      value = encoded.get<std::int64_t>();
    } else if (encoded.is_number()) {
      value = encoded.get<double>();
    } else {
      value = encoded.is_string() ? encoded.get<std::string>() : std::string();
    }
  }
};

}  // namespace nlohmann

namespace ringweave {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Keyword, name, value, comment)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(FileOrigin, history, keywords, comments)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MapColumn, name, unit, integer_bytes)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(MapHeader, grid, ordering, coverage, precision, columns,
                                   coordsys, origin, polarisation_was_iau, listed_pixels, warnings)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(AlmHeader, lmax, mmax, components, precision, unit, warnings,
                                   origin, coordsys)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PlaneFileAxis, name, size, coordinates, unit, long_name,
                                   attributes, precision)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PlaneHeader, name, unit, long_name, axes, y, x, precision,
                                   attributes)
// Without the numbers.
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(SpectraFile, held_d_l, is_stated, unit, ignored_columns,
                                   warnings, origin)

}  // namespace ringweave

namespace ringweave::detail::inline io {

/// Runs `read` on rank 0 and returns its result on all ranks. Collective. Error  that of `read`,
/// agreed.
template <class Read>
auto share_from_root(const Communicator& comm, Read&& read) {
  std::string text;
  agree(comm, [&] {
    if (comm.is_root()) text = json_text(nlohmann::json(read()));
  });
  text = comm.broadcast(text, 0);
  return agreed(comm, [&] { return nlohmann::json::parse(text).get<decltype(read())>(); });
}

}  // namespace ringweave::detail::inline io
