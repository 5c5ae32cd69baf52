// SPDX-License-Identifier: GPL-3.0-or-later
// Times transforms to points at the command of another program (compare_points.py), which writes
// them line by line to the input of rank 0 and reads one JSON line for each:
//   scripts/mpirun.sh RANKS points_bench --lmax 2047 --spin 0 --epsilon 1e-6 --points FILE
//   plan | evaluate | adjoint | write FOLDER
// FILE holds doubles, theta of all points and then phi. An adjoint is that of the values last
// computed.
#include <fmt/format.h>
#include <omp.h>

#include <chrono>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "bench/answer_commands.hpp"
#include "bench/command_line.hpp"
#include "bench/processor_time.hpp"
#include "bench/raw_file.hpp"
#include "bench/run_bench.hpp"
#include "bench/test_alm.hpp"
#include "distribute/mpi/agree.hpp"
#include "legendre/legendre_stage.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"
#include "ringweave/points.hpp"

namespace ringweave::detail {
namespace {

using nlohmann::json;

struct Options {
  int lmax = 2047;
  int spin = 0;
  double epsilon = 1e-6;
  std::string points;
};

std::vector<double> read_doubles(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) throw DataError(path, "cannot be read");
  std::vector<double> numbers(to_size(static_cast<std::int64_t>(file.tellg()) / 8));
  file.seekg(0);
  file.read(reinterpret_cast<char*>(numbers.data()), 8 * ssize64(numbers));
  if (!file) throw DataError(path, "cannot be read to its end");
  return numbers;
}

/// A transform to the points of a file, of which every rank lists a contiguous part.
class PointTrial {
 public:
  PointTrial(Communicator comm, const Options& options) : comm_(std::move(comm)) {
    spec_.lmax = options.lmax;
    spec_.fields = FieldSet({options.spin});
    spec_.epsilon = options.epsilon;
    agree(comm_, [&] {
      const std::vector<double> angles = read_doubles(options.points);
      const std::int64_t n = ssize64(angles) / 2;
      const std::int64_t begin = n * comm_.rank() / comm_.size();
      const std::int64_t end = n * (comm_.rank() + 1) / comm_.size();
      theta_.assign(angles.begin() + begin, angles.begin() + end);
      phi_.assign(angles.begin() + n + begin, angles.begin() + n + end);
    });
    plan();
    alm_ = transform_->make_alm<double>();
    back_ = transform_->make_alm<double>();
    values_ = transform_->make_values<double>();
    fill<double>(transform_->alm_layout(), options.spin, alm_.view());
  }

  /// Executes one command. Collective.
  json run(const std::string& command) {
    if (command.rfind("write ", 0) == 0) return write(command.substr(6));
    if (command != "plan") transform_->times().clear();
    comm_.barrier();
    const double processor = processor_seconds();
    const auto start = std::chrono::steady_clock::now();
    if (command == "plan") {
      plan();
    } else if (command == "evaluate") {
      transform_->evaluate(alm_, values_);
    } else if (command == "adjoint") {
      transform_->adjoint(values_, back_);
    } else {
      throw UsageError(
          fmt::format("command {}; expected plan, evaluate, adjoint or write FOLDER", command));
    }
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    json answer;
    answer["processor_seconds"] = comm_.sum(processor_seconds() - processor);
    answer["seconds"] = comm_.max(elapsed.count());
    for (const auto& [stage, entry] : transform_->times().entries())
      answer["stages"][stage] = entry.seconds;
    return answer;
  }

  json about() const {
    const PointReport& report = transform_->points().report();
    return {{"points", report.points},        {"theta_taps", report.theta_taps},
            {"phi_taps", report.phi_taps},    {"rows", report.fine_rows},
            {"columns", report.fine_columns}, {"predicted_error", report.predicted_error},
            {"ranks", comm_.size()},          {"threads", omp_get_max_threads()},
            {"simd", simd_target_chosen()}};
  }

 private:
  void plan() {
    transform_.reset();
    transform_.emplace(comm_, spec_, PointSet(comm_, spec_, theta_, phi_));
  }

  /// Writes values, one file for each rank, and the a_lm in healpy's order.
  json write(const std::string& folder) {
    agree(comm_, [&] {
      std::ofstream file(fmt::format("{}/values.{}", folder, comm_.rank()), std::ios::binary);
      file.write(reinterpret_cast<const char*>(values_.view().data()),
                 8 * values_.n_components() * values_.size());
      file.close();
      if (!file) throw ResourceError(folder + ": cannot be written");
    });
    const AlmLayout& layout = transform_->alm_layout();
    write_raw_alm<double>(comm_, folder + "/alm", layout, alm_.view());
    write_raw_alm<double>(comm_, folder + "/adjoint", layout, back_.view());
    return {{"ranks", comm_.size()}};
  }

  Communicator comm_;
  PointSpec spec_;
  std::vector<double> theta_;
  std::vector<double> phi_;
  std::optional<PointTransform> transform_;
  AlmBuffer<double> alm_;
  AlmBuffer<double> back_;
  ComponentBuffer<double> values_;
};

int run(const Communicator& comm, int argc, char** argv) {
  Options options;
  CommandLine command("Times transforms to points, for compare_points.py.");
  command.add("--lmax", &options.lmax, "highest degree");
  command.add("--spin", &options.spin, "of the fields");
  command.add("--epsilon", &options.epsilon, "of the interpolation");
  command.add_required("--points", options.points, "theta of all points, then phi, as doubles");
  if (const auto code = command.parse(comm, argc, argv)) return *code;
  PointTrial trial(comm, options);
  answer_commands(comm, trial);
  return 0;
}

}  // namespace
}  // namespace ringweave::detail

int main(int argc, char** argv) {
  return ringweave::detail::run_bench("points_bench", argc, argv, ringweave::detail::run);
}
