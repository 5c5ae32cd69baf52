// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "io/fits/file.hpp"
#include "io/lat_lon.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {

/// An image in the plate carree projection (CTYPE RA---CAR, DEC--CAR), as pixell writes maps: its
/// rows are rings. NaN stands for pixels that were not observed.
struct CarImage {
  int hdu = 0;
  LatLonOrder order;
  std::vector<double> signs;  ///< of the planes; -1: U in the IAU convention
};

/// Finds the first such image before the first table of the file, checks it, and describes it in
/// `header`. Not collective. Error  DataError for images of other projections, oblique ones and
/// patches that do not go round the whole circle.
std::optional<CarImage> find_car_image(FitsFile& file, MapHeader& header);

/// Reads pixels [first, first + values.size()) of the full grid in RING order; those of rings that
/// the image lacks are UNSEEN.
void read_car_image(FitsFile& file, const CarImage& image, std::int64_t plane, std::int64_t first,
                    std::span<double> values);

/// Returns true if maps on the grid are written as such images.
bool is_car_grid(const RingGrid& grid);

/// Writes an image, given in RING order ring by ring. Lives on rank 0.
class CarWriter {
 public:
  /// `rings` of the full grid become rows.
  CarWriter(FitsFile& file, const MapHeader& header, const Provenance& provenance, RingRange rings);
  /// values  [component][pixel], whole rings from pixel `first` of the full grid on; overwritten
  void write(std::int64_t first, std::int64_t n_pixels, std::span<double> values);

 private:
  FitsFile& file_;
  Precision precision_;
  LatLonOrder order_;
  std::vector<double> row_;
};

}  // namespace ringweave::detail::inline io
