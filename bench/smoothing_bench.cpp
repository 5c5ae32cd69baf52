// SPDX-License-Identifier: GPL-3.0-or-later
// The ways to smooth a HEALPix map with a Gaussian, one after the other as another program says
// (bench/compare_smoothing.py). Argument: nside. It reads lines and answers each with a line of
// JSON:
//   support DEGREES ERROR   a Gaussian that is cut there at that error; it replaces the last one
//   fwhm ARCMIN ERROR       the same by its width
//   ring | harmonic | original    one convolution, its seconds and those of its parts
//   write input|output FILE       maps as plain doubles
// harmonic: lmax = 2 nside, no iteration; original: the paper's algorithm as it stands there.
#include <fmt/format.h>
#include <omp.h>

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

#include "base/error.hpp"
#include "bench/original_convolution.hpp"
#include "bench/raw_file.hpp"
#include "convolve/ring_convolution.hpp"
#include "distribute/mpi_session.hpp"
#include "sphere/beam.hpp"
#include "sphere/healpix_weights.hpp"
#include "sphere/random_alm.hpp"
#include "transform/spherical_harmonic_transform.hpp"

namespace ringweave {
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

TransformSpec harmonic_spec(std::int64_t nside) {
  TransformSpec spec;
  spec.grid = std::make_shared<const RingGrid>(RingGrid::healpix(nside));
  spec.lmax = spec.mmax = checked_cast<int>(2 * nside, "lmax");
  return spec;
}

/// One map and the kernel of the day.
class Smoothing {
 public:
  explicit Smoothing(std::int64_t nside)
      : comm_(Communicator::self()), transform_(comm_, harmonic_spec(nside)) {
    synthesize_sky();
  }

  json about() const {
    return {{"nside", grid()->nside()},
            {"lmax", transform_.spec().lmax},
            {"n_pixels", grid()->n_pixels()},
            {"threads", omp_get_max_threads()}};
  }

  json take_kernel(double fwhm, const KernelSupport& support, double error) {
    original_.reset();
    ring_.reset();
    kernel_ = RadialKernel::gaussian(fwhm, support);
    beam_ = gaussian_beam(fwhm, transform_.spec().lmax);
    RingConvolutionSpec spec;
    spec.grid = grid();
    spec.kernels = {*kernel_};
    spec.error = error;
    const double plan_seconds =
        seconds_of([&] { ring_ = std::make_unique<RingConvolution>(comm_, spec); });
    return {{"fwhm_arcmin", fwhm / degree * 60},
            {"support_degrees", kernel_->support() / degree},
            {"error", error},
            {"plan_seconds", plan_seconds},
            {"predicted_seconds", ring_->plan().predicted().total()}};
  }

  json run(const std::string& way) {
    if (!kernel_) throw UsageError("give a kernel first: support DEGREES ERROR");
    if (way == "ring") return by_rings();
    if (way == "harmonic") return by_harmonics();
    if (way == "original") return originally();
    throw UsageError(fmt::format("'{}' is no way; expected ring, harmonic or original", way));
  }

  void write(const std::string& what, const std::string& path) const {
    if (what != "input" && what != "output")
      throw UsageError(fmt::format("write: expected input or output, not '{}'", what));
    write_raw_map<double>(comm_, path, transform_.rings(),
                          what == "input" ? map_.view() : out_.view());
  }

 private:
  std::shared_ptr<const RingGrid> grid() const { return transform_.spec().grid; }

  /// C_l = 1 / (1 + l (l + 1)), about as steep as the CMB before its damping.
  void synthesize_sky() {
    AlmBuffer<double> alm = transform_.make_alm<double>();
    const AlmLayout& layout = transform_.alm_layout();
    for (std::int64_t row = 0; row < layout.n_orders(); ++row) {
      const int m = layout.order(row);
      for (int l = m; l <= layout.lmax(); ++l) {
        const NormalPair x = normal_pair(1, 0, l, m);
        alm.view().data()[layout.index(row, l)] =
            std::complex<double>(x.re, m == 0 ? 0 : x.im) / std::sqrt(1.0 + l * (l + 1.0));
      }
    }
    map_ = transform_.make_map<double>();
    out_ = transform_.make_map<double>();
    transform_.synthesize<double>(alm.view(), map_.view());
  }

  json by_rings() {
    ring_->times().clear();
    const auto in = std::as_const(map_).view();
    const double seconds = seconds_of([&] { ring_->convolve<double>(in, out_.view()); });
    return {{"seconds", seconds}, {"parts", describe(ring_->times())}};
  }

  json by_harmonics() {
    if (alm_.size() == 0) alm_ = transform_.make_alm<double>();
    transform_.times().clear();
    const std::vector<double> weights = ring_weights(transform_.rings());
    const double seconds = seconds_of([&] {
      transform_.adjoint<double>(std::as_const(map_).view(), weights, alm_.view());
      multiply(beam_, transform_.alm_layout(), transform_.fields(), alm_.view());
      transform_.synthesize<double>(std::as_const(alm_).view(), out_.view());
    });
    return {{"seconds", seconds}, {"parts", describe(transform_.times())}};
  }

  json originally() {
    if (!original_) original_ = std::make_unique<OriginalConvolution>(grid(), *kernel_);
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
  SphericalHarmonicTransform transform_;
  MapBuffer<double> map_;
  MapBuffer<double> out_;
  AlmBuffer<double> alm_;
  std::optional<RadialKernel> kernel_;
  Beam beam_;
  std::unique_ptr<RingConvolution> ring_;
  std::unique_ptr<OriginalConvolution> original_;
};

/// The width of a Gaussian that is cut there: exp(-theta^2 / 2 sigma^2) = error.
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
}  // namespace ringweave

int main(int argc, char** argv) {
  using namespace ringweave;
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
