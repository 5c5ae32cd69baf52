// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

// To be included before hwy/foreach_target.h. Lists the instruction sets that double-precision code
// with arrays of vectors is not compiled for. The first two do not speed it up; the vector lengths
// of the others are not known at compile time.
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)
