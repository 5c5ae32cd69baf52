// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/view.hpp"
#include "distribute/mpi/communicator.hpp"
#include "sphere/alm_layout.hpp"
#include "sphere/spectra.hpp"

namespace ringweave {

/// C_l^XY = sum_m Re(conj(x_lm) y_lm) / (2 l + 1) of the a_lm of all ranks. One component: TT; two:
/// EE BB EB; three: TT EE BB TE EB TB. Collective; the result is the same on every rank.
template <class T>
Spectra power_spectra(const Communicator& comm, const AlmLayout& layout, AlmView<const T> alm);

}  // namespace ringweave
