// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"
#include "ringweave/kernel.hpp"
#include "sphere/kernel/kernel_shape.hpp"
#include "sphere/kernel/kernel_table.hpp"

namespace ringweave {

using namespace detail;

namespace {

/// Throws a UsageError that names the first value that is NaN or infinite, or when all are 0.
void require_values(std::span<const double> values, const std::string& what) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (std::isfinite(values[i])) continue;
    throw UsageError(
        fmt::format("{}: value {} is {}; expected finite numbers", what, i, values[i]));
  }
  if (std::all_of(values.begin(), values.end(), [](double v) { return v == 0; }))
    throw UsageError(what + ": all values are 0, so nothing would be left of a map");
}

void require_spin(int spin) {
  if (spin >= 0 && spin <= RadialKernel::most_spin) return;
  throw UsageError(
      fmt::format("a radial kernel of spin {}; expected 0 to {}", spin, RadialKernel::most_spin));
}

void require_multipoles(std::span<const double> b_l, int spin) {
  require_values(b_l, "a radial kernel's multipoles");
  if (spin == 0) return;
  require_values(b_l.subspan(std::min(to_size(spin), b_l.size())),
                 fmt::format("a kernel's multipoles from its spin {} on", spin));
}

void require_profile(std::span<const double> theta, std::span<const double> value) {
  const std::string what = "a radial kernel's table";
  const auto fail = [&](const std::string& reason) { throw UsageError(what + ": " + reason); };
  if (theta.size() != value.size()) {
    fail(fmt::format("{} angles and {} values; expected as many of both", theta.size(),
                     value.size()));
  }
  if (theta.size() < 2) fail(fmt::format("{} points; expected two or more", theta.size()));
  constexpr std::size_t most = 1 << 24;
  if (theta.size() > most) fail(fmt::format("{} points; expected at most {}", theta.size(), most));
  if (theta.front() != 0) fail(fmt::format("begins at theta = {}; expected 0", theta.front()));
  for (std::size_t i = 1; i < theta.size(); ++i) {
    if (theta[i] > theta[i - 1]) continue;
    fail(fmt::format("theta = {} at point {} follows {}; expected ascending radians", theta[i], i,
                     theta[i - 1]));
  }
  if (theta.back() > std::numbers::pi * (1 + 1e-12))
    fail(fmt::format("ends at theta = {}; expected radians, at most pi", theta.back()));
  require_values(value, what);
}

/// Returns sum_l (2l+1) K_l^2.
double power(std::span<const double> k_l) {
  double sum = 0;
  for (std::size_t l = 0; l < k_l.size(); ++l)
    sum += (2 * static_cast<double>(l) + 1) * k_l[l] * k_l[l];
  return sum;
}

/// Returns sum_l (2l+1) (K_l - left_out_l)^2 C_l.
double power(std::span<const double> k_l, std::span<const double> left_out,
             std::span<const double> cl) {
  double sum = 0;
  for (std::size_t l = 0; l < cl.size(); ++l) {
    const double difference = k_l[l] - left_out[l];
    sum += (2 * static_cast<double>(l) + 1) * difference * difference * cl[l];
  }
  return sum;
}

KernelTruncation truncate(const KernelShape& shape, double theta_cut, std::span<const double> cl) {
  const int lmax = checked_cast<int>(ssize64(cl) - 1, "lmax of a spectrum");
  const std::vector<double> whole = shape.whole_multipoles(lmax);
  const double kept = power(whole, std::vector<double>(cl.size(), 0.0), cl);
  if (!(kept > 0)) {
    throw UsageError(
        fmt::format("the spectrum a kernel is cut for (l = 0 to {}) has no power where the kernel "
                    "has any; give "
                    "that of the maps, to higher degrees",
                    lmax));
  }
  if (theta_cut >= shape.end()) return {};
  const double lost = power(whole, shape.cut_multipoles(theta_cut, lmax), cl);
  return {std::sqrt(lost / (4 * std::numbers::pi)), std::sqrt(lost / kept)};
}

/// Finds, to one percent, the smallest angle at which the truncation error is within the allowed
/// one.
double angle_for_spectrum(const KernelShape& shape, const KernelSupport& support) {
  const auto suffices = [&](double angle) {
    return truncate(shape, angle, support.cl()).relative <= support.error();
  };
  // Start from small angles, because the cost grows with the angle.
  double high = shape.degree() > 0 ? 4.0 / shape.degree() : shape.end() / 64;
  while (high < shape.end() && !suffices(high)) high *= 2;
  high = std::min(high, shape.end());
  double low = high / 2;
  while (high - low > 0.01 * high) {
    const double middle = (low + high) / 2;
    (suffices(middle) ? high : low) = middle;
  }
  return high;
}

double angle_of_cut(const KernelShape& shape, const KernelSupport& support) {
  if (!support.is_automatic()) return std::min(support.theta_cut(), shape.end());
  const double angle = support.cl().empty() ? shape.white_noise_angle(support.error())
                                            : angle_for_spectrum(shape, support);
  return std::min(angle, shape.end());
}

}  // namespace

struct RadialKernel::Data {
  std::shared_ptr<const KernelShape> shape;
  double support = 0;
  KernelTable table;
};

RadialKernel::RadialKernel(std::shared_ptr<const KernelShape> shape, const KernelSupport& support) {
  const double angle = angle_of_cut(*shape, support);
  KernelTable table = shape->tabulate(angle);
  data_ = std::make_shared<const Data>(Data{std::move(shape), angle, std::move(table)});
}

RadialKernel RadialKernel::gaussian(double fwhm, const KernelSupport& support, int spin) {
  require_spin(spin);
  if (!(fwhm > 0 && std::isfinite(fwhm))) {
    throw UsageError(fmt::format("a Gaussian kernel of fwhm = {} rad; expected more than 0", fwhm));
  }
  const double sigma = fwhm / std::sqrt(8 * std::log(2.0));
  return {std::make_shared<GaussianShape>(sigma, spin), support};
}

RadialKernel RadialKernel::from_beam(std::span<const double> b_l, const KernelSupport& support,
                                     int spin) {
  require_spin(spin);
  require_multipoles(b_l, spin);
  return {std::make_shared<SeriesShape>(std::vector<double>(b_l.begin(), b_l.end()), spin),
          support};
}

RadialKernel RadialKernel::of_conjugate(std::span<const double> b_l, const KernelSupport& support,
                                        int spin) {
  require_spin(spin);
  if (spin == 0)
    throw UsageError("a radial kernel of the conjugate of scalar maps; expected a spin");
  require_multipoles(b_l, spin);
  return {std::make_shared<SeriesShape>(std::vector<double>(b_l.begin(), b_l.end()), spin, true),
          support};
}

RadialKernel RadialKernel::from_profile(std::span<const double> theta,
                                        std::span<const double> value,
                                        const KernelSupport& support) {
  require_profile(theta, value);
  std::vector<double> angles(theta.begin(), theta.end());
  angles.back() = std::min(angles.back(), std::numbers::pi);
  return {std::make_shared<ProfileShape>(std::move(angles),
                                         std::vector<double>(value.begin(), value.end())),
          support};
}

RadialKernel RadialKernel::on_cap(double theta_cut, std::span<const double> coefficient, int spin) {
  require_spin(spin);
  require_values(coefficient, "a radial kernel's coefficients on a cap");
  return {std::make_shared<CapShape>(
              theta_cut, std::vector<double>(coefficient.begin(), coefficient.end()), spin),
          KernelSupport::angle(theta_cut)};
}

double RadialKernel::support() const { return data_->support; }

const KernelTable& RadialKernel::table() const { return data_->table; }

double RadialKernel::bound() const { return data_->shape->bound(); }

int RadialKernel::degree() const { return data_->shape->degree(); }

int RadialKernel::spin() const { return data_->shape->spin(); }

bool RadialKernel::acts_on_conjugate() const { return data_->shape->acts_on_conjugate(); }

double RadialKernel::at(double theta) const {
  const double chord = chord_of(Half::near, theta);
  const double value = data_->table.evaluate(chord * chord);
  if (spin() == 0 || acts_on_conjugate()) return value;
  return value * std::pow(std::cos(theta / 2), 2 * spin());
}

std::vector<double> RadialKernel::multipoles(int lmax) const {
  if (data_->support >= data_->shape->end()) return whole_multipoles(lmax);
  return data_->shape->cut_multipoles(data_->support, lmax);
}

std::vector<double> RadialKernel::whole_multipoles(int lmax) const {
  return data_->shape->whole_multipoles(lmax);
}

double RadialKernel::power_beyond(int lmax) const {
  const KernelShape& shape = *data_->shape;
  if (shape.degree() >= 0) {
    const std::vector<double> k_l = shape.whole_multipoles(shape.degree());
    const double whole = power(k_l);
    return lmax < shape.degree() ? 1 - power(std::span(k_l).first(to_size(lmax + 1))) / whole : 0.0;
  }
  const ChordNodes nodes = shape.nodes(shape.end(), 4);
  const std::vector<double> value = shape.values(nodes);
  double square = 0;
  for (std::size_t i = 0; i < value.size(); ++i) square += nodes.weight[i] * value[i] * value[i];
  const double within = power(shape.whole_multipoles(lmax)) / (4 * std::numbers::pi);
  return std::clamp(1 - within / square, 0.0, 1.0);
}

KernelTruncation RadialKernel::truncation(std::span<const double> cl) const {
  require_spectrum(cl);
  return truncate(*data_->shape, data_->support, cl);
}

}  // namespace ringweave
