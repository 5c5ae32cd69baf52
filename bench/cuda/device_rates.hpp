// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>

#include "base/device.hpp"

// Measured rates of this thread's device, with which other rates are compared.
namespace ringweave::detail {

/// Fills memory with random numbers in [-1, 1); with zeros a device could run faster. Waits until
/// they are written.
void fill_with_numbers(const DeviceStream& stream, double* memory, std::int64_t count);

/// Measures multiply-adds of doubles in registers of all multiprocessors, operations per second
/// (two each).
double device_fma_peak(const DeviceStream& stream);

/// Bytes per second, reads plus writes; for copies over a host's bus only one way.
struct CopyRates {
  double on_device;
  double to_device;  ///< from pinned memory
  double to_host;
};
CopyRates device_copy_rates(const DeviceStream& stream);

/// Measures cuBLAS's product of two square matrices of doubles, operations per second; it uses
/// matrix instructions where the device has them. Empty without cuBLAS.
std::optional<double> device_dgemm_rate(const DeviceStream& stream, int n);

/// Measures seconds of cuFFT's transform of `count` rings of one length, complex to real or back:
/// the time of the ring FFT if all pixels were in such rings. Empty without cuFFT.
struct FftSeconds {
  double to_pixels;
  double to_modes;
};
std::optional<FftSeconds> device_fft_seconds(const DeviceStream& stream, std::int64_t length,
                                             std::int64_t count);

}  // namespace ringweave::detail
