// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>

#include "gyro/scheme.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/gyroaverage.hpp"

// The schemes, of a specification that was checked. Collective over `rows`, the ranks of the row
// share; a group of one calls no MPI.
namespace ringweave::detail::inline gyro {

/// Bilinear and bicubic averages: padded FFTs of whole sources, the outermost sources added. Of
/// shared rows every rank fetches a halo in load().
std::unique_ptr<Scheme> make_stencil_scheme(const GyroSpec& spec, const Communicator& rows,
                                            const RowShare& share);
/// The same on this thread's device. most_planes  of a load
std::unique_ptr<Scheme> make_cuda_stencil_scheme(const GyroSpec& spec, const Communicator& rows,
                                                 const RowShare& share, std::int64_t most_planes);
/// The padded cosine transform, times J0. Rows are never shared.
std::unique_ptr<Scheme> make_dct_scheme(const GyroSpec& spec);
/// The same on this thread's device. most_planes  of a load
std::unique_ptr<Scheme> make_cuda_dct_scheme(const GyroSpec& spec, std::int64_t most_planes);
/// The most ranks that can share the rows of method chebyshev: its transpose sums so many chunks of
/// targets one after the other, whoever makes them. Every rank holds and sends the coefficients of
/// all chunks.
constexpr std::int64_t most_chebyshev_chunks = 16;
/// Polynomials through Chebyshev nodes. Of shared rows every rank takes whole fields and makes the
/// averages of some targets, which are exchanged in store(). Operators are on this thread's device
/// where the backend is one.
std::unique_ptr<Scheme> make_chebyshev_scheme(const GyroSpec& spec, const Communicator& rows,
                                              const RowShare& share);

/// Nodes of results.
PlaneGrid targets_of(const GyroSpec& spec);

}  // namespace ringweave::detail::inline gyro
