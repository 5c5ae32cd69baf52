// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/temperature_spectrum.hpp"

#include "base/error.hpp"
#include "io/table_file.hpp"

namespace ringweave {

std::vector<double> temperature_spectrum(const Communicator& comm, const std::string& path,
                                         const std::string& option) {
  const Spectra spectra = read_spectra(comm, path);
  if (!spectra.has(Spectra::TT))
    throw DataError(path, "holds no TT; " + option + " takes the spectrum of T");
  const auto values = spectra.values(Spectra::TT);
  return {values.begin(), values.end()};
}

}  // namespace ringweave
