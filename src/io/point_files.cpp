// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/point_files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>
#include <variant>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/memory_check.hpp"
#include "io/equal_parts.hpp"
#include "io/file_kind.hpp"
#include "io/hdf5/points.hpp"
#include "io/hdf5/read_apart.hpp"
#include "io/input_file.hpp"
#include "io/point_text.hpp"
#include "ringweave/error.hpp"

namespace ringweave {

using namespace detail;

namespace {

constexpr double pi = std::numbers::pi;

/// Numbers that must not be, over all ranks.
struct BadNumbers {
  std::int64_t count = 0;
  std::int64_t first = 0;  ///< number of its point in the file
  double value = 0;
};

/// Looks for numbers of this rank's points, from `first_point` on. Collective.
BadNumbers find_bad(const Communicator& comm, View<const double> numbers, std::int64_t first_point,
                    const std::function<bool(double)>& is_bad) {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::int64_t count = 0;
  std::int64_t first = none;
  for (std::int64_t i = numbers.size() - 1; i >= 0; --i) {
    if (!is_bad(numbers[i])) continue;
    ++count;
    first = first_point + i;
  }
  BadNumbers bad;
  bad.count = comm.sum(count);
  if (bad.count == 0) return bad;
  bad.first = comm.min(first);
  bad.value = comm.sum(bad.first == first ? numbers[first - first_point] : 0.0);
  return bad;
}

/// The same on every rank.
void require_finite(const Communicator& comm, const std::string& path, const std::string& what,
                    View<const double> numbers, std::int64_t first_point) {
  const BadNumbers bad =
      find_bad(comm, numbers, first_point, [](double value) { return !std::isfinite(value); });
  if (bad.count == 0) return;
  throw DataError(path, fmt::format("{0} of point {1} (from 0) is {2}; {0} is not finite at {3} of "
                                    "the points: leave them out",
                                    what, bad.first, bad.value, bad.count));
}

/// Single precision rounds pi upwards.
constexpr double rounded_pi = static_cast<double>(static_cast<float>(pi));

/// Sets theta beyond pi by rounding to pi.
void check_theta(const Communicator& comm, const std::string& path, PointFile& points) {
  const BadNumbers bad = find_bad(comm, points.theta(), points.first,
                                  [](double theta) { return theta < 0 || theta > rounded_pi; });
  double highest = 0;
  double lowest = 0;
  const View<double> theta = points.angles.view().component(0);
  for (std::int64_t i = 0; i < theta.size(); ++i) {
    highest = std::max(highest, theta[i]);
    lowest = std::min(lowest, theta[i]);
    if (theta[i] > pi && theta[i] <= rounded_pi) theta[i] = pi;
  }
  highest = comm.max(highest);
  lowest = comm.min(lowest);
  if (bad.count == 0) return;
  const char* const guess = highest > 180      ? ""
                            : highest > 2 * pi ? "; are these degrees?"
                            : highest > pi     ? "; are theta and phi in this order?"
                                               : "";
  throw DataError(
      path, fmt::format("theta of point {} (from 0) is {}; {} of {} points are outside 0 to pi: "
                        "expected the colatitude in radians{}{}",
                        bad.first, bad.value, bad.count, points.total, guess,
                        lowest < 0 ? "; latitudes are pi/2 - theta" : ""));
}

/// Any longitude is a longitude, but one far beyond a turn was hardly meant.
void warn_of_phi(const Communicator& comm, PointFile& points) {
  const View<const double> phi = points.phi();
  double largest = 0;
  for (std::int64_t i = 0; i < phi.size(); ++i) largest = std::max(largest, std::abs(phi[i]));
  largest = comm.max(largest);
  if (largest <= 4 * pi) return;
  points.warnings.push_back(
      fmt::format("phi reaches {:.6g} radians in size; are these degrees?", largest));
}

PointContent content_of_hdf5(const std::string& path) {
  const auto [points, values] = read_apart(path, [&] {
    const PointContent found = find_in_hdf5(path);
    return std::pair(found.points, found.values);
  });
  return {points, values};
}

[[noreturn]] void refuse_kind(const std::string& path, const char* what) {
  throw UsageError(fmt::format("{}: {} text (.txt .dat .tsv) or HDF5 (.h5 .hdf5)", path, what));
}

/// Names components where the file does not.
void settle_names(ValuesFile& file) {
  std::vector<std::string>& names = file.header.components;
  const std::int64_t n_components = file.values.n_components();
  if (ssize64(names) == n_components) return;
  names.clear();
  if (n_components == 1) names = {"T"};
  if (n_components == 2) names = {"Q", "U"};
  if (n_components == 3) names = {"T", "Q", "U"};
  for (std::int64_t c = ssize64(names); c < n_components; ++c)
    names.push_back(fmt::format("VALUE_{}", c + 1));
  file.warnings.push_back(
      fmt::format("no usable names of its components; taken as {}", fmt::join(names, ", ")));
}

}  // namespace

PointContent detail::find_point_content(const Communicator& comm, const std::string& path) {
  agree(comm, [&] {
    if (comm.is_root()) check_input_file(path);
  });
  const FileKind kind = file_kind(path);
  if (kind != FileKind::text && kind != FileKind::hdf5) return {};
  PointContent found;
  agree(comm, [&] {
    if (!comm.is_root()) return;
    found = kind == FileKind::text ? find_in_text(path) : content_of_hdf5(path);
  });
  comm.broadcast(&found, sizeof found, 0);
  return found;
}

PointFile read_points(const Communicator& comm, const std::string& path) {
  const FileKind kind = file_kind(path);
  if (kind != FileKind::text && kind != FileKind::hdf5) refuse_kind(path, "points are read from");
  PointFile points =
      kind == FileKind::text ? read_text_points(comm, path) : read_hdf5_points(comm, path);
  constexpr const char* names[] = {"theta", "phi", "psi"};
  for (std::int64_t c = 0; c < points.angles.n_components(); ++c)
    require_finite(comm, path, names[c], std::as_const(points).angles.view().component(c),
                   points.first);
  check_theta(comm, path, points);
  warn_of_phi(comm, points);
  return points;
}

ValuesFile read_values(const Communicator& comm, const std::string& path,
                       std::optional<std::int64_t> n_points) {
  const FileKind kind = file_kind(path);
  if (kind != FileKind::text && kind != FileKind::hdf5) refuse_kind(path, "values are read from");
  ValuesFile file = kind == FileKind::text ? read_text_values(comm, path, n_points)
                                           : read_hdf5_values(comm, path, n_points);
  settle_names(file);
  for (std::int64_t c = 0; c < file.values.n_components(); ++c)
    require_finite(comm, path, file.header.components[to_size(c)],
                   std::as_const(file).values.view().component(c), file.first);
  return file;
}

ValuesShare detail::share_of_values(const Communicator& comm, std::int64_t own) {
  const std::vector<std::int64_t> counts = comm.all_gather(own);
  const auto here = counts.begin() + comm.rank();
  const std::int64_t first = std::accumulate(counts.begin(), here, std::int64_t{0});
  return {first, std::accumulate(here, counts.end(), first)};
}

void detail::require_memory_of_parts(const Communicator& comm, const std::string& what,
                                     std::int64_t n_components, std::int64_t total) {
  const std::int64_t of_point = n_components * std::int64_t{sizeof(double)};
  const std::int64_t bytes =
      agreed(comm, [&] { return checked_product(of_point, total, what.c_str()); });
  const std::int64_t own = part_begin(total, comm.rank() + std::int64_t{1}, comm.size()) -
                           part_begin(total, comm.rank(), comm.size());
  require_memory_for(comm, of_point * own, what, [&](int n_ranks) { return bytes / n_ranks; });
}

void detail::require_n_components(const std::string& path, std::int64_t n_components) {
  constexpr std::int64_t most = 10000;
  if (n_components <= most) return;
  throw DataError(path, fmt::format("has {} components; expected at most {}, and the order "
                                    "[component][point] in HDF5",
                                    n_components, most));
}

void detail::require_n_points(const std::string& path, std::int64_t there,
                              std::optional<std::int64_t> n_points) {
  if (n_points.value_or(there) == there) return;
  throw DataError(path, fmt::format("has values at {} points, but there are {} points; give the "
                                    "values and the points of one set",
                                    there, *n_points));
}

void detail::write_values(const AtomicOutput& output, const ValuesHeader& header,
                          const Provenance& provenance, AnyConstMapView<> values) {
  const Communicator& comm = output.comm();
  const std::string& path = output.temporary_path();
  const FileKind kind = file_kind(output.path());
  if (kind != FileKind::text && kind != FileKind::hdf5)
    refuse_kind(output.path(), "values are written as");
  const auto write = [&](auto view) {
    agree(comm, [&] {
      if (!header.components.empty() && view.n_components() == ssize64(header.components)) return;
      throw UsageError(fmt::format("{}: values of {} components do not fill {}", output.path(),
                                   view.n_components(), header.components.size()));
    });
    if (kind == FileKind::text) write_text_values(comm, path, header, provenance, view);
    if (kind == FileKind::hdf5) write_hdf5_values(comm, path, header, provenance, view);
  };
  output.write([&] { std::visit(write, values); });
}

void write_values(const Communicator& comm, const std::string& path, IfExists if_exists,
                  const ValuesHeader& header, const Provenance& provenance,
                  AnyConstMapView<> values) {
  AtomicOutput output(comm, path, if_exists);
  detail::write_values(output, header, provenance, values);
  output.commit();
}

}  // namespace ringweave
