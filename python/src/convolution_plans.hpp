// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "plan.hpp"

#include <ringweave/convolution.hpp>

namespace ringweave::python {

using RingPlan = Plan<RingConvolution>;
using SplitConvolutionPlan = Plan<SplitConvolution>;

}  // namespace ringweave::python
