// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "app/cli/help.hpp"
#include "app/cli/option_group.hpp"
#include "perf_models/machine.hpp"

namespace ringweave::detail::inline app {

void declare_common(CLI::App& app, CommonOptions& options) {
  const OptionGroup group(app, common_group);
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
      ->check(number_within(1, 65536));
  group
      .value("--deadline", options.deadline, "SECONDS",
             "End the job when no rank of a node has made progress for so long, and name the ranks "
             "that the others wait for: stopped, dead, or waiting for a file system. It must be "
             "longer than any stage takes, e.g. 1800; 0: never. Default: RINGWEAVE_DEADLINE, else "
             "0.")
      ->envname("RINGWEAVE_DEADLINE")
      ->check(non_negative_number());
  group
      .choice("--progress", options.progress, {"auto", "on", "off"},
              "Shows the work under way and how long it will take: a line on the terminal, without "
              "one plain "
              "lines on stderr; auto: of these one in 30 s.")
      ->capture_default_str();
  group.flag("--overwrite", options.overwrite,
             "Replace outputs that exist. Default: that is an error.");
  group.flag("--verbose", options.verbose,
             "Print more about the run, including the plan and the seconds of its stages.");
}

void declare_synthesize(CLI::App& command, SynthesizeOptions& options) {
  const OptionGroup group(command, own_group);
  group.argument("OUT", options.output, "Map to write, FITS, HDF5 or NetCDF-4.");
  auto* cl =
      group.value("--cl", options.cl, "FILE",
                  "Spectrum to draw a_lm from: text `l TT [EE BB TE [EB TB]]`, FITS or HDF5.");
  declare_cl_kind(command, options.cl_kind, "--cl, whatever its header says");
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
              "Multiply by the HEALPix pixel window in this file, or of the map's nside in this "
              "folder; auto: in that of HEALPix. Default: none.");
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
  group.value("--noise-column", options.noise_column, "COLUMN",
              "The column of --noise for all of the map, by name or by number from 0, e.g. "
              "--noise-column HITS. Default: those of T, Q and U.");
  group
      .value("--noise-per-hit", options.noise_per_hit, "X",
             "--noise holds hits: the rms is X, in the unit of the map, over the root of the hits.")
      ->check(positive_number());
  group.value("--unit", options.unit, "UNIT",
              "Unit of the map. Temperatures (K, mK, uK, nK, pK) are converted from that of the "
              "a_lm or spectrum; without one any unit may be given. Default: that of the a_lm.");
  declare_grid(command, options.transform);
  declare_transform(command, options.transform, {"T", "TQU", "QU"},
                    {"that of the a_lm; with --cl that of the grid, 3 nside - 1 on HEALPix.",
                     "that of the a_lm, but at most lmax; with --cl lmax.",
                     "that of the a_lm; with --cl double."});
  declare_backend(command, options.transform);
  declare_maps(command, options.maps);
}

void declare_analyze(CLI::App& command, AnalyzeOptions& options) {
  options.analysis.unseen = "restore";
  options.analysis.remove = "none";
  const OptionGroup group(command, own_group);
  group
      .argument("MAP", options.inputs,
                "Map to analyse, FITS or HDF5, or two maps or two files of a_lm for their cross "
                "spectra.")
      ->expected(1, 2);
  group.value("--alm", options.alm, "FILE", "Write the a_lm, FITS or HDF5. Default: none.");
  group.value("--cl", options.cl, "FILE",
              "Write the power spectra, text, FITS or HDF5. Default: none.");
  group.flag(
      "--divide-by-fsky", options.divide_by_fsky,
      "Divide the spectra by the mean of the squares of --mask over the sky, 0 to 1 (printed; "
      "f_sky for a mask of 0 and 1), since masked sky has no power. Default: do not.");
  declare_transform(command, options.transform, {"T", "TQU", "QU"},
                    {"that of the grid, 3 nside - 1 on HEALPix.", "lmax.", "that of the map."});
  declare_backend(command, options.transform);
  declare_analysis(command, options.analysis, {"restore", "zero", "fail"},
                   {"3, on exact grids 0.",
                    "UNSEEN pixels: zero for the analysis (restore, zero), or an error (fail). "
                    "Default: restore.",
                    "none."});
  declare_variable(command, options.variable);
}

void declare_smooth(CLI::App& command, SmoothOptions& options) {
  const OptionGroup group(command, own_group);
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
              "Multiply by the HEALPix pixel window of the smoothed map: a file, the folder that "
              "has it, or auto: the folder of HEALPix. Default: none.");
  group.value("--from-pixel-window", options.from_pixel_window, "FILE",
              "Divide by the HEALPix pixel window that the map has: a file, a folder or auto. "
              "Default: none.");
  group
      .value("--nside", options.transform.nside, "N",
             "HEALPix resolution of the smoothed map. Default: that of the map.")
      ->check(nside_number());
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
          "without a_lm (ARKCoS): no ringing, fast for narrow kernels; Q and U are carried along "
          "great circles. split: few degrees through a_lm, the rest of the kernel on the rings, "
          "for HEALPix maps and kernels with long tails. auto: "
          "the one predicted to be fastest where all compute the same thing (--iter 0 "
          "without --tol, --weights and --stage), else harmonic.")
      ->capture_default_str();
  group
      .value("--error", options.error, "X",
             "--method ring, split and auto: allowed relative rms error of the cut of the kernel "
             "and the sums together, or of the degrees that auto leaves out. Default: 1e-5.")
      ->check(positive_number());
  group.value("--support", options.support, "ANGLE",
              "--method ring: cut the kernel at this angle; the error is reported. Default: where "
              "it is half of --error.");
  group.value("--input-cl", options.input_cl, "FILE",
              "--method ring, split and auto: spectrum (TT; for Q and U EE) of MAP that --error is "
              "weighted "
              "with. Default: white noise.");
  declare_variable(command, options.variable);
  declare_cl_kind(command, options.cl_kind, "--input-cl, whatever its header says");
  group.value("--split", options.split, "FILE",
              "--method split: take the support, --error and alpha of the split in this file of "
              "`ringweave split --json`, instead of searching. Default: the split that is "
              "predicted to be fastest on one core, the same on any ranks and threads.");
  group
      .value(
          "--harmonic-ranks", options.harmonic_ranks, "N",
          "--method split: number of ranks for the harmonic part, while the others do the rings; "
          "0: all ranks do both parts, one after the other. Default: the fastest by prediction.")
      ->check(non_negative_number());
  declare_transform(command, options.transform, {"T", "TQU", "QU", "all"},
                    {"that of the grid, 3 nside - 1 on HEALPix (--compat f90: 2 nside).", "lmax.",
                     "that of the map."});
  declare_backend(command, options.transform);
  command.get_option("--stage")
      ->type_name("PART=PLACE,PART=PLACE")
      ->description(
          "Where parts run, each on the host or on a GPU (cuda): legendre and fft, the stages of a "
          "transform; with --method split: harmonic and rings, the parts of the kernel. A stage "
          "alone on a GPU copies its data there and back. Default: the places of --backend.");
  declare_analysis(command, options.analysis, {"restore", "zero", "normalize", "fail"},
                   {"3 (--compat changes it), on exact grids and with --method ring or split 0.",
                    "UNSEEN pixels: zero for the transform and UNSEEN again (restore), or left as "
                    "the smoothing fills them (zero); divide by the smoothed mask (normalize); an "
                    "error (fail). Default: restore (--compat changes it).",
                    "none (--compat changes it)."});
  const OptionGroup analysis(command, analysis_group);
  analysis.flag("--put-back", options.analysis.put_back,
                "Add the removed monopole or dipole again at the end.");
  declare_maps(command, options.maps)
      .value("--maps", options.list, "FILE",
             "File with the maps to smooth, one name per line, instead of on the command line.");
}

void declare_alm(CLI::App& command, AlmOptions& options) {
  const OptionGroup group(command, own_group);
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
      ->check(degree_number());
  group
      .value("--mmax", options.mmax, "M",
             "Highest order. Default: that of the input, or lmax if the input has all.")
      ->check(degree_number());
  group.choice("--precision", options.precision, {"single", "double"},
               "Storage of the a_lm. Default: that of the input.");
}

void declare_interpolate(CLI::App& command, InterpolateOptions& options) {
  options.analysis.unseen = "restore";
  options.analysis.remove = "none";
  const OptionGroup group(command, own_group);
  group
      .argument("MAP", options.files,
                "Map whose values are wanted, FITS or HDF5, which is analysed first; none with "
                "--alm and --adjoint. Last OUT: values to write, HDF5 or text; with --adjoint "
                "a_lm, FITS or HDF5.")
      ->expected(1, 2);
  auto* alm = group.value("--alm", options.alm, "FILE", "a_lm whose values are wanted.");
  group
      .value("--adjoint", options.adjoint, "VALUES",
             "Values at the points, HDF5 or text, whose adjoint is wanted: the sum over the points "
             "of value times the conjugate Y_lm, without weights.")
      ->excludes(alm);
  group.value("--points", options.points, "FILE",
              "Points: columns theta phi [psi] in radians, text or HDF5. With psi a value is "
              "T + Q cos(2 psi) + U sin(2 psi), of Q and U alone without T.");
  group
      .value("--epsilon", options.epsilon, "X",
             "Rms error of the values over the rms of the field, 1e-13 to 0.1.")
      ->check(number_within(1e-13, 0.1))
      ->capture_default_str();
  group
      .value("--spin", options.spin, "S",
             "Spin of the field that two components of a_lm are; its values are two, as Q and U of "
             "spin 2. Default: 2 for E and B.")
      ->check(degree_number());
  declare_variable(command, options.variable);
  declare_transform(
      command, options.transform, {"T", "TQU", "QU"},
      {"that of the a_lm, or of the map's grid, 3 nside - 1 on HEALPix; with "
       "--adjoint it must be given.",
       "that of the a_lm, but at most lmax; without a_lm lmax.", "that of the input."});
  OptionGroup(command, transform_group)
      .choice("--backend", options.transform.backend, {"auto", "host", "cuda"},
              "Where to compute; cuda: the analysis of a map, and rows and points, on a GPU of the "
              "node for each rank; auto: the analysis of a map on a GPU if there is one, values of "
              "a_lm and adjoints where the costs of a GPU in the machine file say so.")
      ->capture_default_str();
  declare_analysis(command, options.analysis, {"restore", "zero", "fail"},
                   {"3, on exact grids 0.",
                    "UNSEEN pixels: zero for the analysis (restore, zero), or an error (fail). "
                    "Default: restore.",
                    "none."});
}

void declare_lens(CLI::App& command, LensOptions& options) {
  const OptionGroup group(command, own_group);
  group
      .argument("MAP", options.files,
                "Map, or a_lm, for --inverse to move back; none without. Last OUT: map to write, "
                "FITS, HDF5 or NetCDF-4; with --adjoint a_lm, FITS or HDF5.")
      ->expected(1, 2);
  auto* alm = group.value("--alm", options.alm, "FILE", "Unlensed a_lm, FITS or HDF5.");
  auto* cl = group
                 .value("--cl", options.cl, "FILE",
                        "Spectra to draw a_lm and potential from: text `l TT EE BB TE PP TP EP`, "
                        "FITS or HDF5. D_l have another factor sqrt(l(l+1)) for each P, as those "
                        "of CAMB.")
                 ->excludes(alm);
  declare_cl_kind(command, options.cl_kind, "--cl, whatever its header says");
  group.value("--seed", options.seed, "N",
              "Seed of --cl, the same on any number of ranks. Default: a new one, which is "
              "printed.");
  group
      .value("--adjoint", options.adjoint, "MAP",
             "Lensed map whose adjoint is wanted: the sum over pixels, where they are moved to, of "
             "value times the conjugate Y_lm.")
      ->excludes(alm)
      ->excludes(cl);
  group.flag("--inverse", options.inverse,
             "Move MAP, or the a_lm of --alm, back: evaluate them where the inverse deflection "
             "leads.");
  group.value("--potential", options.potential, "FILE",
              "a_lm of the lensing potential, FITS or HDF5. The deflection is its gradient, in "
              "radians.");
  group.choice(
      "--potential-kind", options.potential_kind, {"phi", "kappa", "deflection"},
      "The kind of --potential and --curl: phi_lm, kappa_lm = l(l+1)/2 phi_lm, or deflection "
      "sqrt(l(l+1)) phi_lm. Default: phi.");
  group.value(
      "--curl", options.curl, "FILE",
      "a_lm of the curl potential, which adds curl modes to the deflection. Default: none.");
  group
      .value("--lensed-lmax", options.lensed_lmax, "L",
             "Keep the degrees of the lensed map up to this one. Default: all that the grid shows.")
      ->check(degree_number());
  group.flag("--no-rotation", options.no_rotation,
             "Do not turn Q and U with the frame that is carried to the new place.");
  group
      .choice("--weights", options.weights, {"none", "quadrature"},
              "--adjoint: multiply the pixels by the quadrature weights of the grid.")
      ->capture_default_str();
  group.flag(
      "--magnification", options.magnification,
      "--adjoint: multiply the pixels by the magnification |A|, the ratio of the areas, which "
      "makes the sum over pixels an integral over the unlensed sky.");
  group
      .value(
          "--iter", options.n_iter, "N",
          "Jacobi corrections of the analysis of a map (--inverse, --lensed-lmax). Default: 3, on "
          "exact grids 0.")
      ->check(iteration_number());
  group
      .value("--epsilon", options.epsilon, "X",
             "Rms error of the values over the rms of the field, 1e-13 to 0.1.")
      ->check(number_within(1e-13, 0.1))
      ->capture_default_str();
  group.value("--save-alm", options.save_alm, "FILE",
              "Also write the unlensed a_lm, FITS or HDF5. Default: none.");
  group.value("--save-potential", options.save_potential, "FILE",
              "Also write phi_lm, FITS or HDF5. Default: none.");
  group.value(
      "--deflection", options.deflection, "FILE",
      "Also write a map of theta' and phi', where each pixel is moved to, the angle gamma by "
      "which the frame turns, and the deflection, all in radians. Default: none.");
  group.value("--unit", options.unit, "UNIT",
              "Unit of the map, as for synthesize. Default: that of the a_lm or spectrum.");
  declare_grid(command, options.transform);
  declare_transform(command, options.transform, {"T", "TQU", "QU"},
                    {"that of the a_lm; for a spectrum or a map that of the grid, 3 nside - 1 on "
                     "HEALPix; with --adjoint it must be given.",
                     "that of the a_lm, but at most lmax; without a_lm lmax.",
                     "that of the input; with --cl double."});
  OptionGroup(command, transform_group)
      .choice(
          "--backend", options.transform.backend, {"auto", "host", "cuda"},
          "Where to compute; cuda: the analysis of the MAP of --inverse, and the transform to "
          "the deflected pixels, on a GPU of the node for each rank; auto: that analysis on a "
          "GPU if there is one, the transform, but of that MAP, where the costs of a GPU in the "
          "machine file say so. Deflections and all else are computed on the host.")
      ->capture_default_str();
}

void declare_gyroaverage(CLI::App& command, GyroaverageOptions& options) {
  const OptionGroup group(command, own_group);
  group.argument("FIELD", options.input, "Fields in the plane, HDF5 or NetCDF-4.");
  group.argument("OUT", options.output, "Averages to write, HDF5 or NetCDF-4.");
  auto* rho = group.value("--rho", options.rho, "R[,R...]|A:B:N",
                          "Radii in the units of the coordinates: a list, or N equally spaced ones "
                          "from A to B. Default: the coordinates of the axis rho.");
  auto* rho_file = group
                       .value("--rho-file", options.rho_file, "FILE[:DATASET]",
                              "Radii of a file: text, one a line, or a data set of HDF5.")
                       ->excludes(rho);
  group
      .value("--rho-field", options.rho_field, "NAME",
             "A radius for every node: a data set of FIELD with axes y and x (bilinear, bicubic).")
      ->excludes(rho)
      ->excludes(rho_file);
  group.choice("--method", options.method, {"bilinear", "bicubic", "dct", "chebyshev"},
               "How fields are continued between the nodes. dct is for fields that vanish smoothly "
               "at the edge. Default: chebyshev where the nodes are, else bicubic.");
  group
      .choice("--combine", options.combine, {"each", "pairs", "sum", "double"},
              "Every field over every radius; fields of an axis rho over theirs; the sum of these "
              "over the radii, with --weights; every field over every radius twice.")
      ->capture_default_str();
  group.value("--weights", options.weights, "FILE[:DATASET]",
              "--combine sum: a weight for each radius, as --rho-file.");
  group.flag("--adjoint", options.adjoint, "The exact transpose, from results to fields.");
  group
      .value("--boundary", options.boundary, "zero|periodic|mirror",
             "Fields outside of the nodes, for both axes or as x=...,y=...: zero, repeated (the "
             "end does not repeat the beginning), or reflected about the outermost nodes.")
      ->capture_default_str();
  group
      .value("--targets", options.targets, "same|equispaced[:N]",
             "--method chebyshev: nodes of OUT. equispaced: as many as FIELD has, or N along each "
             "axis; with --adjoint those of FIELD are equispaced, and OUT has Chebyshev nodes.")
      ->capture_default_str();
  group
      .value("--padding", options.padding, "NODES",
             "--method dct: nodes of zeros added at each end of an axis with boundary zero. "
             "Default: the least, half of each radius.")
      ->check(number_within(0, 1e9));
  group.value("--domain", options.domain, "X0:X1,Y0:Y1",
              "Coordinates of the outermost nodes, for files without; of a periodic axis X1 is "
              "where it repeats. Default: those of the file.");
  group.value("--field", options.field, "NAME", "Data set of FIELD. Default: the only one.");
  group.flag(
      "--estimate", options.estimate,
      "Estimate the error of bilinear and bicubic averages from those of every second node.");
  group.choice("--precision", options.precision, {"single", "double"},
               "Storage of fields and averages; arithmetic is double. Default: that of FIELD.");
  group
      .choice("--backend", options.backend, {"auto", "host", "cuda"},
              "Where to compute. auto takes a GPU if every rank has one.")
      ->capture_default_str();
}

}  // namespace ringweave::detail::inline app
