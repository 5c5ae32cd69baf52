// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/smooth/split_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/input_file.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

SplitFile parsed_split(const std::string& text, const std::string& path) {
  constexpr const char* expected = "expected JSON as `ringweave split --json FILE` writes it";
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("verdict") || !json.contains("scan"))
    throw DataError(path, fmt::format("is no split; {}", expected));
  const auto whole_number = [&](const char* name) {
    const nlohmann::json& number = json.at(name);
    if (!number.is_number_integer())
      throw DataError(path, fmt::format("{} is no whole number; {}", name, expected));
    return number.get<std::int64_t>();
  };
  try {
    if (!json.contains("l_cut")) {
      throw DataError(path,
                      fmt::format("holds no split: {}", json.at("reason").get<std::string>()));
    }
    return {path,
            json.at("theta_cut").get<double>(),
            whole_number("l_cut"),
            json.at("error_allowed").get<double>(),
            json.at("alpha").get<double>(),
            whole_number("nside"),
            json.at("kernel").get<std::vector<double>>()};
  } catch (const nlohmann::json::exception& error) {
    throw DataError(path, fmt::format("{}; {} (those of earlier versions lack theta_cut and nside)",
                                      error.what(), expected));
  }
}

}  // namespace

SplitFile read_split_file(Run& run, const std::string& path) {
  run.outputs.keep(path);
  std::string text;
  agree(run.comm, [&] {
    constexpr std::int64_t most_bytes = std::int64_t{256} << 20;
    if (run.comm.is_root()) text = read_input_text(path, most_bytes);
  });
  text = run.comm.broadcast(text, 0);
  return agreed(run.comm, [&] { return parsed_split(text, path); });
}

void require_kernel_of(const SplitFile& file, const std::vector<double>& k_l, std::int64_t nside) {
  if (file.nside != nside) {
    throw UsageError(
        fmt::format("--split {}: is for maps of nside {}, and this map has {}; search "
                    "with `ringweave split --nside {}`",
                    file.path, file.nside, nside, nside));
  }
  const std::int64_t lmax = ssize64(file.kernel) - 1;
  if (file.kernel.size() != k_l.size()) {
    throw UsageError(
        fmt::format("--split {}: splits a kernel with degrees up to {}, and this one has them up "
                    "to {}; give --lmax {}",
                    file.path, lmax, ssize64(k_l) - 1, lmax));
  }
  constexpr double rounding = 1e-12;
  double largest = 0;
  for (const double value : k_l) largest = std::max(largest, std::abs(value));
  for (std::size_t l = 0; l < k_l.size(); ++l) {
    if (std::abs(file.kernel[l] - k_l[l]) <= rounding * largest) continue;
    throw UsageError(
        fmt::format("--split {}: splits another kernel: at l = {} it is {:.6g} there and {:.6g} "
                    "here; search with the same kernel",
                    file.path, l, file.kernel[l], k_l[l]));
  }
}

void require_l_cut_of(const SplitFile& file, const KernelSplit& found, double error) {
  if (found.best().l_cut == file.l_cut) return;
  throw UsageError(
      fmt::format("--split {}: has l_cut {} at its support, and here an error of {:.3g} takes {}; "
                  "give the --input-cl that it was searched with, and leave out --error",
                  file.path, file.l_cut, error, found.best().l_cut));
}

}  // namespace ringweave::detail::inline app
