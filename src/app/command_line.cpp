// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/command_line.hpp"

#include <CLI/CLI.hpp>
#include <memory>
#include <sstream>

#include "app/commands/commands.hpp"
#include "app/version.hpp"
#include "base/error.hpp"

namespace ringweave {
namespace {

constexpr const char* overview =
    "Ringweave: fields on the sphere, from a laptop to a cluster. Synthesizes, analyses, smooths, "
    "converts, compares and "
    "draws sky maps; the same command runs alone or under mpirun and srun.";

constexpr const char* common_group = "Common options";
constexpr std::size_t column_width = 34;
constexpr const char* footer =
    R"(Files go by extension: .fits .fit .fits.gz FITS; .h5 .hdf5 HDF5; .txt .dat .tsv text; .png pictures.
Angles need a unit: 5arcmin, 1.5deg, 20arcsec, 0.01rad. Outputs appear whole or not at all.
Exit status: 0 done, 1 compare found a difference, 2 usage, 3 bad data, 4 no memory or disk, 5 another rank failed,
70 a bug of ours (please report it), 75 stopped early.

Examples
  ringweave synthesize --cl examples/lcdm_cl.txt --seed 1 --nside 512 sky.fits
  mpirun -n 8 ringweave smooth sky.h5 smooth.h5 --fwhm 30arcmin --iter 3
  ringweave analyze smooth.fits --lmax 1000 --cl cl.txt
  ringweave plot smooth.fits smooth.png --field Q
"ringweave COMMAND --help" explains a command; docs/ explains the rest.)";

/// CLI11's own checks print the largest double there is when they refuse.
CLI::Validator number_with(const char* expected, const char* name, bool (*accepts)(double)) {
  return CLI::Validator(
      [expected, accepts](const std::string& text) {
        double value = 0;
        const bool fine = CLI::detail::lexical_cast(text, value) && accepts(value);
        return fine ? std::string() : text + ": expected a number " + expected;
      },
      name);
}
CLI::Validator positive_number() {
  return number_with("above 0", "POSITIVE", [](double value) { return value > 0; });
}
CLI::Validator non_negative_number() {
  return number_with("of 0 or more", "NONNEGATIVE", [](double value) { return value >= 0; });
}

/// Lets "lmax = 512" in a file mean the option of the subcommand that runs, without a [section].
class FlatConfig : public CLI::ConfigBase {
 public:
  explicit FlatConfig(const CLI::App* app) : app_(app) {}
  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    std::vector<CLI::ConfigItem> entries = CLI::ConfigBase::from_config(input);
    const auto chosen = app_->get_subcommands();
    if (chosen.empty()) return entries;
    for (CLI::ConfigItem& item : entries) {
      if (item.name == "config")
        throw CLI::ConfigError("config: a configuration file cannot name another");
      const bool common = app_->get_option_no_throw("--" + item.name) != nullptr;
      if (item.parents.empty() && !common) item.parents = {chosen.front()->get_name()};
    }
    return entries;
  }

 private:
  const CLI::App* app_;
};

void add_common(CLI::App& app, CommonOptions& options) {
  const char* group = common_group;
  app.add_flag("--dry-run", options.dry_run,
               "Print the plan (who owns what, memory, seconds) and stop")
      ->group(group);
  app.add_option("--report", options.report,
                 "Write a JSON report: versions, layout, seconds of each stage over ranks, memory")
      ->group(group);
  app.add_option("--threads", options.threads,
                 "OpenMP threads of each rank; default: OMP_NUM_THREADS, else the cores shared out "
                 "over the ranks of a node")
      ->check(positive_number())
      ->group(group);
  app.add_option("--progress", options.progress, "auto: only on a terminal and outside batch jobs")
      ->check(CLI::IsMember({"auto", "on", "off"}))
      ->capture_default_str()
      ->group(group);
  app.add_flag("--overwrite", options.overwrite, "Replace an output that exists")->group(group);
  app.add_flag("--verbose", options.verbose, "Say more about what is done")->group(group);
}

void add_transform(CLI::App& command, TransformOptions& options, bool names_grid) {
  const char* group = "Transform";
  if (names_grid) {
    command.add_option("--nside", options.nside, "HEALPix resolution of the map, any N >= 1")
        ->check(positive_number())
        ->group(group);
    command
        .add_option("--grid", options.grid,
                    "Grid of the map: healpix:NSIDE, gauss:LMAX, clenshaw:NRINGS[,NPHI], "
                    "fejer:NRINGS[,NPHI]")
        ->group(group);
  }
  command
      .add_option("--lmax", options.lmax,
                  "Highest degree; default 3 nside - 1, or what the file or grid holds")
      ->check(non_negative_number())
      ->group(group);
  command.add_option("--mmax", options.mmax, "Highest order; default lmax")
      ->check(non_negative_number())
      ->group(group);
  command.add_option("--fields", options.fields, "T, TQU or QU; default: what the file holds")
      ->check(CLI::IsMember({"T", "TQU", "QU"}))
      ->group(group);
  command.add_option("--backend", options.backend, "Where it is computed")
      ->check(CLI::IsMember({"auto", "host", "cuda"}))
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--precision", options.precision,
                  "Storage of maps and a_lm (arithmetic is double); default: that of the input, "
                  "else double")
      ->check(CLI::IsMember({"single", "double"}))
      ->group(group);
  command.add_option("--exchange", options.exchange, "How ring modes travel between ranks")
      ->check(CLI::IsMember({"double", "single", "overlap"}))
      ->capture_default_str()
      ->group(group);
}

void add_analysis(CLI::App& command, AnalysisOptions& options, const std::string& defaults) {
  const char* group = "Analysis";
  auto* iter = command
                   .add_option("--iter", options.n_iter,
                               "Jacobi corrections of the analysis; default " + defaults)
                   ->check(non_negative_number())
                   ->group(group);
  command
      .add_option(
          "--tol", options.tolerance,
          "Conjugate gradients to this relative residual instead of a number of corrections")
      ->check(CLI::Range(1e-15, 1.0))
      ->excludes(iter)
      ->group(group);
  command
      .add_option(
          "--weights", options.weights,
          "Quadrature weights: none, ring (searched in ., $HEALPIX/data), ring:FILE, pixel:FILE")
      ->capture_default_str()
      ->group(group);
  command
      .add_option("--unseen", options.unseen,
                  "UNSEEN pixels: restore (zero, put back after), zero, normalize (divide by the "
                  "smoothed mask), fail")
      ->check(CLI::IsMember({"restore", "zero", "normalize", "fail"}))
      ->group(group);
  command
      .add_option("--remove", options.remove,
                  "Fit on the seen pixels of T and remove: none, monopole, dipole")
      ->check(CLI::IsMember({"none", "monopole", "dipole"}))
      ->group(group);
}

/// Declares one subcommand; `Options` lives as long as the returned function.
template <class Options, class Declare, class Command>
void add_command(CLI::App& app, ParsedCommand& parsed, const std::string& name,
                 const std::string& what, const Declare& declare, Command command) {
  auto options = std::make_shared<Options>();
  CLI::App* sub = app.add_subcommand(name, what);
  sub->fallthrough();
  declare(*sub, *options);
  sub->final_callback([&parsed, options, command] {
    parsed.execute = [options, command](Run& run) { return command(run, *options); };
  });
}

void declare_synthesize(CLI::App& sub, SynthesizeOptions& options) {
  sub.add_option("OUT", options.output, "Map to write, FITS or HDF5")->required();
  auto* cl = sub.add_option("--cl", options.cl,
                            "Spectrum to draw a_lm from: text `l TT [EE BB TE]`, FITS or HDF5");
  sub.add_option("--alm", options.alm, "a_lm to synthesize instead")->excludes(cl);
  sub.add_option(
      "--seed", options.seed,
      "Seed of the realisation, the same on any number of ranks; default: a fresh one, printed");
  sub.add_option("--fwhm", options.fwhm,
                 "Smooth with a Gaussian of this full width at half maximum");
  sub.add_option("--beam", options.beam, "Smooth with a beam table `l b_T [b_E [b_B]]`");
  sub.add_option("--pixel-window", options.pixel_window, "Multiply by a HEALPix pixel window file");
  sub.add_option("--latitudes", options.latitudes,
                 "Only rings within LOW:HIGH, e.g. -10deg:10deg; a partial map");
  sub.add_option("--order", options.order, "Pixel order of the file")
      ->check(CLI::IsMember({"ring", "nested"}))
      ->capture_default_str();
  sub.add_option("--save-alm", options.save_alm, "Also write the a_lm");
  sub.add_option("--unit", options.unit,
                 "Unit of the map, e.g. K or uK; default: that of the a_lm");
  add_transform(sub, options.transform, true);
}

void declare_analyze(CLI::App& sub, AnalyzeOptions& options) {
  options.analysis.unseen = "restore";
  options.analysis.remove = "none";
  sub.add_option("MAP", options.input, "Map to analyse, FITS or HDF5")->required();
  sub.add_option("--alm", options.alm, "Write the a_lm, FITS or HDF5");
  sub.add_option("--cl", options.cl, "Write the power spectra, text, FITS or HDF5");
  add_transform(sub, options.transform, false);
  add_analysis(sub, options.analysis, "3");
}

void declare_smooth(CLI::App& sub, SmoothOptions& options) {
  sub.add_option("MAP", options.input, "Map to smooth, FITS or HDF5")->required();
  sub.add_option("OUT", options.output, "Smoothed map")->required();
  auto* fwhm = sub.add_option("--fwhm", options.fwhm,
                              "Gaussian of this full width at half maximum, e.g. 30arcmin");
  auto* beam =
      sub.add_option("--beam", options.beam, "Beam table `l b_T [b_E [b_B]]`, text or FITS")
          ->excludes(fwhm);
  sub.add_option("--kernel", options.kernel,
                 "Radial profile, text: theta (radians, from 0) and K(theta) per steradian")
      ->excludes(fwhm)
      ->excludes(beam);
  sub.add_option("--compat", options.compat,
                 "All defaults of another program's smoothing: healpy (iter 3, restore), cxx (iter "
                 "0, zero, monopole "
                 "removed and put back), f90 (iter 0, zero, lmax 2 nside)")
      ->check(CLI::IsMember({"healpy", "cxx", "f90"}))
      ->capture_default_str();
  sub.add_option("--method", options.method, "How to convolve")
      ->check(CLI::IsMember({"auto", "harmonic", "ring", "split"}))
      ->capture_default_str();
  sub.add_option("--error", options.error, "Relative rms error allowed when a method is chosen")
      ->check(positive_number())
      ->capture_default_str();
  add_transform(sub, options.transform, false);
  add_analysis(sub, options.analysis, "3 (--compat changes it)");
  sub.add_flag("--put-back", options.analysis.put_back,
               "Add what --remove took away again at the end")
      ->group("Analysis");
}

void declare_convert(CLI::App& sub, ConvertOptions& options) {
  sub.add_option("IN", options.input, "Map, a_lm or spectra")->required();
  sub.add_option("OUT", options.output, "The same in another format")->required();
  sub.add_option("--order", options.order, "Pixel order of the output; default: that of the input")
      ->check(CLI::IsMember({"ring", "nested"}));
  sub.add_option("--precision", options.precision,
                 "Storage of the output; default: that of the input")
      ->check(CLI::IsMember({"single", "double"}));
  auto* fwhm =
      sub.add_option("--fwhm", options.fwhm, "Smooth a_lm or spectra with a Gaussian on the way");
  sub.add_option("--beam", options.beam, "Smooth a_lm or spectra with a beam table on the way")
      ->excludes(fwhm);
}

void declare_compare(CLI::App& sub, CompareOptions& options) {
  sub.add_option("A", options.a, "Map, a_lm or spectra")->required();
  sub.add_option("B", options.b, "What to compare with; differences are relative to it")
      ->required();
  sub.add_option("--tolerance", options.tolerance,
                 "Largest max |a - b| / sigma(b) of any column that counts as equal; above it the "
                 "exit status is 1")
      ->check(non_negative_number())
      ->capture_default_str();
  sub.add_flag("--cosmic-variance", options.cosmic_variance,
               "Spectra: is A a realisation of the expectation B? chi^2 per degree of freedom; 1 "
               "beyond 5 sigma");
  sub.add_option("--lmax", options.lmax, "Spectra: compare up to this degree")
      ->check(non_negative_number());
}

void declare_plot(CLI::App& sub, PlotOptions& options) {
  sub.add_option("INPUT", options.input, "Map (drawn as a Mollweide view) or spectra (as curves)")
      ->required();
  sub.add_option("OUT", options.output, "Picture, .png")->required();
  sub.add_option("--field", options.field, "T, Q, U or a column number from 0")
      ->capture_default_str();
  sub.add_option("--range", options.range, "LOW:HIGH of the colours; default: from the values");
  sub.add_option("--title", options.title, "Above the picture; default: the column's name");
  sub.add_option("--colours", options.colours, "Colour scale")
      ->check(CLI::IsMember({"auto", "polar", "sky", "meadow", "grey"}))
      ->capture_default_str();
  sub.add_option("--theory", options.theory, "Spectra to draw dashed beside those of INPUT");
  sub.add_option("--width", options.width, "Pixels")
      ->check(CLI::Range(200, 20000))
      ->capture_default_str();
}

void declare_info(CLI::App& sub, InfoOptions& options) {
  sub.add_option("FILE", options.files, "Files to describe")->required();
}

/// What was given or stands by default for the chosen command, as --config reads it.
std::string used_options(const CLI::App& app) {
  const std::string own = app.get_subcommands().front()->get_name() + '.';
  std::istringstream all(app.config_to_str(true, false));
  std::string used;
  for (std::string line; std::getline(all, line);) {
    if (line.ends_with("=\"\"")) continue;
    if (line.starts_with(own)) {
      used += line.substr(own.size()) + '\n';
    } else if (line.find('.') > line.find('=')) {
      used += line + '\n';
    }
  }
  return used;
}

/// With the options every command takes, which CLI11 shows at the program's own help only.
std::string command_help(const CLI::App& app, CLI::App& command) {
  CLI::Formatter formatter;
  formatter.column_width(column_width);
  const auto is_common = [](const CLI::Option* option) {
    return option->get_group() == common_group;
  };
  command.footer("");
  return command.help(app.get_name()) +
         formatter.make_group(common_group, false, app.get_options(is_common)) + '\n' +
         app.get_footer();
}

std::string typed(int argc, const char* const* argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) line += (i > 0 ? " " : "") + std::string(argv[i]);
  return line;
}

}  // namespace

ParsedCommand parse_command_line(int argc, const char* const* argv) {
  ParsedCommand parsed;
  CLI::App app(overview, "ringweave");
  app.footer(footer);
  app.require_subcommand(1);
  app.set_version_flag("--version", version_text);
  app.config_formatter(std::make_shared<FlatConfig>(&app));
  app.set_config("--config", "", "Options from a TOML file; unknown keys are errors")
      ->group(common_group);
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.get_formatter()->column_width(column_width);
  add_common(app, parsed.common);
  add_command<SynthesizeOptions>(app, parsed, "synthesize", "Spectrum or a_lm -> map",
                                 declare_synthesize, synthesize);
  add_command<AnalyzeOptions>(app, parsed, "analyze", "Map -> a_lm, power spectra", declare_analyze,
                              analyze);
  add_command<SmoothOptions>(app, parsed, "smooth", "Convolve a map with a radial kernel",
                             declare_smooth, smooth);
  add_command<ConvertOptions>(app, parsed, "convert",
                              "FITS <-> HDF5, RING <-> NESTED, text <-> FITS for spectra",
                              declare_convert, convert);
  add_command<CompareOptions>(app, parsed, "compare", "Differences of two maps, a_lm or spectra",
                              declare_compare, compare);
  add_command<PlotOptions>(app, parsed, "plot", "Draw a map or spectra", declare_plot, plot);
  add_command<InfoOptions>(app, parsed, "info", "What files hold, and what is odd about them",
                           declare_info, info);

  parsed.command_line = typed(argc, argv);
  try {
    app.parse(argc, argv);
    parsed.used_configuration = used_options(app);
  } catch (const CLI::CallForHelp&) {
    const auto chosen = app.get_subcommands();
    parsed.text = chosen.empty() ? app.help() : command_help(app, *chosen.front());
  } catch (const CLI::CallForAllHelp&) {
    parsed.text = app.help("", CLI::AppFormatMode::All);
  } catch (const CLI::CallForVersion&) {
    parsed.text = version_text();
  } catch (const CLI::Error& error) {
    if (app.get_subcommands().empty() && !app.remaining().empty()) {
      throw UsageError(app.remaining().front() +
                       ": no command of this name; `ringweave --help` lists them");
    }
    throw UsageError(std::string(error.what()) +
                     "\nRun `ringweave --help` or `ringweave COMMAND --help`.");
  }
  return parsed;
}

}  // namespace ringweave
