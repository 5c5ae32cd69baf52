// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace ringweave {

/// Most data one rank transfers per call. MPI-IO of HDF5 before 1.12.3 fails from 2 GiB on; far
/// less already gives full speed and bounds the buffers. Tests make it small.
struct Hdf5Limits {
  std::int64_t numbers_per_call = std::int64_t{1} << 20;
  std::int64_t runs_per_call =
      64;  ///< hyperslabs in one selection; building larger unions takes quadratic time
};

}  // namespace ringweave
