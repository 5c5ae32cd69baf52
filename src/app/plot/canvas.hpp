// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cairo.h>

#include <string>

#include "app/plot/colour_map.hpp"

namespace ringweave {

enum class HorizontalAlign { left, centre, right };
enum class VerticalAlign { top, middle, bottom };

/// How text is set. Alignment is about the height of a capital letter, so that lines sit alike.
struct TextStyle {
  double size = 20;  ///< pixels
  HorizontalAlign horizontal = HorizontalAlign::centre;
  VerticalAlign vertical = VerticalAlign::middle;
  Colour colour{0.13, 0.13, 0.13};
  double angle_degrees = 0;  ///< counterclockwise
  double halo = 0;           ///< width of the white outline, pixels
};

/// A white picture that Cairo draws on, pixels from the top left corner.
class Canvas {
 public:
  /// Error  UsageError unless both sides are within 1..32767; ResourceError when memory is refused.
  Canvas(int width, int height);
  ~Canvas();
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  cairo_t* cairo() const { return cairo_; }
  void set_colour(const Colour& colour, double alpha = 1) const;

  /// The text as it stands, "?" for bytes that are no printable UTF-8; as in all that follow.
  void text(double x, double y, const std::string& text, const TextStyle& style) const;
  /// As above, but smaller where it would be wider than `width`.
  void text_within(double width, double x, double y, const std::string& text,
                   TextStyle style) const;
  /// As text(), but ^{...} raises, _{...} lowers; the braces may be left out around letters and
  /// digits ("K_CMB").
  void markup(double x, double y, const std::string& text, const TextStyle& style) const;
  double text_width(const std::string& text, double size) const;
  double markup_width(const std::string& text, double size) const;

  /// Error  ResourceError when anything could not be drawn or the file could not be written.
  void write_png(const std::string& path) const;

 private:
  cairo_surface_t* surface_ = nullptr;
  cairo_t* cairo_ = nullptr;
};

/// A unit as people write it: "uK" with a real mu.
std::string pretty_unit(const std::string& unit);

}  // namespace ringweave
