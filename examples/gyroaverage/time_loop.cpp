// SPDX-License-Identifier: GPL-3.0-or-later
// Gyroaverages in a time loop on one page: densities of 35 radii follow the averaged potential, and
// their averages, integrated over the radii, are the next potential. On any number of ranks.
//   mpirun -n 4 time_loop [NODES [STEPS]]
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <ringweave/ringweave.hpp>

namespace {

using namespace ringweave;

constexpr int n_radii = 35;

/// Radii up to 0.875, in units of the coordinates.
GyroSpec specification(std::int64_t n) {
  GyroSpec spec;
  spec.grid.x = {.size = n, .first = -1, .last = 1};  // equispaced; zero outside
  spec.grid.y = spec.grid.x;
  spec.method = GyroMethod::bicubic;
  for (int r = 0; r < n_radii; ++r) spec.radii.push_back(0.025 * (r + 1));
  return spec;
}

/// Weights of an integral over the radii: rho exp(-8 rho^2) d rho, their sum 1.
std::vector<double> maxwellian(const std::vector<double>& radii) {
  std::vector<double> weights;
  double sum = 0;
  for (const double rho : radii) sum += weights.emplace_back(rho * std::exp(-8 * rho * rho));
  for (double& weight : weights) weight /= sum;
  return weights;
}

/// Fills the rows of this rank with a bell beside the middle.
void begin_with_bell(const GyroSpec& spec, const GyroPart& part, ComponentView<double> potential) {
  const std::int64_t n = spec.grid.x.size;
  for (std::int64_t i = 0; i < part.n_field_rows() * n; ++i) {
    const double x = -1 + spec.grid.x.spacing() * static_cast<double>(i % n) - 0.2;
    const double y = -1 + spec.grid.y.spacing() * static_cast<double>(part.field_row_begin + i / n);
    potential.data()[i] = std::exp(-22 * (x * x + y * y));
  }
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void run(const Communicator& comm, std::int64_t n, int n_steps) {
  const GyroSpec spec = specification(n);
  const auto start = std::chrono::steady_clock::now();
  Gyroaverage gyro(comm, spec);  // makes all tables: once
  const double set_up = comm.max(seconds_since(start));

  // A rank has some radii, and some rows of the planes where there are more ranks.
  const GyroPart& part = gyro.part();
  const std::int64_t plane = part.n_rows() * n;
  ComponentBuffer<double> potential(part.n_fields(), plane);
  ComponentBuffer<double> averages(part.n_radii() * part.n_fields(), plane);
  ComponentBuffer<double> densities(part.n_radii() * part.n_fields(), plane);
  begin_with_bell(spec, part, potential.view());
  std::fill_n(densities.view().data(), densities.n_components() * plane, 0.0);
  const std::vector<double> weights = maxwellian(spec.radii);

  constexpr double step = 0.5;
  double seconds_of_each = 0;
  double seconds_of_sum = 0;
  for (int i = 0; i < n_steps; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    gyro.each<double>(potential.view(), averages.view());
    const double after_each = seconds_since(begin);
    for (std::int64_t k = 0; k < densities.n_components() * plane; ++k) {
      double& density = densities.view().data()[k];
      density += step * (averages.view().data()[k] - density);
    }
    const double before_sum = seconds_since(begin);
    gyro.sum<double>(densities.view(), weights, potential.view());
    seconds_of_each += after_each;
    seconds_of_sum += seconds_since(begin) - before_sum;
  }

  double largest = 0;
  for (std::int64_t i = 0; i < potential.n_components() * plane; ++i)
    largest = std::max(largest, potential.view().data()[i]);
  largest = comm.max(largest);
  const double per_step = 1e3 / n_steps;
  seconds_of_each = comm.max(seconds_of_each);
  seconds_of_sum = comm.max(seconds_of_sum);
  if (comm.is_root()) {
    std::printf(
        "%d radii on %lld x %lld nodes, %d rank(s): set-up %.1f ms; a step: each %.2f ms, sum "
        "%.2f ms; largest potential after %d steps %.6f\n",
        n_radii, static_cast<long long>(n), static_cast<long long>(n), comm.size(), 1e3 * set_up,
        per_step * seconds_of_each, per_step * seconds_of_sum, n_steps, largest);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const MpiSession mpi(&argc, &argv);
  const Communicator comm = Communicator::world();
  return run_program(comm, "time_loop", [&] {
    run(comm, argc > 1 ? std::atoi(argv[1]) : 128, argc > 2 ? std::atoi(argv[2]) : 5);
    return 0;
  });
}
