// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/colour_map.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numbers>

#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

struct Lab {
  double lightness = 0;
  double a = 0;
  double b = 0;
};

struct ControlPoint {
  double place = 0;
  double lightness = 0;
  double chroma = 0;
  double hue_degrees = 0;
};

using ControlPoints = std::vector<ControlPoint>;

constexpr std::array<double, 3> white_d65{0.95047, 1.0, 1.08883};

Lab to_lab(double lightness, double chroma, double hue_degrees) {
  const double hue = hue_degrees * std::numbers::pi / 180;
  return {lightness, chroma * std::cos(hue), chroma * std::sin(hue)};
}

double inverse_lab_curve(double t) {
  constexpr double knee = 6.0 / 29;
  return t > knee ? t * t * t : 3 * knee * knee * (t - 4.0 / 29);
}

Colour linear_rgb(const Lab& lab) {
  const double fy = (lab.lightness + 16) / 116;
  const double x = white_d65[0] * inverse_lab_curve(fy + lab.a / 500);
  const double y = white_d65[1] * inverse_lab_curve(fy);
  const double z = white_d65[2] * inverse_lab_curve(fy - lab.b / 200);
  return {3.2404542 * x - 1.5371385 * y - 0.4985314 * z,
          -0.9692660 * x + 1.8760108 * y + 0.0415560 * z,
          0.0556434 * x - 0.2040259 * y + 1.0572252 * z};
}

double encode(double linear) {
  const double value = std::clamp(linear, 0.0, 1.0);
  return value <= 0.0031308 ? 12.92 * value : 1.055 * std::pow(value, 1 / 2.4) - 0.055;
}

bool in_gamut(const Colour& linear) {
  constexpr double slack = 1e-4;
  const auto [least, most] = std::minmax({linear.red, linear.green, linear.blue});
  return least >= -slack && most <= 1 + slack;
}

/// Returns the colour of this lightness and hue, with as much of the chroma as sRGB allows.
/// From   CIE 15:2004 (CIELAB), IEC 61966-2-1 (sRGB)
Colour to_srgb(const Lab& lab) {
  double kept = 1;
  if (!in_gamut(linear_rgb(lab))) {
    double high = 1;
    kept = 0;
    for (int step = 0; step < 20; ++step) {
      const double middle = (kept + high) / 2;
      const Lab tried{lab.lightness, middle * lab.a, middle * lab.b};
      (in_gamut(linear_rgb(tried)) ? kept : high) = middle;
    }
  }
  const Colour linear = linear_rgb({lab.lightness, kept * lab.a, kept * lab.b});
  return {encode(linear.red), encode(linear.green), encode(linear.blue)};
}

/// Returns the slopes of a cubic through (x, y) that never overshoots.
/// From   Fritsch and Butland (1984), SIAM J. Sci. Stat. Comput. 5, 300
std::vector<double> monotone_slopes(const std::vector<double>& x, const std::vector<double>& y) {
  const std::size_t n = x.size();
  std::vector<double> slopes(n);
  slopes.front() = (y[1] - y[0]) / (x[1] - x[0]);
  slopes.back() = (y[n - 1] - y[n - 2]) / (x[n - 1] - x[n - 2]);
  for (std::size_t i = 1; i + 1 < n; ++i) {
    const double left = (y[i] - y[i - 1]) / (x[i] - x[i - 1]);
    const double right = (y[i + 1] - y[i]) / (x[i + 1] - x[i]);
    if (left * right <= 0) continue;
    const double share = (x[i + 1] - x[i] + (x[i + 1] - x[i - 1])) / (3 * (x[i + 1] - x[i - 1]));
    slopes[i] = left * right / (share * right + (1 - share) * left);
  }
  return slopes;
}

class MonotoneCubic {
 public:
  MonotoneCubic(std::vector<double> x, std::vector<double> y)
      : x_(std::move(x)), y_(std::move(y)), slopes_(monotone_slopes(x_, y_)) {}

  double operator()(double place) const {
    const auto after = std::upper_bound(x_.begin() + 1, x_.end() - 1, place);
    const std::size_t i = static_cast<std::size_t>(after - x_.begin()) - 1;
    const double step = x_[i + 1] - x_[i];
    const double t = (place - x_[i]) / step;
    const double u = 1 - t;
    return u * u * (y_[i] * (1 + 2 * t) + slopes_[i] * step * t) +
           t * t * (y_[i + 1] * (1 + 2 * u) - slopes_[i + 1] * step * u);
  }

 private:
  std::vector<double> x_, y_, slopes_;
};

std::vector<Colour> make_table(const ControlPoints& points) {
  std::vector<double> place, lightness, a, b;
  for (const ControlPoint& point : points) {
    const Lab lab = to_lab(point.lightness, point.chroma, point.hue_degrees);
    place.push_back(point.place);
    lightness.push_back(lab.lightness);
    a.push_back(lab.a);
    b.push_back(lab.b);
  }
  const MonotoneCubic lightness_at(place, lightness), a_at(place, a), b_at(place, b);
  std::vector<Colour> table(1024);
  for (std::size_t i = 0; i < table.size(); ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(table.size() - 1);
    table[i] = to_srgb({lightness_at(t), a_at(t), b_at(t)});
  }
  return table;
}

const std::map<std::string, ControlPoints>& all_maps() {
  static const std::map<std::string, ControlPoints> maps{
      {"polar",
       {{0.0, 22, 36, 283},
        {0.16, 40, 43, 276},
        {0.33, 64, 36, 262},
        {0.5, 97, 0, 0},
        {0.67, 64, 46, 40},
        {0.84, 40, 58, 33},
        {1.0, 22, 42, 28}}},
      {"sky",
       {{0.0, 22, 58, 297},
        {0.14, 38, 56, 287},
        {0.30, 64, 38, 257},
        {0.42, 85, 18, 220},
        {0.52, 94, 14, 95},
        {0.64, 82, 44, 80},
        {0.78, 61, 70, 56},
        {0.90, 41, 66, 41},
        {1.0, 26, 48, 33}}},
      {"meadow",
       {{0.0, 14, 36, 307},
        {0.2, 30, 36, 288},
        {0.4, 46, 25, 236},
        {0.6, 62, 33, 172},
        {0.8, 77, 58, 122},
        {1.0, 92, 78, 100}}},
      {"grey", {{0.0, 5, 0, 0}, {1.0, 98, 0, 0}}},
      // Fitted to the published table (van der Walt and Smith 2015, CC0).
      {"viridis",
       {{0.0, 15.0, 52.8, 321.9},
        {0.1, 23.5, 53.3, 310.5},
        {0.2, 31.8, 42.4, 295.8},
        {0.3, 39.4, 29.7, 270.1},
        {0.4, 46.9, 24.9, 229.5},
        {0.5, 54.2, 31.0, 192.7},
        {0.6, 61.7, 44.2, 168.3},
        {0.7, 69.2, 59.6, 150.1},
        {0.8, 76.1, 72.6, 132.4},
        {0.9, 83.8, 83.8, 113.3},
        {0.95, 87.1, 86.3, 104.5},
        {1.0, 91.0, 86.6, 96.8}}},
      {"planck",
       {{0.0, 30, 110, 304},
        {0.16, 50, 70, 288},
        {0.32, 74, 36, 250},
        {0.42, 87, 20, 228},
        {0.5, 95, 10, 85},
        {0.58, 88, 34, 82},
        {0.68, 75, 72, 76},
        {0.84, 54, 90, 46},
        {1.0, 20, 52, 38}}}};
  return maps;
}

}  // namespace

ColourMap ColourMap::from_name(const std::string& name) {
  const auto found = all_maps().find(name);
  if (found == all_maps().end()) {
    std::string known;
    for (const std::string& other : names()) known += (known.empty() ? "" : ", ") + other;
    throw UsageError("no colour map \"" + name + "\"; there are " + known);
  }
  ColourMap result;
  result.table_ = make_table(found->second);
  return result;
}

const std::vector<std::string>& ColourMap::names() {
  static const std::vector<std::string> all{"polar", "sky", "meadow", "grey", "viridis", "planck"};
  return all;
}

Colour ColourMap::operator()(double value) const {
  const double last = static_cast<double>(table_.size() - 1);
  return table_[static_cast<std::size_t>(std::lround(std::clamp(value, 0.0, 1.0) * last))];
}

Colour curve_colour(int i) {
  static const std::array<Colour, 6> colours{
      to_srgb(to_lab(42, 52, 277)), to_srgb(to_lab(57, 74, 45)), to_srgb(to_lab(52, 46, 155)),
      to_srgb(to_lab(36, 56, 330)), to_srgb(to_lab(70, 66, 80)), to_srgb(to_lab(66, 36, 235))};
  return colours[static_cast<std::size_t>(i) % colours.size()];
}

}  // namespace ringweave::detail::inline app
