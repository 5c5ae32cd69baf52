// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <limits>

#include "ringweave/communicator.hpp"
#include "ringweave/gyroaverage.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline gyro {

/// Throws UsageError unless the nodes of both axes suit the method.
void check_plane_grid(const PlaneGrid& grid, GyroMethod method);
/// Throws UsageError when the specification contradicts itself: the first contradiction, what is
/// expected and what to do.
void check_gyro_spec(const GyroSpec& spec);
/// Returns a number that is the same for equal specifications, whatever their most_bytes.
std::int64_t digest_of(const GyroSpec& spec);

/// Returns a radius in spacings of an axis, rounded.
double radius_in_spacings(const PlaneAxis& axis, double radius);
/// Returns the least nodes to add at each end of an axis with boundary zero, so that no circle of
/// this radius (in spacings) reaches an image of the field: the nearest is 2 P + 1 nodes away.
std::int64_t least_padding(double radius);
/// The same for the axes of a specification: of the largest radius that is not beyond the diagonal.
std::int64_t least_padding_x(const GyroSpec& spec);
std::int64_t least_padding_y(const GyroSpec& spec);
/// Throws a UsageError for a padding below that, or with a method that has none.
void check_padding(const GyroSpec& spec);
/// Tells whether the circles of this radius about all nodes are outside of the rectangle, so that
/// averages are zero.
bool is_beyond(const PlaneGrid& grid, double radius);

/// The rows of planes that a rank holds.
struct GyroRows {
  std::int64_t n_x = 0;
  std::int64_t n_y = 0;  ///< of whole planes
  std::int64_t row_begin = 0;
  std::int64_t row_end = 0;

  std::int64_t size() const { return n_x * (row_end - row_begin); }
};

/// Numbering of the components of a view.
struct PlaneComponents {
  std::int64_t radius_begin = 0;
  std::int64_t field_begin = 0;
  std::int64_t n_fields = 0;        ///< of the rank: component = radius * n_fields + field
  std::int64_t n_fields_total = 0;  ///< of all ranks
  bool has_radii = false;
  bool is_first_copy = true;  ///< no lower rank holds the same values
};

/// Values of a rank's planes that are not finite.
struct NotFinite {
  static constexpr std::int64_t nowhere = std::numeric_limits<std::int64_t>::max();
  std::int64_t count = 0;
  std::int64_t first = nowhere;  ///< in the order of whole planes of all ranks

  /// Adds those of a component, of which the first is its value i.
  void add(std::int64_t n, std::int64_t component, std::int64_t i, const GyroRows& rows,
           const PlaneComponents& numbers);
};

/// Looks for them in the host's memory. OpenMP.
template <class T>
NotFinite not_finite(const GyroRows& rows, const PlaneComponents& numbers,
                     ComponentView<const T> planes);
/// Throws DataError on all ranks when one has found some: the first one and the number. Collective.
void require_finite_planes(const Communicator& comm, const GyroRows& rows,
                           const PlaneComponents& numbers, const NotFinite& found);

}  // namespace ringweave::detail::inline gyro
