// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/angle.hpp"
#include "app/cli/field_choice.hpp"
#include "app/commands/commands.hpp"
#include "app/content.hpp"
#include "app/cosmic_variance.hpp"
#include "app/plot/column_title.hpp"
#include "app/plot/curve_plot.hpp"
#include "app/plot/gnomonic.hpp"
#include "app/plot/mollweide.hpp"
#include "app/plot/picture.hpp"
#include "app/plot/plane_picture.hpp"
#include "app/table_input.hpp"
#include "app/transform_setup.hpp"
#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/unit_name.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

PictureFile file_of(const PlotOptions& options, const AtomicOutput& output) {
  return {output.temporary_path(), picture_format(output.path()), options.dpi};
}

/// Draws on rank 0. Collective. Error  those of `draw`, which name the output.
template <class Draw>
void draw_on_root(Run& run, const AtomicOutput& output, Draw&& draw) {
  const auto work = [&] {
    if (run.comm.is_root()) draw();
  };
  output.write([&] { agree(run.comm, work); });
}

int column_of(const PlotOptions& options, const MapHeader& header) {
  if (options.field.empty()) return 0;
  int column = 0;
  if (options.field == "T" || options.field == "Q" || options.field == "U") {
    const FieldChoice choice =
        choose_fields(options.input, header, options.field == "T" ? "T" : "QU");
    return choice.columns[options.field == "U" ? 1 : 0];
  }
  const char* end = options.field.data() + options.field.size();
  const auto [rest, error] = std::from_chars(options.field.data(), end, column);
  if (error != std::errc{} || rest != end) {
    throw UsageError(
        fmt::format("--field {}: expected T, Q, U or a column number from 0", options.field));
  }
  if (column < 0 || column >= static_cast<int>(header.columns.size())) {
    throw UsageError(fmt::format("--field {}: {} has columns 0 to {}", column, options.input,
                                 header.columns.size() - 1));
  }
  return column;
}

void set_range(const std::string& text, ColourChoice& colours) {
  if (text.empty()) return;
  const auto colon = text.find(':', 1);
  char* end_low = nullptr;
  char* end_high = nullptr;
  const std::string low = text.substr(0, colon);
  const std::string high = colon == std::string::npos ? "" : text.substr(colon + 1);
  colours.low = std::strtod(low.c_str(), &end_low);
  colours.high = std::strtod(high.c_str(), &end_high);
  const bool are_numbers = !low.empty() && !high.empty() && *end_low == '\0' && *end_high == '\0';
  if (are_numbers && *colours.low >= *colours.high) {
    throw UsageError(fmt::format("--range {}: LOW, {}, must be below HIGH, {}", text, *colours.low,
                                 *colours.high));
  }
  if (!are_numbers) {
    throw UsageError(fmt::format("--range {}: expected LOW:HIGH, e.g. -300:300", text));
  }
  if (colours.scale == ScaleKind::logarithmic && *colours.low <= 0) {
    throw UsageError(fmt::format(
        "--range {}: --scale log begins above 0; give a positive LOW, or --scale asinh", text));
  }
}

/// Returns the colours of --colours, --scale, --linear-range and --range. Error  UsageError.
ColourChoice colours_of(const PlotOptions& options) {
  ColourChoice colours;
  if (options.colours != "auto") colours.colour_map = options.colours;
  colours.scale = scale_kind(options.scale);
  colours.linear_range = options.linear_range;
  if (options.linear_range && colours.scale != ScaleKind::asinh)
    throw UsageError("--linear-range belongs to --scale asinh; give both, or leave it out");
  set_range(options.range, colours);
  return colours;
}

constexpr double right_angle = std::numbers::pi / 2;

/// Returns so many angles, LON,LAT and further ones. Error  UsageError.
std::vector<double> angles_of(const std::string& text, std::int64_t count,
                              const std::string& option, const std::string& expected) {
  std::vector<double> angles;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');)
    angles.push_back(parse_angle(word, option));
  if (ssize64(angles) != count || std::abs(angles[1]) > right_angle) {
    throw UsageError(
        fmt::format("{} {}: expected {}, with LAT within 90deg", option, text, expected));
  }
  return angles;
}

/// Returns the patch of --zoom. Error  UsageError.
std::optional<SkyPatch> patch_of(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const std::vector<double> angles =
      angles_of(text, 3, "--zoom", "LON,LAT,SIZE, e.g. 120deg,-30deg,10deg");
  return SkyPatch({right_angle - angles[1], angles[0]}, angles[2]);
}

/// Returns the view of --centre. Error  UsageError.
MollweideView view_of(const PlotOptions& options) {
  if (options.centre.empty()) return MollweideView();
  if (!options.zoom.empty())
    throw UsageError("--centre is for the whole sky, --zoom for a patch of it; give one of them");
  const std::vector<double> angles =
      angles_of(options.centre, 2, "--centre", "LON,LAT, e.g. 180deg,0deg");
  return MollweideView({right_angle - angles[1], angles[0]});
}

/// Returns titles, scales and sizes of the picture.
SkyPicture picture_of(const PlotOptions& options, const MapHeader& header, int column) {
  SkyPicture picture;
  picture.width = options.width;
  const MapColumn& shown = header.columns[static_cast<std::size_t>(column)];
  picture.title = options.title.empty() ? column_title(shown.name) : options.title;
  picture.unit = shown.unit;
  if (options.title.empty()) picture.title_unit = shown.unit;
  picture.colours = colours_of(options);
  picture.coordsys = header.coordsys;
  picture.patch = patch_of(options.zoom);
  picture.view = view_of(options);
  return picture;
}

/// Makes values without a logarithm UNSEEN and says how many. Collective. Error  DataError where
/// none is left.
/// things  that the values belong to
template <class T>
void blank_not_positive(Run& run, const std::string& path, const char* things, View<T> values) {
  std::int64_t blank = 0, left = 0;
  for (std::int64_t i = 0; i < values.size(); ++i) {
    const double value = static_cast<double>(values[i]);
    if (!has_value(value)) continue;
    value > 0 ? ++left : ++blank;
    if (value <= 0) values[i] = static_cast<T>(unseen);
  }
  blank = run.comm.sum(blank);
  if (run.comm.sum(left) == 0) {
    throw DataError(path,
                    "has no positive value to draw with --scale log; take --scale linear or asinh");
  }
  if (blank > 0)
    run.note(fmt::format("{}: {} {} are not positive; --scale log leaves them blank", path, blank,
                         things));
}

void plot_map(Run& run, const PlotOptions& options, MapReader& reader) {
  if (!options.theory.empty() || options.f_sky) {
    throw UsageError(fmt::format("{} is for spectra, and {} holds a map; leave it out",
                                 options.theory.empty() ? "--fsky" : "--theory", options.input));
  }
  const int column = column_of(options, reader.header());
  const SkyPicture picture = picture_of(options, reader.header(), column);
  run.outputs.require_writable();
  if (run.options.dry_run) return;
  const auto grid = grid_to_visit(reader, false);
  const LocalRings rings = bands_of_pixels(run.comm, grid);
  auto map = agreed(run.comm, [&] { return MapBuffer<float>(1, rings.n_pixels()); });
  run.progress.stage("reading " + options.input);
  reader.read({&column, 1}, rings, map.view());
  if (const std::int64_t broken = count_not_finite(run.comm, map.view()); broken > 0) {
    run.warn(
        fmt::format("{}: {} pixels are NaN or infinite; drawn as UNSEEN", options.input, broken));
  }
  if (picture.colours.scale == ScaleKind::logarithmic)
    blank_not_positive(run, options.input, "pixels", map.view().component(0));
  run.progress.stage("drawing");
  const RasterSize size = raster_size(picture);
  const View<const float> values = map.view().component(0);
  const std::vector<double> raster =
      picture.patch
          ? sample_patch<float>(run.comm, rings, values, *picture.patch, size.width)
          : sample_mollweide<float>(run.comm, rings, values, size.width, size.height, picture.view);
  const AtomicOutput& output = run.outputs.begin(options.output);
  draw_on_root(run, output, [&] { draw_sky(picture, raster, file_of(options, output)); });
}

/// Returns the number of the field of --index; -1 where it is none.
std::int64_t field_at(const std::string& text, const PlaneHeader& header) {
  std::istringstream words(text);
  std::vector<std::string> given;
  for (std::string word; std::getline(words, word, ',');) given.push_back(word);
  if (given.size() != header.axes.size()) return -1;
  std::int64_t field = 0;
  for (std::size_t i = 0; i < given.size(); ++i) {
    std::int64_t index = -1;
    const char* end = given[i].data() + given[i].size();
    const auto [rest, error] = std::from_chars(given[i].data(), end, index);
    if (error != std::errc{} || rest != end || index < 0 || index >= header.axes[i].size) return -1;
    field = field * header.axes[i].size + index;
  }
  return field;
}

/// Returns the number of the field to draw. Error  UsageError.
std::int64_t field_of(const PlotOptions& options, const PlaneHeader& header) {
  if (options.index.empty()) return 0;
  if (const std::int64_t field = field_at(options.index, header); field >= 0) return field;
  std::vector<std::string> expected;
  for (const PlaneFileAxis& axis : header.axes)
    expected.push_back(fmt::format("{} from 0 to {}", axis.name, axis.size - 1));
  throw UsageError(fmt::format(
      "--index {}: expected {}", options.index,
      expected.empty() ? "none, for the data set has a single field"
                       : fmt::format("an index for each of {}", fmt::join(expected, ", "))));
}

PlaneNodesShown nodes_shown(const PlaneFileAxis& axis) {
  PlaneNodesShown nodes{axis.coordinates, axis.name, axis.unit};
  for (std::int64_t i = 0; axis.coordinates.empty() && i < axis.size; ++i)
    nodes.places.push_back(static_cast<double>(i));
  return nodes;
}

/// Names a field by its data set and its coordinates: "average, rho = 0.25 m".
std::string title_of_field(const PlaneHeader& header, std::int64_t field) {
  std::string title;
  for (auto axis = header.axes.rbegin(); axis != header.axes.rend(); ++axis) {
    const std::int64_t index = field % axis->size;
    field /= axis->size;
    title = (axis->coordinates.empty()
                 ? fmt::format(", {} {}", axis->name, index)
                 : fmt::format(", {} = {:.6g}{}{}", axis->name, axis->coordinates[to_size(index)],
                               axis->unit.empty() ? "" : " ", axis->unit)) +
            title;
  }
  return (header.long_name.empty() ? header.name : header.long_name) + title;
}

void plot_plane(Run& run, const PlotOptions& options) {
  const char* of_others = !options.zoom.empty()     ? "--zoom"
                          : !options.centre.empty() ? "--centre"
                          : !options.theory.empty() ? "--theory"
                          : options.f_sky           ? "--fsky"
                                                    : nullptr;
  if (of_others != nullptr) {
    throw UsageError(
        fmt::format("{} is for maps or spectra, and {} holds fields in the plane; "
                    "leave it out",
                    of_others, options.input));
  }
  const PlaneFileReader reader(run.comm, options.input,
                               options.field.empty() ? options.variable : options.field);
  const PlaneHeader& header = reader.header();
  const std::int64_t field = field_of(options, header);
  PlanePicture picture;
  picture.width = options.width;
  picture.title = options.title.empty() ? title_of_field(header, field) : options.title;
  picture.unit = header.unit;
  picture.colours = colours_of(options);
  picture.x = nodes_shown(header.x);
  picture.y = nodes_shown(header.y);
  picture.is_to_scale = header.x.unit == header.y.unit;
  run.outputs.require_writable();
  if (run.options.dry_run) return;
  // Rank 0 draws.
  const PlaneFilePart part =
      run.comm.is_root() ? PlaneFilePart{{field}, 0, header.y.size} : PlaneFilePart{};
  std::vector<double> values;
  agree(run.comm,
        [&] { values.resize(part.fields.size() * to_size(header.y.size * header.x.size)); });
  run.progress.stage("reading " + options.input);
  reader.read(part, MapView<double>(values.data(), ssize64(part.fields),
                                    (part.row_end - part.row_begin) * header.x.size));
  if (picture.colours.scale == ScaleKind::logarithmic)
    blank_not_positive(run, options.input, "nodes", View<double>(values.data(), ssize64(values)));
  run.progress.stage("drawing");
  const AtomicOutput& output = run.outputs.begin(options.output);
  draw_on_root(run, output, [&] { draw_plane(picture, values, file_of(options, output)); });
}

/// The spectra of --field, such as TT,TE. Default: TT, EE and BB, as far as they are there; others
/// are named. Error  UsageError.
std::vector<Spectra::Name> spectra_to_draw(Run& run, const PlotOptions& options,
                                           const Spectra& spectra) {
  std::vector<Spectra::Name> chosen;
  std::string left_out;
  if (options.field.empty()) {
    for (int s = 0; s < Spectra::n_names; ++s) {
      const auto name = static_cast<Spectra::Name>(s);
      if (!spectra.has(name)) continue;
      if (s < Spectra::TE) {
        chosen.push_back(name);
      } else {
        left_out +=
            (left_out.empty() ? "" : ",") + std::string(Spectra::names[to_size(std::int64_t{s})]);
      }
    }
    if (!left_out.empty())
      run.note(fmt::format("not drawn: {0}; --field {0} draws them", left_out));
    return chosen;
  }
  std::istringstream words(options.field);
  for (std::string word; std::getline(words, word, ',');) {
    const auto found = std::find(Spectra::names.begin(), Spectra::names.end(), word);
    const auto name = static_cast<Spectra::Name>(found - Spectra::names.begin());
    if (found == Spectra::names.end() || !spectra.has(name)) {
      throw UsageError(
          fmt::format("--field {}: {} holds no {}; expected some of its spectra, such "
                      "as TT,TE",
                      options.field, options.input, word));
    }
    chosen.push_back(name);
  }
  return chosen;
}

/// The part of the sky that spectra come from: of --fsky, else of their file, else all.
double sky_fraction_of(const PlotOptions& options, const SpectraFile& file) {
  if (options.f_sky) return *options.f_sky;
  for (const Keyword& keyword : file.origin.keywords) {
    const auto* value = std::get_if<double>(&keyword.value);
    if (keyword.name == "FSKY" && value != nullptr && *value > 0 && *value <= 1) return *value;
  }
  return 1;
}

/// The chosen spectra, and those of the theories dashed.
std::vector<Curve> curves_of(const Spectra& spectra, const std::vector<Spectra::Name>& chosen,
                             const std::vector<Spectra>& theories) {
  std::vector<Curve> curves;
  const auto add = [&](Curve curve, Spectra::Name name) {
    curve.is_signed = name >= Spectra::TE;
    curves.push_back(std::move(curve));
  };
  for (const Spectra::Name name : chosen) {
    const std::string label(Spectra::names[to_size(std::int64_t{name})]);
    const int s = name;
    add(spectrum_curve(label, spectra.values(name),
                       theories.empty() ? CurveStyle::line : CurveStyle::thin, s),
        name);
    for (const Spectra& theory : theories) {
      if (!theory.has(name)) continue;
      const auto n = static_cast<std::size_t>(std::min(theory.lmax(), spectra.lmax())) + 1;
      add(spectrum_curve(label + " expected", theory.values(name).first(n), CurveStyle::dashed, s),
          name);
    }
  }
  return curves;
}

/// The cosmic variance of a theory, and the differences of spectra from the theory in units of it.
CurveComparison comparison_with(const Spectra& theory, const Spectra& spectra,
                                const std::vector<Spectra::Name>& chosen, double f_sky) {
  CurveComparison comparison;
  comparison.band_name = "\u00b1 cosmic variance";
  if (f_sky < 1) comparison.band_name += fmt::format(", f_sky {:.3g}", f_sky);
  comparison.residual_title = "(C_{\u2113} \u2212 expected) / \u03c3";
  for (const Spectra::Name name : chosen) {
    const int s = name;
    CurveBand band{.colour = s};
    Curve residual{.name = "", .style = CurveStyle::thin, .colour = s};
    bool is_known = false;
    for (int l = 2; l <= std::min(theory.lmax(), spectra.lmax()); ++l) {
      const double sigma = std::sqrt(cosmic_variance(theory, name, l) / f_sky);
      const double to_d_l = l * (l + 1.0) / (2 * std::numbers::pi);
      const double expected = theory(name, l);
      is_known = is_known || sigma > 0;
      band.x.push_back(l);
      band.middle.push_back(to_d_l * (name < Spectra::TE ? expected : std::abs(expected)));
      band.half_width.push_back(to_d_l * sigma);
      residual.x.push_back(l);
      residual.y.push_back(sigma > 0 ? (spectra(name, l) - expected) / sigma : NAN);
    }
    if (!is_known) continue;
    comparison.bands.push_back(std::move(band));
    comparison.residuals.push_back(std::move(residual));
  }
  return comparison;
}

/// The unit that all of these spectra have; empty where they differ.
std::string unit_of_all(const std::vector<Spectra::Name>& chosen, const std::string& unit) {
  std::string common = chosen.empty() ? unit : unit_of_spectrum(chosen.front(), unit);
  for (const Spectra::Name name : chosen)
    if (unit_of_spectrum(name, unit) != common) return {};
  return common;
}

void plot_spectra(Run& run, const PlotOptions& options, const SpectraFile& input) {
  const char* of_maps = !options.zoom.empty()       ? "--zoom"
                        : !options.centre.empty()   ? "--centre"
                        : options.scale != "linear" ? "--scale"
                        : options.linear_range      ? "--linear-range"
                                                    : nullptr;
  if (of_maps != nullptr) {
    throw UsageError(
        fmt::format("{} is for maps, and {} holds spectra; leave it out", of_maps, options.input));
  }
  if (options.f_sky && options.theory.empty())
    throw UsageError("--fsky is for the error band of --theory; give both, or leave it out");
  const Spectra& spectra = input.spectra;
  tell_of_spectra(run, options.input, input, options.cl_kind);
  const std::vector<Spectra::Name> chosen = spectra_to_draw(run, options, spectra);
  std::vector<Spectra> theories;
  for (const std::string& path : options.theory) {
    run.outputs.keep(path);
    const Content content = open_content(run.comm, path, unstated_kind(options.cl_kind));
    refuse_table(path, content);
    if (!content.spectra) throw DataError(path, "holds no spectra; --theory takes a spectrum file");
    tell_of_spectra(run, path, *content.spectra, options.cl_kind);
    theories.push_back(content.spectra->spectra);
  }
  run.outputs.require_writable();
  if (run.options.dry_run) return;
  const AtomicOutput& output = run.outputs.begin(options.output);
  draw_on_root(run, output, [&] {
    const CurveComparison comparison =
        theories.empty()
            ? CurveComparison{}
            : comparison_with(theories.front(), spectra, chosen, sky_fraction_of(options, input));
    const int share = comparison.residuals.empty() ? 10 : 13;  // of the width, in sixteenths
    const CurvePicture picture{options.width, std::max(200, options.width * share / 16),
                               options.title, unit_of_all(chosen, input.unit)};
    draw_curves(picture, curves_of(spectra, chosen, theories), file_of(options, output),
                comparison);
  });
}

}  // namespace

int plot(Run& run, const PlotOptions& options) {
  run.outputs.announce(options.output, OutputContent::picture);
  run.outputs.keep(options.input);
  const Content content =
      open_content(run.comm, options.input, unstated_kind(options.cl_kind), options.variable);
  if (content.planes.empty()) refuse_table(options.input, content);
  if (content.planes.empty() && !options.index.empty()) {
    throw UsageError(fmt::format(
        "--index is for fields in the plane, and {} holds none; leave it out", options.input));
  }
  if (!content.planes.empty()) {
    plot_plane(run, options);
  } else if (content.map != nullptr) {
    plot_map(run, options, *content.map);
  } else if (content.spectra) {
    plot_spectra(run, options, *content.spectra);
  } else {
    throw DataError(options.input, "holds a_lm; synthesize a map or analyse spectra to plot them");
  }
  if (!run.options.dry_run) run.conclusion = options.output;
  return 0;
}

}  // namespace ringweave::detail::inline app
