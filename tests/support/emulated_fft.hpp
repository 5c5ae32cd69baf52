// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <fftw3.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/cuda/block_types.hpp"
#include "base/cuda/fft_size.hpp"

namespace ringweave::detail::gpu {

/// Computes a batch of FFTs one by one.
class EmulatedFft {
 public:
  explicit EmulatedFft(const FftSize& size) : size_(size), row_(to_size(size.length)) {
    plans_[0] = plan(FFTW_FORWARD);
    plans_[1] = plan(FFTW_BACKWARD);
  }
  EmulatedFft(EmulatedFft&& other) noexcept
      : size_(other.size_), row_(std::move(other.row_)), plans_{} {
    std::swap(plans_, other.plans_);
  }
  EmulatedFft& operator=(EmulatedFft&&) = delete;
  ~EmulatedFft() {
    for (const fftw_plan plan : plans_) {
      if (plan != nullptr) fftw_destroy_plan(plan);
    }
  }

  std::int64_t work_bytes() const { return 8; }
  void work_in(void*) const {}
  void transform(FftSign sign, const Double2* from, Double2* to) {
    for (std::int64_t i = 0; i < size_.count; ++i) {
      std::copy_n(from + i * size_.length, size_.length, row_.data());
      fftw_execute(plans_[sign == FftSign::forward ? 0 : 1]);
      std::copy_n(row_.data(), size_.length, to + i * size_.length);
    }
  }

 private:
  fftw_plan plan(int sign) {
    auto* row = reinterpret_cast<fftw_complex*>(row_.data());
    return fftw_plan_dft_1d(static_cast<int>(size_.length), row, row, sign, FFTW_ESTIMATE);
  }

  FftSize size_;
  std::vector<Double2> row_;
  fftw_plan plans_[2];
};

/// An EmulatedMachine or a WarpwiseMachine that also plans FFTs.
template <class Machine>
class WithFfts : public Machine {
 public:
  using Fft = EmulatedFft;

  Fft plan_fft(const FftSize& size) const { return Fft(size); }
};

}  // namespace ringweave::detail::gpu
