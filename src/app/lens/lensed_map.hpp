// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>

#include "app/lens/lens_job.hpp"
#include "app/run.hpp"
#include "distribute/ring_distribution.hpp"
#include "ringweave/lensing.hpp"
#include "ringweave/transform.hpp"

namespace ringweave::detail::inline app {

/// The cut of a lensed map by --lensed-lmax: an analysis, and the synthesis of its a_lm.
struct LensedCut {
  TransformSpec spec;
  int n_iter = 0;  ///< of the analysis
};
/// bands  the rings of the ranks
LensedCut lensed_cut(const LensJob& job, std::shared_ptr<const RingDistribution> bands);

/// Warns where --lensed-lmax is beyond the grid, and throws where map and a_lm of it do not fit the
/// memory, before anything is planned. Collective.
void check_lensed_lmax(Run& run, const LensJob& job);

/// Plans the transform between the job's a_lm and the deflected map; on the host, with a warning,
/// if the device that --backend auto took fails. Collective.
Lensing planned_lensing(Run& run, LensJob& job, const Deflection& deflection);

/// Computes the lensed map of a_lm, cuts it at --lensed-lmax, which the
/// provenance of the job then says, and writes it. T is float or double.
/// alm  [component][coefficient], as lensing.alm_layout() has them
/// Collective.
template <class T>
void write_lensed(Run& run, LensJob& job, const Deflection& deflection, Lensing& lensing,
                  AlmView<const T> alm);

}  // namespace ringweave::detail::inline app
