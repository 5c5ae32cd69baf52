// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// Before hwy/foreach_target.h: sets that a file of double arithmetic on arrays of vectors is not
// compiled for. The first two add nothing to it; vectors of the others have no length known to the
// compiler.
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
