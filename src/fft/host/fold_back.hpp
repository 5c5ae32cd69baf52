// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace ringweave {

/// Operators of RingSpectra on spectra c_k and on modes with the bins B_k of fold(). The result is
/// unfold() of the following, times n and the ring's weight.
enum class SpectrumOperator {
  adjoint_of_map,        ///< c_k; modes are not read
  adjoint_of_residual,   ///< c_k - B_k
  adjoint_of_synthesis,  ///< B_k; spectra are not read
};

}  // namespace ringweave
