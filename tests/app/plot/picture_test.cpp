// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/plot/picture.hpp"

#include <gmock/gmock.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "app/plot/column_title.hpp"
#include "app/plot/curve_plot.hpp"
#include "ringweave/error.hpp"
#include "ringweave/grid.hpp"

namespace ringweave::detail {
namespace {

struct Size {
  unsigned width = 0;
  unsigned height = 0;
};

/// Returns the width and height of a PNG file, from its first chunk.
Size png_size(const std::string& path) {
  std::array<unsigned char, 24> head{};
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(head.data()), head.size());
  EXPECT_TRUE(file) << path;
  EXPECT_EQ(std::string(head.begin() + 1, head.begin() + 4), "PNG");
  const auto number = [&](std::size_t at) {
    return unsigned{head[at]} << 24 | unsigned{head[at + 1]} << 16 | unsigned{head[at + 2]} << 8 |
           unsigned{head[at + 3]};
  };
  return {number(16), number(20)};
}

class Picture : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) /
      (std::string("ringweave_") + testing::UnitTest::GetInstance()->current_test_info()->name());
};

std::vector<double> raster_for(const SkyPicture& picture, double value) {
  const RasterSize size = raster_size(picture);
  return std::vector<double>(static_cast<std::size_t>(size.width * size.height), value);
}

TEST_F(Picture, OfTheSkyIsAPngOfTheAskedWidth) {
  SkyPicture picture;
  picture.width = 640;
  picture.title = "a_title";
  picture.unit = "K_CMB";
  picture.coordsys = "G";
  std::vector<double> raster = raster_for(picture, 1.5);
  for (std::size_t i = 0; i < raster.size() / 3; ++i) raster[i] = unseen;
  draw_sky(picture, raster, {file("sky.png")});
  const Size size = png_size(file("sky.png"));
  EXPECT_EQ(size.width, 640U);
  EXPECT_GT(size.height, 320U);
  EXPECT_LT(size.height, 640U);
}

TEST_F(Picture, SaysHowManyPixelsMakeAnInch) {
  SkyPicture picture;
  picture.width = 200;
  draw_sky(picture, raster_for(picture, 1.5), {file("sky.png"), PictureFormat::png, 300});
  std::ifstream png(file("sky.png"), std::ios::binary);
  std::string head(54, ' ');
  png.read(head.data(), 54);
  // 11811 pixels to the metre, and the chunk's CRC.
  const std::string expected("\0\0\0\x09pHYs\0\0\x2e\x23\0\0\x2e\x23\1\x78\xa5\x3f\x76", 21);
  EXPECT_EQ(head.substr(33), expected);
  draw_sky(picture, raster_for(picture, 1.5), {file("sky.svg"), PictureFormat::svg, 100});
  std::ifstream svg(file("sky.svg"));
  const std::string text{std::istreambuf_iterator<char>(svg), {}};
  EXPECT_NE(text.find("width=\"144pt\""), std::string::npos) << text.substr(0, 200);
}

TEST_F(Picture, OfASmallSizeKeepsRoomForItsTexts) {
  SkyPicture picture;
  picture.title = "Temperature";
  picture.title_unit = "uK";
  picture.unit = "uK";
  double last = 2;
  for (const int width : {200, 300, 500, 1600}) {
    picture.width = width;
    draw_sky(picture, raster_for(picture, 1.5), {file("sky.png")});
    const double share = 1.0 * png_size(file("sky.png")).height / width;
    EXPECT_LT(share, last) << width;
    last = share;
  }
}

TEST_F(Picture, MayBeCentredAnywhere) {
  SkyPicture picture;
  picture.width = 700;
  for (const SkyPoint centre :
       {SkyPoint{1.5707963267948966, 3}, SkyPoint{0.5, 1}, SkyPoint{0, 0}}) {
    picture.view = MollweideView(centre);
    draw_sky(picture, raster_for(picture, 1.5), {file("sky.png")});
  }
}

TEST(ColumnTitle, IsTheUsualNameOfKnownColumns) {
  EXPECT_EQ(column_title("TEMPERATURE"), "Temperature");
  EXPECT_EQ(column_title("I_STOKES"), "I");
  EXPECT_EQ(column_title("Q_POLARISATION"), "Q");
  EXPECT_EQ(column_title("u-polarization"), "U");
  EXPECT_EQ(column_title("T"), "T");
  for (const char* other : {"II_COV", "Q_STOKES_ERROR", "HITS", "", "_", "U_"})
    EXPECT_EQ(column_title(other), other == std::string("U_") ? "U" : other);
}

TEST_F(Picture, MayBePdfAndSvg) {
  SkyPicture picture;
  picture.width = 300;
  for (const auto& [name, begin] : {std::pair{"sky.pdf", "%PDF-"}, std::pair{"sky.svg", "<?xml"}}) {
    draw_sky(picture, raster_for(picture, 1.5), {file(name), picture_format(name)});
    std::ifstream written(file(name));
    std::string first(5, ' ');
    written.read(first.data(), 5);
    EXPECT_EQ(first, begin);
  }
}

TEST_F(Picture, ShowsNegativeValuesOfSignedCurves) {
  const CurvePicture picture{.width = 400, .height = 300, .unit = "uK^2"};
  Curve curve{.name = "TE", .x = {2, 3, 4}, .y = {-1, -2, -3}};
  EXPECT_THROW(draw_curves(picture, {curve}, {file("te.png")}), UsageError);
  curve.is_signed = true;
  draw_curves(picture, {curve}, {file("te.png")});
  EXPECT_EQ(png_size(file("te.png")).width, 400U);
}

TEST_F(Picture, OfASkyWithoutOneSeenPixelIsDrawn) {
  SkyPicture picture;
  picture.width = 200;
  draw_sky(picture, raster_for(picture, unseen), {file("sky.png")});
  EXPECT_EQ(png_size(file("sky.png")).width, 200U);
}

TEST_F(Picture, IsDrawnWhateverBytesAFilePutsIntoItsTexts) {
  SkyPicture picture;
  picture.width = 200;
  const auto raster = raster_for(picture, 1.0);
  for (const char* text : {"\xff\xfe", "K\x01", "\xe2\x84", "\xed\xa0\x80", "^", "K_{", "^{}_"}) {
    picture.title = text;
    picture.unit = text;
    picture.coordsys = text;
    draw_sky(picture, raster, {file("sky.png")});
  }
}

TEST_F(Picture, RefusesWhatCannotBeDrawn) {
  SkyPicture picture;
  const std::vector<double> raster = raster_for(picture, 0.0);
  EXPECT_THROW(draw_sky(picture, {1.0, 2.0}, {file("sky.png")}), UsageError);
  picture.colours.colour_map = "plaid";
  EXPECT_THROW(draw_sky(picture, raster, {file("sky.png")}), UsageError);
  picture.colours.colour_map.clear();
  picture.colours.low = 2;
  picture.colours.high = 1;
  EXPECT_THROW(draw_sky(picture, raster, {file("sky.png")}), UsageError);
  picture.width = 12;
  EXPECT_THROW(raster_size(picture), UsageError);
}

TEST_F(Picture, ThatCannotBeWrittenIsAResourceError) {
  SkyPicture picture;
  picture.width = 200;
  const auto raster = raster_for(picture, 0.0);
  EXPECT_THROW(draw_sky(picture, raster, {file("no_such_folder/sky.png")}), ResourceError);
}

TEST(ColourRange, IsSymmetricForBothSigns) {
  std::vector<double> raster{unseen, std::numeric_limits<double>::quiet_NaN()};
  for (int i = -1000; i <= 800; ++i) raster.push_back(i * 1e-4);
  const ColourRange range = colour_range(raster);
  EXPECT_DOUBLE_EQ(range.high, 0.1);
  EXPECT_DOUBLE_EQ(range.low, -0.1);
}

TEST(ColourRange, RunsFromLeastToGreatestForOneSign) {
  std::vector<double> raster;
  for (int i = 20; i <= 1000; ++i) raster.push_back(i);
  const ColourRange range = colour_range(raster);
  EXPECT_EQ(range.low, 20);
  EXPECT_EQ(range.high, 1000);
}

TEST(ColourRange, IsNotLeftToAFewBrightPixels) {
  std::vector<double> raster(10000, 1.0);
  for (std::size_t i = 0; i < raster.size(); ++i) raster[i] += static_cast<double>(i) * 1e-4;
  raster.back() = 1e6;
  const ColourRange range = colour_range(raster);
  EXPECT_EQ(range.low, 1);
  EXPECT_NEAR(range.high, 2, 0.01);
}

TEST(ColourRange, IsNeverEmpty) {
  EXPECT_LT(colour_range({3.0, 3.0}).low, colour_range({3.0, 3.0}).high);
  EXPECT_LT(colour_range({0.0}).low, colour_range({0.0}).high);
  EXPECT_LT(colour_range({unseen}).low, colour_range({unseen}).high);
}

TEST(SpectrumCurve, IsScaledAndBeginsAtTheQuadrupole) {
  const std::vector<double> cl{9.0, 8.0, 1.0, 0.5};
  const Curve curve = spectrum_curve("TT", cl, CurveStyle::thin);
  EXPECT_THAT(curve.x, testing::ElementsAre(2.0, 3.0));
  EXPECT_DOUBLE_EQ(curve.y[0], 6 / (2 * 3.141592653589793));
}

TEST_F(Picture, OfCurvesIsAPngOfTheAskedSize) {
  std::vector<double> cl(200);
  for (std::size_t l = 0; l < cl.size(); ++l) cl[l] = 1e-10 / static_cast<double>(l * l + 1);
  cl[50] = std::numeric_limits<double>::quiet_NaN();
  cl[60] = -1e-14;
  std::vector<Curve> curves;
  for (const CurveStyle style : {CurveStyle::line, CurveStyle::thin, CurveStyle::dashed}) {
    curves.push_back(spectrum_curve("T_T", cl, style));
  }
  const CurvePicture picture{.width = 640, .height = 400, .title = "spectra"};
  draw_curves(picture, curves, {file("curves.png")});
  const Size size = png_size(file("curves.png"));
  EXPECT_EQ(size.width, 640U);
  EXPECT_EQ(size.height, 400U);
}

TEST_F(Picture, MayHaveBandsAndAPanelOfResiduals) {
  const CurvePicture picture{.width = 400, .height = 320};
  const std::vector<Curve> curves{{.name = "TT", .x = {2, 3, 4}, .y = {1, 2, 3}}};
  draw_curves(picture, curves, {file("alone.png")});
  CurveComparison comparison{.band_name = "band", .residual_title = "residual"};
  comparison.bands.push_back({{2, 3, 4, 5}, {1, 2, 3, 4}, {2, 0.5, 0, 1}, 0});
  comparison.residuals.push_back(
      {.name = "", .x = {2, 3, 4}, .y = {-2, std::numeric_limits<double>::quiet_NaN(), 1e300}});
  draw_curves(picture, curves, {file("both.png")}, comparison);
  EXPECT_EQ(png_size(file("both.png")).height, 320U);
  EXPECT_GT(std::filesystem::file_size(file("both.png")),
            std::filesystem::file_size(file("alone.png")));
  comparison.residuals[0].y.pop_back();
  EXPECT_THROW(draw_curves(picture, curves, {file("r.png")}, comparison), UsageError);
}

TEST_F(Picture, OfEveryScaleIsDrawn) {
  for (const ScaleKind kind : {ScaleKind::linear, ScaleKind::logarithmic, ScaleKind::asinh}) {
    SkyPicture picture;
    picture.width = 200;
    picture.colours.scale = kind;
    std::vector<double> raster = raster_for(picture, 3);
    raster[raster.size() / 2] = -1;
    draw_sky(picture, raster, {file("sky.png")});
    EXPECT_EQ(png_size(file("sky.png")).width, 200U);
  }
}

TEST_F(Picture, OfCurvesRefusesWhatTheAxesCannotShow) {
  const CurvePicture picture;
  EXPECT_THROW(draw_curves(picture, {}, {file("curves.png")}), UsageError);
  EXPECT_THROW(draw_curves(picture, {Curve{.name = "a", .x = {1, 2}, .y = {1}}}, {file("c.png")}),
               UsageError);
  EXPECT_THROW(
      draw_curves(picture, {Curve{.name = "a", .x = {1, 2}, .y = {-1, 0}}}, {file("c.png")}),
      UsageError);
}

}  // namespace
}  // namespace ringweave::detail
