// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lens/lens_options.hpp"

#include <fmt/format.h>

#include "app/maps/map_list.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

/// An option that some forms of the command do not have.
struct Limited {
  bool is_given;
  bool has_place;
  const char* name;
  const char* where;  ///< it belongs
};

void require_one_form(const LensOptions& options) {
  if (!options.inverse && options.alm.empty() && options.cl.empty() && options.adjoint.empty()) {
    throw UsageError(
        "give an input: --alm FILE with --potential FILE, or --cl FILE; or --adjoint MAP, or "
        "--inverse and a MAP, with --potential FILE");
  }
  if (options.inverse && !options.adjoint.empty())
    throw UsageError("--adjoint and --inverse are two transforms; give one of them");
  if (options.inverse && options.moved().empty() == options.alm.empty()) {
    throw UsageError(
        "--inverse: give the input, a map or a_lm before OUT, or a_lm as --alm FILE, not "
        "both");
  }
  if (!options.inverse && !options.moved().empty()) {
    throw UsageError(
        fmt::format("{} and {}: give one file, OUT; the input is named by an option, --alm FILE, "
                    "and a map "
                    "belongs to --inverse",
                    options.moved(), options.output()));
  }
  if (options.cl.empty() && options.potential.empty())
    throw UsageError("give the lensing potential: --potential FILE");
  if (!options.adjoint.empty() && options.transform.lmax < 0)
    throw UsageError("--adjoint: give --lmax, the highest degree of the a_lm");
}

}  // namespace

void check_lens_options(const LensOptions& options) {
  require_one_form(options);
  const bool draws = !options.cl.empty();
  const bool is_adjoint = !options.adjoint.empty();
  const bool is_forward = !is_adjoint && !options.inverse;
  const bool analyses = options.lensed_lmax >= 0 || !options.moved().empty();
  const TransformOptions& transform = options.transform;
  const Limited limited[] = {
      {draws, !options.inverse, "--cl", "to lensing; --inverse moves back a map or a_lm of a file"},
      {!options.potential.empty(), !draws, "--potential", "to --alm and to maps; --cl draws one"},
      {!options.potential_kind.empty(), !draws, "--potential-kind", "to --potential"},
      {!options.curl.empty(), !draws, "--curl", "to --potential"},
      {!options.seed.empty(), draws, "--seed", "to --cl"},
      {!options.cl_kind.empty(), draws, "--cl-kind", "to --cl"},
      {!options.save_alm.empty(), is_forward, "--save-alm", "to --alm and --cl"},
      {options.lensed_lmax >= 0, is_forward, "--lensed-lmax", "to --alm and --cl"},
      {!options.unit.empty(), !is_adjoint && options.moved().empty(), "--unit",
       "to --alm and --cl"},
      {options.n_iter.has_value(), analyses && !is_adjoint, "--iter",
       "to --lensed-lmax and to the MAP of --inverse"},
      {options.weights != "none", is_adjoint, "--weights", "to --adjoint"},
      {options.magnification, is_adjoint, "--magnification", "to --adjoint"},
      {transform.nside > 0 || !transform.grid.empty(), !is_adjoint, "--nside or --grid",
       "to maps that are made; --adjoint has the grid of its map"},
  };
  for (const Limited& option : limited) {
    if (option.is_given && !option.has_place)
      throw UsageError(fmt::format("{} belongs {}; leave it out", option.name, option.where));
  }
  if (draws && !options.seed.empty() && parse_seeds(options.seed).size() > 1)
    throw UsageError(fmt::format("--seed {}: lens makes one map; give one seed", options.seed));
}

}  // namespace ringweave::detail::inline app
