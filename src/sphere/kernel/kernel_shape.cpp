// SPDX-License-Identifier: GPL-3.0-or-later
#include "sphere/kernel/kernel_shape.hpp"

#include <algorithm>
#include <cmath>

#include "base/checked_cast.hpp"
#include "sphere/kernel/legendre_sums.hpp"
#include "sphere/kernel/spin_sums.hpp"

namespace ringweave::detail::inline sphere {
namespace {

/// Projects values at nodes, times their weights, on d^l_ss; or, for the conjugate of a field, on
/// d^l_s,-s, whose P_{l-s}^{(2s, 0)}(z) is (-1)^(l-s) P_{l-s}^{(0, 2s)}(-z).
std::vector<double> project_spin(const ChordNodes& disc, std::vector<double> weighted, int spin,
                                 bool is_conjugate, int lmax) {
  for (std::size_t i = 0; i < weighted.size(); ++i)
    weighted[i] *= is_conjugate ? disc.sine_power(i, 2 * spin) : disc.cosine_power(i, 2 * spin);
  const std::span<const double> factor = weighted;
  const Half near = is_conjugate ? Half::far : Half::near;
  const Half far = is_conjugate ? Half::near : Half::far;
  std::vector<double> k_l =
      project_on_spin(spin, near, disc.near(), factor.first(disc.n_near), lmax);
  const std::vector<double> beyond =
      project_on_spin(spin, far, disc.far(), factor.subspan(disc.n_near), lmax);
  for (std::size_t l = 0; l < k_l.size(); ++l) {
    k_l[l] += beyond[l];
    if (is_conjugate && l % 2 == 1) k_l[l] = -k_l[l];
  }
  return k_l;
}

}  // namespace

double KernelShape::white_noise_angle(double error) const {
  const ChordNodes all = nodes(end(), std::max(degree(), 0));
  const std::vector<double> value = values(all);
  std::vector<double> power(value.size());
  double whole = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const double significant = std::abs(value[i]) > 1e-14 * bound() ? value[i] : 0;
    power[i] = all.weight[i] * significant * significant;
    whole += power[i];
  }
  double beyond = 0;
  for (std::size_t i = value.size(); i-- > 0;) {
    beyond += power[i];
    // Half of a node's weight is closer to the centre than the node.
    if (beyond > error * error * whole)
      return i + 1 < value.size() ? std::min(all.theta[i + 1], end()) : end();
  }
  return end();
}

std::vector<double> KernelShape::cut_multipoles(double theta_cut, int lmax) const {
  const ChordNodes disc = nodes(theta_cut, lmax);
  std::vector<double> weighted = values(disc);
  for (std::size_t i = 0; i < weighted.size(); ++i) weighted[i] *= disc.weight[i];
  const std::span<const double> factor = weighted;
  if (spin() > 0) return project_spin(disc, weighted, spin(), acts_on_conjugate(), lmax);
  std::vector<double> k_l = project_on_legendre(disc.near(), factor.first(disc.n_near), lmax);
  if (disc.far().empty()) return k_l;
  const std::vector<double> far =
      project_on_legendre(disc.far(), factor.subspan(disc.n_near), lmax);
  // P_l(-z) = (-1)^l P_l(z)
  for (std::size_t l = 0; l < k_l.size(); ++l) k_l[l] += l % 2 == 0 ? far[l] : -far[l];
  return k_l;
}

}  // namespace ringweave::detail::inline sphere
