// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/chebyshev_operator.hpp"
#include "gyro/device_plane_values.hpp"
#include "gyro/device_radius_field.hpp"
#include "gyro/schemes.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline gyro {
namespace {

[[noreturn]] void lack() {
  throw UsageError(
      "gyroaverages were asked to run on a GPU, but this build has no CUDA: configure with nvcc in "
      "reach and -DRINGWEAVE_CUDA=ON, or choose the host backend");
}

}  // namespace

std::unique_ptr<Scheme> make_cuda_stencil_scheme(const GyroSpec&, const Communicator&,
                                                 const RowShare&, std::int64_t) {
  lack();
}
std::unique_ptr<Scheme> make_cuda_dct_scheme(const GyroSpec&, std::int64_t) { lack(); }
std::unique_ptr<ChebyshevOperator> make_cuda_chebyshev_operator(const ChebyshevFold&,
                                                                const ChunkRange&,
                                                                std::vector<SemiAxes>) {
  lack();
}

std::unique_ptr<DevicePlaneValues> make_device_plane_values() { lack(); }
PlaneValuesBytes device_plane_values_bytes() { return {}; }

template <class T>
void average_on_device(const RadiusTargets&, ComponentView<const T>, ComponentView<T>,
                       const GyroProgress&) {
  lack();
}
template <class T>
void transpose_on_device(const RadiusTargets&, ComponentView<const T>, ComponentView<T>,
                         const GyroProgress&) {
  lack();
}
template void average_on_device(const RadiusTargets&, ComponentView<const float>,
                                ComponentView<float>, const GyroProgress&);
template void average_on_device(const RadiusTargets&, ComponentView<const double>,
                                ComponentView<double>, const GyroProgress&);
template void transpose_on_device(const RadiusTargets&, ComponentView<const float>,
                                  ComponentView<float>, const GyroProgress&);
template void transpose_on_device(const RadiusTargets&, ComponentView<const double>,
                                  ComponentView<double>, const GyroProgress&);

}  // namespace ringweave::detail::inline gyro
