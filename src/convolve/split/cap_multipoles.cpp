// SPDX-License-Identifier: GPL-3.0-or-later
#include "convolve/split/cap_multipoles.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/checked_cast.hpp"
#include "sphere/kernel/cap_polynomials.hpp"
#include "sphere/kernel/spin_sums.hpp"

namespace ringweave::detail::inline convolve {
namespace {

constexpr int block_degrees = 128;

/// Returns orthonormal polynomials on equidistant points, as many as degrees of this range need.
Columns polynomials_in_degree(int size, double theta_cut) {
  const double phase = size / 2.0 * theta_cut;
  const double needed = phase + 6 * std::cbrt(phase) + 8;
  const std::size_t count = static_cast<std::size_t>(std::min(std::ceil(needed), 1.0 * size));
  Columns columns{to_size(size), std::vector<double>(count * to_size(size))};
  for (std::size_t i = 0; i < columns.length; ++i) {
    const double x = size > 1 ? (2 * static_cast<double>(i) - size + 1) / (size - 1) : 0.0;
    double before = 0;
    double here = 1;
    for (std::size_t j = 0; j < count; ++j) {
      columns[j][i] = here;
      const double k = static_cast<double>(j);
      const double next = ((2 * k + 1) * x * here - k * before) / (k + 1);
      before = here;
      here = next;
    }
  }
  orthonormalize(columns);
  return columns;
}

/// Adds sum_j a[i][j] b[j][k] to out[i][k].
void add_product(const double* a, const double* b, double* out, std::size_t n_i, std::size_t n_j,
                 std::size_t n_k) {
  // Four rows at a time, so that each row of b is read once for them.
  std::size_t i = 0;
  for (; i + 4 <= n_i; i += 4) {
    for (std::size_t j = 0; j < n_j; ++j) {
      const double* from = b + j * n_k;
      const double f0 = a[i * n_j + j];
      const double f1 = a[(i + 1) * n_j + j];
      const double f2 = a[(i + 2) * n_j + j];
      const double f3 = a[(i + 3) * n_j + j];
      double* to = out + i * n_k;
      for (std::size_t k = 0; k < n_k; ++k) {
        to[k] += f0 * from[k];
        to[n_k + k] += f1 * from[k];
        to[2 * n_k + k] += f2 * from[k];
        to[3 * n_k + k] += f3 * from[k];
      }
    }
  }
  for (; i < n_i; ++i) {
    for (std::size_t j = 0; j < n_j; ++j) {
      const double f = a[i * n_j + j];
      for (std::size_t k = 0; k < n_k; ++k) out[i * n_k + k] += f * b[j * n_k + k];
    }
  }
}

/// d^l_ss over cos(theta / 2)^2s at nodes, by recurrence in l from s on; for spin 0 P_l.
class DegreeRow {
 public:
  DegreeRow(int spin, std::span<const double> chord_squared)
      : spin_(spin),
        one_minus_z_(chord_squared.begin(), chord_squared.end()),
        p_(chord_squared.size(), 1.0),
        difference_(chord_squared.size(), 0.0) {
    for (double& value : one_minus_z_) value /= 2;
  }
  const std::vector<double>& p() const { return p_; }
  void advance() {
    const JacobiStep step = JacobiStep::near(spin_, n_);
    for (std::size_t i = 0; i < p_.size(); ++i) {
      difference_[i] = step.before * difference_[i] - step.here * (one_minus_z_[i] * p_[i]);
      p_[i] += difference_[i];
    }
    n_ += 1;
  }

 private:
  int spin_;
  std::vector<double> one_minus_z_;
  std::vector<double> p_;
  std::vector<double> difference_;
  double n_ = 0;  ///< l - s
};

}  // namespace

CapMultipoles::CapMultipoles(double theta_cut, int n_polynomials, int border, int last, int spin)
    : n_polynomials_(n_polynomials) {
  cut_into_blocks(theta_cut, border, last, spin);
  project(theta_cut, spin);
}

void CapMultipoles::cut_into_blocks(double theta_cut, int border, int last, int spin) {
  const auto add = [&](int begin, int end) {
    const auto has_size = [&](const Columns& basis) {
      return basis.length == to_size(end - begin);
    };
    const auto found = std::find_if(bases_.begin(), bases_.end(), has_size);
    blocks_.push_back({begin, end - begin, to_size(found - bases_.begin())});
    if (found == bases_.end()) bases_.push_back(polynomials_in_degree(end - begin, theta_cut));
  };
  const int partial = (border + 1 - spin) % block_degrees;
  if (partial > 0) add(spin, spin + partial);
  for (int begin = spin + partial; begin <= border; begin += block_degrees)
    add(begin, begin + block_degrees);
  for (int begin = border + 1; begin <= last; begin += block_degrees)
    add(begin, std::min(begin + block_degrees, last + 1));
}

void CapMultipoles::project(double theta_cut, int spin) {
  const std::size_t n = to_size(n_polynomials_);
  const CapPolynomials polynomials(theta_cut, n_polynomials_);
  const CapNodes nodes = cap_nodes(theta_cut, n_polynomials_, blocks_.back().end() - 1);
  const std::size_t n_nodes = nodes.u.size();
  // [node][polynomial], times the node's weight and cos(theta / 2)^2s
  std::vector<double> values(n_nodes * n);
  for (std::size_t i = 0; i < n_nodes; ++i) {
    const auto row = std::span(values).subspan(i * n, n);
    polynomials.evaluate(nodes.u[i], row);
    const double factor = nodes.weight[i] * std::pow(1 - nodes.chord_squared[i] / 4, spin);
    for (double& value : row) value *= factor;
  }
  DegreeRow degrees(spin, nodes.chord_squared);
  std::vector<double> p;  // [l - first][node]
  std::vector<double> projected;
  for (Block& block : blocks_) {
    const std::size_t size = to_size(block.size);
    p.resize(size * n_nodes);
    for (std::size_t i = 0; i < size; ++i, degrees.advance())
      std::copy(degrees.p().begin(), degrees.p().end(),
                p.begin() + ssize64(degrees.p()) * static_cast<std::int64_t>(i));
    const Columns& basis = bases_[block.basis];
    projected.assign(basis.count() * n_nodes, 0.0);
    add_product(basis.values.data(), p.data(), projected.data(), basis.count(), size, n_nodes);
    block.rows.assign(basis.count() * n, 0.0);
    add_product(projected.data(), values.data(), block.rows.data(), basis.count(), n_nodes, n);
  }
}

std::vector<double> CapMultipoles::fit_rows(const Block& block, std::span<const double> weight,
                                            std::span<const double> target) const {
  // Weighted polynomials, orthonormalised: no kernel can change components orthogonal to them.
  Columns weighted = bases_[block.basis];
  const std::size_t count = weighted.count();
  for (std::size_t j = 0; j < count; ++j) {
    for (std::size_t i = 0; i < weight.size(); ++i) weighted[j][i] *= weight[i];
  }
  const std::vector<double> r = orthonormalize(weighted);
  const std::size_t n = to_size(n_polynomials_);
  std::vector<double> product(count * n, 0.0);
  add_product(r.data(), block.rows.data(), product.data(), count, count, n);
  std::vector<double> rows((count + 1) * (n + 1), 0.0);
  for (std::size_t j = 0; j < count; ++j)
    std::copy_n(product.data() + j * n, n, rows.data() + j * (n + 1));
  if (target.empty()) return rows;
  std::vector<double> rest(target.begin(), target.end());
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] *= weight[i];
  for (std::size_t j = 0; j < count; ++j) {
    double part = 0;
    for (std::size_t i = 0; i < rest.size(); ++i) part += weighted[j][i] * rest[i];
    for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= part * weighted[j][i];
    rows[j * (n + 1) + n] = part;
  }
  double square = 0;
  for (const double value : rest) square += value * value;
  rows.back() = std::sqrt(square);
  return rows;
}

std::vector<double> CapMultipoles::beyond_last() const {
  constexpr double whole = 4 * std::numbers::pi;
  const std::size_t n = to_size(n_polynomials_);
  std::vector<double> matrix(n * n, 0.0);
  for (std::size_t k = 0; k < n; ++k) matrix[k * n + k] = whole;
  for (const Block& block : blocks_) {
    std::vector<double> weight;
    for (int l = block.first; l < block.end(); ++l) weight.push_back(std::sqrt(2.0 * l + 1));
    const std::vector<double> rows = fit_rows(block, weight, {});
    for (std::size_t i = 0; i + 1 < rows.size() / (n + 1); ++i) {
      const double* row = rows.data() + i * (n + 1);
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t k = 0; k < n; ++k) matrix[j * n + k] -= row[j] * row[k];
      }
    }
  }
  return matrix;
}

}  // namespace ringweave::detail::inline convolve
