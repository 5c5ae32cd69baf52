// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/legendre_stage.hpp"

#include <utility>

#include "ringweave/execution.hpp"

namespace ringweave::detail::inline legendre {

std::unique_ptr<LegendreStage> make_legendre_stage(LegendreShape shape, Backend backend) {
  return backend == Backend::cuda ? make_cuda_legendre_stage(std::move(shape))
                                  : make_host_legendre_stage(std::move(shape));
}

}  // namespace ringweave::detail::inline legendre
