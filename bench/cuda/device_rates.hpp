// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>

#include "base/device.hpp"

// What this thread's device can do, measured: what other rates are compared with.
namespace ringweave {

/// Random numbers in [-1, 1); zeros would let a device run faster than numbers do. Comes back when
/// they are there.
void fill_with_numbers(const DeviceStream& stream, double* memory, std::int64_t count);

/// Multiply-adds of doubles in registers of all multiprocessors, operations per second (two each).
double device_fma_peak(const DeviceStream& stream);

/// Bytes per second, those read and those written; of copies over a host's bus only one way.
struct CopyRates {
  double on_device;
  double to_device;  ///< from pinned memory
  double to_host;
};
CopyRates device_copy_rates(const DeviceStream& stream);

/// cuBLAS's product of two square matrices of doubles, operations per second: by matrix
/// instructions where the device has them. Nothing where there is no cuBLAS.
std::optional<double> device_dgemm_rate(const DeviceStream& stream, int n);

/// Seconds of cuFFT's transform of `count` rings of one length, complex to real or back: what the
/// ring FFT would take if all pixels were such rings. Nothing where there is no cuFFT.
struct FftSeconds {
  double to_pixels;
  double to_modes;
};
std::optional<FftSeconds> device_fft_seconds(const DeviceStream& stream, std::int64_t length,
                                             std::int64_t count);

}  // namespace ringweave
