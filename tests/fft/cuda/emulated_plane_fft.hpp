// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <fftw3.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/checked_cast.hpp"
#include "fft/cuda/device_plane_plan.hpp"
#include "support/emulated_block.hpp"

namespace ringweave::detail::gpu {

/// Computes real FFTs of planes one by one.
class EmulatedPlaneFft {
 public:
  explicit EmulatedPlaneFft(const PlaneFftSize& size) : size_(size) {}

  std::int64_t work_bytes() const { return 8; }
  void work_in(void*) const {}
  void forward(const double* from, Double2* to) const {
    std::vector<double> plane(to_size(size_.n_values()));
    for (std::int64_t i = 0; i < size_.count; ++i) {
      std::copy_n(from + i * size_.n_values(), size_.n_values(), plane.data());
      run(fftw_plan_dft_r2c_2d(y(), x(), plane.data(), numbers(to + i * size_.n_numbers()),
                               FFTW_ESTIMATE | FFTW_UNALIGNED));
    }
  }
  void backward(Double2* from, double* to) const {
    for (std::int64_t i = 0; i < size_.count; ++i)
      run(fftw_plan_dft_c2r_2d(y(), x(), numbers(from + i * size_.n_numbers()),
                               to + i * size_.n_values(), FFTW_ESTIMATE | FFTW_UNALIGNED));
  }

 private:
  int x() const { return static_cast<int>(size_.x_length); }
  int y() const { return static_cast<int>(size_.y_length); }
  static fftw_complex* numbers(Double2* of) { return reinterpret_cast<fftw_complex*>(of); }
  static void run(fftw_plan plan) {
    fftw_execute(plan);
    fftw_destroy_plan(plan);
  }

  PlaneFftSize size_;
};

/// An EmulatedMachine that also plans FFTs of planes.
class EmulatedPlaneMachine : public EmulatedMachine {
 public:
  using PlaneFft = EmulatedPlaneFft;

  PlaneFft plan_plane_fft(const PlaneFftSize& size) const { return PlaneFft(size); }
};

}  // namespace ringweave::detail::gpu
