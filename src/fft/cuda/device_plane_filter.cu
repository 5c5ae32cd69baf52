// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "fft/cuda/plane_filter_sequence.hpp"
#include "fft/cuda/plane_machine.cuh"
#include "fft/device_plane_filter.hpp"

namespace ringweave::detail::inline fft {
namespace {

gpu::Double2* numbers(std::complex<double>* of) { return reinterpret_cast<gpu::Double2*>(of); }
const gpu::Double2* numbers(const std::complex<double>* of) {
  return reinterpret_cast<const gpu::Double2*>(of);
}

class CudaPlaneFilter final : public DevicePlaneFilter {
 public:
  using Workspace = gpu::PlaneWorkspace<gpu::PlaneMachine>;

  CudaPlaneFilter(const PlaneFilterAxes& axes, std::int64_t most_planes, const DeviceStream& stream)
      : machine_(stream), sequence_(axes, most_planes, machine_) {}

  std::int64_t padded_values() const { return sequence_.padded_values(); }
  std::int64_t fft_bytes() const { return sequence_.fft_bytes(); }
  /// Counts the workspace among the bytes where it is not counted elsewhere.
  void work_in(std::shared_ptr<Workspace> workspace, bool is_counted) {
    workspace_ = std::move(workspace);
    workspace_bytes_ = is_counted ? workspace_->bytes() : 0;
    sequence_.work_in(*workspace_);
  }

  std::int64_t spectrum_size() const override { return sequence_.spectrum_size(); }
  void forward(const DevicePlanes<const double>& planes, const FilterWindow& window,
               Complex* spectra) override {
    sequence_.forward(planes, window, numbers(spectra));
  }
  void multiply(const double* multiplier, double weight, std::int64_t n_planes,
                const Complex* spectra, Complex* sums, Accumulate how) override {
    sequence_.multiply(multiplier, weight, n_planes, numbers(spectra), numbers(sums), how);
  }
  void backward(Complex* sums, const DevicePlanes<double>& planes, Accumulate how) override {
    sequence_.backward(numbers(sums), planes, how);
  }
  std::int64_t device_bytes() const override { return sequence_.bytes() + workspace_bytes_; }

 private:
  gpu::PlaneMachine machine_;
  gpu::PlaneFilterSequence<gpu::PlaneMachine> sequence_;
  std::shared_ptr<Workspace> workspace_;
  std::int64_t workspace_bytes_ = 0;
};

}  // namespace

std::vector<std::unique_ptr<DevicePlaneFilter>> make_device_plane_filters(
    std::span<const PlaneFilterAxes> axes, std::int64_t most_planes, const DeviceStream& stream) {
  std::vector<std::unique_ptr<DevicePlaneFilter>> all;
  std::vector<CudaPlaneFilter*> made;
  std::int64_t padded_values = 0;
  std::int64_t fft_bytes = 0;
  for (const PlaneFilterAxes& of : axes) {
    auto one = std::make_unique<CudaPlaneFilter>(of, most_planes, stream);
    padded_values = std::max(padded_values, one->padded_values());
    fft_bytes = std::max(fft_bytes, one->fft_bytes());
    made.push_back(one.get());
    all.push_back(std::move(one));
  }
  gpu::PlaneMachine machine(stream);
  const auto workspace =
      std::make_shared<CudaPlaneFilter::Workspace>(machine, padded_values, fft_bytes);
  for (CudaPlaneFilter* one : made) one->work_in(workspace, one == made.front());
  return all;
}

}  // namespace ringweave::detail::inline fft
