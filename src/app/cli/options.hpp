// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ringweave::detail::inline app {

/// Options common to all subcommands.
struct CommonOptions {
  std::string report;
  std::string machine;  ///< a file or a described machine; empty: RINGWEAVE_MACHINE or typical
  std::string progress = "auto";
  int threads = 0;      ///< 0: the choice of OpenMP
  double deadline = 0;  ///< seconds without progress that end the job; 0: none do
  bool overwrite = false;
  bool verbose = false;
  bool dry_run = false;
};

/// Options of the subcommands that transform.
struct TransformOptions {
  std::string grid;
  std::int64_t nside = 0;
  int lmax = -1;
  int mmax = -1;
  std::string fields;
  std::string backend = "auto";
  std::string stage;  ///< --stage; empty: --backend decides
  std::string precision;
  std::string exchange = "double";

  /// The --backend that --stage stands for, or the one given.
  std::string asked_backend() const { return stage.empty() ? backend : "cuda"; }
};

/// Options of the subcommands that analyse a map.
struct AnalysisOptions {
  std::optional<int> n_iter;
  double tolerance = 0;
  std::string weights = "none";
  std::string mask, mask_column, apodise;
  std::string unseen;
  std::string remove;
  bool put_back = false;
};

/// Options of the subcommands that process several maps in one launch.
struct MapsOptions {
  int batch = 0;  ///< the most maps in one transform; 0: chosen
  bool resume = false;
};

struct SynthesizeOptions {
  TransformOptions transform;
  MapsOptions maps;
  std::string cl, alm, output;
  std::string seeds, cl_kind;
  std::string fwhm, beam, pixel_window, latitudes, save_alm;
  std::string order = "ring", unit, noise, noise_column;
  std::optional<double> noise_per_hit;
};

struct AnalyzeOptions {
  TransformOptions transform;
  AnalysisOptions analysis;
  std::vector<std::string> inputs;  ///< one or two, both maps or both a_lm
  std::string alm, cl, variable;
  bool divide_by_fsky = false;
};

struct SmoothOptions {
  TransformOptions transform;
  AnalysisOptions analysis;
  MapsOptions maps;
  std::vector<std::string> files;  ///< the inputs, then the output
  std::string list, fwhm, beam, kernel, compat = "healpy", method = "auto";
  std::string from_fwhm, from_beam, pixel_window, from_pixel_window;
  std::string support, input_cl, cl_kind, variable;
  std::string split;  ///< a file of `ringweave split --json`; empty: search
  std::optional<double> error;
  std::optional<int> harmonic_ranks;
};

struct AlmOptions {
  std::string input, output;
  std::vector<std::string> add;
  std::string multiply, take, rotate, precision;
  int lmax = -1, mmax = -1;
};

struct InterpolateOptions {
  TransformOptions transform;
  AnalysisOptions analysis;
  std::vector<std::string> files;  ///< a map, where there is one, then the output
  std::string alm, adjoint, points, variable;
  int spin = -1;  ///< -1: that of --fields
  double epsilon = 1e-7;

  const std::string& map() const { return files.front(); }
  const std::string& output() const { return files.back(); }
};

struct LensOptions {
  TransformOptions transform;
  std::vector<std::string> files;  ///< the input of --inverse, where it is given, then the output
  std::string alm, cl, adjoint;
  std::string potential, potential_kind, curl, seed, cl_kind, unit;
  std::string save_alm, save_potential, deflection;
  std::string weights = "none";
  std::optional<int> n_iter;
  int lensed_lmax = -1;
  double epsilon = 1e-7;
  bool inverse = false, no_rotation = false, magnification = false;

  /// The map or a_lm that --inverse moves back; empty: those of --alm.
  std::string moved() const { return files.size() > 1 ? files.front() : std::string(); }
  const std::string& output() const { return files.back(); }
};

struct GyroaverageOptions {
  std::string input, output, field;
  std::string rho, rho_file, rho_field;  ///< one of them, or the axis rho of the input
  std::string method;                    ///< empty: one that suits the nodes
  std::string combine = "each", weights;
  std::string boundary = "zero", targets = "same", domain;
  std::string backend = "auto", precision;
  std::int64_t padding = -1;  ///< -1: the least
  bool adjoint = false, estimate = false;
};

struct ConvertOptions {
  std::string input, output, order, precision, fwhm, beam, cl_kind, variable;
  std::string normalisation;
};

struct CompareOptions {
  std::string a, b, cl_kind, variable;
  double tolerance = 0;
  bool cosmic_variance = false;
  int lmax = -1;
};

struct PlotOptions {
  std::string input, output, field, index, range, zoom, centre, title, colours = "auto";
  std::string cl_kind, variable;
  std::string scale = "linear";
  std::optional<double> linear_range, f_sky;
  std::vector<std::string> theory;
  int width = 1600;
  double dpi = 160;
};

struct CalibrateOptions {
  std::vector<std::string> combine;  ///< machine files; empty: measure
  std::string output = "machine.json";
  std::string backend = "auto";
  std::int64_t nside = 2048;
  int repeats = 5;
};

struct ModelOptions {
  TransformOptions transform;
  std::int64_t points = 0;  ///< 0: onto the grid
  bool lens = false;        ///< onto its deflected pixels
  std::optional<double> epsilon;
  std::string ranks = "1,2,4,8,16,32,64,128,256,512,1024,2048,4096,8192,16384,32768,65536";
  std::string json;
};

struct SplitOptions {
  std::string fwhm, beam, cl, input_cl, cl_kind, supports, json;
  int lmax = -1;
  std::int64_t nside = 0;
  double error = 1e-5, alpha = 2;
  int ranks = 0;  ///< 0: those of the run
};

struct JobsOptions {
  std::string kind, fields = "T", stage, time, account, partition, output;
  std::int64_t nside = 0;
  int lmax = -1;
  // 0: the values of the shipped job.
  int nodes = 0, tasks_per_node = 0, maps = 0;
  double node_memory_gib = 0;  ///< 0: unknown
};

struct InfoOptions {
  std::vector<std::string> files;
  std::string cl_kind, variable;
  bool provenance = false;
};

}  // namespace ringweave::detail::inline app
