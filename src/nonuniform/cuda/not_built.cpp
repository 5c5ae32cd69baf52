// SPDX-License-Identifier: GPL-3.0-or-later
#include "nonuniform/device_point_sums.hpp"
#include "nonuniform/field_rows.hpp"
#include "nonuniform/point_rows.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline nonuniform {
namespace {

[[noreturn]] void lack() {
  throw UsageError(
      "the transform to points was asked to run on a GPU, but this build has no CUDA: configure "
      "with nvcc in reach and -DRINGWEAVE_CUDA=ON, or choose the host backend");
}

}  // namespace

std::unique_ptr<PointRows> make_cuda_point_rows(const Communicator&, PlannedPoints&,
                                                const RingFftShape&,
                                                const std::vector<std::int64_t>&) {
  lack();
}

std::unique_ptr<FieldRows> make_cuda_field_rows(const Communicator&,
                                                std::shared_ptr<const FineTaps>,
                                                const RingFftShape&,
                                                const std::vector<std::int64_t>&) {
  lack();
}

std::unique_ptr<DevicePointSums> make_device_point_sums(const RowTaps&, const SummedPoints&,
                                                        const DeviceStream&) {
  lack();
}

}  // namespace ringweave::detail::inline nonuniform
