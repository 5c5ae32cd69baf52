// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/smooth/smooth_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/angle.hpp"
#include "app/smooth/smooth_beam.hpp"
#include "app/table_input.hpp"
#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"
#include "ringweave/spectra.hpp"

namespace ringweave::detail::inline app {
namespace {

constexpr double usual_error = 1e-5;
/// Part of the allowed error for the cut of the kernel; the sums have the rest.
constexpr double part_of_cut = 0.5;
/// Parts of a kernel's power above the grid's degrees. Beyond the first the sum over pixels differs
/// visibly from the integral, beyond the second it has little to do with it.
constexpr double narrow = 1e-2;
constexpr double too_narrow = 0.5;

double allowed_error(const SmoothOptions& options, Precision precision) {
  constexpr double least = KernelSupport::least_error / part_of_cut;
  constexpr double least_in_single = 1e-7;
  const double error = options.error.value_or(usual_error);
  if (!(error >= least && error < 1)) {
    throw UsageError(
        fmt::format("--error {}: expected {} (below that all is rounding) or more, and less than 1",
                    error, least));
  }
  if (precision == Precision::single_ && error < least_in_single) {
    throw UsageError(fmt::format(
        "--error {}: maps in single precision hold no more than {}; use --precision double", error,
        least_in_single));
  }
  return error;
}

/// The option that defines the kernels.
struct KernelSource {
  double fwhm = 0;
  Beam beam;
  KernelProfile profile;
  int lmax = 0;  ///< of a profile's multipoles for Q and U

  /// Returns (b^E + b^B) / 2 for 0.5, (b^E - b^B) / 2 for -0.5.
  std::vector<double> of_e_and_b(double sign) const {
    std::vector<double> b_l;
    for (std::size_t l = 0; l < beam.e.size(); ++l)
      b_l.push_back(0.5 * beam.e[l] + sign * beam.b[l]);
    return b_l;
  }

  RadialKernel cut(Fields fields, const KernelSupport& support) const {
    constexpr int spin_of_q_and_u = 2;
    const int spin = fields == Fields::spin ? spin_of_q_and_u : 0;
    if (!beam.t.empty())
      return RadialKernel::from_beam(spin > 0 ? of_e_and_b(0.5) : beam.t, support, spin);
    if (profile.theta.empty()) return RadialKernel::gaussian(fwhm, support, spin);
    if (spin == 0) return RadialKernel::from_profile(profile.theta, profile.value, support);
    const auto whole =
        RadialKernel::from_profile(profile.theta, profile.value, KernelSupport::whole());
    return RadialKernel::from_beam(whole.multipoles(lmax), support, spin);
  }
  /// Returns the kernel of the conjugate of Q + i U.
  RadialKernel cut_conjugate(const KernelSupport& support) const {
    return RadialKernel::of_conjugate(of_e_and_b(-0.5), support, 2);
  }
};

/// Collective.
KernelSource source_of(Run& run, const SmoothOptions& options, const RingGrid& grid) {
  KernelSource source;
  source.lmax = grid.default_lmax();
  const bool is_beam =
      !options.beam.empty() || has_beam_before(options) || !options.pixel_window.empty();
  const std::optional<double> width = gaussian_width(options);
  if (is_beam && !width) {
    source.beam = beam_of(run, options, grid, grid.default_lmax());
  } else if (!options.kernel.empty()) {
    run.outputs.keep(options.kernel);
    source.profile = read_kernel_profile(run.comm, options.kernel);
  } else {
    source.fwhm = width.value_or(0);
    if (source.fwhm == 0) {
      throw UsageError(fmt::format(
          "--fwhm {}{}: a convolution on rings needs a width above 0; use --method "
          "harmonic",
          options.fwhm, options.from_fwhm.empty() ? "" : " --from-fwhm " + options.from_fwhm));
    }
  }
  return source;
}

std::vector<double> white_noise(const RingGrid& grid) {
  return std::vector<double>(to_size(grid.default_lmax() + 1), 1.0);
}

/// C_l of the input, of E for Q and U, or white noise to the grid's highest degree. Collective.
std::vector<double> spectrum_of(Run& run, const SmoothOptions& options, const RingGrid& grid,
                                Fields fields) {
  return options.input_cl.empty() ? white_noise(grid) : input_spectrum(run, options, fields);
}

std::string angle_text(double radians) {
  const double degrees = radians * 180 / std::numbers::pi;
  return degrees < 2 ? fmt::format("{:.4g}arcmin", degrees * 60)
                     : fmt::format("{:.4g}deg", degrees);
}

KernelSupport given_support(const SmoothOptions& options) {
  const double angle = parse_width(options.support, "--support");
  if (!(angle > 0 && angle <= std::numbers::pi)) {
    throw UsageError(
        fmt::format("--support {}: expected more than 0, at most 180deg", options.support));
  }
  return KernelSupport::angle(angle);
}

/// Returns a support for maps of spectrum C_l, white noise without --input-cl.
KernelSupport support_for(double error, const SmoothOptions& options,
                          const std::vector<double>& cl) {
  return options.input_cl.empty() ? KernelSupport::automatic(error)
                                  : KernelSupport::automatic(error, cl);
}

[[noreturn]] void refuse_support(const SmoothOptions& options, double truncation, double allowed,
                                 double enough) {
  throw UsageError(fmt::format(
      "--support {}: the cut alone makes a relative error of {:.2g}, and --error {} leaves it "
      "{:.2g}; --support {} would do, or leave --support out",
      options.support, truncation, *options.error, allowed, angle_text(enough)));
}

/// Cuts a kernel where this error allows it. With --support the cut is the user's; an --error he
/// gives as well must hold.
RadialKernel cut_kernel_of(const KernelSource& source, Fields fields, const SmoothOptions& options,
                           double error, const std::vector<double>& cl) {
  const KernelSupport automatic = support_for(error, options, cl);
  if (options.support.empty()) return source.cut(fields, automatic);
  RadialKernel kernel = source.cut(fields, given_support(options));
  const double truncation = kernel.truncation(cl).relative;
  if (options.error && truncation > error)
    refuse_support(options, truncation, error, source.cut(fields, automatic).support());
  return kernel;
}

/// The kernels of Q + i U and of its conjugate.
struct TwoKernels {
  RadialKernel field;
  RadialKernel conjugate;
  double truncation = 0;  ///< relative, of Q and U whose E and B have one spectrum
};

/// Returns the power, but for a factor, of the degrees from `first` on in maps of spectrum C_l,
/// white noise if that is empty, convolved with a kernel.
double power_from(std::size_t first, const std::vector<double>& k_l,
                  const std::vector<double>& cl) {
  const std::size_t end = cl.empty() ? k_l.size() : std::min(k_l.size(), cl.size());
  double sum = 0;
  for (std::size_t l = first; l < end; ++l)
    sum += (2 * static_cast<double>(l) + 1) * k_l[l] * k_l[l] * (cl.empty() ? 1 : cl[l]);
  return sum;
}

/// Cuts the kernels for E and B with beams of their own as cut_kernel_of() cuts one. That of the
/// conjugate is often the wider one: E and B are not local, so it falls with a power of the
/// distance.
TwoKernels cut_two_kernels(const KernelSource& source, const SmoothOptions& options, double error,
                           const std::vector<double>& cl) {
  const double of_field = std::sqrt(power_from(2, source.of_e_and_b(0.5), cl));
  const double of_conjugate = std::sqrt(power_from(2, source.of_e_and_b(-0.5), cl));
  const double whole = std::hypot(of_field, of_conjugate);
  if (!(of_field > 0)) {
    throw UsageError(
        "the spectrum of --input-cl has no power at the degrees that the beams of E and B let "
        "through; give that of the maps, to higher degrees");
  }
  const auto automatic = [&](double of_kernel) {
    constexpr double most = 0.5;
    const double part = error * whole / (std::numbers::sqrt2 * of_kernel);
    return support_for(std::clamp(part, KernelSupport::least_error, most), options, cl);
  };
  const bool is_given = !options.support.empty();
  const auto cut = [&](bool is_automatic) {
    RadialKernel field =
        source.cut(Fields::spin, is_automatic ? automatic(of_field) : given_support(options));
    // Without power in the spectrum its cut does not matter.
    const bool cuts = is_automatic && of_conjugate > 0;
    RadialKernel conjugate = source.cut_conjugate(cuts ? automatic(of_conjugate)
                                                       : KernelSupport::angle(field.support()));
    double lost = field.truncation(cl).relative * of_field;
    if (of_conjugate > 0) lost = std::hypot(lost, conjugate.truncation(cl).relative * of_conjugate);
    return TwoKernels{std::move(field), std::move(conjugate), lost / whole};
  };
  TwoKernels kernels = cut(!is_given);
  if (is_given && options.error && kernels.truncation > error) {
    const TwoKernels enough = cut(true);
    refuse_support(options, kernels.truncation, error,
                   std::max(enough.field.support(), enough.conjugate.support()));
  }
  return kernels;
}

/// Returns the lowest degree at which the beams of E and B differ, else the number of degrees.
std::size_t degree_of_two_beams(const Beam& beam) {
  constexpr double rounding = 1e-12;
  std::size_t l = 2;
  while (l < beam.e.size() && std::abs(beam.e[l] - beam.b[l]) <= rounding * std::abs(beam.e[l]))
    ++l;
  return std::min(l, beam.e.size());
}

bool has_one_beam(const Beam& beam) { return degree_of_two_beams(beam) == beam.e.size(); }

/// Powers, but for a factor, of maps convolved with the whole of a kernel.
struct PowerAbove {
  double beyond = 0;  ///< of degrees above lmax
  double whole = 0;
};

/// Returns them for maps of spectrum C_l, white noise if that is empty.
PowerAbove power_above(const RadialKernel& kernel, const std::vector<double>& cl, int lmax) {
  const int most = cl.empty() ? std::max(kernel.degree(), lmax) : static_cast<int>(cl.size()) - 1;
  const std::vector<double> k_l = kernel.whole_multipoles(most);
  return {power_from(to_size(std::int64_t{lmax} + 1), k_l, cl), power_from(0, k_l, cl)};
}

void refuse_too_narrow(const CutKernel& cut, const RingGrid& grid) {
  if (cut.beyond_grid <= too_narrow) return;
  throw UsageError(fmt::format(
      "{:.0f} % of the kernel's power lies above l = {}, beyond the grid {}: it is narrower than "
      "the pixels, and a sum over pixels cannot stand for it; use --method harmonic, a wider "
      "kernel, or a finer map",
      100 * cut.beyond_grid, grid.default_lmax(), grid.name()));
}

}  // namespace

std::vector<double> temperature_spectrum(Run& run, const std::string& path,
                                         const std::string& option, const std::string& cl_kind) {
  const Spectra spectra = spectra_of_file(run, path, cl_kind).spectra;
  if (!spectra.has(Spectra::TT))
    throw DataError(path, "holds no TT; " + option + " takes the spectrum of T");
  const auto values = spectra.values(Spectra::TT);
  return {values.begin(), values.end()};
}

std::vector<double> input_spectrum(Run& run, const SmoothOptions& options, Fields fields) {
  if (fields == Fields::scalar)
    return temperature_spectrum(run, options.input_cl, "--input-cl", options.cl_kind);
  const Spectra spectra = spectra_of_file(run, options.input_cl, options.cl_kind).spectra;
  if (!spectra.has(Spectra::EE))
    throw DataError(options.input_cl, "holds no EE; --input-cl takes that of E for Q and U");
  const auto values = spectra.values(Spectra::EE);
  return {values.begin(), values.end()};
}

void require_one_beam(const Beam& beam, const std::string& method) {
  const std::size_t l = degree_of_two_beams(beam);
  if (l == beam.e.size()) return;
  throw UsageError(fmt::format(
      "--method {} smooths Q and U with one beam, and at l = {} that of E is {} and that of B {}; "
      "use --method ring or harmonic",
      method, l, beam.e[l], beam.b[l]));
}

CutKernel cut_kernel(Run& run, const SmoothOptions& options, const RingGrid& grid,
                     Precision precision, const FieldSet& fields) {
  const double error = allowed_error(options, precision);
  const KernelSource source = source_of(run, options, grid);
  const bool has_spin = fields.max_spin() > 0;
  const bool is_spin_only = has_spin && fields.n_components() == 2;
  const std::vector<double> cl =
      is_spin_only ? white_noise(grid) : spectrum_of(run, options, grid, Fields::scalar);
  const std::vector<double> cl_of_spin =
      has_spin ? spectrum_of(run, options, grid, Fields::spin) : cl;
  return agreed(run.comm, [&] {
    const double of_cut = part_of_cut * error;
    CutKernel made{cut_kernel_of(source, Fields::scalar, options, of_cut, cl)};
    if (has_spin) {
      if (has_one_beam(source.beam)) {
        made.spin = cut_kernel_of(source, Fields::spin, options, of_cut, cl_of_spin);
        made.truncation = made.spin->truncation(cl_of_spin).relative;
      } else {
        TwoKernels two = cut_two_kernels(source, options, of_cut, cl_of_spin);
        made.spin = std::move(two.field);
        made.conjugate = std::move(two.conjugate);
        made.truncation = two.truncation;
      }
      made.beyond_grid = made.spin->power_beyond(grid.default_lmax());
    }
    if (!is_spin_only) {
      made.truncation = std::max(made.truncation, made.kernel.truncation(cl).relative);
      made.beyond_grid = std::max(made.beyond_grid, made.kernel.power_beyond(grid.default_lmax()));
    }
    made.error = error;
    made.error_of_sums = (1 - part_of_cut) * error;
    if (!options.input_cl.empty()) {
      made.cl = cl;
      made.cl_of_spin = cl_of_spin;
    }
    made.has_scalars = !is_spin_only;
    made.b_l = is_spin_only ? source.beam.e : source.beam.t;
    refuse_too_narrow(made, grid);
    return made;
  });
}

double CutKernel::rms_beyond(int lmax) const {
  const auto rms = [](const PowerAbove& power) {
    return power.whole > 0 ? std::sqrt(power.beyond / power.whole) : 0;
  };
  // The power of a kernel with an edge goes on to all degrees.
  double of_scalars = 0;
  if (has_scalars) {
    of_scalars =
        cl.empty() ? std::sqrt(kernel.power_beyond(lmax)) : rms(power_above(kernel, cl, lmax));
  }
  if (!spin) return of_scalars;
  PowerAbove power = power_above(*spin, cl_of_spin, lmax);
  if (conjugate) {
    const PowerAbove more = power_above(*conjugate, cl_of_spin, lmax);
    power.beyond += more.beyond;
    power.whole += more.whole;
  }
  return std::max(of_scalars, rms(power));
}

void warn_where_narrow(Run& run, const CutKernel& cut, const RingGrid& grid) {
  if (cut.beyond_grid <= narrow) return;
  run.warn(fmt::format(
      "{:.2g} % of the kernel's power lies above l = {}, beyond the grid {}; the sum over pixels "
      "differs from the integral by about as much (rms {:.1g})",
      100 * cut.beyond_grid, grid.default_lmax(), grid.name(), std::sqrt(cut.beyond_grid)));
}

}  // namespace ringweave::detail::inline app
