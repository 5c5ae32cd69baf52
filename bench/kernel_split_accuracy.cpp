// SPDX-License-Identifier: GPL-3.0-or-later
// Compares achieved with predicted errors of split kernels: K_l = sqrt(C_l) B_l of Gaussian beams,
// split and applied to random maps, against the harmonic method of all degrees on the same map
// (adjoint, product, synthesis, no iteration). Prints a table, and JSON for
// kernel_split_accuracy_plot.py.
// Maps: white (a_lm up to lmax), pixels (independent pixels: degrees above lmax too), unexpected
// (the same, split as if it had no such degrees), cmb (C_l).
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>
#include <string>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "bench/command_line.hpp"
#include "bench/json_file.hpp"
#include "bench/run_bench.hpp"
#include "convolve/split/split_costs.hpp"
#include "io/spectra_table.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/error.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/spectra.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail {
namespace {

using nlohmann::json;

constexpr double arcmin = std::numbers::pi / (180 * 60);

struct Options {
  std::string spectra;
  std::string file;
  std::int64_t nside = 256;
  int lmax = -1;
  std::vector<double> fwhm_arcmin{56};
  std::vector<double> support_arcmin{1920};
  std::vector<double> errors{1e-5};
  std::vector<double> alphas{KernelSplitSpec::measured_alpha};
  std::vector<std::string> maps{"white", "pixels", "cmb"};
  std::uint64_t seed = 1;
  bool is_single = false;
  bool with_spectra = false;
};

void add_options(CommandLine& command, Options& options) {
  command.add_required("spectra", options.spectra, "Text table of C_l.");
  command.add("--nside", &options.nside, "HEALPix resolution.");
  command.add("--lmax", &options.lmax, "-1: 2 nside.");
  command.add("--fwhm", &options.fwhm_arcmin, "Of the beams, arcmin.");
  command.add("--supports", &options.support_arcmin, "One split for each, arcmin.");
  command.add("--errors", &options.errors, "Bounds, one split for each.");
  command.add("--alphas", &options.alphas, "One split for each.");
  command.add("--maps", &options.maps, "white, pixels, unexpected, cmb.",
              {"white", "pixels", "unexpected", "cmb"});
  command.add("--seed", &options.seed, "Of the maps.");
  command.add("--single", &options.is_single, "Maps in single precision.");
  command.add("--with-spectra", &options.with_spectra, "Spectra of every run in the JSON file.");
  command.add("--json", &options.file, "File to write. Default: none.");
}

/// One map, its a_lm in the harmonic method, and memory for both results.
template <class T>
class Sky {
 public:
  Sky(const Communicator& comm, std::int64_t nside, int lmax)
      : grid_(std::make_shared<const RingGrid>(RingGrid::healpix(nside))),
        transform_(comm, spec_for(grid_, lmax)),
        weights_(ring_weights(transform_.rings())),
        map_(transform_.make_map<T>()),
        in_(transform_.make_map<T>()),
        out_(transform_.make_map<T>()),
        expected_(transform_.make_map<double>()),
        alm_(transform_.make_alm<double>()),
        found_(transform_.make_alm<double>()) {}

  const std::shared_ptr<const RingGrid>& grid() const { return grid_; }

  void draw(const std::string& kind, const Spectra& cl, std::uint64_t seed) {
    const auto map = expected_.view();
    if (kind == "pixels" || kind == "unexpected") {
      draw_pixels(seed, map.component(0));
    } else {
      draw_alm(cl, seed, transform_.alm_layout(), found_.view());
      transform_.synthesize<double>(std::as_const(found_).view(), map);
    }
    std::transform(map.data(), map.data() + map.size(), map_.view().data(),
                   [](double x) { return static_cast<T>(x); });
    std::copy_n(map_.view().data(), map.size(), map.data());
    transform_.adjoint<double>(std::as_const(expected_).view(), weights_, alm_.view());
  }

  /// Runs both methods. Afterwards convolved() holds a_lm of the exact result and difference()
  /// those of the split's error; returns the rms of that error over the rms of the exact result.
  double convolve(const std::vector<double>& k_l, SplitConvolution& split) {
    std::copy_n(alm_.view().data(), alm_.size(), found_.view().data());
    Beam beam;
    beam.t = k_l;
    multiply(beam, transform_.alm_layout(), transform_.fields(), found_.view());
    const auto expected = expected_.view();
    transform_.synthesize<double>(std::as_const(found_).view(), expected);
    std::copy_n(map_.view().data(), map_.size(), in_.view().data());
    split.convolve<T>(in_.view(), out_.view());
    double missed = 0;
    double whole = 0;
    for (std::int64_t i = 0; i < expected.size(); ++i) {
      double& value = expected.data()[i];
      whole += value * value;
      value = static_cast<double>(out_.view().data()[i]) - value;
      missed += value * value;
    }
    difference_ = transform_.make_alm<double>();
    transform_.adjoint<double>(std::as_const(expected_).view(), weights_, difference_.view());
    return std::sqrt(missed / whole);
  }

  /// Sums over m of |x_lm|^2, Re(x*_lm d_lm) and |d_lm|^2, where x is the exact result and d the
  /// difference.
  struct Power {
    std::vector<double> exact, cross, missed;
  };
  Power power() const {
    const AlmLayout& layout = transform_.alm_layout();
    const std::size_t n = to_size(layout.lmax()) + 1;
    Power sums{std::vector<double>(n), std::vector<double>(n), std::vector<double>(n)};
    for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
      const int m = layout.order(row);
      for (int l = m; l <= layout.lmax(); ++l) {
        const std::complex<double> x = found_.view().data()[layout.index(row, l)];
        const std::complex<double> d = difference_.view().data()[layout.index(row, l)];
        const double both = m == 0 ? 1 : 2;
        sums.exact[to_size(l)] += both * std::norm(x);
        sums.cross[to_size(l)] += both * (x.real() * d.real() + x.imag() * d.imag());
        sums.missed[to_size(l)] += both * std::norm(d);
      }
    }
    return sums;
  }

 private:
  static TransformSpec spec_for(const std::shared_ptr<const RingGrid>& grid, int lmax) {
    TransformSpec spec;
    spec.grid = grid;
    spec.lmax = spec.mmax = lmax;
    return spec;
  }

  void draw_pixels(std::uint64_t seed, View<double> map) const {
    const LocalRings& rings = transform_.rings();
    const double amplitude =
        std::sqrt(static_cast<double>(grid_->n_pixels()) / (4 * std::numbers::pi));
    for (std::int64_t r = 0; r < rings.n_rings(); ++r) {
      const LocalRing ring{r};
      for (int j = 0; j < rings.ring(ring).n_phi; ++j) {
        map[rings.first_pixel(ring) + j] =
            amplitude * normal_pair(seed, 0, static_cast<int>(r), j).re;
      }
    }
  }

  std::shared_ptr<const RingGrid> grid_;
  SphericalHarmonicTransform transform_;
  std::vector<double> weights_;
  MapBuffer<T> map_, in_, out_;
  MapBuffer<double> expected_;
  AlmBuffer<double> alm_, found_, difference_;
};

/// C_l of the maps, up to lmax or, for pixels, as far as splits look.
Spectra spectrum_of(const std::string& kind, const Spectra& cl, int lmax, std::int64_t nside) {
  const int last = kind == "pixels" ? checked_cast<int>(4 * nside, "degrees of pixels") : lmax;
  Spectra result(last);
  const auto values = result.values(Spectra::TT);
  for (int l = 0; l <= last; ++l) values[to_size(l)] = kind == "cmb" ? cl(Spectra::TT, l) : 1.0;
  return result;
}

/// Returns sum (2l+1) C_l K_l^2: the expected mean square of maps, without 1 / (4 pi).
double expected_power(const KernelSplitSpec& spec) {
  double sum = 0;
  for (std::size_t l = 0; l < spec.k_l.size(); ++l)
    sum += (2 * static_cast<double>(l) + 1) * spec.cl[l] * spec.k_l[l] * spec.k_l[l];
  return sum;
}

/// The rms over a kernel's degrees and its contributions.
template <class Power>
json achieved(const Power& power, int l_cut, double rms, double expected) {
  double whole = 0;
  double below = 0;
  double fitted = 0;
  double spectrum = 0;
  for (std::size_t l = 0; l < power.exact.size(); ++l) {
    const double x = power.exact[l];
    const double found = std::max(0.0, x + 2 * power.cross[l] + power.missed[l]);
    whole += x;
    (static_cast<int>(l) <= l_cut ? below : fitted) += power.missed[l];
    spectrum += std::pow(std::sqrt(found) - std::sqrt(x), 2);
  }
  return {{"map", rms},
          {"map_over_expected", rms * std::sqrt(whole / expected)},
          {"spectrum", std::sqrt(spectrum / whole)},
          {"map_fitted_degrees", std::sqrt(fitted / whole)},
          {"map_harmonic_degrees", std::sqrt(below / whole)},
          {"map_above_lmax", std::sqrt(std::max(0.0, rms * rms - (below + fitted) / whole))}};
}

/// Spectra of the exact result, of the split's result and its parts, and the predicted spectrum.
template <class Power>
json spectra_of(const Power& power, const KernelSplitSpec& spec, const KernelSplit& split) {
  json result;
  const int lmax = static_cast<int>(ssize64(power.exact)) - 1;
  const std::vector<double> compact = split.compact().multipoles(lmax);
  for (int l = 0; l <= lmax; ++l) {
    const std::size_t i = to_size(l);
    const double k = spec.k_l[i];
    const double harmonic = l <= split.best().l_cut ? split.harmonic()[i] : 0.0;
    const double modes = 2.0 * l + 1;
    const double x = power.exact[i];
    const double change = 2 * power.cross[i] + power.missed[i];
    const double predicted = k != 0 ? std::pow((harmonic + compact[i]) / k, 2) - 1 : 0.0;
    // The ring part: the exact result minus the harmonic part, which is h / k of it.
    const double h = k != 0 ? harmonic / k : 0.0;
    const double rest = (1 - h) * (1 - h) * x + 2 * (1 - h) * power.cross[i] + power.missed[i];
    result["exact"].push_back(x / modes);
    result["difference"].push_back(power.missed[i] / modes);
    result["harmonic_part"].push_back(h * h * x / modes);
    result["compact_part"].push_back(rest / modes);
    result["relative_error"].push_back(x > 0 ? change / x : 0.0);
    result["predicted_relative_error"].push_back(predicted);
  }
  return result;
}

json describe(const KernelSplitSpec& spec, const KernelSplit& split) {
  const SplitError& error = split.error();
  return {{"nside", spec.nside},
          {"lmax", ssize64(spec.k_l) - 1},
          {"theta_cut_arcmin", split.best().theta_cut / arcmin},
          {"l_cut", split.best().l_cut},
          {"alpha", spec.alpha},
          {"error_allowed", spec.error},
          {"predicted",
           {{"total", error.total},
            {"fit", error.fit},
            {"aliased", error.aliased},
            {"rounding", error.rounding}}}};
}

void print(const json& run) {
  const json& predicted = run["predicted"];
  const json& achieved = run["achieved"];
  const auto number = [](const json& of, const char* name) { return of[name].get<double>(); };
  fmt::print(
      "{:>10} {:>6.4g}' {:>6.4g}' alpha {:<4} l_cut {:>5} | predicted {:.2e} (fit {:.2e}, aliased "
      "{:.2e}, rounding {:.2e}) | map {:.2e}, over expected rms {:.2e} (fitted {:.2e}, harmonic "
      "{:.2e}, above lmax {:.2e}), spectrum {:.2e} | achieved/predicted {:.3f}\n",
      run["map"].get<std::string>(), number(run, "fwhm_arcmin"), number(run, "theta_cut_arcmin"),
      number(run, "alpha"), run["l_cut"].get<int>(), number(predicted, "total"),
      number(predicted, "fit"), number(predicted, "aliased"), number(predicted, "rounding"),
      number(achieved, "map"), number(achieved, "map_over_expected"),
      number(achieved, "map_fitted_degrees"), number(achieved, "map_harmonic_degrees"),
      number(achieved, "map_above_lmax"), number(achieved, "spectrum"),
      number(achieved, "map_over_expected") / number(predicted, "total"));
  std::fflush(stdout);
}

template <class T>
class Measurement {
 public:
  Measurement(const Communicator& comm, const Options& options, int lmax)
      : comm_(comm),
        options_(options),
        lmax_(lmax),
        cl_(read_text_spectra(options.spectra).spectra),
        sky_(comm, options.nside, lmax) {}

  json run() {
    json runs = json::array();
    for (const std::string& kind : options_.maps) {
      const Spectra of_map = spectrum_of(kind, cl_, lmax_, options_.nside);
      sky_.draw(kind, of_map, options_.seed);
      for (const double fwhm : options_.fwhm_arcmin) {
        for (const KernelSplitSpec& spec : specs_for(fwhm, of_map)) {
          json found = try_one(spec);
          if (found.is_null()) continue;
          found["map"] = kind;
          found["fwhm_arcmin"] = fwhm;
          found["seed"] = options_.seed;
          found["single"] = options_.is_single;
          print(found);
          runs.push_back(std::move(found));
        }
      }
    }
    return runs;
  }

 private:
  std::vector<KernelSplitSpec> specs_for(double fwhm, const Spectra& of_map) const {
    KernelSplitSpec spec;
    const Beam beam = gaussian_beam(fwhm * arcmin, lmax_);
    for (int l = 0; l <= lmax_; ++l)
      spec.k_l.push_back(std::sqrt(cl_(Spectra::TT, l)) * beam.t[to_size(l)]);
    const auto values = of_map.values(Spectra::TT);
    spec.cl.assign(values.begin(), values.end());
    spec.nside = options_.nside;
    // With one support there is no choice by seconds.
    SplitMachine machine;
    machine.costs.harmonic = [](int, int) { return Estimate{1}; };
    machine.costs.rings = [](double, int) { return Estimate{0}; };
    spec.machine = std::make_shared<const SplitMachine>(std::move(machine));
    std::vector<KernelSplitSpec> specs;
    for (const double support : options_.support_arcmin) {
      for (const double error : options_.errors) {
        for (const double alpha : options_.alphas) {
          spec.theta_cuts = {support * arcmin};
          spec.error = error;
          spec.alpha = alpha;
          specs.push_back(spec);
        }
      }
    }
    return specs;
  }

  json try_one(const KernelSplitSpec& spec) {
    const KernelSplit split(spec);
    if (!split.has_parts()) {
      fmt::print("{}\n", split.reason());
      return {};
    }
    SplitConvolution convolution(comm_, split, {sky_.grid(), 1, sizeof(T)});
    const double rms = sky_.convolve(spec.k_l, convolution);
    const auto power = sky_.power();
    json found = describe(spec, split);
    found["achieved"] = achieved(power, split.best().l_cut, rms, expected_power(spec));
    if (options_.with_spectra) found["spectra"] = spectra_of(power, spec, split);
    return found;
  }

  const Communicator& comm_;
  const Options& options_;
  int lmax_;
  Spectra cl_;
  Sky<T> sky_;
};

int measure(const Communicator& comm, int argc, char** argv) {
  Options options;
  CommandLine command("Errors of split kernels on random maps, achieved and predicted.");
  add_options(command, options);
  if (const auto code = command.parse(comm, argc, argv)) return *code;
  if (comm.size() > 1) throw UsageError("kernel_split_accuracy: one rank only");
  const int lmax =
      options.lmax >= 0 ? options.lmax : checked_cast<int>(2 * options.nside, "lmax of the kernel");
  const json runs = options.is_single ? Measurement<float>(comm, options, lmax).run()
                                      : Measurement<double>(comm, options, lmax).run();
  write_json(options.file, {{"runs", runs}});
  return 0;
}

}  // namespace
}  // namespace ringweave::detail

int main(int argc, char** argv) {
  return ringweave::detail::run_bench("kernel_split_accuracy", argc, argv,
                                      ringweave::detail::measure);
}
