// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/cli/options.hpp"
#include "app/gyro/gyro_options.hpp"
#include "app/run.hpp"
#include "ringweave/files.hpp"
#include "ringweave/gyroaverage.hpp"

namespace ringweave::detail::inline app {

/// The numbers of the fields of a file: one for each field or, where the file has an axis rho, for
/// each radius and field.
struct FieldNumbers {
  bool has_rho = false;
  std::int64_t n_radii = 1;
  std::int64_t n_behind = 1;  ///< fields for each index of rho: the product of the axes after it

  std::int64_t number(std::int64_t radius, std::int64_t field) const {
    if (!has_rho) return field;
    return (field / n_behind * n_radii + radius) * n_behind + field % n_behind;
  }
};

/// A run of `gyroaverage`: averages go from fields to results, a transpose goes back.
struct GyroJob {
  const GyroaverageOptions& options;
  GyroCombination combination;
  PlaneHeader input;
  PlaneHeader output{};
  FieldNumbers numbers_in{};
  FieldNumbers numbers_out{};
  std::int64_t n_fields = 0;  ///< of each radius, all of them
  GyroSpec spec{};            ///< its n_fields are those of a batch
  std::vector<double> weights{};

  bool is_adjoint() const { return options.adjoint; }
  bool makes_all_radii() const { return numbers_out.has_rho; }
};

/// Decides from the options and the header of the data set what is computed, and checks it. Reads
/// radii and weights. Collective. Error  UsageError, DataError
GyroJob make_gyro_job(Run& run, const GyroaverageOptions& options, const PlaneFileReader& reader);

/// Returns the nodes of a file's axes, of --domain where the file has no coordinates.
/// Error  DataError for nodes that are not known, UsageError for a domain that is missing or that
///        the file contradicts.
PlaneGrid grid_of_file(const PlaneHeader& header, const GyroaverageOptions& options);

/// Returns the header of a file of results: that of the input, on nodes of `grid`, with the
/// attributes of an earlier average left out.
PlaneHeader header_on(const PlaneHeader& input, const PlaneGrid& grid, Precision precision);

/// Returns the fields to be read and written: those of a rank's part in the batch that begins at
/// field `begin`, with the rows that the views of Gyroaverage hold.
PlaneFilePart part_of_input(const GyroJob& job, const GyroPart& part, std::int64_t begin);
/// Ranks that have the same results as another write nothing.
PlaneFilePart part_of_output(const GyroJob& job, const GyroPart& part, std::int64_t begin);

/// Returns the attributes that say how OUT was made, as far as they are known before the run.
std::vector<Keyword> attributes_of(const GyroJob& job);

}  // namespace ringweave::detail::inline app
