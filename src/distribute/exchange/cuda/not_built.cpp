// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/device_mode_rounding.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline distribute {
namespace {

[[noreturn]] void lack() { throw UsageError("GPU: " + device_unavailable_reason()); }

}  // namespace

struct DeviceModeRounding::Impl {};

DeviceModeRounding::DeviceModeRounding(const DeviceStream&) { lack(); }
DeviceModeRounding::~DeviceModeRounding() = default;
template <class From, class To>
void DeviceModeRounding::round(const std::complex<From>*, std::complex<To>*, std::int64_t) const {
  lack();
}
template void DeviceModeRounding::round(const std::complex<double>*, std::complex<float>*,
                                        std::int64_t) const;
template void DeviceModeRounding::round(const std::complex<float>*, std::complex<double>*,
                                        std::int64_t) const;
template void DeviceModeRounding::round(const std::complex<double>*, std::complex<double>*,
                                        std::int64_t) const;
double DeviceModeRounding::pop_largest() const { lack(); }

}  // namespace ringweave::detail::inline distribute
