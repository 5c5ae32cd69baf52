// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <memory>
#include <string>

#include "io/atomic_output.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {

// Real coefficients C_lm and S_lm of geodesy and geomagnetism as text: .gfc files of ICGEM, and
// tables `l m C S` as SHTOOLS has them. The functions have no Condon-Shortley phase.

/// Normalisation of the functions: the mean square over the sphere is 1 / (4 pi) (orthonormal), 1
/// (four_pi) or 1 / (2 l + 1) (schmidt).
enum class Normalisation { orthonormal, four_pi, schmidt };

/// Opens such a file as a_lm, orthonormal and with the phase: ICGEM's by its extension, which must
/// be four_pi, else a table. Degrees that the file lacks are 0. Rank 0 reads. Collective. Error
/// DataError naming the line.
std::unique_ptr<AlmReader> open_coefficients(const Communicator& comm, const std::string& path,
                                             Normalisation normalisation);

/// Writes a_lm of one component as such a file, by l, then m. Collective. Error  UsageError for
/// several components; ResourceError.
void write_coefficients(const AtomicOutput& output, const AlmHeader& header,
                        const Provenance& provenance, const AlmLayout& layout,
                        AnyConstAlmView<> alm, Normalisation normalisation);

}  // namespace ringweave::detail::inline io
