// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/lens/potential.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numbers>
#include <utility>

#include "app/cli/angle.hpp"
#include "app/content.hpp"
#include "app/transform_setup.hpp"
#include "base/stage_timer.hpp"
#include "distribute/mpi/agree.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Collective.
std::unique_ptr<AlmReader> open_one(Run& run, const LensJob& job, const std::string& path) {
  run.outputs.keep(path);
  std::unique_ptr<AlmReader> reader = open_alm(run.comm, path);
  const AlmHeader& header = reader->header();
  for (const std::string& warning : header.warnings) run.warn(path + ": " + warning);
  if (header.components.size() != 1) {
    throw DataError(path, fmt::format("holds a_lm of {} components; expected one, the potential; "
                                      "take it out with `ringweave alm --take`",
                                      header.components.size()));
  }
  if (!header.coordsys.empty() && !job.coordsys.empty() &&
      header.coordsys.front() != job.coordsys.front()) {
    run.warn(
        fmt::format("{} has COORDSYS {} and {} {}; to rotate one of them use `ringweave alm "
                    "--rotate`",
                    path, header.coordsys, job.provenance.input, job.coordsys));
  }
  const int asked = job.options.transform.lmax;
  if (asked >= 0 && header.lmax > asked) {
    run.note(fmt::format("{}: has lmax {}, above --lmax {}; it is used to its own lmax", path,
                         header.lmax, asked));
  }
  return reader;
}

/// Returns phi_lm over the coefficient that a file has in its place.
double phi_factor(const std::string& kind, int l) {
  const double product = l * (l + 1.0);
  if (kind == "kappa") return l == 0 ? 0 : 2 / product;
  if (kind == "deflection") return l == 0 ? 0 : 1 / std::sqrt(product);
  return 1;
}

/// Collective.
void read_one(Run& run, const LensOptions& options, const std::string& path, AlmReader& reader,
              const AlmLayout& layout, AlmView<double> alm) {
  run.progress.stage("reading " + path);
  FileTraffic traffic{run.comm};
  read_alm<double>(traffic, path, reader, fields_named("T"), layout, alm);
  add_traffic(run, traffic);
  const View<std::complex<double>> values = alm.component(0);
  for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
    for (int l = layout.order(row); l <= layout.lmax(); ++l)
      values[layout.index(row, l)] *= phi_factor(options.potential_kind, l);
  }
}

/// phi_lm and, where there is one, Omega_lm of this rank's orders.
struct PotentialAlm {
  AlmLayout layout;
  AlmBuffer<double> alm;  ///< phi is `phi_component` of it, and Omega the next one
  std::int64_t phi_component = 0;
  bool has_curl = false;

  AlmView<const double> phi() const { return alm.view().components(phi_component, 1); }
  AlmView<const double> omega() const {
    return has_curl ? alm.view().components(phi_component + 1, 1) : AlmView<const double>{};
  }
};

/// Collective.
PotentialAlm find_potential(Run& run, const LensJob& job, const PotentialSource& source,
                            const AlmSource& drawn_from) {
  const LensOptions& options = job.options;
  const bool is_drawn = source.phi == nullptr;
  PotentialAlm potential{own_orders(run.comm, source.lmax, source.mmax), {}};
  potential.phi_component = is_drawn ? 3 : 0;  // after T, E and B, with which it is correlated
  potential.has_curl = source.curl != nullptr;
  const std::int64_t n = is_drawn ? 4 : potential.has_curl ? 2 : 1;
  potential.alm = agreed(run.comm, [&] {
    AlmBuffer<double> alm(n, potential.layout.size());
    std::fill_n(alm.view().data(), n * alm.size(), 0.0);
    return alm;
  });
  const AlmView<double> view = potential.alm.view();
  if (is_drawn) {
    const StageTimer timer(&run.times, "draw");
    with_path(options.cl, [&] {
      agree(run.comm,
            [&] { draw_alm(*drawn_from.spectra, *job.provenance.seed, potential.layout, view); });
    });
    return potential;
  }
  read_one(run, options, options.potential, *source.phi, potential.layout, view.components(0, 1));
  if (source.curl != nullptr)
    read_one(run, options, options.curl, *source.curl, potential.layout, view.components(1, 1));
  return potential;
}

}  // namespace

PotentialSource open_potential(Run& run, const LensJob& job) {
  const LensOptions& options = job.options;
  PotentialSource source;
  source.lmax = job.spec.lmax;
  source.mmax = job.spec.mmax;
  if (!options.cl.empty()) return source;
  source.phi = open_one(run, job, options.potential);
  source.lmax = source.phi->header().lmax;
  source.mmax = source.phi->header().mmax;
  if (!options.curl.empty()) {
    source.curl = open_one(run, job, options.curl);
    source.lmax = std::max(source.lmax, source.curl->header().lmax);
    source.mmax = std::max(source.mmax, source.curl->header().mmax);
  }
  return source;
}

Deflection make_deflection(Run& run, const LensJob& job, const PotentialSource& source,
                           const AlmSource& drawn_from) {
  const LensOptions& options = job.options;
  const PotentialAlm potential = find_potential(run, job, source, drawn_from);
  if (!options.save_potential.empty()) {
    write_lens_alm(run, job, options.save_potential, {"P"}, "", potential.layout, potential.phi());
  }
  run.progress.stage("deflection");
  const StageTimer timer(&run.times, "deflection");
  return {run.comm,
          job.grid,
          {potential.layout, potential.phi(), potential.omega()},
          job.spec.exchange};
}

void tell_of_deflection(Run& run, const LensOptions& options, const Deflection& deflection) {
  const double rms = deflection.rms();
  run.report["deflection"] = nlohmann::ordered_json{
      {"rms_arcmin", rms / arcmin}, {"largest_arcmin", deflection.largest() / arcmin}};
  run.detail(fmt::format("deflection: rms {:.4g} arcmin, largest {:.4g} arcmin", rms / arcmin,
                         deflection.largest() / arcmin));
  constexpr double large = 0.01;
  if (rms <= large) return;
  run.warn(fmt::format("the rms deflection is {:.3g} rad; that of the CMB is 0.0008 rad; {}", rms,
                       options.cl.empty()
                           ? "if --potential holds no phi_lm, give --potential-kind"
                           : "if --cl holds D_l, as CAMB's lenspotentialCls, give --cl-kind dl"));
}

Deflection inverse_of(Run& run, const LensOptions& options, const Deflection& deflection) {
  run.progress.stage("inverse deflection");
  Deflection inverse = with_path(options.potential, [&] {
    const StageTimer timer(&run.times, "deflection");
    return deflection.inverse();
  });
  run.report["deflection"]["evaluations"] = inverse.evaluations();
  run.detail(fmt::format("inverse deflection: {} evaluations", inverse.evaluations()));
  return inverse;
}

void write_deflection(Run& run, const LensJob& job, const Deflection& deflection) {
  const std::string& path = job.options.deflection;
  if (path.empty()) return;
  const std::int64_t n = deflection.rings().n_pixels();
  auto map = agreed(run.comm, [&] { return MapBuffer<double>(5, n); });
  const MapView<double> view = map.view();
  const View<double> phi = view.component(1);
  const View<double> gamma = view.component(2);
  const View<double> sine = view.component(3);
  deflection.positions(view.component(0), phi);
  deflection.rotation(gamma, sine);
  for (std::int64_t i = 0; i < n; ++i) {
    phi[i] -= 2 * std::numbers::pi * std::floor(phi[i] / (2 * std::numbers::pi));
    gamma[i] = std::atan2(sine[i], gamma[i]);
  }
  std::copy_n(deflection.vectors().data(), 2 * n, view.component(3).data());
  write_lens_map(
      run, job, path,
      {{"THETA", "rad"}, {"PHI", "rad"}, {"GAMMA", "rad"}, {"D_THETA", "rad"}, {"D_PHI", "rad"}},
      deflection.rings(), MapView<const double>(view));
}

}  // namespace ringweave::detail::inline app
