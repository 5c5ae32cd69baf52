// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/host/split_fft.hpp"

#include <algorithm>

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline fft {
namespace {

using Complex = std::complex<double>;

std::int64_t coarse_size(const SplitFft::Plans& plans) {
  const std::int64_t lanes = lane_rings::n_lanes();
  return (plans.n_columns() + lanes - 1) / lanes * plans.n_rows();
}

/// Computes chirp[j] = exp(i pi j^2 / p), j < p, p odd; the value at p - j is minus that at j.
void make_chirp(const ColumnTransform& transform, const UnitPowers& powers, Complex* chirp) {
  const std::int64_t p = transform.length;
  std::int64_t k = 0;  // j^2 modulo 2 p
  chirp[0] = 1.0;
  for (std::int64_t j = 1; j <= p / 2; ++j) {
    k += 2 * j - 1;
    if (k >= 2 * p) k -= 2 * p;
    chirp[j] = powers.value(transform.half_turns, k);
    chirp[p - j] = -chirp[j];
  }
}

/// Computes the conjugate of the chirp, periodic and even, divided by the length of the
/// convolution.
void make_kernel(const ColumnTransform& transform, const Complex* chirp, Complex* kernel) {
  const std::int64_t p = transform.length;
  const std::int64_t n = transform.convolution->length;
  const double scale = 1.0 / static_cast<double>(n);
  kernel[0] = scale;
  for (std::int64_t j = 1; j < p; ++j)
    kernel[j] = kernel[n - j] = {scale * chirp[j].real(), -scale * chirp[j].imag()};
  std::fill(kernel + p, kernel + n - p + 1, 0.0);
}

}  // namespace

void SplitFft::Capacity::include(const Plans& plans) {
  rows = std::max(rows, plans.n_rows());
  sorted = std::max({sorted, rows, column_lanes::most_together});
  if (const LaneConvolution* convolution = plans.columns->convolution; convolution != nullptr) {
    chirp = std::max(chirp, plans.n_columns());
    response = std::max(response, convolution->length);
  } else {
    sorted = std::max(sorted, plans.n_columns());
  }
  coarse = std::max(coarse, coarse_size(plans));
  twiddles = std::max(twiddles, column_lanes::twiddle_size(plans.n_rows(), plans.n_columns()));
}

SplitFft::SplitFft(const Capacity& capacity, std::int64_t n_lengths, const UnitPowers& powers)
    : n_lanes_(lane_rings::n_lanes()),
      powers_(&powers),
      capacity_(capacity),
      twiddles_(capacity.twiddles) {
  waiting_.reserve(to_size(n_lengths));
  for (Tables& tables : tables_) {
    tables.chirp.allocate(capacity.chirp);
    tables.response.allocate(capacity.response);
  }
}

void SplitFft::place(ScratchArena& pieces) {
  data_ = pieces.allocate<double>(
      column_lanes::scratch_size(std::max(capacity_.sorted, capacity_.response)));
  other_ = pieces.allocate<double>(
      std::max(column_lanes::scratch_size(capacity_.sorted), 2 * capacity_.response));
  fine_ = pieces.allocate<double>(column_lanes::scratch_size(capacity_.rows));
  coarse_ = pieces.allocate<Complex>(capacity_.coarse);
}

void SplitFft::add_columns(const Plans& plans, const Complex* in, Complex* out) noexcept {
  if (waiting_.empty() || waiting_.back().columns.first != plans.columns) {
    Group& opened = waiting_.emplace_back();
    opened.columns.first = opened.columns.second = plans.columns;
  }
  Group& group = waiting_.back();
  for (std::int64_t c = 0; c < plans.n_rows(); ++c) {
    group.columns.lanes[to_size(group.n_used++)] = {in + c, out + c, plans.n_rows(),
                                                    plans.n_rows()};
    if (group.n_used == n_lanes_) run(group);
  }
  if (group.n_used == 0) waiting_.pop_back();
}

void SplitFft::flush_columns() noexcept {
  for (std::size_t i = 0; i < waiting_.size(); ++i) {
    Group& group = waiting_[i];
    if (group.n_used == 0) continue;
    const auto fits = [&](const Group& other) {
      return other.n_used > 0 && other.n_used + group.n_used <= n_lanes_ &&
             (other.columns.first == group.columns.first ||
              (group.columns.first->convolution != nullptr &&
               other.columns.first->convolution == group.columns.first->convolution));
    };
    const auto found =
        std::find_if(waiting_.begin() + static_cast<std::ptrdiff_t>(i) + 1, waiting_.end(), fits);
    if (found == waiting_.end()) {
      run(group);
      continue;
    }
    const bool is_longer = group.columns.first->length >= found->columns.first->length;
    Group& longer = is_longer ? group : *found;
    Group& shorter = is_longer ? *found : group;
    std::copy_n(shorter.columns.lanes.begin(), shorter.n_used,
                longer.columns.lanes.begin() + longer.n_used);
    longer.columns.second = shorter.columns.first;
    longer.columns.n_first = longer.n_used;
    longer.n_used += shorter.n_used;
    run(longer);
    shorter.n_used = 0;
  }
  waiting_.clear();
}

void SplitFft::run(Group& group) noexcept {
  ColumnLanes& columns = group.columns;
  if (columns.first == columns.second) columns.n_first = n_lanes_;
  const ColumnLanes::Lane& first_lane = columns.lanes[0];
  std::fill_n(columns.lanes.begin() + group.n_used, n_lanes_ - group.n_used,
              ColumnLanes::Lane{first_lane.in, &sink_, first_lane.in_stride, 0});
  Chirp first;
  Chirp second;
  if (columns.first->convolution != nullptr) {
    first = chirp_of(*columns.first, columns.second);
    second = chirp_of(*columns.second, columns.first);
  }
  column_lanes::transform_columns(columns, first, second, scratch());
  group.n_used = 0;
}

Chirp SplitFft::chirp_of(const ColumnTransform& transform, const ColumnTransform* kept) noexcept {
  auto tables = std::find_if(tables_.begin(), tables_.end(), [&](const Tables& candidate) {
    return candidate.transform == &transform;
  });
  if (tables == tables_.end()) {
    tables = tables_.begin() + (tables_.front().transform == kept ? 1 : 0);
    tables->transform = &transform;
    make_chirp(transform, *powers_, tables->chirp.data());
    auto* kernel = reinterpret_cast<Complex*>(other_);
    make_kernel(transform, tables->chirp.data(), kernel);
    column_lanes::spectrum(*transform.convolution, kernel, tables->response.data(), data_);
  }
  return {tables->chirp.data(), tables->response.data()};
}

void SplitFft::prepare_rows(const Plans& plans, std::int64_t roots) noexcept {
  const std::int64_t n_rows = plans.n_rows();
  const std::int64_t n_columns = plans.n_columns();
  const std::int64_t h = n_rows * n_columns;
  rows_ = {plans.rows, n_columns, twiddles_.data()};
  const auto power = [&](std::int64_t k) {
    return 2 * k < h ? powers_->value(roots, 2 * k) : -powers_->value(roots, 2 * k - h);
  };
  double* fine = fine_;
  for (std::int64_t c = 0; c < n_rows; ++c) {
    for (std::int64_t j = 0; j < n_lanes_; ++j) {
      const Complex value = power(c * j % h);
      fine[j] = value.real();
      fine[n_lanes_ + j] = value.imag();
    }
    fine += 2 * n_lanes_;
  }
  Complex* coarse = coarse_;
  for (std::int64_t j = 0; j < n_columns; j += n_lanes_) {
    std::int64_t k = 0;  // c j modulo h
    for (std::int64_t c = 0; c < n_rows; ++c) {
      *coarse++ = power(k);
      k = k + j < h ? k + j : k + j - h;
    }
  }
  column_lanes::make_twiddles(fine_, coarse_, n_rows, n_columns, twiddles_.data());
}

void SplitFft::transform_rows(const Complex* in, Complex* out) noexcept {
  column_lanes::transform_rows(rows_, in, out, scratch());
}

std::int64_t SplitFft::bytes() const {
  std::int64_t sum = held_bytes(twiddles_);
  for (const Tables& tables : tables_) sum += held_bytes(tables.chirp, tables.response);
  return sum + static_cast<std::int64_t>(waiting_.capacity() * sizeof(Group));
}

}  // namespace ringweave::detail::inline fft
