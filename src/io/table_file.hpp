// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

#include "distribute/mpi/communicator.hpp"
#include "io/file_kind.hpp"
#include "io/provenance.hpp"
#include "sphere/beam.hpp"
#include "sphere/spectra.hpp"

namespace ringweave {

class AtomicOutput;

/// Small tables: rank 0 reads and checks, all ranks get the same. All collective; errors DataError
/// naming file and line. Text: '#' comments, columns `l TT [EE BB TE [EB TB]]` as C_l, or as D_l =
/// l(l+1)C_l/2pi when a header line says so. FITS: columns by position, TT EE BB TE in the first
/// four (names vary). HDF5: /cl of our schema.
Spectra read_spectra(const Communicator& comm, const std::string& path);
void write_spectra(const Communicator& comm, const std::string& path, IfExists if_exists,
                   const Provenance& provenance, const Spectra& spectra, const std::string& unit);
/// The same under the temporary name of `output`, which the caller commits (with others).
void write_spectra(const AtomicOutput& output, const Provenance& provenance, const Spectra& spectra,
                   const std::string& unit);

/// `l b_T [b_E [b_B]]`, text or FITS (columns by position); b_E defaults to b_T, b_B to b_E; zero
/// beyond the table.
Beam read_beam(const Communicator& comm, const std::string& path);
/// Pixel window, columns TEMPERATURE, POLARIZATION: a Beam with e = b = polarization.
Beam read_pixel_window(const Communicator& comm, const std::string& path);

/// HEALPix ring weights (w - 1 stored): 2 nside rows; column TEMPERATURE WEIGHTS. Returns w for the
/// northern rings and the equator. Error  DataError when the length is not 2 nside.
std::vector<double> read_ring_weights(const Communicator& comm, const std::string& path,
                                      std::int64_t nside);
/// HEALPix compressed pixel weights (w - 1 stored). Returns w - 1, compressed. Error  DataError on
/// a wrong length.
std::vector<double> read_pixel_weights(const Communicator& comm, const std::string& path,
                                       std::int64_t nside);

/// Two columns, theta in radians ascending from 0 and K(theta) per steradian.
struct KernelProfile {
  std::vector<double> theta;
  std::vector<double> value;
};
KernelProfile read_kernel_profile(const Communicator& comm, const std::string& path);

}  // namespace ringweave
