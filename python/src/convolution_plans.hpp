// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <ringweave/convolution.hpp>

#include "plan.hpp"

namespace ringweave::python {

using RingPlan = Plan<RingConvolution>;
using SplitConvolutionPlan = Plan<SplitConvolution>;

}  // namespace ringweave::python
