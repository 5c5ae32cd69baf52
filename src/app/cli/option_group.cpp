// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/option_group.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/device.hpp"
#include "ringweave/grid.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Used instead of CLI11's own checks, whose messages print the largest double.
CLI::Validator number_with(const char* expected, bool (*accepts)(double)) {
  return CLI::Validator(
      [expected, accepts](const std::string& text) {
        double value = 0;
        const bool fine = CLI::detail::lexical_cast(text, value) && accepts(value);
        return fine ? std::string() : text + ": expected a number " + expected;
      },
      "");
}

}  // namespace

CLI::Validator positive_number() {
  return number_with("above 0", [](double value) { return value > 0; });
}

CLI::Validator non_negative_number() {
  return number_with("of 0 or more", [](double value) { return value >= 0; });
}

CLI::Validator number_within(double low, double high) {
  // CLI::Range shows six decimal places.
  const auto error = [low, high](const std::string& text) {
    double value = 0;
    if (CLI::detail::lexical_cast(text, value) && value >= low && value <= high)
      return std::string();
    return fmt::format("{} is not a number from {} to {}", text, low, high);
  };
  return CLI::Validator(error, "");
}

CLI::Validator nside_number() {
  return number_within(1, static_cast<double>(RingGrid::most_nside));
}

CLI::Validator degree_number() { return number_within(0, 4'000'000); }
CLI::Validator iteration_number() { return number_within(0, 1'000'000); }

CLI::Option* OptionGroup::choice(const std::string& name, std::string& target,
                                 const std::vector<std::string>& words, std::string text) const {
  if (name == "--backend" && cuda_version().empty()) text += " Not in this build: cuda.";
  return app_.add_option(name, target, text)
      ->check(CLI::IsMember(words).description(""))
      ->type_name(fmt::format("{}", fmt::join(words, "|")))
      ->group(name_);
}

void declare_cl_kind(CLI::App& command, std::string& target, const std::string& what) {
  OptionGroup(command, own_group)
      .choice("--cl-kind", target, {"cl", "dl"},
              what +
                  ": the numbers are C_l, or D_l = l(l+1)C_l/2pi. Default: the kind that the "
                  "header of the file states, else cl.");
}

void declare_variable(CLI::App& command, std::string& target) {
  OptionGroup(command, own_group)
      .value("--variable", target, "NAME",
             "The variable over latitude and longitude (NetCDF-4) that is the map. Default: all.");
}

void declare_grid(CLI::App& command, TransformOptions& options) {
  const OptionGroup group(command, transform_group);
  group
      .value("--nside", options.nside, "N",
             "HEALPix resolution of the map, any N of 1 or more; the same as --grid healpix:N.")
      ->check(nside_number());
  group.value(
      "--grid", options.grid, "GRID",
      "Grid of the map: healpix:NSIDE, gauss:LMAX[,NPHI[,LON]], "
      "clenshaw:NRINGS[,NPHI[,LON]], fejer:NRINGS[,NPHI[,LON]]; LON is the longitude of the "
      "first pixels in degrees. Either this or --nside is required.");
}

void declare_backend(CLI::App& command, TransformOptions& options) {
  const OptionGroup group(command, transform_group);
  auto* backend = group.choice(
      "--backend", options.backend, {"auto", "host", "cuda"},
      "Where to compute; cuda: on a GPU of the node for each rank, auto: on a GPU if there is one, "
      "or where the machine file predicts a transform, or part of a kernel, to be fastest.");
  backend->capture_default_str();
  declare_stage(command, options, backend);
}

void declare_stage(CLI::App& command, TransformOptions& options, CLI::Option* backend) {
  OptionGroup(command, transform_group)
      .value("--stage", options.stage, "legendre=PLACE,fft=PLACE",
             "Run each stage of a transform on the host or on a GPU (cuda); one stage alone on a "
             "GPU copies its data there and back. Default: the places of --backend.")
      ->excludes(backend);
}

void declare_transform(CLI::App& command, TransformOptions& options,
                       const std::vector<std::string>& fields, const TransformTexts& defaults) {
  const OptionGroup group(command, transform_group);
  group
      .value("--lmax", options.lmax, "L", std::string("Highest degree. Default: ") + defaults.lmax)
      ->check(degree_number());
  group.value("--mmax", options.mmax, "M", std::string("Highest order. Default: ") + defaults.mmax)
      ->check(degree_number());
  const bool has_all = std::find(fields.begin(), fields.end(), "all") != fields.end();
  group.choice("--fields", options.fields, fields,
               std::string("Fields of the transform") +
                   (has_all ? "; all: every column, as scalar fields" : "") +
                   ". Default: those that the input holds.");
  group.choice("--precision", options.precision, {"single", "double"},
               std::string("Storage of maps and a_lm; arithmetic is double. Default: ") +
                   defaults.precision);
  group
      .choice("--exchange", options.exchange, {"double", "single", "overlap"},
              "How ring modes are exchanged between ranks: double precision in one step, single "
              "precision, or overlapped with the Legendre stage.")
      ->capture_default_str();
}

void declare_analysis(CLI::App& command, AnalysisOptions& options,
                      const std::vector<std::string>& unseen_policies, const AnalysisTexts& texts) {
  const OptionGroup group(command, analysis_group);
  auto* iter = group
                   .value("--iter", options.n_iter, "N",
                          std::string("Jacobi corrections of the analysis, two transforms each. "
                                      "Default: ") +
                              texts.default_iter)
                   ->check(iteration_number());
  group
      .value("--tol", options.tolerance, "X",
             "Conjugate gradients until the relative residual is at most X, 1e-15 to 1, or 100 "
             "iterations are done. Default: --iter.")
      ->check(number_within(1e-15, 1.0))
      ->excludes(iter);
  group
      .value("--weights", options.weights, "WEIGHTS",
             "Quadrature weights: none, ring:FILE, pixel:FILE, where FILE may be the folder that "
             "has those of the map's nside; ring or pixel: in the folder of HEALPix. A missing "
             "file is an error.")
      ->capture_default_str();
  group.value("--mask", options.mask, "FILE",
              "A map on the same grid that is 1 where the sky counts and 0 where it is masked, or "
              "between: the map is multiplied by it. It may be RING or NESTED. Default: no mask.");
  group.value("--mask-column", options.mask_column, "COLUMN",
              "Which column of --mask, by name or by number from 0, e.g. --mask-column 1. Default: "
              "the first.");
  group.value(
      "--apodise,--apodize", options.apodise, "ANGLE",
      "Soften the edge of --mask: from 1 at this angle from the nearest masked pixel (0) it falls "
      "to 0 as a cosine (C2), e.g. --apodise 2deg or 30arcmin. Masked pixels stay masked. "
      "Default: the mask as it is.");
  group.choice("--unseen", options.unseen, unseen_policies, texts.unseen);
  group.choice("--remove", options.remove, {"none", "monopole", "dipole"},
               std::string("Fit on the seen pixels of T and remove before the analysis; dipole "
                           "removes the monopole too. Default: ") +
                   texts.default_remove);
}

OptionGroup declare_maps(CLI::App& command, MapsOptions& options) {
  const OptionGroup group(command, maps_group);
  group
      .value("--batch", options.batch, "N",
             "Most maps per transform; the results do not depend on it. Default: as many as are "
             "faster together and fit in memory.")
      ->check(positive_number());
  group.flag("--resume", options.resume,
             "Skip maps whose outputs exist, and remove incomplete outputs of killed runs. "
             "Default: an output that exists is an error.");
  return group;
}

}  // namespace ringweave::detail::inline app
