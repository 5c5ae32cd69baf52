// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/help.hpp"

#include <fmt/format.h>

#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "app/cli/manual.hpp"

namespace ringweave::detail::inline app {
namespace {

constexpr std::size_t text_width = 79;
constexpr std::size_t option_column = 26;

constexpr std::string_view values_text =
    R"(The extension determines the kind of a file: .fits .fit .fits.gz FITS; .h5 .hdf5 HDF5; .nc
.nc4 NetCDF-4; .gfc coefficients of ICGEM; .txt .dat .tsv text; .png .pdf .svg pictures.

ANGLE is a number with its unit: 5arcmin or 5', 1.5deg, 20arcsec or 20", 0.01rad.

All outputs of a command appear together when it succeeds, or none.

Results are printed on stdout, among them a seed that was chosen and the method taken, once options
and inputs are checked. Errors, warnings, notes and progress go to stderr.)";

constexpr std::string_view environment_text =
    R"(OMP_NUM_THREADS: threads of each rank, unless --threads is given.

RINGWEAVE_MACHINE: machine file for predicted seconds, unless --machine is given.

RINGWEAVE_DEADLINE: seconds without progress that end the job, unless --deadline is given.

RINGWEAVE_DEVICE_MPI: 1 if MPI accepts addresses of GPU memory, 0 if it does not; otherwise MPI
is queried. CUDA_VISIBLE_DEVICES: the GPUs to use.)";

constexpr std::string_view healpix_environment_text =
    "\n\nHEALPIX: the folder of HEALPix. --weights ring or pixel and --pixel-window auto look for "
    "weight_ring_nNNNNN.fits, weight_pixel_nNNNNN.fits or pixel_window_nNNNN.fits, with the nside, "
    "in ., $HEALPIX/data and $HEALPIX.";

constexpr std::string_view exit_status_text = R"(0   done
1   compare found a difference
2   usage: an option, an output that exists or whose folder does not,
    something this build lacks
3   data: an input is missing or broken, bad values
4   no memory, no disk, no threads, no device
5   another rank failed, or none made progress before the --deadline
70  a bug of ours; please report it
75  stopped early; a restart continues)";

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Wraps `text` into lines that end before text_width; the first continues `begin`, the others are
/// indented.
std::string wrapped(const std::string& begin, std::size_t indent, const std::string& text) {
  std::string result = begin;
  std::size_t column = begin.size();
  std::istringstream words(text);
  bool first = true;
  for (std::string word; words >> word; first = false) {
    if (!first && column + 1 + word.size() > text_width) {
      result += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!first) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
  }
  return result + '\n';
}

/// Wraps paragraphs, which are separated by empty lines; each begins on a new line.
std::string paragraphs(std::string_view text, std::size_t indent) {
  std::string result;
  std::string paragraph;
  const auto finish = [&] {
    if (!paragraph.empty()) result += wrapped(std::string(indent, ' '), indent, paragraph);
    paragraph.clear();
  };
  for (const std::string& line : lines_of(text)) {
    if (line.empty()) {
      finish();
    } else {
      paragraph += line + ' ';
    }
  }
  finish();
  return result;
}

std::string section(const std::string& name, const std::string& text) {
  return text.empty() ? "" : '\n' + name + '\n' + text;
}

/// Indents lines without wrapping them.
std::string indented(std::string_view text) {
  std::string result;
  for (const std::string& line : lines_of(text)) result += "  " + line + '\n';
  return result;
}

std::string sentence(std::string text) {
  if (!text.empty() && text.back() != '.') text += '.';
  return text;
}

std::string option_text(const CLI::Option& option) {
  const bool is_flag = option.get_expected_max() == 0;
  std::string left = "  " + option.get_name(option.get_positional());
  if (!is_flag && option.nonpositional()) left += ' ' + option.get_type_name();
  std::string text = sentence(option.get_description());
  std::set<std::string> others;  // sorted, so that the text is always the same
  for (const CLI::Option* other : option.get_excludes()) others.insert(other->get_name());
  for (const std::string& other : others) text += fmt::format(" Not with {}.", other);
  if (!option.get_default_str().empty())
    text += fmt::format(" Default: {}.", option.get_default_str());
  const bool gets_own_line = left.size() + 2 > option_column;
  return (gets_own_line ? left + '\n' : "") +
         wrapped(fmt::format("{:<{}}", gets_own_line ? "" : left, option_column), option_column,
                 text);
}

std::string group_text(const CLI::App& app, const std::string& group, bool positional) {
  // Every command has its own --help; it is listed once, with the common options.
  const auto is_listed = [&](const CLI::Option* option) {
    return group == common_group || option->get_name() != "--help";
  };
  const auto belongs = [&](const CLI::Option* option) {
    return positional
               ? option->get_positional()
               : option->nonpositional() && option->get_group() == group && is_listed(option);
  };
  std::string text;
  for (const CLI::Option* option : app.get_options(belongs)) text += option_text(*option);
  return section((positional ? "Arguments" : group) + ":", text);
}

std::string usage_of(const ManualPage& page) {
  std::string text;
  for (const std::string& form : lines_of(page.usage)) {
    const char* begin = text.empty() ? "Usage:" : "      ";
    text += wrapped(fmt::format("{} ringweave {} ", begin, page.command), 11, form);
  }
  return text;
}

}  // namespace

std::string program_help(const CLI::App& app) {
  std::string commands;
  std::string examples;
  for (const ManualPage& page : manual_pages) {
    commands += fmt::format("  {:<{}}{}\n", page.command, option_column - 2, page.brief);
    examples += "  " + lines_of(page.examples).front() + '\n';
  }
  return paragraphs(app.get_description(), 0) +
         "\nUsage: ringweave COMMAND [ARGUMENT...] [OPTION...]\n" + section("Commands:", commands) +
         "\n`ringweave COMMAND --help` explains a command and its options.\n" +
         group_text(app, common_group, false) + section("VALUES", paragraphs(values_text, 2)) +
         section("ENVIRONMENT", paragraphs(environment_text, 2)) +
         section("EXIT STATUS", indented(exit_status_text)) + section("EXAMPLES", examples);
}

std::string command_help(const CLI::App& app, const CLI::App& command) {
  const ManualPage& page = manual_page(command.get_name());
  std::string text = fmt::format("ringweave {}: {}\n\n", page.command, page.brief) +
                     usage_of(page) + '\n' + paragraphs(page.description, 0) +
                     group_text(command, "", true);
  for (const std::string& group : command.get_groups()) text += group_text(command, group, false);
  std::string environment(environment_text);
  if (page.reads_healpix_data) environment += healpix_environment_text;
  return text + group_text(app, common_group, false) +
         section("VALUES", paragraphs(values_text, 2)) +
         section("ENVIRONMENT", paragraphs(environment, 2)) +
         section("EXIT STATUS", indented(exit_status_text)) +
         section("EXAMPLES", indented(page.examples));
}

}  // namespace ringweave::detail::inline app
