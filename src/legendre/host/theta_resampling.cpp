// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/host/theta_resampling.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/checked_cast.hpp"
#include "base/gauss_legendre.hpp"
#include "legendre/shared/resampled_modes.hpp"

namespace ringweave::detail::inline legendre {
namespace {

using columns::taps;
using columns::ThetaFft;
using columns::tile;
using Long = long double;

constexpr Long pi = std::numbers::pi_v<Long>;

// With 16 taps the error is 3e-14 rms (1.5e-13 at worst) at this ratio; more taps on a coarser grid
// cost as much in the interpolation as they save in the FFT.
constexpr double oversampling = 1.75;
// Parameter of the kernel exp(beta (sqrt(1 - x^2) - 1)); 0.98 is the best of 0.94..1.03 here.
constexpr double beta = 0.98 * std::numbers::pi * taps * (1 - 0.5 / oversampling);

std::int64_t fine_length_for(std::int64_t degree) {
  const auto least = static_cast<std::int64_t>(
      std::ceil(oversampling * static_cast<double>(std::max(degree + 1, taps))));
  std::int64_t length = (least + tile - 1) / tile * tile;
  while (length % 7 == 0 || !has_theta_fft(length)) length += tile;
  return length;
}

template <class Real>
Real kernel(Real x) {
  return x * x < 1 ? std::exp(static_cast<Real>(beta) * (std::sqrt(1 - x * x) - 1)) : Real(0);
}

/// Returns the inverse of the factors by which interpolation multiplies exp(i k theta).
std::vector<double> deconvolution(std::int64_t degree, std::int64_t fine_length) {
  // The kernel is even: twice the sum over one side.
  struct Sample {
    Long x;
    Long value;
  };
  std::vector<Sample> samples;
  for (const QuadratureNode& node : gauss_legendre_nodes(6 * taps)) {
    const Long x = node.cos_theta;
    if (x > 0) samples.push_back({x, 2 * node.weight * kernel(x)});
  }
  std::vector<double> factors;
  for (std::int64_t k = 0; k <= degree; ++k) {
    const Long frequency =
        pi * static_cast<Long>(k) / static_cast<Long>(fine_length) * (taps / Long(2));
    Long sum = 0;
    for (const Sample& sample : samples) sum += sample.value * std::cos(frequency * sample.x);
    factors.push_back(static_cast<double>(1 / (sum * (taps / Long(2)))));
  }
  return factors;
}

/// Returns exp(i pi k / (2 length)).
std::complex<double> quarter_turn_part(std::int64_t k, std::int64_t length) {
  const Long angle = pi * static_cast<Long>(k) / static_cast<Long>(2 * length);
  return {static_cast<double>(std::cos(angle)), static_cast<double>(std::sin(angle))};
}

/// Returns the position of a ring among the fine samples, to more digits than theta has.
Long fine_position(const Ring& ring, std::int64_t fine_length) {
  const Long from_pole =
      std::atan2(static_cast<Long>(ring.sin_theta), static_cast<Long>(std::abs(ring.cos_theta)));
  const Long position = from_pole / pi * static_cast<Long>(fine_length) - Long(0.5);
  return ring.cos_theta >= 0 ? position : static_cast<Long>(fine_length - 1) - position;
}

}  // namespace

ThetaResampling::ThetaResampling(std::int64_t n_targets, std::int64_t degree,
                                 std::int64_t fine_length)
    : degree_(degree),
      n_targets_(n_targets),
      equidistant_(equidistant_rings(degree)),
      coarse_fft_(coarse_length()),
      fine_fft_(fine_length) {
  plan_spreading();
}

ThetaResampling::ThetaResampling(const RingGrid& target, std::int64_t degree)
    : ThetaResampling(target.n_rings(), degree, fine_length_for(degree)) {
  plan_coefficients(deconvolution(degree_, fine_fft_.length()));
  plan_taps(target);
}

ThetaResampling::ThetaResampling(const RingGrid& target, std::int64_t degree,
                                 const DeconvolvedRows& rows)
    : ThetaResampling(target.n_rings(), degree, rows.n_rows) {
  plan_coefficients(rows.theta_factors);
  rows_ = rows.rows_of(target);
}

void ThetaResampling::plan_coefficients(std::span<const double> factors) {
  const std::int64_t n = coarse_length();
  std::vector<double> scale(factors.begin(), factors.end());
  for (double& factor : scale) factor /= static_cast<double>(2 * n);
  scale.resize(to_size(n), 0.0);
  for (std::int64_t k = 0; 2 * k <= n; ++k) {
    const std::complex<double> root = std::conj(quarter_turn_part(k, n));
    if (k == 0 || 2 * k == n) {
      coefficients_alone_.push_back({coarse_fft_.position(k), root, scale[to_size(k)]});
    } else {
      coefficient_pairs_.push_back({{coarse_fft_.position(k), coarse_fft_.position(n - k)},
                                    root,
                                    {scale[to_size(k)], scale[to_size(n - k)]}});
    }
  }
}

void ThetaResampling::plan_spreading() {
  const std::int64_t n = fine_fft_.length();
  // The FFT has the opposite sign: entry k of its input is entry n - k.
  const auto row = [&](std::int64_t k) { return fine_fft_.position((n - k) % n); };
  const auto coefficient = [&](std::int64_t k) {
    return k <= degree_ ? coarse_fft_.position(k) : std::int64_t{-1};
  };
  spread_alone_.push_back({coefficient(0), row(0), 0.5});
  const std::complex<double> middle = quarter_turn_part(n / 2, n);
  spread_alone_.push_back({coefficient(n / 2), row(n / 2), middle});
  for (std::int64_t k = 1; 2 * k < n; ++k) {
    const std::complex<double> root = quarter_turn_part(k, n);
    spread_pairs_.push_back({{coefficient(k), coefficient(n - k)}, {row(k), row(n - k)}, root});
  }
  // First the pairs with two coefficients, then those with one, then those with none.
  const auto missing = [](const columns::SpreadPair& pair) {
    return (pair.coefficients[0] < 0 ? 1 : 0) + (pair.coefficients[1] < 0 ? 1 : 0);
  };
  std::stable_sort(spread_pairs_.begin(), spread_pairs_.end(),
                   [&](const auto& a, const auto& b) { return missing(a) < missing(b); });
  const auto without = [&](int least) {
    return std::find_if(spread_pairs_.begin(), spread_pairs_.end(),
                        [&](const auto& pair) { return missing(pair) >= least; }) -
           spread_pairs_.begin();
  };
  n_full_ = without(1);
  n_half_ = without(2);
}

void ThetaResampling::plan_taps(const RingGrid& target) {
  constexpr std::int64_t stride = taps + 2 * (tile - 1);
  weights_.assign(to_size(checked_product(n_targets_, stride, "weights of theta resampling")), 0.0);
  const std::int64_t n_tiles = (fine_fft_.length() + taps) / tile;
  touching_.assign(to_size(n_tiles), {n_targets_, 0});
  for (std::int64_t r = 0; r < n_targets_; ++r) {
    const Long position = fine_position(target.ring(RingId{r}), fine_fft_.length());
    const auto first = static_cast<std::int64_t>(std::ceil(position - taps / Long(2)));
    first_samples_.push_back(first);
    weight_offsets_.push_back(r * stride + tile - 1 - first);
    for (std::int64_t j = first; j < first + taps; ++j) {
      const Long x = (position - static_cast<Long>(j)) * (2 / Long(taps));
      weights_[to_size(weight_offsets_.back() + j)] = kernel(static_cast<double>(x));
      RingRange& rings = touching_[to_size((j + taps / 2) / tile)];
      rings = {std::min(rings.begin, r), r + 1};
    }
  }
}

columns::CoefficientTable ThetaResampling::coefficients() const {
  return {coefficient_pairs_.data(), ssize64(coefficient_pairs_), coefficients_alone_.data(),
          ssize64(coefficients_alone_)};
}
columns::SpreadTable ThetaResampling::spreading() const {
  return {spread_pairs_.data(),  n_full_, n_half_, ssize64(spread_pairs_), spread_alone_.data(),
          ssize64(spread_alone_)};
}
columns::TapTable ThetaResampling::tap_table() const {
  return {fine_fft_.length(), weights_.data(), weight_offsets_.data(), first_samples_.data(),
          touching_.data()};
}

void ThetaResampling::resample(Block& block, RingRange kept) const noexcept {
  const double* parity = block.parity_.data();
  double* coarse = block.targets_;
  double* fine = block.fine_.data() + columns::ghosts * columns::row_size;
  coarse_fft_.transform(block.folded(block.fine_.data()), coarse);
  columns::to_coefficients(coefficients(), block.factors(), coarse);
  columns::spread_coefficients(spreading(), parity, coarse, fine);
  if (ends_at_rows()) {
    fine_fft_.transpose(fine, block.folded(block.targets_));
    return gather_rings(kept, block.targets_);
  }
  fine_fft_.transpose(fine);
  columns::interpolate(tap_table(), parity, kept, fine, block.targets_);
}

void ThetaResampling::adjoint(Block& block, RingRange kept) const noexcept {
  const double* parity = block.parity_.data();
  double* coarse = block.targets_;
  double* fine = block.fine_.data() + columns::ghosts * columns::row_size;
  if (ends_at_rows()) {
    scatter_rings(kept, block.targets_);
    fine_fft_.transform(block.folded(block.targets_), fine);
  } else {
    columns::spread(tap_table(), parity, kept, block.targets_, fine);
    fine_fft_.transform(fine);
  }
  for (std::int64_t k = degree_ + 1; k < coarse_length(); ++k) {
    std::fill_n(coarse + coarse_fft_.position(k) * columns::row_size, columns::row_size, 0.0);
  }
  columns::collect_coefficients(spreading(), parity, fine, coarse);
  columns::from_coefficients(coefficients(), block.factors(), coarse);
  coarse_fft_.transpose(coarse, block.folded(block.fine_.data()));
}

/// Moves the rings within `kept` from their fine rows, which are no earlier, to their own places.
void ThetaResampling::gather_rings(RingRange kept, double* targets) const noexcept {
  for (std::int64_t ring = kept.begin; ring < kept.end; ++ring) {
    const std::int64_t row = rows_[to_size(ring)];
    if (row == ring) continue;
    std::copy_n(targets + row * columns::row_size, columns::row_size,
                targets + ring * columns::row_size);
  }
}

/// Moves the rings within `kept` to their fine rows and fills the others with zeros.
void ThetaResampling::scatter_rings(RingRange kept, double* targets) const noexcept {
  std::int64_t end = fine_fft_.length();
  const auto clear = [&](std::int64_t begin) {
    std::fill_n(targets + begin * columns::row_size, (end - begin) * columns::row_size, 0.0);
  };
  for (std::int64_t ring = kept.end; ring-- > kept.begin;) {
    const std::int64_t row = rows_[to_size(ring)];
    clear(row + 1);
    if (row != ring) {
      std::copy_n(targets + ring * columns::row_size, columns::row_size,
                  targets + row * columns::row_size);
    }
    end = row;
  }
  clear(0);
}

std::int64_t ThetaResampling::bytes() const {
  const auto size = [](const auto& table) {
    return ssize64(table) * static_cast<std::int64_t>(sizeof(table[0]));
  };
  return coarse_fft_.bytes() + fine_fft_.bytes() + size(coefficient_pairs_) +
         size(coefficients_alone_) + size(spread_pairs_) + size(spread_alone_) + size(rows_) +
         size(weights_) + size(weight_offsets_) + size(first_samples_) + size(touching_);
}

std::int64_t ThetaResampling::target_size() const {
  const std::int64_t targets = ends_at_rows() ? fine_fft_.length() : n_targets_;
  return std::max(targets, coarse_length()) * columns::row_size;
}

ThetaResampling::Block::Block(const ThetaResampling& plan, double* targets)
    : targets_(targets),
      own_targets_(targets == nullptr ? plan.target_size() : 0),
      fine_(std::max(plan.fine_fft_.length() + 2 * columns::ghosts, plan.coarse_length()) *
            columns::row_size) {
  if (targets == nullptr) targets_ = own_targets_.data();
  parity_.fill(1.0);
  factor_.fill(1.0);
  std::fill(fine_.begin(), fine_.end(), 0.0);
  std::fill_n(targets_, plan.target_size(), 0.0);
}

void ThetaResampling::Block::clear_target(RingRange rings) {
  std::fill_n(target_row(rings.begin), rings.size() * columns::row_size, 0.0);
}

std::int64_t ThetaResampling::Block::bytes() const {
  return 8 * (own_targets_.size() + fine_.size());
}

}  // namespace ringweave::detail::inline legendre
