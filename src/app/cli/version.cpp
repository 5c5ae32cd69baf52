// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/version.hpp"

#include <Random123/philox.h>
#include <fitsio.h>
#include <fmt/format.h>
#include <hdf5.h>

#include <CLI/Version.hpp>
#include <nlohmann/json.hpp>

#include "app/cli/build_information.hpp"
#include "base/device.hpp"
#include "distribute/mpi/mpi_library.hpp"
#include "fft/ring_fft.hpp"
#include "legendre/legendre_stage.hpp"

namespace ringweave::detail::inline app {
namespace {

std::string hdf5_version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  return fmt::format("{}.{}.{}", major, minor, release);
}

// CMake takes no other.
constexpr const char* hdf5_parallel = "yes";

// Random123's headers have no version number; generator and rounds determine the numbers.
std::string random123_generator() {
  return fmt::format("Philox4x32-{}", PHILOX4x32_DEFAULT_ROUNDS);
}

std::string cfitsio_version() {
  float version = 0;
  fits_get_version(&version);
  return fmt::format("{:.2f}", version);
}

}  // namespace

std::string full_version() {
  const std::string commit = build_information::commit;
  return build_information::version + (commit.empty() || commit == "unknown" ? "" : "+" + commit);
}

nlohmann::ordered_json version_information() {
  return {
      {"ringweave", build_information::version},
      {"commit", build_information::commit},
      {"mpi", mpi_library_version()},
      {"openmp", _OPENMP},
      {"fftw", fft_library_version()},
      {"hdf5", hdf5_version()},
      {"parallel_hdf5", hdf5_parallel},
      {"cfitsio", cfitsio_version()},
      {"healpix_cxx", build_information::healpix},
      {"highway", build_information::highway},
      {"random123", random123_generator()},
      {"zlib", build_information::zlib},
      {"cairo", build_information::cairo},
      {"cli11", CLI11_VERSION},
      {"fmt", FMT_VERSION},
      {"nlohmann_json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR,
                                    NLOHMANN_JSON_VERSION_MINOR, NLOHMANN_JSON_VERSION_PATCH)},
      {"simd_compiled", simd_targets_compiled()},
      {"simd_chosen", simd_target_chosen()},
      {"cuda", cuda_version().empty() ? "no" : cuda_version()},
      {"compiler", build_information::compiler},
      {"build_type", build_information::build_type},
      {"flags", build_information::flags},
  };
}

std::string version_text() {
  std::string text;
  const nlohmann::ordered_json information = version_information();
  for (const auto& [key, value] : information.items()) {
    text += fmt::format("{:<14} {}\n", key,
                        value.is_string() ? value.get<std::string>() : value.dump());
  }
  return text;
}

}  // namespace ringweave::detail::inline app
