// SPDX-License-Identifier: GPL-3.0-or-later
// Times gyroaverages at the command of another program (compare_gyro.py), which writes them line by
// line to the input of rank 0 and reads one JSON line for each:
//   scripts/mpirun.sh RANKS gyro_bench --method bicubic --n 200 --radii 0.46875 --fields 1
//   plan | each [CALLS] | pairs [CALLS] | sum [CALLS] | adjoint [CALLS] | peak
//   write FOLDER   fields and results of `each`; one rank
//   rows FOLDER    the rows of the operator of the first radius, by circle_row(); one rank
// Seconds are those of one call. Fields are random and not zero at the edge, which is the dearest.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/first_error.hpp"
#include "bench/answer_commands.hpp"
#include "bench/command_line.hpp"
#include "bench/gyro_work.hpp"
#include "bench/processor_time.hpp"
#include "bench/read_bandwidth.hpp"
#include "bench/run_bench.hpp"
#include "bench/transform_trial.hpp"
#include "legendre/legendre_stage.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"
#include "ringweave/gyroaverage.hpp"

namespace ringweave::detail {
namespace {

using nlohmann::json;

const std::map<std::string, GyroMethod> methods{{"bilinear", GyroMethod::bilinear},
                                                {"bicubic", GyroMethod::bicubic},
                                                {"dct", GyroMethod::dct},
                                                {"chebyshev", GyroMethod::chebyshev}};

struct Options {
  std::string method = "bicubic";
  std::int64_t n = 200;
  std::vector<double> radii{0.46875};
  std::int64_t n_fields = 1;
};

GyroSpec spec_of(const Options& options) {
  GyroSpec spec;
  spec.method = methods.at(options.method);
  spec.grid.x.size = options.n;
  if (spec.method == GyroMethod::chebyshev) spec.grid.x.nodes = PlaneNodes::chebyshev;
  spec.grid.y = spec.grid.x;
  spec.radii = options.radii;
  spec.n_fields = options.n_fields;
  return spec;
}

/// Rows of an operator as a sparse matrix, of targets one after the other.
struct SparseRows {
  std::vector<std::int64_t> counts;
  std::vector<std::int32_t> columns;
  std::vector<double> weights;
};

/// The rows of the targets of one row of the grid.
SparseRows rows_of(const GyroSpec& spec, std::int64_t y) {
  const PlaneAxis& axis = spec.grid.x;
  std::vector<std::vector<GyroWeight>> rows(to_size(axis.size));
  FirstError error;
#pragma omp parallel for schedule(dynamic)
  for (std::int64_t x = 0; x < axis.size; ++x) {
    error.guard([&] {
      rows[to_size(x)] =
          circle_row(spec.grid, spec.method, axis.node(x), spec.grid.y.node(y), spec.radii.front());
    });
  }
  error.rethrow();
  SparseRows sparse;
  for (const std::vector<GyroWeight>& row : rows) {
    sparse.counts.push_back(ssize64(row));
    for (const GyroWeight& node : row) {
      sparse.columns.push_back(checked_cast<std::int32_t>(node.y * axis.size + node.x, "nodes"));
      sparse.weights.push_back(node.weight);
    }
  }
  return sparse;
}

/// A file of plain numbers without a header (numpy.fromfile).
class RawFile {
 public:
  explicit RawFile(const std::string& path) : path_(path), file_(path, std::ios::binary) {}

  template <class T>
  void append(const T* numbers, std::int64_t count) {
    file_.write(reinterpret_cast<const char*>(numbers), count * std::int64_t{sizeof(T)});
  }
  void close() {
    file_.close();
    if (!file_) throw ResourceError(path_ + ": cannot be written");
  }

 private:
  std::string path_;
  std::ofstream file_;
};

/// Averages of one specification.
class GyroTrial {
 public:
  GyroTrial(Communicator comm, const GyroSpec& spec) : comm_(std::move(comm)), spec_(spec) {
    set_up_seconds_ = seconds_of([&] { plan(); });
    const GyroPart& part = gyro_->part();
    const std::int64_t n_fields = part.n_fields();
    const std::int64_t n_of_radii = part.n_radii() * n_fields;
    const std::int64_t size = part.is_empty() ? 0 : part.n_field_rows() * spec_.grid.x.size;
    const std::int64_t size_out = part.is_empty() ? 0 : part.n_rows() * gyro_->targets().x.size;
    fields_ = ComponentBuffer<double>(n_fields, size);
    fields_of_radii_ = ComponentBuffer<double>(n_of_radii, size);
    results_ = ComponentBuffer<double>(n_of_radii, size_out);
    sums_ = ComponentBuffer<double>(n_fields, size_out);
    back_ = ComponentBuffer<double>(n_fields, size);
    fill();
    gyro_->each<double>(fields_.view(), results_.view());
  }

  /// Executes one command. Collective.
  json run(const std::string& line) {
    const std::size_t space = line.find(' ');
    const std::string name = line.substr(0, space);
    const std::string argument = space == std::string::npos ? "" : line.substr(space + 1);
    if (name == "peak") return peak();
    if (name == "write") return write(argument);
    if (name == "rows") return write_rows(argument);
    return time(work_of(name), argument.empty() ? 1 : std::stol(argument));
  }

  json about() const {
    json answer = gyro_work(spec_);
    answer["n"] = spec_.grid.x.size;
    answer["radii"] = spec_.radii;
    answer["fields"] = spec_.n_fields;
    answer["set_up_seconds"] = set_up_seconds_;
    answer["bytes"] = gyro_->bytes();
    answer["ranks"] = comm_.size();
    answer["threads"] = omp_get_max_threads();
    answer["simd"] = simd_target_chosen();
    return answer;
  }

 private:
  void plan() {
    gyro_.reset();
    gyro_.emplace(comm_, spec_);
  }

  /// Fills the fields of this rank with values that do not depend on the number of ranks.
  void fill() {
    const GyroPart& part = gyro_->part();
    const std::int64_t n = spec_.grid.n_nodes();
    const std::int64_t first = part.field_row_begin * spec_.grid.x.size;
    std::vector<double> plane(to_size(n));
    for (std::int64_t f = 0; f < fields_.n_components(); ++f) {
      std::mt19937_64 random(static_cast<std::uint64_t>(part.field_begin + f));
      std::uniform_real_distribution<double> uniform(-1, 1);
      for (double& value : plane) value = uniform(random);
      std::copy_n(plane.begin() + first, fields_.size(), fields_.view().component(f).data());
    }
    for (std::int64_t c = 0; c < fields_of_radii_.n_components(); ++c) {
      const double* field = fields_.view().component(c % fields_.n_components()).data();
      std::copy_n(field, fields_.size(), fields_of_radii_.view().component(c).data());
    }
  }

  std::function<void()> work_of(const std::string& name) {
    if (name == "plan") return [this] { plan(); };
    if (name == "each") return [this] { gyro_->each<double>(fields_.view(), results_.view()); };
    if (name == "pairs")
      return [this] { gyro_->pairs<double>(fields_of_radii_.view(), results_.view()); };
    if (name == "sum") {
      return [this, weights = std::vector<double>(spec_.radii.size(), 1.0)] {
        gyro_->sum<double>(fields_of_radii_.view(), weights, sums_.view());
      };
    }
    if (name == "adjoint")
      return [this] { gyro_->each_adjoint<double>(results_.view(), back_.view()); };
    throw UsageError(fmt::format(
        "command {}; expected plan, each, pairs, sum, adjoint, peak, write FOLDER or rows FOLDER",
        name));
  }

  template <class Work>
  double seconds_of(const Work& work) const {
    comm_.barrier();
    const auto start = std::chrono::steady_clock::now();
    work();
    const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
    return comm_.max(elapsed.count());
  }

  json time(const std::function<void()>& work, long calls) {
    gyro_->times().clear();
    const double processor = processor_seconds();
    const double seconds = seconds_of([&] {
      for (long call = 0; call < calls; ++call) work();
    });
    const auto n_calls = static_cast<double>(calls);
    json answer;
    answer["calls"] = calls;
    answer["seconds"] = seconds / n_calls;
    answer["processor_seconds"] = comm_.sum(processor_seconds() - processor) / n_calls;
    for (const auto& [stage, entry] : gyro_->times().entries())
      answer["stages"][stage] = entry.seconds / n_calls;
    return answer;
  }

  json peak() const {
    const double flops = all_threads_fma_peak(comm_);
    return {{"flops", flops}, {"read_bandwidth", measure_read_bandwidth(comm_)}};
  }

  void require_one_rank() const {
    if (comm_.size() == 1) return;
    throw UsageError("write and rows: files are those of whole planes; start one rank");
  }

  json write(const std::string& folder) {
    require_one_rank();
    gyro_->each<double>(fields_.view(), results_.view());
    RawFile fields(folder + "/fields");
    fields.append(fields_.view().data(), fields_.n_components() * fields_.size());
    fields.close();
    RawFile results(folder + "/results");
    results.append(results_.view().data(), results_.n_components() * results_.size());
    results.close();
    return json::object();
  }

  json write_rows(const std::string& folder) const {
    require_one_rank();
    RawFile counts(folder + "/counts");
    RawFile columns(folder + "/columns");
    RawFile weights(folder + "/weights");
    std::int64_t n_weights = 0;
    for (std::int64_t y = 0; y < spec_.grid.y.size; ++y) {
      const SparseRows rows = rows_of(spec_, y);
      counts.append(rows.counts.data(), ssize64(rows.counts));
      columns.append(rows.columns.data(), ssize64(rows.columns));
      weights.append(rows.weights.data(), ssize64(rows.weights));
      n_weights += ssize64(rows.weights);
    }
    counts.close();
    columns.close();
    weights.close();
    return {{"weights", n_weights}};
  }

  Communicator comm_;
  GyroSpec spec_;
  std::optional<Gyroaverage> gyro_;
  double set_up_seconds_ = 0;
  ComponentBuffer<double> fields_;
  ComponentBuffer<double> fields_of_radii_;
  ComponentBuffer<double> results_;  ///< of every radius
  ComponentBuffer<double> sums_;
  ComponentBuffer<double> back_;
};

int run(const Communicator& comm, int argc, char** argv) {
  Options options;
  CommandLine command("Times gyroaverages on a square of n x n nodes, for compare_gyro.py.");
  std::vector<std::string> names;
  for (const auto& [name, method] : methods) names.push_back(name);
  command.add("--method", &options.method, "of averaging", names);
  command.add("--n", &options.n, "nodes of an axis");
  command.add("--radii", &options.radii, "the square is 2 wide");
  command.add("--fields", &options.n_fields, "how many are averaged");
  if (const auto code = command.parse(comm, argc, argv)) return *code;
  GyroTrial trial(comm, spec_of(options));
  answer_commands(comm, trial);
  return 0;
}

}  // namespace
}  // namespace ringweave::detail

int main(int argc, char** argv) {
  return ringweave::detail::run_bench("gyro_bench", argc, argv, ringweave::detail::run);
}
