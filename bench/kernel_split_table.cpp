// SPDX-License-Identifier: GPL-3.0-or-later
// Prints splits of K_l = sqrt(C_l) B_l of Gaussian beams applied to white maps, as in Table 1 of
// the paper on kernel splitting, then seconds and memory of the search.
//   kernel_split_table SPECTRA [LMAX NSIDE ERROR [MOST_SUPPORT_ARCMIN [FWHM_ARCMIN...]]]
#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <numbers>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "io/spectra_table.hpp"
#include "ringweave/convolution.hpp"
#include "ringweave/spectra.hpp"

namespace ringweave::detail {
namespace {

constexpr double arcmin = std::numbers::pi / (180 * 60);

struct Asked {
  int lmax = 4096;
  std::int64_t nside = 2048;
  double error = 1e-5;
  double most_support = 600;  // arcmin
  std::vector<double> fwhm_arcmin{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
};

Asked parse(const std::vector<std::string>& words) {
  Asked asked;
  if (words.size() > 1) asked.lmax = std::stoi(words[1]);
  if (words.size() > 2) asked.nside = std::stoll(words[2]);
  if (words.size() > 3) asked.error = std::stod(words[3]);
  if (words.size() > 4) asked.most_support = std::stod(words[4]);
  if (words.size() > 5) asked.fwhm_arcmin.clear();
  for (std::size_t i = 5; i < words.size(); ++i) asked.fwhm_arcmin.push_back(std::stod(words[i]));
  return asked;
}

void print(const KernelSplit& split) {
  fmt::print("  arcmin, l_cut, error, seconds of harmonics + rings\n");
  for (const SplitCandidate& candidate : split.scan()) {
    fmt::print("  {:6.1f} {:5} {:.2e} {:.3g} + {:.3g} s\n", candidate.theta_cut / arcmin,
               candidate.is_found ? std::to_string(candidate.l_cut) : "-", candidate.error,
               candidate.harmonic.seconds, candidate.rings.seconds);
  }
  if (split.has_parts()) {
    const SplitError& error = split.error();
    fmt::print("  error {:.3g}: fit {:.3g}, aliased {:.3g}, rounding {:.3g}\n", error.total,
               error.fit, error.aliased, error.rounding);
  }
  fmt::print("  {}\n", split.reason());
}

/// Cost of these in the paper's model (Eqs. 7 and 8), with a GPU for the rings and one core.
const SplitCandidate* papers_choice(const KernelSplit& split, int lmax) {
  const auto seconds = [&](const SplitCandidate& candidate) {
    const double part = static_cast<double>(candidate.l_cut) / 4096;
    const double harmonic = 160 * part * part * lmax / 4096;
    return std::max(harmonic, 0.0232 * candidate.theta_cut / arcmin + 2.428);
  };
  const SplitCandidate* best = nullptr;
  for (const SplitCandidate& candidate : split.scan()) {
    if (!candidate.is_found) continue;
    if (best == nullptr || seconds(candidate) < seconds(*best)) best = &candidate;
  }
  return best;
}

void print_row(double fwhm, const KernelSplit& split, int lmax, double seconds) {
  std::string at_240 = "-";
  for (const SplitCandidate& candidate : split.scan()) {
    if (candidate.is_found && std::abs(candidate.theta_cut / arcmin - 240) < 1e-6)
      at_240 = std::to_string(candidate.l_cut);
  }
  const SplitCandidate* choice = papers_choice(split, lmax);
  fmt::print("| {} | {} | {} | {} | {:.2g} | {:.2f} |\n", fwhm, at_240,
             choice != nullptr
                 ? fmt::format("{}, {:.0f}", choice->l_cut, choice->theta_cut / arcmin)
                 : "-",
             split.has_parts()
                 ? fmt::format("{}, {:.0f}", split.best().l_cut, split.best().theta_cut / arcmin)
                 : "-",
             split.has_parts() ? split.best().total.seconds / split.harmonic_only().seconds : 1.0,
             seconds);
}

void measure(const std::string& path, const Asked& asked) {
  const Spectra cl = read_text_spectra(path).spectra;
  const bool is_table = asked.fwhm_arcmin.size() > 1;
  if (is_table) {
    fmt::print(
        "| FWHM | l_cut at 240 arcmin | l_cut, arcmin at the paper's costs | at ours | part of the "
        "time of all degrees | search, s |\n| --- | --- | --- | --- | --- | --- |\n");
  }
  for (const double fwhm : asked.fwhm_arcmin) {
    KernelSplitSpec spec;
    const Beam beam = gaussian_beam(fwhm * arcmin, asked.lmax);
    for (int l = 0; l <= asked.lmax; ++l)
      spec.k_l.push_back(std::sqrt(cl(Spectra::TT, l)) * beam.t[to_size(l)]);
    spec.nside = asked.nside;
    spec.error = asked.error;
    spec.alpha = KernelSplitSpec::papers_alpha;
    for (double angle = 30; angle <= asked.most_support; angle += 30)
      spec.theta_cuts.push_back(angle * arcmin);
    const auto start = std::chrono::steady_clock::now();
    const KernelSplit split(spec);
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    if (is_table) {
      print_row(fwhm, split, asked.lmax, elapsed.count());
    } else {
      print(split);
    }
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print("largest resident set {} MiB\n", usage.ru_maxrss / 1024);
}

}  // namespace
}  // namespace ringweave::detail

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (words.empty()) throw std::invalid_argument("expected a file of spectra");
    ringweave::detail::measure(words[0], ringweave::detail::parse(words));
  } catch (const std::exception& error) {
    fmt::print(stderr, "kernel_split_table: {}\n", error.what());
    return 2;
  }
  return 0;
}
