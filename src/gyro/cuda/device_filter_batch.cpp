// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/device_filter_batch.hpp"

#include "base/checked_cast.hpp"

namespace ringweave::detail::inline gyro {

DeviceFilterBatch::DeviceFilterBatch(const std::vector<PlaneFilterAxes>& axes,
                                     std::int64_t most_planes, std::int64_t n_radii,
                                     const DeviceStream& stream)
    : axes_(axes), most_planes_(most_planes), most_results_(results_of(most_planes, n_radii)) {
  filters_ = make_device_plane_filters(axes_, most_results_ * most_planes_, stream);
  for (const auto& filter : filters_) spectrum_ = std::max(spectrum_, filter->spectrum_size());
  results_.reserve(to_size(most_results_));
}

void DeviceFilterBatch::allocate() {
  spectra_.allocate(most_planes_ * spectrum_);
  totals_.allocate(most_results_ * most_planes_ * spectrum_);
}

std::int64_t DeviceFilterBatch::bytes() const {
  return (1 + most_results_) * most_planes_ * spectrum_ * std::int64_t{sizeof(Complex)} +
         device_plane_filter_bytes(axes_, most_results_ * most_planes_);
}

void DeviceFilterBatch::add(std::int64_t number, const DevicePlanes<const double>& planes,
                            const FilterWindow& window, const double* multiplier, double weight,
                            const DevicePlanes<double>& sums) {
  DevicePlaneFilter& filter = *filters_[to_size(number)];
  if (loaded_ != number) filter.forward(planes, window, spectra_.data());
  loaded_ = number;
  if (filter_ != number) finish(sums);
  filter_ = number;
  filter.multiply(multiplier, weight, n_planes_, spectra_.data(),
                  totals_.data() + first_plane() * filter.spectrum_size(),
                  has_spectra_ ? Accumulate::add : Accumulate::overwrite);
  has_spectra_ = true;
}

bool DeviceFilterBatch::has_spectra(std::int64_t result) const {
  return result < n_results() ? results_[to_size(result)].has_spectra
                              : result == n_results() && has_spectra_;
}

void DeviceFilterBatch::finish(const DevicePlanes<double>& sums) {
  std::int64_t end = 0;
  for (std::int64_t begin = 0; begin <= n_results(); begin = std::max(end, begin + 1)) {
    for (end = begin; has_spectra(end);) ++end;
    if (begin == end) continue;
    DevicePlaneFilter& filter = *filters_[to_size(filter_)];
    const std::int64_t first = begin * n_planes_;
    filter.backward(totals_.data() + first * filter.spectrum_size(),
                    {sums.values + first * sums.plane_stride, (end - begin) * n_planes_,
                     sums.plane_stride, sums.row_stride},
                    Accumulate::add);
  }
  for (Result& result : results_) result.has_spectra = false;
  has_spectra_ = false;
}

}  // namespace ringweave::detail::inline gyro
