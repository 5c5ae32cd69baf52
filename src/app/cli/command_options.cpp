// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string>
#include <vector>

#include "app/cli/help.hpp"
#include "base/device.hpp"
#include "perf_models/machine.hpp"

namespace ringweave::detail::inline app {
namespace {

constexpr const char* transform_group = "Transform";
constexpr const char* analysis_group = "Analysis";
constexpr const char* maps_group = "Several maps";
constexpr const char* own_group = "Options";

/// Used instead of CLI11's own checks, whose messages print the largest double.
CLI::Validator number_with(const char* expected, bool (*accepts)(double)) {
  return CLI::Validator(
      [expected, accepts](const std::string& text) {
        double value = 0;
        const bool fine = CLI::detail::lexical_cast(text, value) && accepts(value);
        return fine ? std::string() : text + ": expected a number " + expected;
      },
      "");
}
CLI::Validator positive_number() {
  return number_with("above 0", [](double value) { return value > 0; });
}
CLI::Validator non_negative_number() {
  return number_with("of 0 or more", [](double value) { return value >= 0; });
}
CLI::Validator number_within(double low, double high) {
  return CLI::Range(low, high).description("");
}

/// Adds the options of one group of a command, each with the type that --help shows.
class Group {
 public:
  Group(CLI::App& app, const char* name) : app_(app), name_(name) {}

  template <class T>
  CLI::Option* value(const std::string& name, T& target, const char* type,
                     const std::string& text) const {
    return app_.add_option(name, target, text)->type_name(type)->group(name_);
  }
  template <class T>
  CLI::Option* argument(const std::string& name, T& target, const std::string& text) const {
    return app_.add_option(name, target, text)->required();
  }
  /// Adds a choice between a few words; a build without CUDA says so.
  CLI::Option* choice(const std::string& name, std::string& target,
                      const std::vector<std::string>& words, std::string text) const {
    if (name == "--backend" && cuda_version().empty()) text += " Not in this build: cuda.";
    return app_.add_option(name, target, text)
        ->check(CLI::IsMember(words).description(""))
        ->type_name(fmt::format("{}", fmt::join(words, "|")))
        ->group(name_);
  }
  void flag(const std::string& name, bool& target, const std::string& text) const {
    app_.add_flag(name, target, text)->group(name_);
  }

 private:
  CLI::App& app_;
  const char* name_;
};

/// `what` names the spectra that it speaks of.
void declare_cl_kind(CLI::App& command, std::string& target, const std::string& what) {
  Group(command, own_group)
      .choice("--cl-kind", target, {"cl", "dl"},
              what +
                  ": the numbers are C_l, or D_l = l(l+1)C_l/2pi. Default: what the header of "
                  "the file says, else cl.");
}

void declare_variable(CLI::App& command, std::string& target) {
  Group(command, own_group)
      .value("--variable", target, "NAME",
             "The variable over latitude and longitude (NetCDF-4) that is the map. Default: all.");
}

void declare_grid(CLI::App& command, TransformOptions& options) {
  const Group group(command, transform_group);
  group
      .value("--nside", options.nside, "N",
             "HEALPix resolution of the map, any N of 1 or more; the same as --grid healpix:N.")
      ->check(positive_number());
  group.value(
      "--grid", options.grid, "GRID",
      "Grid of the map: healpix:NSIDE, gauss:LMAX[,NPHI[,LON]], "
      "clenshaw:NRINGS[,NPHI[,LON]], fejer:NRINGS[,NPHI[,LON]]; LON is the longitude of the "
      "first pixels in degrees. Either this or --nside is required.");
}

void declare_backend(CLI::App& command, TransformOptions& options) {
  Group(command, transform_group)
      .choice("--backend", options.backend, {"auto", "host", "cuda"},
              "Where to compute; cuda: on a GPU of the node for each rank, auto: on a GPU if there "
              "is one.")
      ->capture_default_str();
}

void declare_transform(CLI::App& command, TransformOptions& options,
                       const std::vector<std::string>& fields, const char* default_lmax,
                       const char* default_precision) {
  const Group group(command, transform_group);
  group.value("--lmax", options.lmax, "L", std::string("Highest degree. Default: ") + default_lmax)
      ->check(non_negative_number());
  group.value("--mmax", options.mmax, "M", "Highest order. Default: lmax.")
      ->check(non_negative_number());
  const bool has_all = std::find(fields.begin(), fields.end(), "all") != fields.end();
  group.choice("--fields", options.fields, fields,
               std::string("Fields of the transform") +
                   (has_all ? "; all: every column, as scalar fields" : "") +
                   ". Default: what the input holds.");
  group.choice(
      "--precision", options.precision, {"single", "double"},
      std::string("Storage of maps and a_lm; arithmetic is double. Default: ") + default_precision);
  group
      .choice("--exchange", options.exchange, {"double", "single", "overlap"},
              "How ring modes are exchanged between ranks: double precision in one step, single "
              "precision, or overlapped with the Legendre stage.")
      ->capture_default_str();
}

/// Parts of --help that differ between commands.
struct AnalysisTexts {
  const char* default_iter;
  const char* unseen;
  const char* default_remove;
};

void declare_analysis(CLI::App& command, AnalysisOptions& options,
                      const std::vector<std::string>& unseen_policies, const AnalysisTexts& texts) {
  const Group group(command, analysis_group);
  auto* iter = group
                   .value("--iter", options.n_iter, "N",
                          std::string("Jacobi corrections of the analysis, two transforms each. "
                                      "Default: ") +
                              texts.default_iter)
                   ->check(non_negative_number());
  group
      .value("--tol", options.tolerance, "X",
             "Conjugate gradients until the relative residual is at most X, 1e-15 to 1, or 100 "
             "iterations are done. Default: --iter.")
      ->check(number_within(1e-15, 1.0))
      ->excludes(iter);
  group
      .value("--weights", options.weights, "WEIGHTS",
             "Quadrature weights: none, ring (searches for weight_ring_nNNNNN.fits), ring:FILE, "
             "pixel:FILE. A missing file is an error.")
      ->capture_default_str();
  group.value("--mask", options.mask, "FILE",
              "Multiply the map by this one, 0 (masked) to 1 (seen). Default: none.");
  group.value("--mask-column", options.mask_column, "COLUMN",
              "Column of --mask, by its name or its number from 0. Default: the first.");
  group.value(
      "--apodise,--apodize", options.apodise, "ANGLE",
      "Let the mask fall to 0 smoothly within this angle of its masked pixels (C2). Default: "
      "as it is.");
  group.choice("--unseen", options.unseen, unseen_policies, texts.unseen);
  group.choice("--remove", options.remove, {"none", "monopole", "dipole"},
               std::string("Fit on the seen pixels of T and remove before the analysis; dipole "
                           "removes the monopole too. Default: ") +
                   texts.default_remove);
}

/// Returns the group, for further options of one command.
Group declare_maps(CLI::App& command, MapsOptions& options) {
  const Group group(command, maps_group);
  group
      .value("--batch", options.batch, "N",
             "Most maps per transform; the results do not depend on it. Default: as many as are "
             "faster together and fit in memory.")
      ->check(positive_number());
  group.flag("--resume", options.resume,
             "Skip maps whose outputs exist, and remove incomplete outputs of killed runs. "
             "Default: an output that exists is an error.");
  return group;
}

}  // namespace

void declare_common(CLI::App& app, CommonOptions& options) {
  const Group group(app, common_group);
  group.flag("--dry-run", options.dry_run,
             "Check the inputs' headers and the outputs' names, print the plan (distribution, "
             "memory, seconds) and stop.");
  group.value("--report", options.report, "FILE",
              "Write a JSON report: versions, layout, seconds of each stage over ranks, GFLOP/s, "
              "GB/s, memory, predictions. Default: none.");
  group.value("--machine", options.machine, "MACHINE",
              "Source of predicted seconds: a file of `ringweave calibrate`, or a described "
              "machine: " +
                  fmt::format("{}", fmt::join(described_machine_names(), ", ")) +
                  ". Default: RINGWEAVE_MACHINE, else typical.");
  group
      .value("--threads", options.threads, "N",
             "OpenMP threads of each rank. Default: OMP_NUM_THREADS, else the cores of a node "
             "divided among its ranks.")
      ->check(positive_number());
  group
      .choice("--progress", options.progress, {"auto", "on", "off"},
              "What is done and how long it will take: a line on the terminal, without one plain "
              "lines on stderr; auto: of these one in 30 s.")
      ->capture_default_str();
  group.flag("--overwrite", options.overwrite,
             "Replace outputs that exist. Default: that is an error.");
  group.flag("--verbose", options.verbose, "Print more about the run, including the plan.");
}

void declare_synthesize(CLI::App& command, SynthesizeOptions& options) {
  const Group group(command, own_group);
  group.argument("OUT", options.output, "Map to write, FITS, HDF5 or NetCDF-4.");
  auto* cl =
      group.value("--cl", options.cl, "FILE",
                  "Spectrum to draw a_lm from: text `l TT [EE BB TE [EB TB]]`, FITS or HDF5.");
  declare_cl_kind(command, options.cl_kind, "--cl");
  group.value("--alm", options.alm, "FILE", "a_lm to synthesize instead, FITS or HDF5.")
      ->excludes(cl);
  group.value("--seed", options.seeds, "SEEDS",
              "Seed of the realisation, the same on any number of ranks; several, such as "
              "1..4,7,9, make one map each, with {seed} in the names of the outputs. Default: a "
              "new one, which is printed.");
  group.value("--fwhm", options.fwhm, "ANGLE",
              "Smooth with a Gaussian of this full width at half maximum. Default: none.");
  group.value("--beam", options.beam, "FILE",
              "Smooth with a beam table `l b_T [b_E [b_B]]`, text or FITS. Default: none.");
  group.value("--pixel-window", options.pixel_window, "FILE",
              "Multiply by a HEALPix pixel window. Default: none.");
  group.value("--latitudes", options.latitudes, "LOW:HIGH",
              "Only the rings within two latitudes, e.g. -10deg:10deg; a partial map. Default: all "
              "rings.");
  group.choice("--order", options.order, {"ring", "nested"}, "Order of the pixels in the file.")
      ->capture_default_str();
  group.value("--save-alm", options.save_alm, "FILE",
              "Also write the a_lm, FITS or HDF5. Default: none.");
  group.value(
      "--noise", options.noise, "FILE",
      "Add white noise of the rms that this map has for each pixel: a column for each of T, "
      "Q and U, or one for all. Default: none.");
  group
      .value("--noise-per-hit", options.noise_per_hit, "X",
             "--noise holds hits: the rms is X, in the unit of the map, over the root of the hits.")
      ->check(positive_number());
  group.value("--unit", options.unit, "UNIT",
              "Unit of the map, e.g. K or uK. Default: that of the a_lm.");
  declare_grid(command, options.transform);
  declare_transform(command, options.transform, {"T", "TQU", "QU"},
                    "that of the a_lm; with --cl what the grid holds, 3 nside - 1 on HEALPix.",
                    "that of the a_lm; with --cl double.");
  declare_backend(command, options.transform);
  declare_maps(command, options.maps);
}

void declare_analyze(CLI::App& command, AnalyzeOptions& options) {
  options.analysis.unseen = "restore";
  options.analysis.remove = "none";
  const Group group(command, own_group);
  group
      .argument("MAP", options.inputs,
                "Map to analyse, FITS or HDF5, or two maps or two files of a_lm for their cross "
                "spectra.")
      ->expected(1, 2);
  group.value("--alm", options.alm, "FILE", "Write the a_lm, FITS or HDF5. Default: none.");
  group.value("--cl", options.cl, "FILE",
              "Write the power spectra, text, FITS or HDF5. Default: none.");
  group.flag("--divide-by-fsky", options.divide_by_fsky,
             "Divide the spectra by the mean square of --mask over the sky, which corrects their "
             "level. Default: the spectra of the masked sky.");
  declare_variable(command, options.variable);
  declare_transform(command, options.transform, {"T", "TQU", "QU"},
                    "what the grid holds, 3 nside - 1 on HEALPix.", "that of the map.");
  declare_backend(command, options.transform);
  declare_analysis(command, options.analysis, {"restore", "zero", "fail"},
                   {"3, on exact grids 0.",
                    "UNSEEN pixels: zero for the analysis (restore, zero), or an error (fail). "
                    "Default: restore.",
                    "none."});
}

void declare_smooth(CLI::App& command, SmoothOptions& options) {
  const Group group(command, own_group);
  group.argument("MAP", options.files,
                 "Map to smooth, FITS or HDF5, or several that are alike, and last OUT, the "
                 "smoothed map; {name} in OUT is the name of the map without folder and "
                 "extension.");
  auto* fwhm = group.value("--fwhm", options.fwhm, "ANGLE",
                           "Gaussian of this full width at half maximum, e.g. 30arcmin.");
  auto* beam =
      group.value("--beam", options.beam, "FILE", "Beam table `l b_T [b_E [b_B]]`, text or FITS.")
          ->excludes(fwhm);
  group
      .value("--kernel", options.kernel, "FILE",
             "Radial profile, text: theta (radians, from 0) and K(theta) per steradian.")
      ->excludes(fwhm)
      ->excludes(beam);
  auto* from_fwhm = group.value("--from-fwhm", options.from_fwhm, "ANGLE",
                                "The Gaussian beam that the map has: it is replaced by --fwhm or "
                                "--beam. Default: none.");
  group
      .value("--from-beam", options.from_beam, "FILE",
             "The same as a table like that of --beam. Default: none.")
      ->excludes(from_fwhm);
  group.value("--pixel-window", options.pixel_window, "FILE",
              "Multiply by the HEALPix pixel window of the smoothed map. Default: none.");
  group.value("--from-pixel-window", options.from_pixel_window, "FILE",
              "Divide by the HEALPix pixel window that the map has. Default: none.");
  group
      .value("--nside", options.transform.nside, "N",
             "HEALPix resolution of the smoothed map. Default: that of the map.")
      ->check(positive_number());
  group.value("--grid", options.transform.grid, "GRID",
              "Another grid of the smoothed map, e.g. gauss:767. Default: that of the map.");
  group
      .choice("--compat", options.compat, {"healpy", "cxx", "f90"},
              "All defaults of another program's smoothing: healpy (--iter 3, --unseen restore), "
              "cxx (--iter 0, --unseen zero, --remove monopole --put-back), f90 (--iter 0, "
              "--unseen zero, --lmax 2 nside).")
      ->capture_default_str();
  group
      .choice(
          "--method", options.method, {"auto", "harmonic", "ring", "split"},
          "harmonic: multiply the a_lm. ring: sum over pixels within the kernel's support, "
          "without a_lm (ARKCoS): no ringing, fast for narrow kernels, scalar fields only; Q "
          "and U of a polarised map use the harmonic method. split: few degrees through a_lm, the "
          "rest of the "
          "kernel on the rings, for scalar HEALPix maps and kernels with long tails. auto: "
          "the one predicted to be fastest where all compute the same thing (scalar fields, --iter "
          "0), else harmonic.")
      ->capture_default_str();
  group
      .value("--error", options.error, "X",
             "--method ring, split and auto: allowed relative rms error of the cut of the kernel "
             "and the sums together, or of the degrees that auto leaves out. Default: 1e-5.")
      ->check(positive_number());
  group.value("--support", options.support, "ANGLE",
              "--method ring: cut the kernel at this angle; the error is reported. Default: where "
              "it is half of --error.");
  group.value(
      "--input-cl", options.input_cl, "FILE",
      "--method ring, split and auto: spectrum (TT) of MAP that --error is weighted with. Default: "
      "white noise.");
  declare_cl_kind(command, options.cl_kind, "--input-cl");
  group
      .value(
          "--harmonic-ranks", options.harmonic_ranks, "N",
          "--method split: number of ranks for the harmonic part, while the others do the rings; "
          "0: all ranks do both parts, one after the other. Default: the fastest by prediction.")
      ->check(non_negative_number());
  declare_variable(command, options.variable);
  declare_transform(command, options.transform, {"T", "TQU", "QU", "all"},
                    "what the grid holds, 3 nside - 1 on HEALPix (--compat f90: 2 nside).",
                    "that of the map.");
  declare_backend(command, options.transform);
  declare_analysis(command, options.analysis, {"restore", "zero", "normalize", "fail"},
                   {"3 (--compat changes it), on exact grids and with --method ring 0.",
                    "UNSEEN pixels: zero for the transform and UNSEEN again (restore), or left as "
                    "the smoothing fills them (zero); divide by the smoothed mask (normalize); an "
                    "error (fail). Default: restore (--compat changes it).",
                    "none (--compat changes it)."});
  const Group analysis(command, analysis_group);
  analysis.flag("--put-back", options.analysis.put_back,
                "Add the removed monopole or dipole again at the end.");
  declare_maps(command, options.maps)
      .value("--maps", options.list, "FILE",
             "File with the maps to smooth, one name per line, instead of on the command line.");
}

void declare_alm(CLI::App& command, AlmOptions& options) {
  const Group group(command, own_group);
  group.argument("IN", options.input, "a_lm, FITS or HDF5.");
  group.argument("OUT", options.output, "a_lm to write, FITS or HDF5.");
  group
      .value("--add", options.add, "FILE",
             "a_lm to add, of the same components; the option may be repeated. Default: none.")
      ->allow_extra_args(false);
  group.value("--multiply", options.multiply, "FILE",
              "Table `l f_T [f_E [f_B]]`, as that of a beam, text or FITS. Default: 1.");
  group.value("--rotate", options.rotate, "FROM:TO",
              "Rotate: from one coordinate system to another (G, C, E), or by Euler angles "
              "PSI,THETA,PHI about the z, y and z axes, e.g. 10deg,20deg,30deg. Default: none.");
  group.choice("--take", options.take, {"T", "E", "B"},
               "Write this component alone, as that of a scalar field. Default: all.");
  group.value("--lmax", options.lmax, "L", "Highest degree. Default: that of the input.")
      ->check(non_negative_number());
  group
      .value("--mmax", options.mmax, "M",
             "Highest order. Default: that of the input, or lmax if the input has all.")
      ->check(non_negative_number());
  group.choice("--precision", options.precision, {"single", "double"},
               "Storage of the a_lm. Default: that of the input.");
}

void declare_convert(CLI::App& command, ConvertOptions& options) {
  const Group group(command, own_group);
  group.argument("IN", options.input, "Map, a_lm or spectra.");
  group.argument("OUT", options.output, "Output; its name determines the kind of file.");
  group.choice("--order", options.order, {"ring", "nested"},
               "Order of the pixels in OUT. Default: that of the input.");
  group.choice("--precision", options.precision, {"single", "double"},
               "Storage of maps and a_lm. Default: that of the input.");
  group.choice("--normalisation", options.normalisation, {"orthonormal", "4pi", "schmidt"},
               "Text, IN or OUT, is a table `l m C S` of real coefficients of this normalisation, "
               "without Condon-Shortley phase. Default: it holds spectra.");
  auto* fwhm = group.value(
      "--fwhm", options.fwhm, "ANGLE",
      "Smooth a_lm or spectra with a Gaussian of this full width at half maximum. Default: none.");
  group
      .value("--beam", options.beam, "FILE",
             "Smooth a_lm or spectra with a beam table. Default: none.")
      ->excludes(fwhm);
  declare_variable(command, options.variable);
  declare_cl_kind(command, options.cl_kind, "Spectra");
}

void declare_compare(CLI::App& command, CompareOptions& options) {
  const Group group(command, own_group);
  group.argument("A", options.a, "Map, a_lm or spectra.");
  group.argument("B", options.b, "What to compare with; differences are relative to it.");
  group
      .value("--tolerance", options.tolerance, "X",
             "Largest max |a - b| / sigma(b) of any column that counts as equal; above it the "
             "exit status is 1.")
      ->check(non_negative_number())
      ->capture_default_str();
  group.flag("--cosmic-variance", options.cosmic_variance,
             "Spectra: is A a realisation of the expectation B? Prints chi^2 per degree of "
             "freedom; the exit status is 1 beyond 5 sigma.");
  group
      .value("--lmax", options.lmax, "L",
             "Spectra: compare up to this degree. Default: all, of which both must have the same "
             "number.")
      ->check(non_negative_number());
  declare_variable(command, options.variable);
  declare_cl_kind(command, options.cl_kind, "Spectra whose header does not say");
}

void declare_plot(CLI::App& command, PlotOptions& options) {
  const Group group(command, own_group);
  group.argument("INPUT", options.input, "Map (drawn as a Mollweide view) or spectra (as curves).");
  group.argument("OUT", options.output, "Picture, .png, .pdf or .svg.");
  group.value("--field", options.field, "FIELD",
              "Of a map T, Q, U or the number of a column from 0; of spectra some names, such as "
              "TT,TE. Default: the first column; TT, EE and BB.");
  group.value("--range", options.range, "LOW:HIGH",
              "Values at the ends of the colours. Default: from the map.");
  group.value("--zoom", options.zoom, "LON,LAT,SIZE",
              "Draw a square patch around this point, this wide, in gnomonic projection, e.g. "
              "120deg,-30deg,10deg. Default: the whole sky.");
  group.value("--title", options.title, "TEXT", "Above the picture. Default: the column's name.");
  group
      .choice("--colours,--colors", options.colours, {"auto", "polar", "sky", "meadow", "grey"},
              "Colour scale; auto: polar for values of both signs, else meadow.")
      ->capture_default_str();
  group.value("--theory", options.theory, "FILE...",
              "Spectra to draw dashed in the same plot. Default: none.");
  declare_variable(command, options.variable);
  declare_cl_kind(command, options.cl_kind, "Spectra whose header does not say");
  group.value("--width", options.width, "N", "Pixels of the picture, 200 to 20000.")
      ->check(number_within(200, 20000))
      ->capture_default_str();
}

void declare_calibrate(CLI::App& command, CalibrateOptions& options) {
  const Group group(command, own_group);
  group
      .value("--out", options.output, "FILE",
             "Machine file to write (JSON). Files are timed in its folder.")
      ->capture_default_str();
  group.value("--nside", options.nside, "N", "Largest HEALPix resolution that is timed.")
      ->check(positive_number())
      ->capture_default_str();
  group
      .value("--repeats", options.repeats, "N",
             "Repetitions; costs are means without the extremes.")
      ->check(positive_number())
      ->capture_default_str();
  group
      .choice("--backend", options.backend, {"auto", "host", "cuda"},
              "cuda: time transforms on the GPUs of the ranks too, auto: if there are any.")
      ->capture_default_str();
  group.value("--combine", options.combine, "FILE...",
              "Measure nothing: combine two or more machine files from separate launches. Costs "
              "are means without the extremes, and differences between launches count as "
              "uncertainty. Default: none.");
}

void declare_model(CLI::App& command, ModelOptions& options) {
  const Group group(command, own_group);
  group
      .value("--ranks", options.ranks, "P[,P...]",
             "Numbers of ranks; threads of each: --threads, else OMP_NUM_THREADS, else those of "
             "the machine.")
      ->capture_default_str();
  group.value("--json", options.json, "FILE", "Write the table as JSON too. Default: none.");
  declare_grid(command, options.transform);
  declare_transform(command, options.transform, {"T", "TQU", "QU"},
                    "what the grid holds, 3 nside - 1 on HEALPix.", "double.");
  group
      .value(
          "--backend", options.transform.backend, "auto|host|cuda",
          "Where to compute; cuda: on a GPU for each rank, auto: on GPUs if the machine has any.")
      ->check(CLI::IsMember({"auto", "host", "cuda"}).description(""))
      ->capture_default_str();
}

void declare_split(CLI::App& command, SplitOptions& options) {
  const Group group(command, own_group);
  auto* fwhm = group.value("--fwhm", options.fwhm, "ANGLE",
                           "Kernel: Gaussian of this full width at half maximum, e.g. 10arcmin.");
  group.value("--beam", options.beam, "FILE", "Kernel: table `l b_T`, text or FITS.")
      ->excludes(fwhm);
  group.value(
      "--cl", options.cl, "FILE",
      "Multiply the kernel by sqrt(TT) of this spectrum, as for maps made from white noise. "
      "Default: 1.");
  group.value("--input-cl", options.input_cl, "FILE",
              "Spectrum (TT) of the maps, which weights the error. Default: white noise.");
  declare_cl_kind(command, options.cl_kind, "--cl and --input-cl");
  group.value("--lmax", options.lmax, "L", "Highest degree of the kernel.")
      ->check(non_negative_number());
  group.value("--nside", options.nside, "N", "HEALPix resolution of the maps.")
      ->check(positive_number());
  group.value("--error", options.error, "X", "Relative rms error allowed.")
      ->check(positive_number())
      ->capture_default_str();
  group.value("--alpha", options.alpha, "X", "Factor of the misfit. The paper has 5.")
      ->check(positive_number())
      ->capture_default_str();
  group.value("--supports", options.supports, "LOW:HIGH",
              "Range of supports to search, e.g. 30arcmin:10deg. Default: by lmax.");
  group
      .value("--ranks", options.ranks, "N",
             "Predict for this number of ranks, which may do both parts at the same time. Default: "
             "those of "
             "this run.")
      ->check(positive_number());
  group.value("--json", options.json, "FILE",
              "Write scan, errors and both parts as JSON. Default: none.");
}

void declare_jobs(CLI::App& command, JobsOptions& options, const std::vector<std::string>& kinds) {
  const Group group(command, own_group);
  group.argument("KIND", options.kind, fmt::format("One of {}.", fmt::join(kinds, ", ")))
      ->check(CLI::IsMember(kinds).description(""));
  group.value("--nside", options.nside, "N", "HEALPix resolution of the maps.")
      ->check(positive_number())
      ->required();
  group.value("--lmax", options.lmax, "L", "Highest degree. Default: 3 nside - 1.")
      ->check(non_negative_number());
  group.choice("--fields", options.fields, {"T", "TQU", "QU"}, "Fields of the transform.")
      ->capture_default_str();
  group
      .value("--nodes", options.nodes, "N",
             "Nodes, in a job array per task. Default: 4 for cpu_nodes "
             "and scaling, 2 for gpu_nodes, else 1.")
      ->check(positive_number());
  group
      .value("--tasks-per-node", options.tasks_per_node, "N",
             "Ranks per node, with --threads each; on GPU nodes one per GPU. Default: 2, 4 for "
             "gpu_nodes, 1 for realisations.")
      ->check(positive_number());
  group
      .value("--maps", options.maps, "N",
             "Realisations, with seeds 1 to N. Default: 100, 1000 for time_limited.")
      ->check(positive_number());
  group.value("--time", options.time, "TIME",
              "Time limit in a format of Slurm, e.g. 02:00:00. Default: five minutes and twice the "
              "prediction "
              "or more, at most 12 hours for time_limited.");
  group.value("--account", options.account, "NAME", "Default: none.");
  group.value("--partition", options.partition, "NAME", "Default: none.");
  group
      .value("--node-memory", options.node_memory_gib, "GIB",
             "Memory of a node, for a warning if the job needs more. Default: unknown.")
      ->check(positive_number());
  group.value("--out", options.output, "FILE", "Job to write. Default: stdout.");
}

void declare_info(CLI::App& command, InfoOptions& options) {
  const Group group(command, own_group);
  group.argument("FILE", options.files, "Files to describe.");
  group.flag("--provenance", options.provenance,
             "Also print how they were made: the history, step by step, and all keywords that are "
             "carried over.");
  declare_variable(command, options.variable);
  declare_cl_kind(command, options.cl_kind, "Spectra whose header does not say");
}

}  // namespace ringweave::detail::inline app
