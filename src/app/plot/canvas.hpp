// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cairo.h>

#include <string>

#include "app/plot/colour_map.hpp"
#include "app/plot/picture_file.hpp"

namespace ringweave::detail::inline app {

/// Colour of frames, ticks and text.
inline constexpr Colour line_colour{0.13, 0.13, 0.13};

enum class HorizontalAlign { left, centre, right };
enum class VerticalAlign { top, middle };

/// Style of text. Vertical alignment is relative to the height of a capital letter, so that lines
/// align regardless of their letters.
struct TextStyle {
  double size = 20;  ///< pixels
  HorizontalAlign horizontal = HorizontalAlign::centre;
  VerticalAlign vertical = VerticalAlign::middle;
  Colour colour{0.13, 0.13, 0.13};
  double angle_degrees = 0;  ///< counterclockwise
  double halo = 0;           ///< width of the white outline, in pixels
};

/// A white picture to draw on with Cairo, in pixels from the top left corner.
class Canvas {
 public:
  /// The file says how many pixels make an inch. Error  UsageError unless both sides are
  /// within 1..32767; ResourceError when memory is refused.
  Canvas(int width, int height, PictureFile file);
  ~Canvas();
  Canvas(const Canvas&) = delete;
  Canvas& operator=(const Canvas&) = delete;

  cairo_t* cairo() const { return cairo_; }
  void set_colour(const Colour& colour, double alpha = 1) const;

  /// Draws plain text. Here and in the functions below, bytes that are not printable UTF-8 become
  /// "?".
  void text(double x, double y, const std::string& text, const TextStyle& style) const;
  /// Draws text with `end`, which is markup(), behind it; smaller if it would be wider than
  /// `width`.
  void text_within(double width, double x, double y, const std::string& text, TextStyle style,
                   const std::string& end = "") const;
  /// Draws text in which ^{...} raises and _{...} lowers; the braces may be omitted around letters
  /// and digits ("K_CMB").
  void markup(double x, double y, const std::string& text, const TextStyle& style) const;
  double text_width(const std::string& text, double size) const;
  double markup_width(const std::string& text, double size) const;

  /// Writes the picture, once; nothing can be drawn after it. Error  ResourceError when anything
  /// could not be drawn, or the file could not be written or is not on disk what was written.
  void write();

 private:
  PictureFile file_;
  std::string bytes_;  ///< of the file
  cairo_surface_t* surface_ = nullptr;
  cairo_t* cairo_ = nullptr;
};

/// Returns a unit in typographic form: "uK" with a real mu.
std::string pretty_unit(const std::string& unit);

}  // namespace ringweave::detail::inline app
