// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "io/fits/car_image.hpp"
#include "io/fits/file.hpp"
#include "ringweave/files.hpp"

namespace ringweave::detail::inline io {

/// The layout of a HEALPix map or a CAR image in a FITS file, as found by rank 0.
struct FitsMapLayout {
  struct Column {
    int hdu = 0;
    FitsColumn column;
    double sign = 1;             ///< -1: U of a file in the IAU convention
    std::size_t pixel_list = 0;  ///< index into pixel_lists, for a partial map
  };
  /// The pixel numbers of a partial map; old HEALPix files have one list per Stokes parameter.
  struct PixelList {
    int hdu = 0;
    FitsColumn column;
    std::int64_t length = 0;
  };
  MapHeader header;
  std::int64_t nside = 0;  ///< of header.grid
  std::optional<double> bad_data;
  std::vector<Column> columns;  ///< as header.columns
  std::vector<PixelList> pixel_lists;
  std::optional<CarImage> image;  ///< instead of columns
};

/// Finds the first CAR image or HEALPix map of the file and checks its whole header before anything
/// is allocated. Not collective. Error  DataError.
FitsMapLayout inspect_fits_map(FitsFile& file);

}  // namespace ringweave::detail::inline io
