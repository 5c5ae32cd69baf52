// SPDX-License-Identifier: GPL-3.0-or-later
#include "base/cuda/device_machine.cuh"
#include "base/device_buffer.hpp"
#include "distribute/exchange/cuda/mode_rounding_launch.hpp"
#include "distribute/exchange/device_mode_rounding.hpp"

namespace ringweave::detail::inline distribute {

struct DeviceModeRounding::Impl {
  explicit Impl(const DeviceStream& of)
      : stream(&of),
        machine(of),
        largest(gpu::most_rounding_blocks),
        largest_on_host(gpu::most_rounding_blocks) {
    zero_device_memory(largest.data(), largest.bytes(), of);
  }

  /// `n` complex numbers.
  template <class From, class To>
  void launch(const std::complex<From>* from, std::complex<To>* to, std::int64_t n) {
    const auto work = gpu::RoundModes<From, To>::of(
        reinterpret_cast<const From*>(from), reinterpret_cast<To*>(to), 2 * n, largest.data());
    machine.launch(work, work.n_blocks);
  }

  const DeviceStream* stream;
  gpu::DeviceMachine machine;
  DeviceBuffer<double> largest;
  DeviceBuffer<double, MemorySpace::pinned> largest_on_host;
};

DeviceModeRounding::DeviceModeRounding(const DeviceStream& stream)
    : impl_(std::make_unique<Impl>(stream)) {}

DeviceModeRounding::~DeviceModeRounding() = default;

void DeviceModeRounding::narrow(const std::complex<double>* from, std::complex<float>* to,
                                std::int64_t n) const {
  impl_->launch(from, to, n);
}
void DeviceModeRounding::widen(const std::complex<float>* from, std::complex<double>* to,
                               std::int64_t n) const {
  impl_->launch(from, to, n);
}
void DeviceModeRounding::round_to_single(const std::complex<double>* from, std::complex<double>* to,
                                         std::int64_t n) const {
  impl_->launch(from, to, n);
}

double DeviceModeRounding::take_largest() const {
  auto& on_host = impl_->largest_on_host;
  copy_to_host(impl_->largest.data(), on_host.data(), on_host.bytes(), *impl_->stream);
  zero_device_memory(impl_->largest.data(), impl_->largest.bytes(), *impl_->stream);
  impl_->stream->synchronize();
  double largest = 0;
  for (std::int64_t i = 0; i < on_host.size(); ++i) {
    largest = larger_magnitude(largest, on_host.data()[i]);
  }
  return largest;
}

}  // namespace ringweave::detail::inline distribute
