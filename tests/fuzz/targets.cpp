// SPDX-License-Identifier: GPL-3.0-or-later
#include "fuzz/targets.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <numeric>
#include <string_view>

#include "app/cli/config_file.hpp"
#include "base/checked_cast.hpp"
#include "io/coefficient_file.hpp"
#include "io/point_files.hpp"
#include "perf_models/machine_file.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"
#include "support/libhdf5_suppressions.hpp"

namespace ringweave::detail::test {
namespace {

/// Numbers that a reader may be asked for: a header of a few bytes can promise any number.
constexpr std::int64_t most_numbers = std::int64_t{1} << 20;

std::vector<int> all_of(std::size_t count) {
  std::vector<int> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

void read_map(const Communicator& comm, const std::string& path) {
  const std::unique_ptr<MapReader> reader = open_map(comm, path);
  const MapHeader& header = reader->header();
  if (header.grid->n_pixels() * ssize64(header.columns) > most_numbers) return;
  reader->observed_rings();
  const LocalRings rings(header.grid);
  MapBuffer<double> map(ssize64(header.columns), rings.n_pixels());
  reader->read(all_of(header.columns.size()), rings, map.view());
}

void read_all(AlmReader& reader) {
  const AlmHeader& header = reader.header();
  const std::int64_t n_components = ssize64(header.components);
  if (AlmLayout::full_size(header.lmax, header.mmax) * n_components > most_numbers) return;
  const AlmLayout layout(header.lmax, header.mmax);
  AlmBuffer<double> alm(n_components, layout.size());
  reader.read(all_of(header.components.size()), layout, alm.view());
}

void read_alm(const Communicator& comm, const std::string& path) {
  read_all(*open_alm(comm, path));
}

void read_coefficients(const Communicator& comm, const std::string& path) {
  read_all(*open_coefficients(comm, path, Normalisation::schmidt));
}

void read_fields_in_the_plane(const Communicator& comm, const std::string& path) {
  const PlaneFileReader reader(comm, path);
  const PlaneHeader& header = reader.header();
  const std::int64_t n_fields = header.n_fields();
  if (n_fields > most_numbers || header.y.size * header.x.size > most_numbers / n_fields) return;
  std::vector<std::int64_t> fields(to_size(n_fields));
  std::iota(fields.begin(), fields.end(), 0);
  MapBuffer<double> values(n_fields, header.y.size * header.x.size);
  reader.read({fields, 0, header.y.size}, values.view());
}

/// Parses a configuration of a command that has options of each kind.
void read_configuration(const Communicator&, const std::string& path) {
  CLI::App app("", "ringweave");
  app.require_subcommand(1);
  ConfigFile file;
  app.config_formatter(std::make_shared<FlatConfig>(app, file));
  app.set_config("--config");
  app.allow_config_extras(CLI::config_extras_mode::error);
  std::string input, fwhm;
  int lmax = 0;
  double tolerance = 0;
  bool overwrite = false;
  std::vector<std::string> outputs;
  std::vector<double> radii;
  app.add_flag("--overwrite", overwrite);
  for (const char* name : {"smooth", "analyze"}) {
    CLI::App* const command = app.add_subcommand(name);
    command->fallthrough();
    command->add_option("input", input);
    command->add_option("--fwhm", fwhm);
    command->add_option("--lmax", lmax)->check(CLI::NonNegativeNumber);
    command->add_option("--tol,--tolerance", tolerance);
    command->add_option("--out", outputs);
    command->add_option("--radii", radii)->delimiter(',');
  }
  try {
    std::vector<std::string> words{"smooth", "--config", path};
    file = take_config_file(words);
    app.parse(std::vector<std::string>(words.rbegin(), words.rend()));
    app.config_to_str(true, false);
  } catch (const CLI::ConfigError& error) {
    config_error_text(app, file, error);
  } catch (const CLI::Error&) {
    for (const char* option : {"--fwhm", "--lmax", "--out"}) config_place(app, file, option);
  }
}

void read_machine(const Communicator&, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const Machine machine = parse_machine(text, path);
  parse_machine(machine_text(machine), path);
}

const std::vector<FuzzTarget>& fuzz_targets() {
  const auto spectra = [](auto& comm, auto& path) { read_spectra(comm, path); };
  const auto values = [](auto& comm, auto& path) { read_values(comm, path); };
  const auto window = [](auto& comm, auto& path) { read_pixel_window(comm, path, 1); };
  const auto ring_weights = [](auto& comm, auto& path) { read_ring_weights(comm, path, 1); };
  const auto pixel_weights = [](auto& comm, auto& path) { read_pixel_weights(comm, path, 1); };
  static const std::vector<FuzzTarget> targets{
      {"fits_map", ".fits", {read_map}},
      {"fits_car", ".fits", {read_map}},
      {"fits_alm", ".fits", {read_alm}},
      {"fits_table", ".fits", {spectra, read_beam, window, ring_weights, pixel_weights}},
      {"hdf5_map", ".h5", {read_map}},
      {"hdf5_alm", ".h5", {read_alm}},
      {"hdf5_points", ".h5", {find_point_content, read_points, values, spectra}},
      {"hdf5_plane", ".nc", {read_map, read_fields_in_the_plane}},
      {"text",
       ".txt",
       {find_point_content, spectra, read_beam, read_points, values, read_kernel_profile,
        read_coefficients}},
      {"icgem", ".gfc", {read_alm}},
      {"config", ".toml", {read_configuration}},
      {"machine", ".json", {read_machine}},
  };
  return targets;
}

/// A file of these bytes, gone at the end.
class InputFile {
 public:
  InputFile(const std::string& extension, std::string_view bytes)
      : path_(std::filesystem::temp_directory_path() /
              fmt::format("ringweave_fuzz_{}{}", ::getpid(), extension)) {
    std::ofstream file(path_, std::ios::binary);
    file.write(bytes.data(), ssize64(bytes));
    if (!file.flush()) throw ResourceError(path_ + ": cannot be written");
  }
  ~InputFile() { std::remove(path_.c_str()); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

bool is_expected(ErrorKind kind) {
  return kind == ErrorKind::usage || kind == ErrorKind::data || kind == ErrorKind::resource;
}

}  // namespace

const FuzzTarget& fuzz_target(const std::string& name) {
  std::string names;
  for (const FuzzTarget& target : fuzz_targets()) {
    if (target.name == name) return target;
    names += ' ' + target.name;
  }
  throw UsageError(fmt::format("\"{}\" is no target; expected one of{}", name, names));
}

void run_fuzz_target(const FuzzTarget& target, const std::uint8_t* bytes, std::size_t size) {
  const InputFile input(target.extension, {reinterpret_cast<const char*>(bytes), size});
  for (const auto& read : target.readers) {
    try {
      read(Communicator::self(), input.path());
    } catch (...) {
      const CaughtError error = describe_current_exception();
      if (is_expected(error.kind)) continue;
      fmt::print(stderr, "{}: {}: {}\n", target.name, name_of(error.kind), error.message);
      std::abort();
    }
  }
}

}  // namespace ringweave::detail::test
