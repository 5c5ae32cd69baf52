// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <vector>

#include "base/checked_cast.hpp"
#include "io/fits/checksum.hpp"
#include "io/fits/file.hpp"
#include "ringweave/grid.hpp"

namespace ringweave::detail::inline io {

FitsImageShape FitsFile::image() const {
  constexpr int most_axes = 9;
  FitsImageShape shape;
  const std::int64_t axes = integer("NAXIS").value_or(0);
  shape.bits = integer("BITPIX").value_or(0);
  shape.is_scaled = is_scaled("BSCALE", "BZERO");
  if (axes > most_axes) fail(fmt::format("an image of {} axes; expected 2 or 3", axes));
  std::int64_t end = std::abs(shape.bits) / 8;
  bool overflow = false;
  for (std::int64_t axis = 1; axis <= axes; ++axis) {
    shape.dims.push_back(integer(fmt::format("NAXIS{}", axis)).value_or(0));
    overflow = overflow || __builtin_mul_overflow(end, shape.dims.back(), &end);
  }
  LONGLONG begin = 0;
  int status = 0;
  fits_get_hduaddrll(file_, nullptr, &begin, nullptr, &status);
  const bool is_compressed = fits_is_compressed_image(file_, &status) != 0;
  check(status, "find the data of the image");
  if (is_compressed) fail("is compressed by tiles; unpack it with `funpack`");
  if (overflow || end > bytes_ - begin) {
    fail(
        fmt::format("the header promises an image of {} numbers of {} bits from byte {} on, the "
                    "file ends at byte {}: it was cut short or its header is damaged",
                    fmt::join(shape.dims, " x "), std::abs(shape.bits), begin, bytes_));
  }
  return shape;
}

void FitsFile::read_image(std::int64_t first, std::span<double> values) const {
  if (values.empty()) return;
  double null = unseen;
  int any_null = 0;
  int status = 0;
  fits_read_img(file_, TDOUBLE, first + 1, static_cast<LONGLONG>(values.size()), &null,
                values.data(), &any_null, &status);
  check(status, fmt::format("read the image from pixel {} on", first + 1));
}

void FitsFile::append_image(Precision precision, std::span<const std::int64_t> dims) const {
  std::vector<LONGLONG> axes(dims.begin(), dims.end());
  int status = 0;
  fits_create_imgll(file_, precision == Precision::single_ ? FLOAT_IMG : DOUBLE_IMG,
                    checked_cast<int>(axes.size(), "axes of an image"), axes.data(), &status);
  check(status, "append an image");
  reserve_checksum(*this);
}

void FitsFile::write_image(std::int64_t first, std::span<const double> values) {
  if (values.empty()) return;
  int bits = 0;
  int status = 0;
  fits_get_img_type(file_, &bits, &status);
  add_to_data_sum(bits == FLOAT_IMG ? sum_of_words<float>(values) : sum_of_words<double>(values));
  // cfitsio only reads this argument but does not declare it const.
  fits_write_img(file_, TDOUBLE, first + 1, static_cast<LONGLONG>(values.size()),
                 const_cast<double*>(values.data()), &status);
  check(status, fmt::format("write the image from pixel {} on", first + 1));
}

}  // namespace ringweave::detail::inline io
