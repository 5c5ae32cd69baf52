// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/device_legendre_cases.hpp"

#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <utility>

#include "base/checked_cast.hpp"
#include "base/device_buffer.hpp"
#include "base/mode_view.hpp"
#include "bench/device_timing.hpp"
#include "bench/significant_terms.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail {
namespace {

using Complex = std::complex<double>;
using Values = std::vector<Complex>;

/// Returns numbers in [-1, 1), hashed from their indices (splitmix64).
double number_at(std::uint64_t place) {
  std::uint64_t bits = (place + 1) * 0x9e3779b97f4a7c15U;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebU;
  return static_cast<double>(static_cast<std::int64_t>(bits ^ (bits >> 31))) * 0x1p-63;
}
Values random_values(std::int64_t count, std::uint64_t seed) {
  Values values(to_size(count));
#pragma omp parallel for schedule(static)
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t place = (seed << 40) + 2 * static_cast<std::uint64_t>(i);
    values[to_size(i)] = {number_at(place), number_at(place + 1)};
  }
  return values;
}

LegendreShape shape_of(const DeviceCase& what) {
  const auto grid = std::make_shared<const RingGrid>(RingGrid::healpix(what.nside));
  const FieldSet fields(std::vector<int>(to_size(what.maps), what.spin));
  const ModeLimits limits(*grid, what.lmax, what.lmax, what.spin);
  ModeLayout rows;
  std::int64_t size = 0;
  for (int m = 0; m <= what.lmax; ++m) {
    rows.begin_row(m);
    rows.add_segment(limits.kept(m), size);
    size += limits.kept(m).size();
  }
  rows.set_size(size);
  return {grid, limits, {}, AlmLayout(what.lmax, what.lmax), rows, fields};
}

long double dot(const Values& a, const Values& b) {
  long double sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
  for (std::size_t i = 0; i < a.size(); ++i) {
    sum += static_cast<long double>(a[i].real()) * b[i].real() +
           static_cast<long double>(a[i].imag()) * b[i].imag();
  }
  return sum;
}

double rms_difference(const Values& a, const Values& b) {
  long double square = 0;
#pragma omp parallel for schedule(static) reduction(+ : square)
  for (std::size_t i = 0; i < a.size(); ++i) square += std::norm(a[i] - b[i]);
  return static_cast<double>(std::sqrt(square / dot(b, b)));
}

/// The stage with its data on the device and on the host.
class Trial {
 public:
  Trial(const DeviceCase& what, const DeviceStream& stream)
      : shape_(shape_of(what)),
        n_components_(shape_.fields.n_components()),
        stream_(&stream),
        stage_(make_device_legendre_stage(shape_, stream, what.sums)),
        alm_(random_values(shape_.alm.size() * n_components_, 1)),
        modes_(random_values(shape_.rows.size() * n_components_, 2)),
        device_alm_(ssize64(alm_)),
        device_modes_(ssize64(modes_)) {}

  void synthesize() { stage_->synthesize(alm(), device_modes_.view()); }
  void adjoint() { stage_->adjoint(device_modes_.view(), alm(), Accumulate::overwrite); }
  Values synthesis_of_alm() {
    copy_to_device(alm_.data(), device_alm_.data(), device_alm_.bytes(), *stream_);
    synthesize();
    Values result(modes_.size());
    copy_to_host(device_modes_.data(), result.data(), device_modes_.bytes(), *stream_);
    stream_->synchronize();
    return result;
  }
  Values adjoint_of_modes() {
    copy_to_device(modes_.data(), device_modes_.data(), device_modes_.bytes(), *stream_);
    adjoint();
    Values result(alm_.size());
    copy_to_host(device_alm_.data(), result.data(), device_alm_.bytes(), *stream_);
    stream_->synchronize();
    return result;
  }

  const LegendreShape& shape() const { return shape_; }
  const Values& host_alm() const { return alm_; }
  const Values& host_modes() const { return modes_; }
  std::int64_t device_bytes() const { return stage_->device_bytes(); }
  double flop() const {
    return static_cast<double>(ssize64(shape_.fields.fields())) *
           flop_of_term(shape_.fields.max_spin()) * significant_terms(*shape_.grid, shape_.limits);
  }
  /// Bytes of a_lm and modes, each read or written once.
  double bytes() const { return static_cast<double>(device_alm_.bytes() + device_modes_.bytes()); }

 private:
  AlmView<double, MemorySpace::device> alm() {
    return {device_alm_.data(), n_components_, shape_.alm.size()};
  }

  LegendreShape shape_;
  std::int64_t n_components_;
  const DeviceStream* stream_;
  std::unique_ptr<DeviceLegendreStage> stage_;
  Values alm_;
  Values modes_;
  DeviceBuffer<Complex> device_alm_;
  DeviceBuffer<Complex> device_modes_;
};

OnHost measure_host(const Trial& trial, const Values& modes, const Values& alm, int repeats) {
  const LegendreShape& shape = trial.shape();
  const std::int64_t n_components = shape.fields.n_components();
  const auto stage = make_legendre_stage(shape, Backend::host);
  Values host_modes(modes.size());
  Values host_alm(alm.size());
  const auto synthesize = [&] {
    stage->synthesize(
        AlmView<const double>(trial.host_alm().data(), n_components, shape.alm.size()),
        ModeView<double>(host_modes.data(), ssize64(host_modes)));
  };
  const auto adjoint = [&] {
    stage->adjoint(ModeView<const double>(trial.host_modes().data(), ssize64(trial.host_modes())),
                   AlmView<double>(host_alm.data(), n_components, shape.alm.size()),
                   Accumulate::overwrite);
  };
  synthesize();
  adjoint();
  const double of_modes = rms_difference(modes, host_modes);
  const double of_alm = rms_difference(alm, host_alm);
  return {{host_seconds(repeats, synthesize), of_modes}, {host_seconds(repeats, adjoint), of_alm}};
}

}  // namespace

const char* name_of(BatchedSums sums) {
  switch (sums) {
    case BatchedSums::by_threads: return "threads";
    case BatchedSums::by_matrices: return "matrices";
    case BatchedSums::as_measured: return "usual";
  }
  return "";
}

nlohmann::json measure_device_legendre(const DeviceCase& what, const DeviceCeilings& ceilings,
                                       int host_repeats, const DeviceStream& stream) {
  Trial trial(what, stream);
  const Values modes = trial.synthesis_of_alm();
  const Values alm = trial.adjoint_of_modes();
  const long double scale =
      std::sqrt(dot(modes, modes) * dot(trial.host_modes(), trial.host_modes()) /
                static_cast<long double>(modes.size()));
  const auto gap = static_cast<double>(
      std::abs(dot(modes, trial.host_modes()) - dot(trial.host_alm(), alm)) / scale);
  OnHost host;
  if (host_repeats > 0) host = measure_host(trial, modes, alm, host_repeats);

  nlohmann::json rows = nlohmann::json::array();
  const double peak = what.sums == BatchedSums::by_threads ? ceilings.fma : ceilings.matrices;
  const auto add = [&](const char* direction, double seconds, const OnHost::Direction& on_host) {
    const double rate = trial.flop() / seconds;
    nlohmann::json row = {{"stage", "legendre"},
                          {"direction", direction},
                          {"nside", what.nside},
                          {"lmax", what.lmax},
                          {"spin", what.spin},
                          {"maps", what.maps},
                          {"sums", name_of(what.sums)},
                          {"seconds", seconds},
                          {"gflop_per_s", 1e-9 * rate},
                          {"of_peak", rate / peak},
                          {"times_memory_floor", seconds * ceilings.bytes / trial.bytes()},
                          {"adjoint_gap", gap},
                          {"device_bytes", trial.device_bytes()}};
    if (on_host.seconds > 0) {
      row["host_difference"] = on_host.difference;
      row["host_seconds"] = on_host.seconds;
      row["times_host"] = on_host.seconds / seconds;
    }
    rows.push_back(std::move(row));
  };
  add("synthesis", device_seconds(stream, [&] { trial.synthesize(); }), host.synthesis);
  add("adjoint", device_seconds(stream, [&] { trial.adjoint(); }), host.adjoint);
  return rows;
}

}  // namespace ringweave::detail
