// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <complex>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/device_buffer.hpp"
#include "fft/device_plane_filter.hpp"
#include "fft/plane_filter.hpp"
#include "gyro/device_planes.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline gyro {

/// Planes of results that a device forms before they are copied to where they belong.
constexpr std::int64_t results_together = 32;

/// Returns how many results of `n_planes` planes each are formed together, of so many radii.
inline std::int64_t results_of(std::int64_t n_planes, std::int64_t n_radii) {
  return std::max<std::int64_t>(1, std::min(results_together / n_planes, n_radii));
}

/// Filters that share memory, and the results of one load that they form together: sums over some
/// radii each, of as many planes as were loaded. Planes are transformed when a radius asks for
/// their spectra; sums are transformed back all at once, or where another filter adds to them.
class DeviceFilterBatch {
 public:
  using Complex = std::complex<double>;
  /// Place for a result.
  struct Result {
    ResultPlanes planes;
    Accumulate how = Accumulate::overwrite;
    bool has_spectra = false;  ///< that are not in its sums yet
  };

  /// most_planes  of a load
  DeviceFilterBatch(const std::vector<PlaneFilterAxes>& axes, std::int64_t most_planes,
                    std::int64_t n_radii, const DeviceStream& stream);

  std::int64_t most_results() const { return most_results_; }
  /// Allocates the spectra of a worker.
  void allocate();
  /// Returns the bytes of spectra and padded planes.
  std::int64_t bytes() const;

  // Of the results that are formed:
  std::int64_t n_planes() const { return n_planes_; }
  std::int64_t n_results() const { return static_cast<std::int64_t>(results_.size()); }
  const std::vector<Result>& results() const { return results_; }
  bool is_full() const { return n_results() == most_results_; }
  /// Returns the first plane of the result that sums are added to now.
  std::int64_t first_plane() const { return n_results() * n_planes_; }

  /// Takes other planes; there are no results left.
  void load(std::int64_t n_planes) {
    n_planes_ = n_planes;
    loaded_ = no_filter;
  }
  /// Begins the sums of the next result.
  void begin() { has_spectra_ = false; }
  /// Adds weight times the filtered planes to the spectra of the result.
  /// sums  planes of all results
  void add(std::int64_t filter, const DevicePlanes<const double>& planes,
           const FilterWindow& window, const double* multiplier, double weight,
           const DevicePlanes<double>& sums);
  /// Ends the sums of a result.
  void end(const ResultPlanes& planes, Accumulate how) {
    results_.push_back({planes, how, has_spectra_});
    has_spectra_ = false;
  }
  /// Adds all spectra to the sums.
  void finish(const DevicePlanes<double>& sums);
  void clear() { results_.clear(); }

 private:
  static constexpr std::int64_t no_filter = -1;

  /// Tells whether a result has spectra, the one that is summed now being the last.
  bool has_spectra(std::int64_t result) const;

  std::vector<PlaneFilterAxes> axes_;
  std::vector<std::unique_ptr<DevicePlaneFilter>> filters_;
  std::int64_t spectrum_ = 0;  ///< numbers of a plane, of any filter
  std::int64_t most_planes_;
  std::int64_t most_results_;
  DeviceBuffer<Complex> spectra_;  ///< [plane], of the filter `loaded_`
  DeviceBuffer<Complex> totals_;   ///< [result][plane]
  std::int64_t n_planes_ = 0;
  std::int64_t loaded_ = no_filter;
  std::int64_t filter_ = no_filter;  ///< of all spectra of results
  bool has_spectra_ = false;         ///< the present result
  std::vector<Result> results_;
};

}  // namespace ringweave::detail::inline gyro
