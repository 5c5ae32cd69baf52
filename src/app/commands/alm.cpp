// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "app/cli/angle.hpp"
#include "app/commands/commands.hpp"
#include "app/content.hpp"
#include "app/report/alm_plan.hpp"
#include "app/table_input.hpp"
#include "app/transform_setup.hpp"
#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/field_files.hpp"
#include "ringweave/error.hpp"
#include "ringweave/files.hpp"
#include "ringweave/rotation.hpp"

namespace ringweave::detail::inline app {
namespace {

/// The components of the input that are kept; one of them alone is a scalar field.
FieldChoice components_of(const std::string& path, const AlmHeader& header,
                          const std::string& taken) {
  FieldChoice choice;
  choice.components = header.components;
  choice.columns.resize(header.components.size());
  std::iota(choice.columns.begin(), choice.columns.end(), 0);
  if (taken.empty()) {
    choice.fields = fields_of(path, header);
    return choice;
  }
  const auto found = std::find(header.components.begin(), header.components.end(), taken);
  if (found == header.components.end()) {
    throw UsageError(
        fmt::format("--take {}: {} holds {}", taken, path, fmt::join(header.components, ", ")));
  }
  choice.columns = {static_cast<int>(found - header.components.begin())};
  choice.components = {taken};
  choice.fields = FieldSet({0});
  return choice;
}

/// The files whose a_lm are added up, the first of which describes the result.
struct Sum {
  std::vector<std::string> paths;
  std::vector<std::unique_ptr<AlmReader>> readers;
  const AlmHeader& header() const { return readers.front()->header(); }
};

/// Collective. Error  DataError where the files differ in their components or units.
Sum open_sum(Run& run, const AlmOptions& options) {
  Sum sum;
  sum.paths.push_back(options.input);
  sum.paths.insert(sum.paths.end(), options.add.begin(), options.add.end());
  for (const std::string& path : sum.paths) {
    run.outputs.keep(path);
    sum.readers.push_back(open_alm(run.comm, path));
    const AlmHeader& header = sum.readers.back()->header();
    for (const std::string& warning : header.warnings) run.warn(path + ": " + warning);
    if (header.components.size() != sum.header().components.size()) {
      throw DataError(path, fmt::format("holds {} component(s), {} holds {}; only the same are "
                                        "added",
                                        header.components.size(), options.input,
                                        sum.header().components.size()));
    }
    if (header.unit != sum.header().unit && !header.unit.empty() && !sum.header().unit.empty()) {
      throw DataError(path, fmt::format("is in {}, {} in {}; only a_lm of one unit are added",
                                        header.unit, options.input, sum.header().unit));
    }
    const std::string& coordsys = sum.header().coordsys;
    if (!header.coordsys.empty() && !coordsys.empty() &&
        header.coordsys.front() != coordsys.front()) {
      throw DataError(path, fmt::format("has coordinates {}, {} has {}; rotate one of them first, "
                                        "with `ringweave alm --rotate`",
                                        header.coordsys, options.input, coordsys));
    }
    if (options.lmax < 0 && header.lmax > sum.header().lmax) {
      run.warn(fmt::format("{}: degrees above lmax = {} of {} are left out; --lmax {} takes them",
                           path, sum.header().lmax, options.input, header.lmax));
    }
  }
  return sum;
}

/// The sum of the inputs, and the steps from it to the output.
struct AlmJob {
  const AlmOptions& options;
  Sum sum;
  FieldChoice choice;
  AlmLayout layout;  ///< of this rank, in the output
  Beam factors;      ///< of --multiply
  std::optional<EulerAngles> rotation;
  std::string coordsys;  ///< of the output
};

/// Reads the files one after the other and adds them up. Collective.
template <class T>
AlmBuffer<T> read_sum(Run& run, const AlmJob& job) {
  const Sum& sum = job.sum;
  const FieldChoice& choice = job.choice;
  const AlmLayout& layout = job.layout;
  const auto n = ssize64(choice.columns);
  const auto make = [&] { return AlmBuffer<T>(n, layout.size()); };
  AlmBuffer<T> total = agreed(run.comm, make);
  AlmBuffer<T> other;
  FileTraffic traffic{run.comm};
  for (std::size_t i = 0; i < sum.paths.size(); ++i) {
    run.progress.stage("reading " + sum.paths[i]);
    if (i == 0) {
      read_alm<T>(traffic, sum.paths[i], *sum.readers[i], choice, layout, total.view());
      continue;
    }
    if (i == 1) other = agreed(run.comm, make);
    read_alm<T>(traffic, sum.paths[i], *sum.readers[i], choice, layout, other.view());
    for (std::int64_t k = 0; k < n * layout.size(); ++k)
      total.view().data()[k] += other.view().data()[k];
  }
  add_traffic(run, traffic);
  return total;
}

template <class T>
void run_with(Run& run, const AlmJob& job) {
  const AlmOptions& options = job.options;
  const Sum& sum = job.sum;
  const AlmLayout& layout = job.layout;
  AlmBuffer<T> alm = read_sum<T>(run, job);
  if (!options.multiply.empty()) multiply(job.factors, layout, job.choice.fields, alm.view());
  if (job.rotation) {
    run.progress.stage("rotating");
    const StageTimer timer(&run.times, "rotate");
    rotate<T>(run.comm, layout, alm.view(), *job.rotation);
  }
  AlmHeader header = sum.header();
  header.lmax = layout.lmax();
  header.mmax = layout.mmax();
  header.components = options.take.empty() ? job.choice.components : std::vector<std::string>{"T"};
  header.precision = sizeof(T) == 4 ? Precision::single_ : Precision::double_;
  header.coordsys = job.coordsys;
  Provenance provenance = run.provenance(fmt::format("{}", fmt::join(sum.paths, ", ")));
  provenance.origin = sum.header().origin;
  // The keywords of one are not those of a sum.
  if (sum.readers.size() > 1) provenance.origin.keywords.clear();
  for (std::size_t i = 1; i < sum.readers.size(); ++i) {
    const std::vector<std::string>& history = sum.readers[i]->header().origin.history;
    provenance.origin.history.insert(provenance.origin.history.end(), history.begin(),
                                     history.end());
  }
  provenance.lmax = layout.lmax();
  if (!options.multiply.empty()) provenance.beam = options.multiply;
  run.progress.stage("writing " + options.output);
  const StageTimer timer(&run.times, "write");
  write_alm(run.outputs.begin(options.output), header, provenance, layout,
            AlmView<const T>(alm.view()));
}

std::optional<CoordinateSystem> coordinate_system(const std::string& letter) {
  if (letter == "G") return CoordinateSystem::galactic;
  if (letter == "C") return CoordinateSystem::celestial;
  if (letter == "E") return CoordinateSystem::ecliptic;
  return std::nullopt;
}

/// The rotation of --rotate, and the coordinates that `coordsys` becomes: unknown after a rotation
/// by angles. Error  UsageError; DataError where the file at `path` has other coordinates than the
/// rotation begins with.
std::optional<EulerAngles> rotation_of(const std::string& text, const std::string& path,
                                       std::string& coordsys) {
  if (text.empty()) return std::nullopt;
  if (const std::size_t colon = text.find(':'); colon != std::string::npos) {
    const auto from = coordinate_system(text.substr(0, colon));
    const auto to = coordinate_system(text.substr(colon + 1));
    if (!from || !to) {
      throw UsageError(fmt::format(
          "--rotate {}: expected G (galactic), C (celestial) or E (ecliptic) on both sides, e.g. "
          "G:C",
          text));
    }
    if (!coordsys.empty() && coordsys.front() != text.front()) {
      throw DataError(
          path,
          fmt::format("has coordinates {} (COORDSYS), and --rotate {} begins with "
                      "{}; give --rotate {}:{}",
                      coordsys, text, text.front(), coordsys.front(), text.substr(colon + 1)));
    }
    coordsys = text.substr(colon + 1);
    return EulerAngles::between(*from, *to);
  }
  coordsys.clear();
  std::vector<double> angles;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');)
    angles.push_back(parse_angle(word, "--rotate"));
  if (angles.size() != 3) {
    throw UsageError(fmt::format(
        "--rotate {}: expected three angles PSI,THETA,PHI, e.g. 10deg,20deg,30deg, or coordinate "
        "systems, e.g. G:C",
        text));
  }
  return EulerAngles{angles[0], angles[1], angles[2]};
}

/// b_l of the component that is kept alone, as that of a scalar.
Beam of_component(const Beam& beam, const std::string& taken) {
  if (taken.empty()) return beam;
  return {taken == "E" ? beam.e : taken == "B" ? beam.b : beam.t, {}, {}};
}

/// Collective.
MemoryEstimate plan_of(Run& run, const AlmJob& job, Precision precision) {
  AlmPlan plan{.layout = job.layout,
               .n_components = ssize64(job.choice.columns),
               .precision = precision,
               .n_read = ssize64(job.sum.paths)};
  plan.n_held = std::min<std::int64_t>(plan.n_read, 2);
  if (job.rotation && job.rotation->theta != 0)
    plan.extra_buffers.push_back(rotation_memory(run.comm, plan));
  return record_plan(run, plan);
}

}  // namespace

int alm(Run& run, const AlmOptions& options) {
  run.outputs.announce(options.output, OutputContent::alm, options.input);
  Sum sum = open_sum(run, options);
  FieldChoice choice = components_of(options.input, sum.header(), options.take);
  const int lmax = options.lmax >= 0 ? options.lmax : sum.header().lmax;
  const bool has_all_orders = sum.header().mmax == sum.header().lmax;
  const int mmax = options.mmax >= 0 ? options.mmax
                   : has_all_orders  ? lmax
                                     : std::min(lmax, sum.header().mmax);
  if (mmax > lmax) {
    throw UsageError(
        fmt::format("--mmax {} is above lmax = {}; expected at most lmax", mmax, lmax));
  }
  std::string coordsys = sum.header().coordsys;
  const std::optional<EulerAngles> rotation = rotation_of(options.rotate, options.input, coordsys);
  if (rotation && mmax < lmax) {
    throw UsageError(fmt::format(
        "--rotate: the a_lm have orders up to {}, and a rotation makes all up to lmax = {}; give "
        "--mmax {}",
        mmax, lmax, lmax));
  }
  Beam factors;
  if (!options.multiply.empty())
    factors = of_component(factors_of_file(run, options.multiply, lmax), options.take);
  const AlmJob job{options,
                   std::move(sum),
                   std::move(choice),
                   own_orders(run.comm, lmax, mmax),
                   std::move(factors),
                   rotation,
                   std::move(coordsys)};
  const Precision precision = storage_precision(options.precision, job.sum.header().precision);
  const MemoryEstimate estimate = plan_of(run, job, precision);
  run.outputs.require_writable();
  require_memory(run.comm, estimate);
  if (run.options.dry_run) return 0;
  with_storage(precision, [&](auto storage) { run_with<decltype(storage)>(run, job); });
  run.conclusion =
      fmt::format("{} -> {}, lmax {}", fmt::join(job.sum.paths, " + "), options.output, lmax);
  return 0;
}

}  // namespace ringweave::detail::inline app
