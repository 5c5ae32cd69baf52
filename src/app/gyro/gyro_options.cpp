// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/gyro/gyro_options.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <sstream>
#include <string_view>
#include <utility>

#include "app/gyro/number_list.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

constexpr std::array<std::pair<std::string_view, PlaneBoundary>, 3> boundaries{
    {{"zero", PlaneBoundary::zero},
     {"periodic", PlaneBoundary::periodic},
     {"mirror", PlaneBoundary::mirror}}};
constexpr std::array<std::pair<std::string_view, GyroMethod>, 4> methods{
    {{"bilinear", GyroMethod::bilinear},
     {"bicubic", GyroMethod::bicubic},
     {"dct", GyroMethod::dct},
     {"chebyshev", GyroMethod::chebyshev}}};

/// An option that some forms of the command do not have.
struct LimitedOption {
  bool is_given;
  bool has_place;
  const char* name;
  const char* where;  ///< it belongs
};

PlaneBoundary boundary_of(const std::string& word, const std::string& text) {
  for (const auto& [name, boundary] : boundaries) {
    if (name == word) return boundary;
  }
  throw UsageError(fmt::format(
      "--boundary {}: '{}' is no boundary; expected zero, periodic or mirror for both axes, or "
      "such as x=zero,y=periodic",
      text, word));
}

DomainEnds ends_of(const std::string& range, const std::string& text) {
  const std::size_t colon = range.find(':');
  if (colon == std::string::npos) {
    throw UsageError(
        fmt::format("--domain {}: expected X0:X1,Y0:Y1, e.g. --domain=-1:1,0:6.28", text));
  }
  const std::vector<double> first = parse_numbers(range.substr(0, colon), "--domain");
  const std::vector<double> last = parse_numbers(range.substr(colon + 1), "--domain");
  if (first.size() != 1 || last.size() != 1 || !std::isfinite(first.front()) ||
      !std::isfinite(last.front()) || !(first.front() < last.front())) {
    throw UsageError(
        fmt::format("--domain {}: {} is no range; expected two numbers, the first below the second",
                    text, range));
  }
  return {first.front(), last.front()};
}

}  // namespace

void check_gyro_options(const GyroaverageOptions& options) {
  const std::string& method = options.method;
  const GyroCombination combination = parse_combination(options.combine);
  const bool is_stencil = method.empty() || method == "bilinear" || method == "bicubic";
  const bool by_target = !options.rho_field.empty();
  const GyroTargets targets = parse_targets(options.targets);
  const PlaneBoundaries edges = parse_boundaries(options.boundary);
  const bool has_zero = edges.x == PlaneBoundary::zero || edges.y == PlaneBoundary::zero;
  const LimitedOption limited[] = {
      {!options.weights.empty(), combination == GyroCombination::sum, "--weights",
       "to --combine sum"},
      {options.padding >= 0, method == "dct", "--padding", "to --method dct"},
      {options.padding >= 0, has_zero, "--padding",
       "to axes with --boundary zero; periodic and mirrored ones are not padded"},
      {targets.are_equispaced, method.empty() || method == "chebyshev", "--targets equispaced",
       "to --method chebyshev"},
      {targets.are_equispaced, combination != GyroCombination::twice, "--targets equispaced",
       "to one average; --combine double averages the averages at the same nodes"},
      {by_target, is_stencil, "--rho-field", "to --method bilinear and bicubic"},
      {by_target, combination == GyroCombination::each, "--rho-field",
       "to --combine each, where its radii are those of all fields"},
      {options.estimate, is_stencil, "--estimate",
       "to --method bilinear and bicubic; dct and chebyshev always give an error to expect"},
      {options.estimate, !options.adjoint && !by_target, "--estimate",
       "to averages over radii that are the same at all nodes, not to --adjoint or --rho-field"},
  };
  for (const LimitedOption& option : limited) {
    if (option.is_given && !option.has_place)
      throw UsageError(fmt::format("{} belongs {}; leave it out", option.name, option.where));
  }
  if (combination == GyroCombination::sum && options.weights.empty())
    throw UsageError("--combine sum: give a weight for each radius: --weights FILE[:DATASET]");
}

GyroCombination parse_combination(const std::string& text) {
  if (text == "pairs") return GyroCombination::pairs;
  if (text == "sum") return GyroCombination::sum;
  return text == "double" ? GyroCombination::twice : GyroCombination::each;
}

GyroMethod parse_gyro_method(const std::string& text) {
  for (const auto& [name, method] : methods) {
    if (name == text) return method;
  }
  throw InternalError("no method of averages is named " + text);
}

PlaneBoundaries parse_boundaries(const std::string& text) {
  if (text.find('=') == std::string::npos) {
    const PlaneBoundary both = boundary_of(text, text);
    return {both, both};
  }
  PlaneBoundaries result;
  bool has_x = false;
  bool has_y = false;
  std::istringstream parts(text);
  for (std::string part; std::getline(parts, part, ',');) {
    const bool is_x = part.starts_with("x=");
    bool& is_given = is_x ? has_x : has_y;
    if ((!is_x && !part.starts_with("y=")) || is_given) {
      throw UsageError(
          fmt::format("--boundary {}: expected x=... and y=..., each once at most", text));
    }
    is_given = true;
    (is_x ? result.x : result.y) = boundary_of(part.substr(2), text);
  }
  return result;
}

GyroTargets parse_targets(const std::string& text) {
  constexpr std::string_view equispaced = "equispaced";
  if (text == "same") return {};
  if (text == equispaced) return {true, 0};
  std::int64_t size = 0;
  if (text.starts_with(std::string(equispaced) + ':')) {
    const char* end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + equispaced.size() + 1, end, size);
    if (error == std::errc() && rest == end && size >= 2) return {true, size};
  }
  throw UsageError(fmt::format(
      "--targets {}: expected same, equispaced, or equispaced:N with N nodes of 2 or more", text));
}

std::optional<PlaneDomain> parse_domain(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) {
    throw UsageError(
        fmt::format("--domain {}: expected X0:X1,Y0:Y1, e.g. --domain=-1:1,0:6.28", text));
  }
  return PlaneDomain{ends_of(text.substr(0, comma), text), ends_of(text.substr(comma + 1), text)};
}

const char* word_of(PlaneBoundary boundary) {
  switch (boundary) {
    case PlaneBoundary::zero: return "zero";
    case PlaneBoundary::periodic: return "periodic";
    case PlaneBoundary::mirror: return "mirror";
  }
  throw InternalError("a boundary without a name");
}

const char* word_of(GyroMethod method) {
  switch (method) {
    case GyroMethod::bilinear: return "bilinear";
    case GyroMethod::bicubic: return "bicubic";
    case GyroMethod::dct: return "dct";
    case GyroMethod::chebyshev: return "chebyshev";
  }
  throw InternalError("a method without a name");
}

}  // namespace ringweave::detail::inline app
