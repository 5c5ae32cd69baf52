// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>

#include "perf_models/machine.hpp"

namespace ringweave::detail::inline perf_models {

/// A cost of a machine or device and its name in a machine file.
template <class Owner>
struct NamedCurve {
  const char* name;
  CostCurve Owner::*curve;
};
template <class Owner>
NamedCurve(const char*, CostCurve Owner::*) -> NamedCurve<Owner>;
inline constexpr std::array machine_curves = {
    NamedCurve{"legendre_scalar", &Machine::legendre_scalar},
    NamedCurve{"legendre_spin", &Machine::legendre_spin},
    NamedCurve{"ring_fft", &Machine::ring_fft},
    NamedCurve{"ring_fft_modes", &Machine::ring_fft_modes},
    NamedCurve{"transform_planning", &Machine::transform_planning},
    NamedCurve{"point_sums", &Machine::point_sums},
    NamedCurve{"convolution_stencil", &Machine::convolution_stencil},
    NamedCurve{"convolution_sectors", &Machine::convolution_sectors},
    NamedCurve{"convolution_ring_fft", &Machine::convolution_ring_fft},
    NamedCurve{"convolution_modes", &Machine::convolution_modes},
    NamedCurve{"convolution_spin", &Machine::convolution_spin},
    NamedCurve{"convolution_planning", &Machine::convolution_planning},
    NamedCurve{"split_search", &Machine::split_search},
    NamedCurve{"new_memory", &Machine::new_memory},
    NamedCurve{"file_read", &Machine::file_read},
    NamedCurve{"file_write", &Machine::file_write},
};
inline constexpr std::array device_curves = {
    NamedCurve{"legendre_scalar", &DeviceCosts::legendre_scalar},
    NamedCurve{"legendre_spin", &DeviceCosts::legendre_spin},
    NamedCurve{"ring_fft", &DeviceCosts::ring_fft},
    NamedCurve{"ring_fft_modes", &DeviceCosts::ring_fft_modes},
    NamedCurve{"to_device", &DeviceCosts::to_device},
    NamedCurve{"to_host", &DeviceCosts::to_host},
    NamedCurve{"convolution_pixels", &DeviceCosts::convolution_pixels},
    NamedCurve{"convolution_ring_fft", &DeviceCosts::convolution_ring_fft},
    NamedCurve{"convolution_modes", &DeviceCosts::convolution_modes},
    NamedCurve{"point_sums", &DeviceCosts::point_sums},
};

}  // namespace ringweave::detail::inline perf_models
