// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/analysis_checks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

/// "the grid healpix:8 holds degrees up to 23 (3 nside - 1)".
std::string held_degrees(const RingGrid& grid) {
  return fmt::format("the grid {} holds degrees up to {}{}", grid.name(), grid.default_lmax(),
                     grid.nside() > 0 ? " (3 nside - 1)" : "");
}

}  // namespace

bool is_exact(const RingGrid& grid, int lmax) {
  const bool has_quadrature = grid.kind() == GridKind::gauss_legendre ||
                              grid.kind() == GridKind::clenshaw_curtis ||
                              grid.kind() == GridKind::fejer;
  return has_quadrature && lmax <= grid.default_lmax();
}

int usual_iterations(const RingGrid& grid, int lmax) { return is_exact(grid, lmax) ? 0 : 3; }

bool has_weights(const RingGrid& grid) {
  return std::any_of(grid.rings().begin(), grid.rings().end(),
                     [](const Ring& ring) { return ring.weight != 0; });
}

void require_weights(const std::string& path, const RingGrid& grid) {
  if (has_weights(grid)) return;
  throw DataError(path, fmt::format("its grid, {}, has no quadrature weights, which an analysis "
                                    "needs; put the steradians of a pixel of each ring into the "
                                    "dataset /grid/weight (docs/files.md)",
                                    grid.name()));
}

void warn_beyond_grid(Run& run, const std::string& path, const RingGrid& grid, int lmax) {
  if (lmax <= grid.default_lmax()) return;
  run.warn(fmt::format("{}: lmax = {}, but {}; those beyond are not to be trusted", path, lmax,
                       held_degrees(grid)));
}

void require_converging(const Communicator& comm, const std::string& path, const RingGrid& grid,
                        int lmax, const std::vector<double>& residuals) {
  // Below this, rounding in single precision may let residuals grow.
  constexpr double rounding = 1e-5;
  // Where they converge, the residuals fall in the norm of the quadrature weights, and may grow a
  // little in this one. Beyond the grid's degrees any growth goes on.
  const bool is_beyond = lmax > grid.default_lmax();
  const double growth = is_beyond ? 1 + 1e-4 : 1 + 1e-2;
  agree(comm, [&] {
    double before = 1;  // of no a_lm at all
    for (std::size_t pass = 0; pass < residuals.size(); ++pass) {
      const double after = residuals[pass];
      if (after <= std::max(rounding, growth * before)) {
        before = after;
        continue;
      }
      throw DataError(
          path, fmt::format("the analysis to lmax = {} diverges: its relative residual grows from "
                            "{:.4g} to {:.4g} in pass {}; {}",
                            lmax, before, after, pass,
                            is_beyond ? fmt::format("{}, so give --lmax {} or less",
                                                    held_degrees(grid), grid.default_lmax())
                                      : "give --iter 0, or --tol for conjugate gradients"));
    }
  });
}

void note_what_remains(Run& run, const std::string& path, int lmax,
                       const std::vector<double>& residuals) {
  constexpr double large = 0.1;
  const std::size_t n = residuals.size();
  if (n < 2 || residuals[n - 1] < large || residuals[n - 1] < 0.9 * residuals[n - 2]) return;
  run.note(
      fmt::format("{}: the residual stays at {:.2g}, the part of the map that lies above "
                  "lmax = {}; iterations do not reduce it, a higher --lmax does",
                  path, residuals.back(), lmax));
}

std::vector<std::string> names_of_fields(const FieldChoice& choice, const MapHeader& header) {
  if (choice.name != "all") {
    std::vector<std::string> names;
    for (const char letter : choice.name) names.emplace_back(1, letter);
    return names;
  }
  std::vector<std::string> names;
  for (const int column : choice.columns)
    names.push_back(header.columns[to_size(std::int64_t{column})].name);
  return names;
}

std::string unseen_text(const std::vector<std::int64_t>& n_pixels,
                        const std::vector<std::string>& fields, bool is_masked) {
  const std::string kind = is_masked ? "UNSEEN or masked pixels" : "UNSEEN pixels";
  const auto [least, most] = std::minmax_element(n_pixels.begin(), n_pixels.end());
  if (n_pixels.empty() || *most == 0) return "";
  if (*least == *most) return fmt::format("{} {}", *most, kind);
  std::string text;
  for (std::size_t i = 0; i < n_pixels.size(); ++i) {
    if (n_pixels[i] == 0) continue;
    text += text.empty() ? fmt::format("{} {} of {}", n_pixels[i], kind, fields[i])
                         : fmt::format(", {} of {}", n_pixels[i], fields[i]);
  }
  return text;
}

void note_columns_left_out(Run& run, const std::string& path, const MapHeader& header,
                           const FieldChoice& choice) {
  const std::vector<std::string> names = columns_left_out(header, choice);
  if (!names.empty())
    run.note(fmt::format("{}: columns left out: {}", path, fmt::join(names, ", ")));
}

void warn_of_coordinates(Run& run, const std::string& path, const MapHeader& map,
                         const std::string& other_path, const MapHeader& other) {
  if (map.coordsys.empty() || other.coordsys.empty()) return;
  if (map.coordsys.front() == other.coordsys.front()) return;
  run.warn(fmt::format("{} has COORDSYS {} and {} {}: they are taken pixel by pixel", path,
                       map.coordsys, other_path, other.coordsys));
}

}  // namespace ringweave::detail::inline app
