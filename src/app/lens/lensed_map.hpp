// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/lens/lens_job.hpp"
#include "app/run.hpp"
#include "ringweave/lensing.hpp"

namespace ringweave::detail::inline app {

/// Plans the transform between the job's a_lm and the deflected map. Collective.
Lensing planned_lensing(Run& run, const LensJob& job, const Deflection& deflection);

/// Computes the lensed map of a_lm, cuts it at --lensed-lmax, and writes it. T is float or double.
/// alm  [component][coefficient], as lensing.alm_layout() has them
/// Collective.
template <class T>
void write_lensed(Run& run, const LensJob& job, const Deflection& deflection, Lensing& lensing,
                  AlmView<const T> alm);

}  // namespace ringweave::detail::inline app
