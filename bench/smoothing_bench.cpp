// SPDX-License-Identifier: GPL-3.0-or-later
// Smooths a HEALPix map with a Gaussian in several ways, as commanded by another program
// (bench/compare_smoothing.py). Argument: nside. Reads lines and answers each with a line of JSON:
//   support DEGREES ERROR   a Gaussian truncated there with that error; replaces the last one
//   fwhm ARCMIN ERROR       the same by its width
//   ring | harmonic | fitted | original    one convolution, its seconds and those of its parts
//   write input|output FILE       maps as plain doubles
// harmonic: lmax = 2 nside, no iteration; fitted: the same with the lmax at which b_l falls below
// the error; original: the paper's algorithm unchanged.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <numbers>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include "base/checked_cast.hpp"
#include "bench/original_convolution.hpp"
#include "bench/raw_file.hpp"
#include "convolve/ring/ring_convolution_plan.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/spectra.hpp"
#include "ringweave/transform.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail {
namespace {

using nlohmann::json;

constexpr double degree = std::numbers::pi / 180;

double seconds_of(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

json describe(const StageTimes& times) {
  json parts = json::object();
  for (const auto& [name, entry] : times.entries()) parts[name] = entry.seconds;
  return parts;
}

TransformSpec harmonic_spec(std::shared_ptr<const RingGrid> grid, int lmax) {
  TransformSpec spec;
  spec.grid = std::move(grid);
  spec.lmax = spec.mmax = lmax;
  return spec;
}

/// Adjoint, product, synthesis with a_lm of its own.
class Harmonics {
 public:
  Harmonics(const Communicator& comm, std::shared_ptr<const RingGrid> grid, int lmax)
      : transform_(comm, harmonic_spec(std::move(grid), lmax)),
        weights_(ring_weights(transform_.rings())),
        alm_(transform_.make_alm<double>()) {}

  SphericalHarmonicTransform& transform() { return transform_; }
  AlmBuffer<double>& alm() { return alm_; }

  void smooth(const Beam& beam, MapView<const double> in, MapView<double> out) {
    transform_.adjoint<double>(in, weights_, alm_.view());
    multiply(beam, transform_.alm_layout(), transform_.fields(), alm_.view());
    transform_.synthesize<double>(std::as_const(alm_).view(), out);
  }

 private:
  SphericalHarmonicTransform transform_;
  std::vector<double> weights_;
  AlmBuffer<double> alm_;
};

/// One map and the current kernel.
class Smoothing {
 public:
  explicit Smoothing(std::int64_t nside)
      : comm_(Communicator::self()),
        grid_(std::make_shared<const RingGrid>(RingGrid::healpix(nside))),
        lmax_(checked_cast<int>(2 * nside, "lmax")),
        map_(1, grid_->n_pixels()),
        out_(1, grid_->n_pixels()),
        harmonics_(comm_, grid_, lmax_) {
    synthesize_sky();
  }

  json about() const {
    return {{"nside", grid_->nside()},
            {"lmax", lmax_},
            {"n_pixels", grid_->n_pixels()},
            {"threads", omp_get_max_threads()}};
  }

  json take_kernel(double fwhm, const KernelSupport& support, double error) {
    original_.reset();
    ring_.reset();
    fitted_.reset();
    kernel_ = RadialKernel::gaussian(fwhm, support);
    beam_ = gaussian_beam(fwhm, lmax_);
    const auto is_below = [&](double b) { return b < error; };
    fitted_lmax_ = static_cast<int>(std::find_if(beam_.t.begin(), beam_.t.end() - 1, is_below) -
                                    beam_.t.begin());
    RingConvolutionSpec spec;
    spec.grid = grid_;
    spec.kernels = {*kernel_};
    spec.error = error;
    const double plan_seconds =
        seconds_of([&] { ring_ = std::make_unique<RingConvolution>(comm_, spec); });
    return {{"fwhm_arcmin", fwhm / degree * 60},
            {"support_degrees", kernel_->support() / degree},
            {"error", error},
            {"fitted_lmax", fitted_lmax_},
            {"plan_seconds", plan_seconds},
            {"predicted_seconds", ring_->plan().predicted().total()}};
  }

  json run(const std::string& way) {
    if (!kernel_) throw UsageError("give a kernel first: support DEGREES ERROR");
    if (way == "ring") return by_rings();
    if (way == "harmonic") return by_harmonics(harmonics_);
    if (way == "fitted") {
      if (!fitted_) fitted_ = std::make_unique<Harmonics>(comm_, grid_, fitted_lmax_);
      return by_harmonics(*fitted_);
    }
    if (way == "original") return originally();
    throw UsageError(
        fmt::format("'{}' is no way; expected ring, harmonic, fitted or original", way));
  }

  void write(const std::string& what, const std::string& path) const {
    if (what != "input" && what != "output")
      throw UsageError(fmt::format("write: expected input or output, not '{}'", what));
    write_raw_map<double>(comm_, path, LocalRings(grid_),
                          what == "input" ? map_.view() : out_.view());
  }

 private:
  /// C_l = 1 / (1 + l (l + 1)), about as steep as the CMB before its damping.
  void synthesize_sky() {
    const AlmLayout& layout = harmonics_.transform().alm_layout();
    const auto alm = harmonics_.alm().view();
    for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
      const int m = layout.order(row);
      for (int l = m; l <= layout.lmax(); ++l) {
        const NormalPair x = normal_pair(1, 0, l, m);
        alm.data()[layout.index(row, l)] =
            std::complex<double>(x.re, m == 0 ? 0 : x.im) / std::sqrt(1.0 + l * (l + 1.0));
      }
    }
    harmonics_.transform().synthesize<double>(alm, map_.view());
  }

  json by_rings() {
    ring_->times().clear();
    const auto in = std::as_const(map_).view();
    const double seconds = seconds_of([&] { ring_->convolve<double>(in, out_.view()); });
    return {{"seconds", seconds}, {"parts", describe(ring_->times())}};
  }

  json by_harmonics(Harmonics& harmonics) {
    StageTimes& times = harmonics.transform().times();
    times.clear();
    const auto in = std::as_const(map_).view();
    const double seconds = seconds_of([&] { harmonics.smooth(beam_, in, out_.view()); });
    return {{"seconds", seconds}, {"parts", describe(times)}};
  }

  json originally() {
    if (!original_) original_ = std::make_unique<OriginalConvolution>(grid_, *kernel_);
    original_->times().clear();
    const auto n = to_size(map_.size());
    const double seconds = seconds_of([&] {
      original_->convolve({map_.view().data(), n}, {out_.view().data(), n});
    });
    return {{"seconds", seconds},
            {"parts", describe(original_->times())},
            {"kernel_rows", original_->n_kernel_rows()}};
  }

  Communicator comm_;
  std::shared_ptr<const RingGrid> grid_;
  int lmax_ = 0;
  MapBuffer<double> map_;
  MapBuffer<double> out_;
  Harmonics harmonics_;
  std::optional<RadialKernel> kernel_;
  Beam beam_;
  int fitted_lmax_ = 0;
  std::unique_ptr<Harmonics> fitted_;
  std::unique_ptr<RingConvolution> ring_;
  std::unique_ptr<OriginalConvolution> original_;
};

/// Returns the width of a Gaussian truncated there: exp(-theta^2 / 2 sigma^2) = error.
double fwhm_of(double support, double error) {
  return support * std::sqrt(8 * std::log(2.0)) / std::sqrt(2 * std::log(1 / error));
}

json answer(Smoothing& smoothing, const std::string& line) {
  std::istringstream words(line);
  std::string verb;
  words >> verb;
  if (verb == "support" || verb == "fwhm") {
    double width = 0;
    double error = 0;
    if (!(words >> width >> error)) throw UsageError("expected: " + verb + " ANGLE ERROR");
    if (verb == "fwhm") {
      const auto support = KernelSupport::automatic(error);
      return smoothing.take_kernel(width / 60 * degree, support, error);
    }
    return smoothing.take_kernel(fwhm_of(width * degree, error),
                                 KernelSupport::angle(width * degree), error);
  }
  if (verb == "write") {
    std::string what;
    std::string path;
    words >> what >> path;
    smoothing.write(what, path);
    return {{"written", path}};
  }
  return smoothing.run(verb);
}

void serve(std::int64_t nside) {
  Smoothing smoothing(nside);
  std::cout << smoothing.about().dump() << std::endl;
  for (std::string line; std::getline(std::cin, line);)
    std::cout << answer(smoothing, line).dump() << std::endl;
}

}  // namespace
}  // namespace ringweave::detail

int main(int argc, char** argv) {
  using namespace ringweave;
  using namespace ringweave::detail;
  const MpiSession mpi(&argc, &argv);
  try {
    if (argc != 2) throw UsageError("usage: smoothing_bench NSIDE");
    serve(std::stoll(argv[1]));
  } catch (const std::exception& error) {
    std::cerr << "smoothing_bench: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
