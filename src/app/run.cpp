// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/run.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "app/cli/build_information.hpp"
#include "app/cli/version.hpp"
#include "base/json_text.hpp"
#include "base/memory_meter.hpp"
#include "base/terminal.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/output_part.hpp"

namespace ringweave::detail::inline app {

namespace {

/// Returns lines of TOML, `lmax=512`, as one object.
nlohmann::ordered_json json_of_configuration(const std::string& toml) {
  nlohmann::ordered_json object = nlohmann::ordered_json::object();
  std::istringstream lines(toml);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = std::min(line.find('='), line.size() - 1);
    std::string value = line.substr(equals + 1);
    // A literal string.
    if (value.size() > 1 && value.front() == '\'' && value.back() == '\'')
      value = value.substr(1, value.size() - 2);
    const auto parsed = nlohmann::ordered_json::parse(value, nullptr, false);
    object[line.substr(0, equals)] = parsed.is_discarded() ? nlohmann::ordered_json(value) : parsed;
  }
  return object;
}

}  // namespace

Report::Report() : entries_(std::make_unique<nlohmann::ordered_json>()) {}
Report::~Report() = default;

nlohmann::ordered_json& Report::operator[](const std::string& name) { return (*entries_)[name]; }

nlohmann::ordered_json over_ranks(const Communicator& comm, double value) {
  const double least = comm.min(value);
  const double most = comm.max(value);
  return {{"min", least}, {"mean", comm.sum(value) / comm.size()}, {"max", most}};
}

void add_traffic(Run& run, const FileTraffic& traffic) {
  for (const auto& [stage, entry] : traffic.times.entries()) run.times.add(stage, entry.seconds);
  run.bytes_read += traffic.bytes_read;
  run.bytes_written += traffic.bytes_written;
}

std::string utc_now() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

Provenance Run::provenance(const std::string& input) const {
  Provenance provenance;
  provenance.input = input;
  provenance.version = full_version();
  provenance.date = utc_now();
  provenance.command_line = command_line;
  provenance.config_json = json_text(json_of_configuration(used_configuration));
  return provenance;
}

void Run::print_line(const std::string& line) {
  progress.finish();
  if (comm.is_root()) print_output(line);
}

void Run::detail(const std::string& line) {
  if (options.verbose) print_line(line);
}

namespace {

void tell(Run& run, const std::string& line) {
  if (!run.printed_notes.insert(line).second) return;
  run.progress.finish();
  if (run.comm.is_root()) print_message(line);
}

}  // namespace

void Run::note(const std::string& line) { tell(*this, "note: " + line); }
void Run::warn(const std::string& line) { tell(*this, "warning: " + line); }

namespace {

double gb_per_second(const Run& run, std::int64_t bytes, const char* stage) {
  const double seconds = run.comm.max(run.times.seconds(stage));
  return seconds > 0 ? static_cast<double>(bytes) / seconds * 1e-9 : 0.0;
}

/// Ranks may have different stages: which depends on the rings they own.
std::set<std::string> stages_of_any_rank(const Run& run) {
  std::string names;
  for (const auto& [stage, entry] : run.times.entries()) names += stage + '\n';
  std::string all;
  for (const std::string& of_rank : run.comm.gather(names)) all += of_rank;
  std::istringstream lines(run.comm.broadcast(all, 0));
  std::set<std::string> stages;
  for (std::string stage; std::getline(lines, stage);) stages.insert(stage);
  return stages;
}

/// Seconds of this rank, without files, new memory and the search for a split.
double computing_seconds(const Run& run) {
  const std::set<std::string> others{"read", "write", "memory", "split_search"};
  double seconds = 0;
  for (const auto& [stage, entry] : run.times.entries())
    if (!others.contains(stage)) seconds += entry.seconds;
  return seconds;
}

}  // namespace

nlohmann::ordered_json json_of_origin(const Run& run) {
  return {{"program", version_information()},
          {"command_line", run.command_line},
          {"configuration", json_of_configuration(run.used_configuration)},
          {"date", utc_now()}};
}

void tell_stages(Run& run) {
  if (!run.options.verbose) return;
  std::string text;
  for (const std::string& stage : stages_of_any_rank(run)) {
    text += fmt::format("{}{} {:.2g}", text.empty() ? "" : ", ", stage,
                        run.comm.max(run.times.seconds(stage)));
  }
  if (!text.empty()) run.print_line("measured seconds, the most of any rank: " + text);
}

void write_report(Run& run) {
  if (run.options.report.empty()) return;
  run.times.add("memory", MemoryMeter::touch_seconds());
  nlohmann::ordered_json stages = nlohmann::ordered_json::object();
  for (const std::string& stage : stages_of_any_rank(run))
    stages[stage] = over_ranks(run.comm, run.times.seconds(stage));
  nlohmann::ordered_json memory{
      {"buffers_high_water_bytes", run.comm.sum(MemoryMeter::high_water_bytes())},
      {"resident_high_water_bytes", run.comm.sum(peak_resident_bytes())},
      {"largest_rank_resident_bytes", run.comm.max(peak_resident_bytes())},
  };
  const std::int64_t bytes_written = run.bytes_written + run.outputs.bytes();
  const nlohmann::ordered_json files{
      {"bytes_read", run.bytes_read},
      {"read_gb_per_s", gb_per_second(run, run.bytes_read, "read")},
      {"bytes_written", bytes_written},
      {"write_gb_per_s", gb_per_second(run, bytes_written, "write")},
  };
  nlohmann::ordered_json report = json_of_origin(run);
  report["ranks"] = run.comm.size();
  report["threads_per_rank"] = omp_get_max_threads();
  if (!run.report.entries().is_null()) report.update(run.report.entries());
  report["stages"] = stages;
  report["computing"] = over_ranks(run.comm, computing_seconds(run));
  report["files"] = files;
  report["memory"] = memory;

  write_text(run, run.options.report, json_text(report, 2) + '\n');
}

void write_text(Run& run, const std::string& path, const std::string& text) {
  const AtomicOutput& output = run.outputs.begin(path);
  const auto write = [&] {
    if (run.comm.is_root()) write_whole_file(output.temporary_path(), text);
  };
  output.write([&] { agree(run.comm, write); });
}

}  // namespace ringweave::detail::inline app
