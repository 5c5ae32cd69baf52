// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "app/commands/commands.hpp"
#include "app/content.hpp"
#include "app/cosmic_variance.hpp"
#include "app/plane_fields.hpp"
#include "app/table_input.hpp"
#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/hdf5/plane.hpp"
#include "ringweave/error.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Sums over one column of two files, from which all printed figures follow.
struct Difference {
  std::string name;
  double largest = 0;     ///< max |a - b|
  double square_sum = 0;  ///< of a - b
  double b_sum = 0;
  double b_square_sum = 0;
  std::int64_t count = 0;      ///< pixels or modes with values in both
  std::int64_t one_sided = 0;  ///< UNSEEN in only one of the two
  std::int64_t a_broken = 0;   ///< NaN or infinite
  std::int64_t b_broken = 0;
  double sigma_of_fields = 0;  ///< the unit of relative() for a cross spectrum; 0: sigma of b

  void add(double a, double b) {
    if (!std::isfinite(a) || !std::isfinite(b)) {
      a_broken += std::isfinite(a) ? 0 : 1;
      b_broken += std::isfinite(b) ? 0 : 1;
      return;
    }
    const bool a_seen = !is_unseen(a);
    const bool b_seen = !is_unseen(b);
    if (a_seen != b_seen) ++one_sided;
    if (!a_seen || !b_seen) return;
    ++count;
    largest = std::max(largest, std::abs(a - b));
    square_sum += (a - b) * (a - b);
    b_sum += b;
    b_square_sum += b * b;
  }
  void reduce(const Communicator& comm) {
    largest = comm.max(largest);
    for (double* sum : {&square_sum, &b_sum, &b_square_sum}) *sum = comm.sum(*sum);
    for (std::int64_t* sum : {&count, &one_sided, &a_broken, &b_broken}) *sum = comm.sum(*sum);
  }
  double rms() const { return count > 0 ? std::sqrt(square_sum / static_cast<double>(count)) : 0; }
  double b_rms() const {
    return count > 0 ? std::sqrt(b_square_sum / static_cast<double>(count)) : 0;
  }
  double b_sigma() const {
    if (count == 0) return 0;
    const double mean = b_sum / static_cast<double>(count);
    return std::sqrt(std::max(0.0, b_square_sum / static_cast<double>(count) - mean * mean));
  }
  /// Returns the figure compared with --tolerance: max |a - b| in units of the standard deviation
  /// of b (of its rms if b is constant), or of sigma_of_fields.
  double relative() const {
    const double scale = sigma_of_fields > 0           ? sigma_of_fields
                         : b_sigma() > 1e-14 * b_rms() ? b_sigma()
                                                       : b_rms();
    return largest == 0 ? 0 : scale > 0 ? largest / scale : INFINITY;
  }
};

void require_equal(const CompareOptions& options, const std::string& what, std::int64_t a,
                   std::int64_t b) {
  if (a != b) {
    throw DataError(options.a + ", " + options.b,
                    fmt::format("differ in {}: {} and {}; nothing to compare", what, a, b));
  }
}

std::vector<Difference> compare_maps(Run& run, const CompareOptions& options, MapReader& a,
                                     MapReader& b) {
  const auto grid = a.header().grid;
  if (grid->name() != b.header().grid->name()) {
    throw DataError(
        options.a + ", " + options.b,
        fmt::format("are on different grids: {} and {}", grid->name(), b.header().grid->name()));
  }
  require_equal(options, "number of columns", ssize64(a.header().columns),
                ssize64(b.header().columns));
  const LocalRings rings = bands_of_pixels(run.comm, grid);
  std::vector<Difference> differences;
  auto one = agreed(run.comm, [&] { return MapBuffer<double>(1, rings.n_pixels()); });
  auto other = agreed(run.comm, [&] { return MapBuffer<double>(1, rings.n_pixels()); });
  for (int column = 0; column < static_cast<int>(a.header().columns.size()); ++column) {
    a.read({&column, 1}, rings, one.view());
    b.read({&column, 1}, rings, other.view());
    Difference& difference = differences.emplace_back();
    difference.name = a.header().columns[to_size(column)].name;
    const auto x = one.view().component(0);
    const auto y = other.view().component(0);
    for (std::int64_t i = 0; i < x.size(); ++i) difference.add(x[i], y[i]);
    difference.reduce(run.comm);
  }
  return differences;
}

std::vector<Difference> compare_alm(Run& run, const CompareOptions& options, AlmReader& a,
                                    AlmReader& b) {
  for (const std::string& warning : a.header().warnings) run.warn(options.a + ": " + warning);
  for (const std::string& warning : b.header().warnings) run.warn(options.b + ": " + warning);
  require_equal(options, "lmax", a.header().lmax, b.header().lmax);
  require_equal(options, "mmax", a.header().mmax, b.header().mmax);
  require_equal(options, "number of components", ssize64(a.header().components),
                ssize64(b.header().components));
  // Orders are assigned round robin: only the sizes need balance.
  std::vector<int> orders;
  for (int m = run.comm.rank(); m <= a.header().mmax; m += run.comm.size()) orders.push_back(m);
  const AlmLayout layout(a.header().lmax, a.header().mmax, orders);
  auto one = agreed(run.comm, [&] { return AlmBuffer<double>(1, layout.size()); });
  auto other = agreed(run.comm, [&] { return AlmBuffer<double>(1, layout.size()); });
  std::vector<Difference> differences;
  for (int c = 0; c < static_cast<int>(a.header().components.size()); ++c) {
    a.read({&c, 1}, layout, one.view());
    b.read({&c, 1}, layout, other.view());
    Difference& difference = differences.emplace_back();
    difference.name = a.header().components[to_size(c)];
    const auto x = one.view().component(0);
    const auto y = other.view().component(0);
    for (std::int64_t i = 0; i < x.size(); ++i) {
      difference.add(x[i].real(), y[i].real());
      difference.add(x[i].imag(), y[i].imag());
    }
    difference.reduce(run.comm);
  }
  return differences;
}

/// Throws a DataError unless both fields have the same nodes, to rounding.
void require_same_axes(const CompareOptions& options, const PlaneHeader& a, const PlaneHeader& b) {
  require_equal(options, "number of axes", ssize64(a.axes) + 2, ssize64(b.axes) + 2);
  constexpr double rounding = 1e-12;
  for (std::int64_t i = 0; i < ssize64(a.axes) + 2; ++i) {
    const PlaneFileAxis& of_a = plane_axis_at(a, i);
    const PlaneFileAxis& of_b = plane_axis_at(b, i);
    require_equal(options, "size of axis " + of_a.name, of_a.size, of_b.size);
    if (of_a.coordinates.empty() || of_b.coordinates.empty()) continue;
    const auto [low, high] = std::minmax_element(of_a.coordinates.begin(), of_a.coordinates.end());
    const double allowed = rounding * std::max({*high - *low, std::abs(*low), std::abs(*high)});
    for (std::size_t j = 0; j < of_a.coordinates.size(); ++j) {
      const double one = of_a.coordinates[j], other = of_b.coordinates[j];
      if (std::abs(one - other) <= allowed) continue;
      throw DataError(options.a + ", " + options.b,
                      fmt::format("differ in axis {}: index {} is at {} and {}; nothing to compare",
                                  of_a.name, j, one, other));
    }
  }
}

std::vector<Difference> compare_planes(Run& run, const CompareOptions& options) {
  const PlaneFileReader a(run.comm, options.a, options.variable);
  const PlaneFileReader b(run.comm, options.b, options.variable);
  const PlaneHeader& header = a.header();
  require_same_axes(options, header, b.header());
  std::vector<Difference> differences;
  for (const PlaneFilePart& part : parts_of_fields(run.comm, header)) {
    const auto make = [&] {
      return MapBuffer<double>(ssize64(part.fields),
                               (part.row_end - part.row_begin) * header.x.size);
    };
    auto one = agreed(run.comm, make);
    auto other = agreed(run.comm, make);
    a.read(part, one.view());
    b.read(part, other.view());
    for (std::int64_t c = 0; c < ssize64(part.fields); ++c) {
      Difference& difference = differences.emplace_back();
      difference.name = name_of_field(header, part.fields[to_size(c)]);
      const auto x = one.view().component(c);
      const auto y = other.view().component(c);
      for (std::int64_t i = 0; i < x.size(); ++i) difference.add(x[i], y[i]);
      difference.reduce(run.comm);
    }
  }
  return differences;
}

/// Returns sqrt(sigma_XX sigma_YY) for a spectrum XY; 0 where one of them is missing. A spectrum
/// such as EB may be rounding alone, and then has no scale of its own; neither has BB of a sky
/// without B, so each sigma is at least that of rounding relative to the strongest field.
double sigma_of_fields(const Spectra& spectra, Spectra::Name name, int lmax) {
  constexpr double rounding = 1e-12;
  double strongest = 0;
  const auto sigma = [&](Spectra::Name own) {
    Difference alone;
    for (int l = 0; l <= lmax; ++l) alone.add(spectra(own, l), spectra(own, l));
    return alone.b_sigma();
  };
  for (const Spectra::Name own : {Spectra::TT, Spectra::EE, Spectra::BB}) {
    if (spectra.has(own)) strongest = std::max(strongest, sigma(own));
  }
  double product = 1;
  for (const char field : std::string_view(Spectra::names[to_size(std::int64_t{name})])) {
    const Spectra::Name own = own_spectrum(field);
    if (!spectra.has(own)) return 0;
    // The potential has another unit.
    product *= own == Spectra::PP ? sigma(own) : std::max(sigma(own), rounding * strongest);
  }
  return std::sqrt(product);
}

std::vector<Difference> compare_spectra(const CompareOptions& options, const Spectra& a,
                                        const Spectra& b) {
  if (options.lmax < 0) require_equal(options, "lmax", a.lmax(), b.lmax());
  const int lmax = options.lmax >= 0 ? options.lmax : a.lmax();
  std::vector<Difference> differences;
  for (int s = 0; s < Spectra::n_names; ++s) {
    const auto name = static_cast<Spectra::Name>(s);
    if (!a.has(name) || !b.has(name)) continue;
    Difference& difference = differences.emplace_back();
    difference.name = Spectra::names[to_size(s)];
    difference.sigma_of_fields = sigma_of_fields(b, name, lmax);
    for (int l = 0; l <= lmax; ++l) difference.add(a(name, l), b(name, l));
  }
  return differences;
}

/// Tests whether `measured` is a full-sky realisation of `expected`.
int compare_with_expectation(Run& run, const CompareOptions& options, const Spectra& measured,
                             const Spectra& expected) {
  const int lmax = options.lmax >= 0 ? options.lmax : std::min(measured.lmax(), expected.lmax());
  if (lmax > measured.lmax() || lmax > expected.lmax()) {
    throw UsageError(fmt::format("--lmax {}: the spectra end at {} and {}", lmax, measured.lmax(),
                                 expected.lmax()));
  }
  run.print_line(fmt::format("{:<10}{:>16}{:>18}{:>22}", "spectrum", "mean ratio",
                             "chi^2 per degree", "deviation in sigma"));
  bool plausible = true;
  for (const Spectra::Name name : {Spectra::TT, Spectra::EE, Spectra::BB, Spectra::TE}) {
    if (!measured.has(name) || !expected.has(name)) continue;
    double chi_square = 0;
    double ratio = 0;
    double weight = 0;
    int degrees = 0;
    for (int l = 2; l <= lmax; ++l) {
      const double variance = cosmic_variance(expected, name, l);
      if (!(variance > 0)) continue;
      const double difference = measured(name, l) - expected(name, l);
      chi_square += difference * difference / variance;
      ratio += measured(name, l) * expected(name, l) / variance;
      weight += expected(name, l) * expected(name, l) / variance;
      ++degrees;
    }
    if (degrees == 0) continue;
    const double deviation = (chi_square - degrees) / std::sqrt(2.0 * degrees);
    plausible = plausible && std::abs(deviation) < 5;
    run.print_line(fmt::format("{:<10}{:>16.5f}{:>18.4f}{:>22.2f}", Spectra::names[to_size(name)],
                               ratio / weight, chi_square / degrees, deviation));
  }
  return plausible ? 0 : 1;
}

}  // namespace

int compare(Run& run, const CompareOptions& options) {
  const Content a =
      open_content(run.comm, options.a, unstated_kind(options.cl_kind), options.variable);
  const Content b =
      open_content(run.comm, options.b, unstated_kind(options.cl_kind), options.variable);
  const bool are_planes = !a.planes.empty() && !b.planes.empty();
  if (!are_planes) {
    refuse_table(options.a, a);
    refuse_table(options.b, b);
  }
  if (a.spectra) tell_of_spectra(run, options.a, *a.spectra, options.cl_kind);
  if (b.spectra) tell_of_spectra(run, options.b, *b.spectra, options.cl_kind);
  run.outputs.keep(options.a);
  run.outputs.keep(options.b);
  run.outputs.require_writable();
  if (options.cosmic_variance) {
    if (!a.spectra || !b.spectra) throw UsageError("--cosmic-variance compares spectra only");
    return compare_with_expectation(run, options, a.spectra->spectra, b.spectra->spectra);
  }
  std::vector<Difference> differences;
  if (are_planes) {
    differences = compare_planes(run, options);
  } else if (a.map != nullptr && b.map != nullptr) {
    differences = compare_maps(run, options, *a.map, *b.map);
  } else if (a.alm != nullptr && b.alm != nullptr) {
    differences = compare_alm(run, options, *a.alm, *b.alm);
  } else if (a.spectra && b.spectra) {
    differences = compare_spectra(options, a.spectra->spectra, b.spectra->spectra);
  } else {
    throw DataError(options.a + ", " + options.b,
                    "hold different things; compare maps with maps, a_lm with a_lm, "
                    "spectra with spectra");
  }
  run.print_line(fmt::format("{:<18}{:>14}{:>14}{:>14}{:>14}{:>12}", "column", "max |a-b|",
                             "rms a-b", "rms / rms b", "max / sigma b", "one-sided"));
  bool equal = true;
  for (const Difference& d : differences) {
    const double relative_rms = d.b_rms() > 0 ? d.rms() / d.b_rms() : d.rms() > 0 ? INFINITY : 0;
    run.print_line(fmt::format("{:<18}{:>14.4e}{:>14.4e}{:>14.4e}{:>14.4e}{:>12}", d.name,
                               d.largest, d.rms(), relative_rms, d.relative(), d.one_sided));
    const bool broken = d.a_broken + d.b_broken > 0;
    equal = equal && d.relative() <= options.tolerance && d.one_sided == 0 && !broken;
    if (broken) {
      run.print_line(fmt::format("  {}: NaN or infinite at {} places of {} and {} of {}; not equal",
                                 d.name, d.a_broken, options.a, d.b_broken, options.b));
    }
    run.report["differences"][d.name] = {{"max", d.largest},
                                         {"rms", d.rms()},
                                         {"relative_rms", relative_rms},
                                         {"relative_max", d.relative()},
                                         {"one_sided", d.one_sided},
                                         {"a_not_finite", d.a_broken},
                                         {"b_not_finite", d.b_broken}};
  }
  return equal ? 0 : 1;
}

}  // namespace ringweave::detail::inline app
