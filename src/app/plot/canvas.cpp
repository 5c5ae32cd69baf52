// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/canvas.hpp"

#include <cairo-pdf.h>
#include <cairo-svg.h>
#include <zlib.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <new>
#include <numbers>
#include <utility>
#include <vector>

#include "io/output_part.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

/// A piece of text on one level.
struct Run {
  std::string text;
  int level = 0;  ///< 1 raised, -1 lowered
};

constexpr double script_size = 0.7;
constexpr double script_raise = 0.38;  ///< relative to the text size
constexpr double script_lower = 0.18;

/// Returns the length of the well-formed UTF-8 character at a position, or 0.
std::size_t character_length(const std::string& text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(at);
  if (first < 0x80) return first < 0x20 || first == 0x7f ? 0 : 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + length > text.size()) return 0;
  for (std::size_t i = at + 1; i < at + length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates and code points beyond Unicode.
  const unsigned char second = byte(at + 1);
  const bool refused = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
                       (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
  return refused ? 0 : length;
}

/// Replaces bad bytes. Titles and units come from files, and Cairo refuses to draw anything after
/// one bad byte.
std::string printable(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character_length(text, i);
    result += length == 0 ? "?" : text.substr(i, length);
    i += std::max<std::size_t>(length, 1);
  }
  return result;
}

/// Text of a sub- or superscript without braces, and where the main text continues.
struct Script {
  std::string text;
  std::size_t end = 0;
};

Script script_at(const std::string& text, std::size_t mark) {
  const std::size_t begin = mark + 1;
  if (begin < text.size() && text[begin] == '{') {
    const std::size_t close = text.find('}', begin);
    if (close == std::string::npos) return {};
    return {text.substr(begin + 1, close - begin - 1), close + 1};
  }
  std::size_t end = begin;
  if (end < text.size() && text[end] == '-') ++end;
  while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])) != 0) ++end;
  return {text.substr(begin, end - begin), end};
}

std::vector<Run> parse(const std::string& text) {
  std::vector<Run> runs(1);
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == '^' || text[i] == '_') {
      const Script script = script_at(text, i);
      if (!script.text.empty()) {
        runs.push_back({script.text, text[i] == '^' ? 1 : -1});
        i = script.end;
        continue;
      }
    }
    if (runs.back().level != 0) runs.emplace_back();
    runs.back().text += text[i++];
  }
  return runs;
}

double run_size(const Run& run, double size) { return run.level == 0 ? size : size * script_size; }

double advance(cairo_t* cairo, const Run& run, double size) {
  cairo_set_font_size(cairo, run_size(run, size));
  cairo_text_extents_t extents;
  cairo_text_extents(cairo, run.text.c_str(), &extents);
  return extents.x_advance;
}

double width_of(cairo_t* cairo, const std::vector<Run>& runs, double size) {
  double width = 0;
  for (const Run& run : runs) width += advance(cairo, run, size);
  return width;
}

double capital_height(cairo_t* cairo, double size) {
  cairo_set_font_size(cairo, size);
  cairo_text_extents_t extents;
  cairo_text_extents(cairo, "H", &extents);
  return extents.height;
}

void draw_runs(const Canvas& canvas, double x, double y, const std::vector<Run>& runs,
               const TextStyle& style) {
  cairo_t* cairo = canvas.cairo();
  const double width = width_of(cairo, runs, style.size);
  const double height = capital_height(cairo, style.size);
  cairo_save(cairo);
  cairo_translate(cairo, x, y);
  cairo_rotate(cairo, -style.angle_degrees * std::numbers::pi / 180);
  double along = 0;
  if (style.horizontal == HorizontalAlign::centre) along = -width / 2;
  if (style.horizontal == HorizontalAlign::right) along = -width;
  const double down = style.vertical == VerticalAlign::top ? height : height / 2;
  cairo_new_path(cairo);
  for (const Run& run : runs) {
    const double shift = run.level > 0 ? -script_raise : run.level < 0 ? script_lower : 0.0;
    const double step = advance(cairo, run, style.size);
    cairo_move_to(cairo, along, down + shift * style.size);
    cairo_text_path(cairo, run.text.c_str());
    along += step;
  }
  if (style.halo > 0) {
    cairo_set_source_rgba(cairo, 1, 1, 1, 0.85);
    cairo_set_line_width(cairo, 2 * style.halo);
    cairo_set_line_join(cairo, CAIRO_LINE_JOIN_ROUND);
    cairo_stroke_preserve(cairo);
  }
  canvas.set_colour(style.colour);
  cairo_fill(cairo);
  cairo_restore(cairo);
}

std::string big_endian(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xff);
  return bytes;
}

/// Returns the chunk pHYs of a PNG file: pixels per metre, both ways.
std::string resolution_chunk(double dots_per_inch) {
  constexpr double metres_per_inch = 0.0254;
  const std::string number =
      big_endian(static_cast<std::uint32_t>(std::lround(dots_per_inch / metres_per_inch)));
  const std::string chunk = "pHYs" + number + number + '\1';
  const auto sum = crc32(0, reinterpret_cast<const unsigned char*>(chunk.data()),
                         static_cast<unsigned>(chunk.size()));
  return big_endian(static_cast<std::uint32_t>(chunk.size() - 4)) + chunk +
         big_endian(static_cast<std::uint32_t>(sum));
}

/// Appends bytes from Cairo to a std::string.
cairo_status_t append(void* to, const unsigned char* bytes, unsigned length) {
  try {
    static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), length);
  } catch (const std::bad_alloc&) {
    return CAIRO_STATUS_NO_MEMORY;
  }
  return CAIRO_STATUS_SUCCESS;
}

/// Makes a PNG file with its resolution behind the header, which Cairo leaves out.
cairo_status_t make_png(cairo_surface_t* surface, double dots_per_inch, std::string& png) {
  constexpr std::size_t header_end = 33;  // the signature and the chunk IHDR
  const cairo_status_t status = cairo_surface_write_to_png_stream(surface, append, &png);
  if (status == CAIRO_STATUS_SUCCESS) png.insert(header_end, resolution_chunk(dots_per_inch));
  return status;
}

}  // namespace

PictureFormat picture_format(const std::string& name) {
  if (name.ends_with(".pdf")) return PictureFormat::pdf;
  return name.ends_with(".svg") ? PictureFormat::svg : PictureFormat::png;
}

Canvas::Canvas(int width, int height, PictureFile file) : file_(std::move(file)) {
  constexpr int largest = 32767;  // limit of Cairo
  if (width < 1 || height < 1 || width > largest || height > largest) {
    throw UsageError("a picture of " + std::to_string(width) + " x " + std::to_string(height) +
                     " pixels cannot be drawn; each side must be within 1..32767");
  }
  const double scale = file_.format == PictureFormat::png ? 1 : 72 / file_.dots_per_inch;
  switch (file_.format) {
    case PictureFormat::png:
      surface_ = cairo_image_surface_create(CAIRO_FORMAT_RGB24, width, height);
      break;
    case PictureFormat::pdf:
      surface_ =
          cairo_pdf_surface_create_for_stream(append, &bytes_, scale * width, scale * height);
      break;
    case PictureFormat::svg:
      surface_ =
          cairo_svg_surface_create_for_stream(append, &bytes_, scale * width, scale * height);
      break;
  }
  cairo_ = cairo_create(surface_);
  if (cairo_status(cairo_) != CAIRO_STATUS_SUCCESS) {
    const std::string reason = cairo_status_to_string(cairo_status(cairo_));
    cairo_destroy(cairo_);
    cairo_surface_destroy(surface_);
    throw ResourceError("cannot make a picture of " + std::to_string(width) + " x " +
                        std::to_string(height) + " pixels: " + reason);
  }
  cairo_scale(cairo_, scale, scale);
  cairo_set_source_rgb(cairo_, 1, 1, 1);
  cairo_paint(cairo_);
  cairo_select_font_face(cairo_, "DejaVu Sans", CAIRO_FONT_SLANT_NORMAL, CAIRO_FONT_WEIGHT_NORMAL);
  cairo_font_options_t* options = cairo_font_options_create();
  cairo_font_options_set_hint_metrics(options, CAIRO_HINT_METRICS_OFF);
  cairo_font_options_set_hint_style(options, CAIRO_HINT_STYLE_NONE);
  cairo_set_font_options(cairo_, options);
  cairo_font_options_destroy(options);
}

Canvas::~Canvas() {
  cairo_destroy(cairo_);
  cairo_surface_destroy(surface_);
}

void Canvas::set_colour(const Colour& colour, double alpha) const {
  cairo_set_source_rgba(cairo_, colour.red, colour.green, colour.blue, alpha);
}

void Canvas::text(double x, double y, const std::string& text, const TextStyle& style) const {
  draw_runs(*this, x, y, {Run{printable(text), 0}}, style);
}

void Canvas::text_within(double width, double x, double y, const std::string& text, TextStyle style,
                         const std::string& end) const {
  std::vector<Run> runs = parse(printable(end));
  runs.insert(runs.begin(), Run{printable(text), 0});
  const double needed = width_of(cairo_, runs, style.size);
  if (needed > width) style.size *= width / needed;
  draw_runs(*this, x, y, runs, style);
}

void Canvas::markup(double x, double y, const std::string& text, const TextStyle& style) const {
  draw_runs(*this, x, y, parse(printable(text)), style);
}

double Canvas::text_width(const std::string& text, double size) const {
  return advance(cairo_, Run{printable(text), 0}, size);
}

double Canvas::markup_width(const std::string& text, double size) const {
  return width_of(cairo_, parse(printable(text)), size);
}

void Canvas::write() {
  cairo_status_t status = cairo_status(cairo_);
  if (status == CAIRO_STATUS_SUCCESS && file_.format == PictureFormat::png) {
    cairo_surface_flush(surface_);
    status = make_png(surface_, file_.dots_per_inch, bytes_);
  }
  cairo_surface_finish(surface_);
  if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_status(surface_);
  if (status != CAIRO_STATUS_SUCCESS) {
    throw ResourceError(file_.path + ": the picture could not be drawn: " +
                        cairo_status_to_string(status) + "; make it smaller");
  }
  write_whole_file(file_.path, bytes_);
}

std::string pretty_unit(const std::string& unit) {
  return unit.rfind("uK", 0) == 0 ? "\u00b5" + unit.substr(1) : unit;
}

}  // namespace ringweave::detail::inline app
