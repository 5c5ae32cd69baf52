// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gyro/gyro_job.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "app/gyro/number_list.hpp"
#include "app/plane_nodes.hpp"
#include "app/transform_setup.hpp"
#include "base/checked_cast.hpp"
#include "gyro/bessel_filter.hpp"
#include "gyro/gyro_checks.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

constexpr std::string_view rho_name = "rho";
/// Attributes of OUT that an average of averages does not take from its input.
constexpr std::array<std::string_view, 9> own_attributes{
    "method",  "boundary",  "padding_x",       "padding_y",      "combine",
    "adjoint", "rho_field", "error_indicator", "estimated_error"};
/// Radii of a file and of an option are the same to this, relative.
constexpr double same_radius = 1e-12;
constexpr double same_single_radius = 1e-6;
/// The tolerance of PlaneAxis::of_nodes().
constexpr double same_node = 1e-9;

/// Returns the place of the axis rho of the input among the axes before y and x; nothing without
/// one.
std::optional<std::size_t> place_of_rho(const PlaneHeader& input) {
  const auto named = std::find_if(input.axes.begin(), input.axes.end(),
                                  [](const PlaneFileAxis& axis) { return axis.name == rho_name; });
  if (named == input.axes.end()) return std::nullopt;
  return static_cast<std::size_t>(named - input.axes.begin());
}

std::string names_of_axes(const PlaneHeader& header) {
  std::vector<std::string> names;
  for (const PlaneFileAxis& axis : header.axes) names.push_back(axis.name);
  names.push_back(header.y.name);
  names.push_back(header.x.name);
  return fmt::format("({})", fmt::join(names, ", "));
}

bool input_has_rho(GyroCombination combination, bool is_adjoint) {
  if (combination == GyroCombination::pairs) return true;
  return (combination == GyroCombination::sum) != is_adjoint;
}

bool output_has_rho(GyroCombination combination, bool is_adjoint) {
  if (combination == GyroCombination::pairs) return true;
  return (combination == GyroCombination::sum) == is_adjoint;
}

/// The axis rho of the input, where the job needs one.
std::optional<std::size_t> rho_axis(const GyroJob& job) {
  if (!job.options.rho_field.empty()) return std::nullopt;
  const std::string& path = job.options.input;
  std::optional<std::size_t> place = place_of_rho(job.input);
  const std::string form =
      fmt::format("--combine {}{}", job.options.combine, job.is_adjoint() ? " --adjoint" : "");
  if (!input_has_rho(job.combination, job.is_adjoint())) {
    if (!place) return std::nullopt;
    throw DataError(path, fmt::format("{} has an axis rho, and {} would add another; use --combine "
                                      "pairs to average each index of rho over its radius",
                                      job.input.name, form));
  }
  // A file without dimension scales cannot name it.
  if (!place && !job.input.axes.empty() && job.input.axes.front().name == "axis0") place = 0;
  if (place) return place;
  throw DataError(path, fmt::format("{} has the axes {}; {} needs one named rho, of one index for "
                                    "each radius",
                                    job.input.name, names_of_axes(job.input), form));
}

void require_radii(const std::vector<double>& radii, const std::string& source) {
  if (radii.empty()) throw DataError(source, "has no radius; expected one or more");
  for (std::size_t i = 0; i < radii.size(); ++i) {
    if (std::isfinite(radii[i]) && radii[i] >= 0) continue;
    const std::string message =
        fmt::format("radius {} (number {}) is no radius; expected finite numbers of 0 or more",
                    radii[i], i + 1);
    if (source == "--rho") throw UsageError(source + ": " + message);
    throw DataError(source, message);
  }
}

/// The radii of the options; empty where they give none. Collective.
std::vector<double> given_radii(Run& run, const GyroaverageOptions& options) {
  std::vector<double> radii;
  if (!options.rho.empty()) {
    radii = parse_numbers(options.rho, "--rho");
    require_radii(radii, "--rho");
  } else if (!options.rho_file.empty()) {
    radii = numbers_of_file(run, options.rho_file, "--rho-file");
    require_radii(radii, options.rho_file);
  }
  return radii;
}

/// Checks radii of the options against the axis rho of the input, or takes them from there.
void match_radii(const GyroJob& job, const PlaneFileAxis& axis, std::vector<double>& radii) {
  const std::string& path = job.options.input;
  const char* option = job.options.rho.empty() ? "--rho-file" : "--rho";
  if (radii.empty() && axis.coordinates.empty()) {
    throw UsageError(fmt::format(
        "{}: the axis rho has no coordinates; give its radii: --rho or --rho-file", path));
  }
  if (radii.empty()) {
    radii = axis.coordinates;
    require_radii(radii, path);
  }
  if (ssize64(radii) != axis.size) {
    throw DataError(path, fmt::format("{} has {} indices of rho, and {} gives {} radii; expected "
                                      "one radius for each",
                                      job.input.name, axis.size, option, radii.size()));
  }
  const double most = axis.precision == Precision::single_ ? same_single_radius : same_radius;
  for (std::size_t i = 0; i < axis.coordinates.size(); ++i) {
    if (std::abs(radii[i] - axis.coordinates[i]) <= most * std::abs(radii[i])) continue;
    throw DataError(
        path, fmt::format("index {} of rho has the radius {} in the file and {} by {}; leave the "
                          "option out, or give the radii of the file",
                          i, axis.coordinates[i], radii[i], option));
  }
}

/// The radii of the job. Collective.
std::vector<double> radii_of(Run& run, const GyroJob& job, std::optional<std::size_t> rho) {
  std::vector<double> radii = given_radii(run, job.options);
  if (rho) {
    match_radii(job, job.input.axes[*rho], radii);
  } else if (radii.empty()) {
    throw UsageError("give the radii: --rho R[,R...], --rho A:B:N or --rho-file FILE");
  }
  return radii;
}

/// Collective.
std::vector<double> weights_of(Run& run, const GyroJob& job) {
  const std::string& name = job.options.weights;
  if (name.empty()) return {};
  std::vector<double> weights = numbers_of_file(run, name, "--weights");
  if (weights.size() != job.spec.radii.size()) {
    throw DataError(name, fmt::format("has {} weights, and there are {} radii; expected one for "
                                      "each",
                                      weights.size(), job.spec.radii.size()));
  }
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!std::isfinite(weights[i])) {
      throw DataError(name, fmt::format("weight {} (number {}) is not finite", weights[i], i + 1));
    }
  }
  return weights;
}

/// The last node of an axis of --domain: X1 of a periodic axis is where it repeats.
double last_node(const DomainEnds& ends, std::int64_t size, PlaneBoundary boundary) {
  if (boundary != PlaneBoundary::periodic) return ends.last;
  return ends.last - (ends.last - ends.first) / static_cast<double>(size);
}

/// Gives an axis the ends of --domain, which must be those of its file.
/// rounding  of the coordinates in the file
void match_domain(PlaneAxis& axis, const DomainEnds& ends, double rounding,
                  const std::string& where, char name) {
  const double last = last_node(ends, axis.size, axis.boundary);
  const double most =
      std::max(rounding, same_node * (axis.last - axis.first) / static_cast<double>(axis.size - 1));
  if (std::abs(axis.first - ends.first) <= most && std::abs(axis.last - last) <= most) {
    if (rounding > 0) {
      axis.first = ends.first;
      axis.last = last;
    }
    return;
  }
  throw UsageError(fmt::format(
      "--domain: {} has nodes of {} from {} to {}, and by --domain they go from {} to {}; leave "
      "--domain out",
      where, name, axis.first, axis.last, ends.first, last));
}

struct AxisChoice {
  char name;
  PlaneBoundary boundary;
  std::optional<DomainEnds> ends;
};

PlaneAxis axis_of_file(const PlaneFileAxis& of_file, const GyroaverageOptions& options,
                       const AxisChoice& choice) {
  const std::string where = fmt::format("{}: axis {}", options.input, of_file.name);
  // --adjoint takes results, which --targets equispaced has elsewhere.
  const bool is_elsewhere = options.adjoint && parse_targets(options.targets).are_equispaced;
  const bool is_chebyshev = options.method == "chebyshev" && !is_elsewhere;
  PlaneAxis axis;
  if (!of_file.coordinates.empty()) {
    axis = nodes_in_file(of_file, choice.boundary, where);
    if (choice.ends) {
      match_domain(axis, *choice.ends, rounding_of_coordinates(of_file), options.input,
                   choice.name);
    }
    // Up to three nodes are of both kinds, and count as equispaced.
    if (is_chebyshev && axis.size <= 3) axis.nodes = PlaneNodes::chebyshev;
  } else {
    if (!choice.ends) {
      throw UsageError(fmt::format(
          "{} has no coordinates; give those of the outermost nodes: --domain X0:X1,Y0:Y1", where));
    }
    if (of_file.size < 2)
      throw DataError(where, fmt::format("has {} nodes; expected 2 or more", of_file.size));
    axis = {of_file.size, choice.ends->first,
            last_node(*choice.ends, of_file.size, choice.boundary),
            is_chebyshev ? PlaneNodes::chebyshev : PlaneNodes::equispaced, choice.boundary};
  }
  return axis;
}

/// The method of --method, or the one that the nodes suggest.
GyroMethod method_of(const GyroaverageOptions& options, const PlaneGrid& grid) {
  const bool x_is = grid.x.nodes == PlaneNodes::chebyshev;
  const bool y_is = grid.y.nodes == PlaneNodes::chebyshev;
  const bool are_equispaced = parse_targets(options.targets).are_equispaced && options.adjoint;
  if (options.method.empty() && x_is != y_is) {
    throw DataError(options.input,
                    fmt::format("the nodes of {} are Chebyshev nodes and those of {} are "
                                "equispaced; expected the same kind along both axes",
                                x_is ? 'x' : 'y', x_is ? 'y' : 'x'));
  }
  if (options.method.empty())
    return x_is || are_equispaced ? GyroMethod::chebyshev : GyroMethod::bicubic;
  const GyroMethod method = parse_gyro_method(options.method);
  const bool wants = method == GyroMethod::chebyshev && !are_equispaced;
  if (wants == x_is && wants == y_is) return method;
  const char axis = wants != x_is ? 'x' : 'y';
  throw DataError(options.input,
                  wants ? fmt::format("--method chebyshev: the nodes of {} are equispaced; use "
                                      "bilinear, bicubic or dct",
                                      axis)
                        : fmt::format("--method {}: the nodes of {} are Chebyshev nodes; {}",
                                      options.method, axis,
                                      are_equispaced ? "--adjoint --targets equispaced goes from "
                                                       "equispaced to Chebyshev nodes"
                                                     : "use --method chebyshev"));
}

/// Completes the specification: the nodes of fields, and those of results.
void set_grid(GyroJob& job) {
  GyroSpec& spec = job.spec;
  spec.grid = grid_of_file(job.input, job.options);
  spec.method = method_of(job.options, spec.grid);
  const GyroTargets targets = parse_targets(job.options.targets);
  if (!targets.are_equispaced) return;
  if (spec.method != GyroMethod::chebyshev) {
    throw UsageError(
        fmt::format("--targets equispaced belongs to --method chebyshev, and {} has "
                    "equispaced nodes; leave it out",
                    job.options.input));
  }
  const auto size_of = [&](const PlaneAxis& axis) {
    return targets.size > 0 ? targets.size : axis.size;
  };
  if (!job.is_adjoint()) {
    spec.targets_x = size_of(spec.grid.x);
    spec.targets_y = size_of(spec.grid.y);
    return;
  }
  for (auto [axis, size] :
       {std::pair{&spec.grid.x, &spec.targets_x}, std::pair{&spec.grid.y, &spec.targets_y}}) {
    *size = axis->size;
    axis->size = size_of(*axis);
    axis->nodes = PlaneNodes::chebyshev;
  }
}

/// The nodes of OUT.
PlaneGrid grid_of_output(const GyroSpec& spec, bool is_adjoint) {
  PlaneGrid grid = spec.grid;
  if (is_adjoint || spec.targets_x == 0) return grid;
  grid.x.size = spec.targets_x;
  grid.y.size = spec.targets_y;
  grid.x.nodes = grid.y.nodes = PlaneNodes::equispaced;
  return grid;
}

/// Throws a UsageError where OUT would have the axis rho in the place of the data set.
void require_other_name(const GyroJob& job) {
  const std::string& name = job.input.name;
  if (name.substr(0, name.find('/')) != rho_name) return;
  throw UsageError(fmt::format(
      "{}: averages of /{} have an axis of radii /{}, which would take the place of the data set; "
      "rename it before, e.g. in h5py file.move('{}', 'density')",
      job.options.input, name, rho_name, name));
}

void set_output(GyroJob& job, std::optional<std::size_t> rho) {
  const bool by_target = !job.options.rho_field.empty();
  const bool has_rho = !by_target && output_has_rho(job.combination, job.is_adjoint());
  const Precision precision = storage_precision(job.options.precision, job.input.precision);
  job.output = header_on(job.input, grid_of_output(job.spec, job.is_adjoint()), precision);
  PlaneFileAxis axis{std::string(rho_name), ssize64(job.spec.radii), job.spec.radii,
                     job.input.x.unit, "radius of the circle"};
  if (rho) {
    axis.unit = job.input.axes[*rho].unit;
    axis.long_name = job.input.axes[*rho].long_name;
    job.output.axes.erase(job.output.axes.begin() + static_cast<std::ptrdiff_t>(*rho));
    job.numbers_in = {true, axis.size, 1};
    for (std::size_t i = *rho + 1; i < job.input.axes.size(); ++i)
      job.numbers_in.n_behind *= job.input.axes[i].size;
  }
  job.n_fields = job.output.n_fields();
  job.spec.numbers = precision == Precision::double_ ? GyroNumbers::doubles : GyroNumbers::any;
  job.spec.sums = has_rho ? GyroSums::none : GyroSums::formed;
  if (!has_rho) return;
  require_other_name(job);
  job.output.axes.insert(job.output.axes.begin(), axis);
  job.numbers_out = {true, axis.size, job.n_fields};
}

/// Says how many circles are larger than the rectangle.
void warn_of_large_radii(Run& run, const GyroSpec& spec) {
  const auto count = std::count_if(spec.radii.begin(), spec.radii.end(),
                                   [&](double radius) { return is_beyond(spec.grid, radius); });
  if (count == 0) return;
  run.warn(
      fmt::format("{} of {} radii are above the diagonal of the domain: their averages are zero",
                  count, spec.radii.size()));
}

/// The largest radius whose averages are not all zero; 0 without one.
double largest_radius(const GyroSpec& spec) {
  double largest = 0;
  for (const double radius : spec.radii)
    if (!is_beyond(spec.grid, radius)) largest = std::max(largest, radius);
  return largest;
}

std::vector<std::int64_t> numbers_of(const FieldNumbers& numbers, const GyroPart& part,
                                     std::int64_t begin) {
  std::vector<std::int64_t> result;
  const std::int64_t first = numbers.has_rho ? part.radius_begin : 0;
  const std::int64_t last = numbers.has_rho ? part.radius_end : 1;
  for (std::int64_t radius = first; radius < last; ++radius) {
    for (std::int64_t field = part.field_begin; field < part.field_end; ++field)
      result.push_back(numbers.number(radius, begin + field));
  }
  return result;
}

}  // namespace

PlaneGrid grid_of_file(const PlaneHeader& header, const GyroaverageOptions& options) {
  const PlaneBoundaries boundaries = parse_boundaries(options.boundary);
  const std::optional<PlaneDomain> domain = parse_domain(options.domain);
  const auto ends = [&](DomainEnds PlaneDomain::*axis) {
    return domain ? std::optional((*domain).*axis) : std::nullopt;
  };
  return {axis_of_file(header.x, options, {'x', boundaries.x, ends(&PlaneDomain::x)}),
          axis_of_file(header.y, options, {'y', boundaries.y, ends(&PlaneDomain::y)})};
}

PlaneHeader header_on(const PlaneHeader& input, const PlaneGrid& grid, Precision precision) {
  PlaneHeader header = input;
  header.precision = precision;
  for (auto [to, axis] : {std::pair{&header.x, &grid.x}, std::pair{&header.y, &grid.y}}) {
    if (ssize64(to->coordinates) == axis->size && to->precision == Precision::double_) {
      // Coordinates of the file are kept to the last digit, where they are those of the axis.
      const double most = same_node * (axis->last - axis->first) / static_cast<double>(axis->size);
      const std::int64_t middle = axis->size / 4;
      if (std::abs(to->coordinates[to_size(middle)] - axis->node(middle)) <= most) continue;
    }
    to->size = axis->size;
    to->precision = Precision::double_;
    to->coordinates.resize(to_size(axis->size));
    for (std::int64_t i = 0; i < axis->size; ++i) to->coordinates[to_size(i)] = axis->node(i);
  }
  std::erase_if(header.attributes, [](const Keyword& keyword) {
    return std::find(own_attributes.begin(), own_attributes.end(), keyword.name) !=
           own_attributes.end();
  });
  return header;
}

GyroJob make_gyro_job(Run& run, const GyroaverageOptions& options, const PlaneFileReader& reader) {
  GyroJob job{options, parse_combination(options.combine), reader.header()};
  const std::optional<std::size_t> rho = rho_axis(job);
  if (options.rho_field.empty()) job.spec.radii = radii_of(run, job, rho);
  set_grid(job);
  job.spec.padding = options.padding;
  job.weights = weights_of(run, job);
  set_output(job, rho);
  if (job.n_fields == 0)
    throw DataError(options.input,
                    fmt::format("{} has no fields, an axis is empty", job.input.name));
  warn_of_large_radii(run, job.spec);
  return job;
}

PlaneFilePart part_of_input(const GyroJob& job, const GyroPart& part, std::int64_t begin) {
  if (part.is_empty()) return {};
  const bool has_rows = job.is_adjoint();
  return {numbers_of(job.numbers_in, part, begin), has_rows ? part.row_begin : part.field_row_begin,
          has_rows ? part.row_end : part.field_row_end};
}

PlaneFilePart part_of_output(const GyroJob& job, const GyroPart& part, std::int64_t begin) {
  const bool has_rows = !job.is_adjoint();
  const bool shares_rows =
      part.field_row_begin != part.row_begin || part.field_row_end != part.row_end;
  const bool is_copy = (!job.makes_all_radii() && part.radius_begin > 0) ||
                       (!has_rows && shares_rows && part.row_begin > 0);
  if (part.is_empty() || is_copy) return {};
  return {numbers_of(job.numbers_out, part, begin),
          has_rows ? part.row_begin : part.field_row_begin,
          has_rows ? part.row_end : part.field_row_end};
}

std::vector<Keyword> attributes_of(const GyroJob& job) {
  const GyroSpec& spec = job.spec;
  std::vector<Keyword> attributes{
      {"method", std::string(word_of(spec.method)), "how fields are continued between nodes"},
      {"boundary",
       fmt::format("x={},y={}", word_of(spec.grid.x.boundary), word_of(spec.grid.y.boundary)),
       "values outside of the nodes"},
      {"combine", job.options.combine, "how fields and radii meet"},
      {"adjoint", job.is_adjoint(), "whether it is the transpose"}};
  if (spec.method == GyroMethod::dct) {
    const BesselAxes axes = bessel_axes(spec.grid, largest_radius(spec), spec.padding);
    attributes.push_back({"padding_x", axes.x.first, "nodes of zeros before the first of x"});
    attributes.push_back({"padding_y", axes.y.first, "nodes of zeros before the first of y"});
  }
  if (!job.options.rho_field.empty())
    attributes.push_back({"rho_field", job.options.rho_field, "radii of the targets"});
  return attributes;
}

}  // namespace ringweave::detail::inline app
