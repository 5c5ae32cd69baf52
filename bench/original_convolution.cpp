// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/original_convolution.hpp"

#include <fftw3.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "base/checked_cast.hpp"
#include "convolve/ring/ring_pair.hpp"
#include "sphere/kernel/kernel_table.hpp"

namespace ringweave::detail {
namespace {

constexpr std::int64_t batch = 16;          // kernel rows transformed at once
constexpr std::int64_t table_steps = 8192;  // linear interpolation errs by 3e-7 for a Gaussian

fftw_complex* fftw(std::complex<double>* data) { return reinterpret_cast<fftw_complex*>(data); }

/// Sets to_m = scale from_m exp(i m phi), m = 0..mmax.
void turn(double phi, double scale, std::int64_t mmax, const std::complex<double>* from,
          std::complex<double>* to) {
  double re = scale;
  double im = 0;
  const double cos_phi = std::cos(phi);
  const double sin_phi = std::sin(phi);
  for (std::int64_t m = 0; m <= mmax; ++m) {
    to[m] = {re * from[m].real() - im * from[m].imag(), re * from[m].imag() + im * from[m].real()};
    const double next_re = re * cos_phi - im * sin_phi;
    im = re * sin_phi + im * cos_phi;
    re = next_re;
  }
}

}  // namespace

void OriginalConvolution::Destroy::operator()(fftw_plan_s* plan) const { fftw_destroy_plan(plan); }

OriginalConvolution::OriginalConvolution(std::shared_ptr<const RingGrid> grid,
                                         const RadialKernel& kernel)
    : grid_(std::move(grid)),
      support_(kernel.support()),
      chord_squared_cut_(kernel.table().chord_squared_cut) {
  for (const Ring& ring : grid_->rings()) longest_ = std::max(longest_, ring.n_phi);
  for (std::int64_t i = 0; i <= table_steps; ++i) {
    const double step = chord_squared_cut_ / static_cast<double>(table_steps);
    table_.push_back(kernel.table().evaluate(step * static_cast<double>(i)));
  }
  table_.push_back(table_.back());
  for (std::int64_t k = 0; k <= longest_ / 2; ++k) {
    const double half = std::numbers::pi * static_cast<double>(k) / static_cast<double>(longest_);
    sin2_half_.push_back(RingPairChord::square(std::sin(half)));
  }
  samples_.allocate(batch * longest_);
  kernel_modes_.allocate(batch * row_length());
  ring_.allocate(longest_);
  ring_modes_.allocate(row_length());
  in_modes_.allocate(grid_->n_rings() * row_length());
  out_modes_.allocate(grid_->n_rings() * row_length());
  for (const Ring& ring : grid_->rings()) {
    const auto [plans, is_new] = ring_plans_.try_emplace(ring.n_phi);
    const int n = static_cast<int>(ring.n_phi);
    if (!is_new) continue;
    plans->second.forward.reset(
        fftw_plan_dft_r2c_1d(n, ring_.data(), fftw(ring_modes_.data()), FFTW_ESTIMATE));
    plans->second.backward.reset(
        fftw_plan_dft_c2r_1d(n, fftw(ring_modes_.data()), ring_.data(), FFTW_ESTIMATE));
  }
  const int n = static_cast<int>(longest_);
  const int n_modes = static_cast<int>(row_length());
  kernel_plan_.reset(fftw_plan_many_dft_r2c(1, &n, batch, samples_.data(), nullptr, 1, n,
                                            fftw(kernel_modes_.data()), nullptr, 1, n_modes,
                                            FFTW_MEASURE));
}

RingRange OriginalConvolution::window(std::int64_t ring) const {
  const double theta = grid_->ring(RingId{ring}).theta;
  RingRange near{ring, ring + 1};
  const auto is_near = [&](std::int64_t t) {
    return std::abs(grid_->ring(RingId{t}).theta - theta) <= support_;
  };
  while (near.begin > 0 && is_near(near.begin - 1)) --near.begin;
  while (near.end < grid_->n_rings() && is_near(near.end)) ++near.end;
  return near;
}

std::int64_t OriginalConvolution::n_kernel_rows() const {
  std::int64_t rows = 0;
  for (std::int64_t t0 = 0; t0 < (grid_->n_rings() + 1) / 2; ++t0) rows += window(t0).size();
  return rows;
}

void OriginalConvolution::convolve(std::span<const double> in, std::span<double> out) {
  rings_to_modes(in);
  for (std::int64_t t0 = 0; t0 < (grid_->n_rings() + 1) / 2; ++t0) {
    const RingRange near = window(t0);
    for (std::int64_t t = near.begin; t < near.end; t += batch) {
      const RingRange rows{t, std::min(t + batch, near.end)};
      interpolate(t0, rows);
      {
        const StageTimer timer(&times_, "kernel_fft");
        fftw_execute(kernel_plan_.get());
      }
      multiply(t0, rows);
    }
  }
  modes_to_rings(out);
}

void OriginalConvolution::rings_to_modes(std::span<const double> in) {
  const StageTimer timer(&times_, "ring_fft");
  std::fill(in_modes_.begin(), in_modes_.end(), Complex{});
  std::fill(out_modes_.begin(), out_modes_.end(), Complex{});
  for (std::int64_t r = 0; r < grid_->n_rings(); ++r) {
    const Ring& ring = grid_->ring(RingId{r});
    std::copy_n(&in[to_size(ring.first_pixel)], ring.n_phi, ring_.data());
    fftw_execute_dft_r2c(ring_plans_.at(ring.n_phi).forward.get(), ring_.data(),
                         fftw(ring_modes_.data()));
    turn(-ring.phi0, ring.weight, ring.n_phi / 2, ring_modes_.data(), modes(in_modes_, r));
  }
}

double OriginalConvolution::kernel_at(double chord_squared) const {
  const double x = chord_squared * (static_cast<double>(table_steps) / chord_squared_cut_);
  const auto i = static_cast<std::size_t>(x);
  return table_[i] + (table_[i + 1] - table_[i]) * (x - static_cast<double>(i));
}

void OriginalConvolution::interpolate(std::int64_t t0, RingRange rows) {
  const StageTimer timer(&times_, "kernel");
  for (std::int64_t t = rows.begin; t < rows.end; ++t) {
    const RingPairChord chord(grid_->ring(RingId{t0}), grid_->ring(RingId{t}));
    double* row = &samples_[(t - rows.begin) * longest_];
    std::fill_n(row, longest_, 0.0);
    for (std::int64_t k = 0; k <= longest_ / 2; ++k) {
      const double squared = chord.squared(sin2_half_[to_size(k)]);
      if (squared > chord_squared_cut_) break;
      const double value = kernel_at(squared) / static_cast<double>(longest_);
      row[k] = value;
      row[(longest_ - k) % longest_] = value;
    }
  }
}

void OriginalConvolution::multiply(std::int64_t t0, RingRange rows) {
  const StageTimer timer(&times_, "products");
  const std::int64_t last = grid_->n_rings() - 1;
  const std::int64_t n_out = grid_->ring(RingId{t0}).n_phi;
  for (std::int64_t t = rows.begin; t < rows.end; ++t) {
    const Complex* kernel = &kernel_modes_[(t - rows.begin) * row_length()];
    const std::int64_t mmax = std::min(n_out, grid_->ring(RingId{t}).n_phi) / 2;
    const auto add = [&](std::int64_t to, std::int64_t from) {
      const Complex* in = modes(in_modes_, from);
      Complex* out = modes(out_modes_, to);
      for (std::int64_t m = 0; m <= mmax; ++m) out[m] += kernel[m].real() * in[m];
    };
    add(t0, t);
    if (t0 != last - t0) add(last - t0, last - t);
  }
}

void OriginalConvolution::modes_to_rings(std::span<double> out) {
  const StageTimer timer(&times_, "ring_fft");
  for (std::int64_t r = 0; r < grid_->n_rings(); ++r) {
    const Ring& ring = grid_->ring(RingId{r});
    turn(ring.phi0, 1, ring.n_phi / 2, modes(out_modes_, r), ring_modes_.data());
    fftw_execute_dft_c2r(ring_plans_.at(ring.n_phi).backward.get(), fftw(ring_modes_.data()),
                         ring_.data());
    std::copy_n(ring_.data(), ring.n_phi, &out[to_size(ring.first_pixel)]);
  }
}

}  // namespace ringweave::detail
