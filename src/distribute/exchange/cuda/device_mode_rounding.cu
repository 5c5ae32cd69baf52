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

  const DeviceStream* stream;
  gpu::DeviceMachine machine;
  DeviceBuffer<double> largest;
  DeviceBuffer<double, MemorySpace::pinned> largest_on_host;
};

DeviceModeRounding::DeviceModeRounding(const DeviceStream& stream)
    : impl_(std::make_unique<Impl>(stream)) {}

DeviceModeRounding::~DeviceModeRounding() = default;

template <class From, class To>
void DeviceModeRounding::round(const std::complex<From>* from, std::complex<To>* to,
                               std::int64_t n) const {
  const auto work = gpu::RoundModes<From, To>::of(
      reinterpret_cast<const From*>(from), reinterpret_cast<To*>(to), 2 * n, impl_->largest.data());
  impl_->machine.launch(work, work.n_blocks);
}
template void DeviceModeRounding::round(const std::complex<double>*, std::complex<float>*,
                                        std::int64_t) const;
template void DeviceModeRounding::round(const std::complex<float>*, std::complex<double>*,
                                        std::int64_t) const;
template void DeviceModeRounding::round(const std::complex<double>*, std::complex<double>*,
                                        std::int64_t) const;

double DeviceModeRounding::pop_largest() const {
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
