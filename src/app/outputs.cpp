// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/outputs.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <span>

#include "base/temporary_files.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/file_kind.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Claims that are kept, each of which holds a file open and a name of a temporary file, and
/// outputs that are checked at a time: the other ranks wait for rank 0.
constexpr std::size_t most_claims = 64;
static_assert(most_claims <= TemporaryFile::most / 2);

void require_kind(const std::string& path, OutputContent content) {
  if (content == OutputContent::report) return;
  if (content == OutputContent::machine) {
    if (path.ends_with(".json")) return;
    throw UsageError(fmt::format("{}: a machine file is JSON; give a name ending in .json", path));
  }
  const FileKind kind = file_kind(path);
  const bool is_table = kind == FileKind::fits || kind == FileKind::hdf5;
  switch (content) {
    case OutputContent::map:
      if (is_table || kind == FileKind::netcdf) return;
      throw UsageError(
          fmt::format("{}: maps are written as FITS (.fits), HDF5 (.h5) or NetCDF-4 (.nc)", path));
    case OutputContent::alm:
      if (is_table || kind == FileKind::coefficients) return;
      throw UsageError(
          fmt::format("{}: a_lm are written as FITS (.fits), HDF5 (.h5) or ICGEM (.gfc)", path));
    case OutputContent::coefficients:
      if (kind == FileKind::text) return;
      throw UsageError(fmt::format("{}: a table of coefficients is text (.txt)", path));
    case OutputContent::spectra:
      if (is_table || kind == FileKind::text) return;
      throw UsageError(fmt::format("{}: spectra are written as text, FITS or HDF5", path));
    case OutputContent::values:
      if (kind == FileKind::hdf5 || kind == FileKind::text) return;
      throw UsageError(
          fmt::format("{}: values at points are written as HDF5 (.h5) or text (.txt)", path));
    case OutputContent::planes:
      if (kind == FileKind::hdf5 || kind == FileKind::netcdf) return;
      throw UsageError(
          fmt::format("{}: fields in the plane are written as HDF5 (.h5) or NetCDF-4 (.nc)", path));
    case OutputContent::picture:
      if (kind == FileKind::picture) return;
      throw UsageError(fmt::format("{}: a picture's name ends in .png, .pdf or .svg", path));
    case OutputContent::machine:
    case OutputContent::report: return;
  }
}

}  // namespace

std::string one_name(const std::string& path) {
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error);
  if (error) return path;
  const std::filesystem::path name = std::filesystem::weakly_canonical(whole, error);
  return error ? path : name.string();
}

std::string one_file(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return one_name(path);
  return fmt::format("number {} of device {}", status.st_ino, status.st_dev);
}

void Outputs::announce(std::vector<NewOutput> outputs) {
  std::erase_if(outputs, [](const NewOutput& output) { return output.path.empty(); });
  for (const NewOutput& output : outputs) {
    announced_.push_back(output.path);
    if (comm_.is_root() && !output.own_input.empty() &&
        one_file(output.own_input) == one_file(output.path))
      replacing_.insert(output.path);
  }
  agree(comm_, [&] {
    if (!comm_.is_root()) return;
    for (const auto& [path, content, own_input] : outputs) {
      require_name_of_file(path);
      require_kind(path, content);
      if (names_.insert(one_name(path)).second) continue;
      throw UsageError(
          fmt::format("{}: two outputs of this command have this name; give each its own", path));
    }
  });
}

void Outputs::require_writable() {
  agree(comm_, [&] {
    if (!comm_.is_root()) return;
    for (const std::string& path : announced_) {
      if (replacing_.contains(path) || !inputs_.contains(one_file(path))) continue;
      throw UsageError(
          fmt::format("{}: is an input of this command; give the output another name", path));
    }
  });
  const std::span<const std::string> all(announced_);
  for (std::size_t first = 0; first < all.size(); first += most_claims) {
    auto claims = AtomicOutput::check(
        comm_, all.subspan(first, std::min(most_claims, all.size() - first)), if_exists_);
    if (claims_.size() + claims.size() <= most_claims)
      claims_.insert(claims_.end(), claims.begin(), claims.end());
  }
}

AtomicOutput& Outputs::begin(const std::string& path) {
  begun_.push_back(std::make_unique<AtomicOutput>(comm_, path, if_exists_));
  return *begun_.back();
}

std::int64_t Outputs::bytes() const {
  std::int64_t sum = 0;
  if (!comm_.is_root()) return sum;
  for (const auto& output : begun_) {
    std::error_code error;
    const auto size = std::filesystem::file_size(output->temporary_path(), error);
    if (!error) sum += static_cast<std::int64_t>(size);
  }
  return sum;
}

void Outputs::commit() {
  std::vector<AtomicOutput*> outputs;
  for (const auto& output : begun_) outputs.push_back(output.get());
  AtomicOutput::commit(comm_, outputs);
  begun_.clear();
  claims_.clear();
}

}  // namespace ringweave::detail::inline app
