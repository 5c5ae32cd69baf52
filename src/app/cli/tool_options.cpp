// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "app/cli/command_options.hpp"
#include "app/cli/option_group.hpp"

// Options of the commands that make no transforms of their own.

namespace ringweave::detail::inline app {

void declare_convert(CLI::App& command, ConvertOptions& options) {
  const OptionGroup group(command, own_group);
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
  declare_cl_kind(command, options.cl_kind, "Spectra, whatever their header says");
}

void declare_compare(CLI::App& command, CompareOptions& options) {
  const OptionGroup group(command, own_group);
  group.argument("A", options.a, "Map, a_lm, spectra or fields in the plane.");
  group.argument("B", options.b, "The file to compare with; differences are relative to it.");
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
      ->check(degree_number());
  declare_variable(command, options.variable);
  declare_cl_kind(command, options.cl_kind, "Spectra whose header does not say");
}

void declare_plot(CLI::App& command, PlotOptions& options) {
  const OptionGroup group(command, own_group);
  group.argument("INPUT", options.input,
                 "Map (drawn as a Mollweide view), spectra (as curves) or a field in the plane.");
  group.argument("OUT", options.output, "Picture, .png, .pdf or .svg.");
  group.value(
      "--field", options.field, "FIELD",
      "Of a map T, Q, U or the number of a column from 0; of spectra some names, such as "
      "TT,TE; of fields in the plane the name of a data set. Default: the first column; TT, "
      "EE and BB; the only data set.");
  group.value("--index", options.index, "I[,J...]",
              "Fields in the plane: which of them, by an index from 0 on each axis before y and x. "
              "Default: the first.");
  group.value("--range", options.range, "LOW:HIGH",
              "Values at the ends of the colours. Default: where the map has both signs, -X:X with "
              "the 99.5 percentile of |value| as X; else its smallest and largest value, but up to "
              "half a percent of the sky that would take up two thirds of the colours is cut off. "
              "Values beyond show as arrow heads of the colour bar. log and asinh cut less.");
  group
      .choice("--scale", options.scale, {"linear", "log", "asinh"},
              "How values are spread over the colours of a map. log: values that are not positive "
              "stay blank and are counted. asinh: linear around 0, logarithmic beyond, for both "
              "signs.")
      ->capture_default_str();
  group
      .value("--linear-range", options.linear_range, "X",
             "With --scale asinh: values up to about +-X get linear colours, in the map's unit. "
             "Default: the median of |value|.")
      ->check(positive_number());
  group.value("--zoom", options.zoom, "LON,LAT,SIZE",
              "Draw a square patch around this point, this wide, in gnomonic projection, e.g. "
              "120deg,-30deg,10deg. Default: the whole sky.");
  group.value("--centre,--center", options.centre, "LON,LAT",
              "Point in the middle of the view of the whole sky, north up there, e.g. 180deg,0deg. "
              "Default: 0deg,0deg.");
  group.value("--title", options.title, "TEXT",
              "Text above the picture. Default: the quantity of the column, and its unit.");
  group
      .choice("--colours,--colors", options.colours,
              {"auto", "polar", "sky", "meadow", "grey", "viridis", "planck"},
              "Colours of a map; auto: polar where 0 is well within the range, else meadow.")
      ->capture_default_str();
  group.value("--theory", options.theory, "FILE...",
              "Spectra to draw dashed in the same plot. That of the first is shaded by its cosmic "
              "variance, and a panel shows the difference in units of it. Default: none.");
  group
      .value("--fsky", options.f_sky, "F",
             "Part of the sky that the spectra come from, 0 to 1: cosmic variance grows as 1/F. "
             "Default: FSKY of the input, else 1.")
      ->check(positive_number())
      ->check(number_within(0, 1));
  declare_variable(command, options.variable);
  declare_cl_kind(command, options.cl_kind, "Spectra whose header does not say");
  group
      .value("--width", options.width, "N",
             "Pixels of the picture, 200 to 20000. Below 800 its texts keep their size, and below "
             "660 the degrees of the sky's lines are left out.")
      ->check(number_within(200, 20000))
      ->capture_default_str();
  group
      .value("--dpi", options.dpi, "N",
             "Pixels per inch, 10 to 10000: the size of PDF and SVG, and the size stated in PNG.")
      ->check(number_within(10, 10000))
      ->capture_default_str();
}

void declare_calibrate(CLI::App& command, CalibrateOptions& options) {
  const OptionGroup group(command, own_group);
  group
      .value("--out", options.output, "FILE",
             "Machine file to write, .json. Files are timed in its folder.")
      ->capture_default_str();
  group.value("--nside", options.nside, "N", "Largest HEALPix resolution that is timed.")
      ->check(nside_number())
      ->capture_default_str();
  group
      .value("--repeats", options.repeats, "N",
             "Repetitions; costs are means without the extremes.")
      ->check(number_within(1, 10000))
      ->capture_default_str();
  group
      .choice("--backend", options.backend, {"auto", "host", "cuda"},
              "cuda: time transforms, ring convolutions and points on the GPUs of the ranks too, "
              "auto: if there are any.")
      ->capture_default_str();
  group.value("--combine", options.combine, "FILE...",
              "Measure nothing: combine two or more machine files from separate launches. Costs "
              "are means without the extremes, and differences between launches count as "
              "uncertainty. Default: none.");
}

void declare_model(CLI::App& command, ModelOptions& options) {
  const OptionGroup group(command, own_group);
  group
      .value("--ranks", options.ranks, "P[,P...]",
             "Numbers of ranks; threads of each: --threads, else OMP_NUM_THREADS, else those of "
             "the machine.")
      ->capture_default_str();
  group.value("--json", options.json, "FILE", "Write the table as JSON too. Default: none.");
  group
      .value("--points", options.points, "N",
             "Predict a transform to this many points all over the sphere, with --lmax instead "
             "of a grid.")
      ->check(positive_number());
  group.flag("--lens", options.lens,
             "Predict a lensed map on the grid, with its deflection, which is on the host.");
  group
      .value("--epsilon", options.epsilon, "X",
             "--points, --lens: rms error of the values over the rms of the field, 1e-13 to 0.1. "
             "Default: 1e-7.")
      ->check(number_within(1e-13, 0.1));
  declare_grid(command, options.transform);
  declare_transform(command, options.transform, {"T", "TQU", "QU"},
                    {"that of the grid, 3 nside - 1 on HEALPix.", "lmax.", "double."});
  auto* backend = group.value(
      "--backend", options.transform.backend, "auto|host|cuda",
      "Where to compute; cuda: on a GPU for each rank, auto: on GPUs if the machine has any.");
  backend->check(CLI::IsMember({"auto", "host", "cuda"}).description(""))->capture_default_str();
  declare_stage(command, options.transform, backend);
}

void declare_split(CLI::App& command, SplitOptions& options) {
  const OptionGroup group(command, own_group);
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
  declare_cl_kind(command, options.cl_kind, "--cl and --input-cl, whatever their headers say");
  group.value("--lmax", options.lmax, "L", "Highest degree of the kernel.")->check(degree_number());
  group.value("--nside", options.nside, "N", "HEALPix resolution of the maps.")
      ->check(nside_number());
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
  const OptionGroup group(command, own_group);
  group.argument("KIND", options.kind, fmt::format("One of {}.", fmt::join(kinds, ", ")))
      ->check(CLI::IsMember(kinds).description(""));
  group.value("--nside", options.nside, "N", "HEALPix resolution of the maps.")
      ->check(nside_number())
      ->required();
  group.value("--lmax", options.lmax, "L", "Highest degree. Default: 3 nside - 1.")
      ->check(degree_number());
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
  group.value(
      "--stage", options.stage, "legendre=PLACE,fft=PLACE",
      "For gpu_nodes: run each stage of a transform on the host or on a GPU (cuda). Default: "
      "both on a GPU.");
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
  const OptionGroup group(command, own_group);
  group.argument("FILE", options.files, "Files to describe.");
  group.flag("--provenance", options.provenance,
             "Also print how they were made: the history, step by step, and all keywords that are "
             "carried over.");
  declare_variable(command, options.variable);
  declare_cl_kind(command, options.cl_kind, "Spectra whose header does not say");
}

}  // namespace ringweave::detail::inline app
