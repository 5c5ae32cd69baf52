// SPDX-License-Identifier: GPL-3.0-or-later
#include "bench/device_transform_cases.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <memory>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/device_buffer.hpp"
#include "base/stage_timer.hpp"
#include "bench/cuda/device_rates.hpp"
#include "bench/device_timing.hpp"
#include "bench/test_alm.hpp"
#include "fft/device_ring_fft.hpp"
#include "ringweave/analysis.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/transform.hpp"
#include "ringweave/views.hpp"
#include "transform/device_transform.hpp"
#include "transform/transform_plan.hpp"

namespace ringweave::detail {
namespace {

using nlohmann::json;
using Complex = std::complex<double>;
enum class Way { synthesis, adjoint };

TransformSpec spec_of(const DeviceCase& what) {
  TransformSpec spec;
  spec.grid = std::make_shared<const RingGrid>(RingGrid::healpix(what.nside));
  spec.lmax = what.lmax;
  spec.mmax = what.lmax;
  spec.fields = FieldSet(std::vector<int>(to_size(what.maps), what.spin));
  return spec;
}

template <class T>
double rms_difference(const T* a, const T* b, std::int64_t count) {
  double difference = 0;
  double norm = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    difference += std::norm(a[i] - b[i]);
    norm += std::norm(b[i]);
  }
  return std::sqrt(difference / norm);
}

/// A transform with its data on the device, and host buffers to copy them from and to.
class Trial {
 public:
  Trial(const Communicator& comm, const DeviceCase& what)
      : comm_(comm),
        plan_(spec_of(what), 0, 1),
        n_components_(plan_.spec.fields.n_components()),
        transform_(comm, plan_),
        input_(plan_.alm.size() * n_components_),
        host_alm_(input_.size()),
        host_map_(plan_.rings.n_pixels() * n_components_),
        alm_(input_.size()),
        map_(host_map_.size()) {
    fill<double>(plan_.alm, what.spin,
                 AlmView<double>(input_.data(), n_components_, plan_.alm.size()));
    std::copy_n(input_.data(), input_.size(), host_alm_.data());
    copy_to_device(host_alm_.data(), alm_.data(), alm_.bytes(), stream());
  }

  void run(Way way) {
    if (way == Way::synthesis) {
      transform_.synthesize<double>(alm(), map());
    } else {
      transform_.adjoint<double>(map(), {}, alm());
    }
  }
  void run_with_transfers(Way way) {
    if (way == Way::synthesis) {
      copy_to_device(host_alm_.data(), alm_.data(), alm_.bytes(), stream());
      run(way);
      copy_to_host(map_.data(), host_map_.data(), map_.bytes(), stream());
    } else {
      copy_to_device(host_map_.data(), map_.data(), map_.bytes(), stream());
      run(way);
      copy_to_host(alm_.data(), host_alm_.data(), alm_.bytes(), stream());
    }
    stream().synchronize();
  }
  /// Computes the map of the input and the a_lm of that map on the host, and the adjoint gap.
  double adjoint_gap() {
    run_with_transfers(Way::synthesis);
    const double left = squared_norm<double>(
        comm_, MapView<const double>(host_map_.data(), n_components_, plan_.rings.n_pixels()));
    run_with_transfers(Way::adjoint);
    const double right = inner_product<double>(
        comm_, plan_.alm, AlmView<const double>(input_.data(), n_components_, plan_.alm.size()),
        AlmView<const double>(host_alm_.data(), n_components_, plan_.alm.size()));
    return std::abs(left - right) / left;
  }
  /// Returns the seconds of a stage within one call.
  double stage_seconds(Way way, const char* stage) {
    constexpr int calls = 5;
    StageTimes times;
    transform_.time_stages(&times);
    for (int i = 0; i < calls; ++i) run(way);
    stream().synchronize();
    transform_.time_stages(nullptr);
    return times.seconds(stage) / calls;
  }

  /// Times the host's transform of the same a_lm.
  OnHost measure_host(int repeats) {
    SphericalHarmonicTransform host(comm_, plan_.spec);
    auto map = host.make_map<double>();
    auto alm = host.make_alm<double>();
    const AlmView<const double> input(input_.data(), n_components_, plan_.alm.size());
    const auto forward = [&] { host.synthesize<double>(input, map.view()); };
    const auto back = [&] { host.adjoint<double>(map.view(), {}, alm.view()); };
    forward();
    back();
    const double of_map = rms_difference(host_map_.data(), map.view().data(), host_map_.size());
    const double of_alm = rms_difference(host_alm_.data(), alm.view().data(), host_alm_.size());
    return {{host_seconds(repeats, forward), of_map}, {host_seconds(repeats, back), of_alm}};
  }

  const TransformPlan& plan() const { return plan_; }
  const DeviceStream& stream() const { return transform_.stream(); }
  std::int64_t device_bytes() const { return transform_.device_bytes(); }
  std::int64_t n_components() const { return n_components_; }
  MapView<double, MemorySpace::device> map() {
    return {map_.data(), n_components_, plan_.rings.n_pixels()};
  }

 private:
  AlmView<double, MemorySpace::device> alm() {
    return {alm_.data(), n_components_, plan_.alm.size()};
  }

  Communicator comm_;
  TransformPlan plan_;
  std::int64_t n_components_;
  DeviceTransform transform_;
  HostBuffer<Complex> input_;
  DeviceBuffer<Complex, MemorySpace::pinned> host_alm_;
  DeviceBuffer<double, MemorySpace::pinned> host_map_;
  DeviceBuffer<Complex> alm_;
  DeviceBuffer<double> map_;
};

json row_of(const DeviceCase& what, const char* stage, Way way) {
  return {{"stage", stage},      {"direction", way == Way::synthesis ? "synthesis" : "adjoint"},
          {"nside", what.nside}, {"lmax", what.lmax},
          {"spin", what.spin},   {"maps", what.maps}};
}

/// Times the ring FFT alone, and cuFFT for as many rings, all as long as the belt's. `batches`:
/// "small", the default, or "whole": all rings of a length at once.
json measure_ring_fft(const DeviceCase& what, const DeviceCeilings& ceilings, Trial& trial,
                      const char* batches, std::int64_t workspace_bytes) {
  const TransformPlan& plan = trial.plan();
  const DeviceStream& stream = trial.stream();
  const auto fft = make_device_ring_fft(
      {plan.rings, plan.exchange.by_ring, trial.n_components(), {}}, stream, workspace_bytes);
  DeviceBuffer<Complex> modes(plan.exchange.by_ring.size() * trial.n_components());
  fill_with_numbers(stream, reinterpret_cast<double*>(modes.data()), 2 * modes.size());
  const auto map = trial.map();
  const double bytes = static_cast<double>(modes.bytes()) +
                       8.0 * static_cast<double>(map.size() * map.n_components());
  const auto rings =
      device_fft_seconds(stream, 4 * what.nside, plan.rings.n_rings() * trial.n_components());
  json rows = json::array();
  const auto add = [&](Way way, double seconds, double cufft) {
    json row = row_of(what, "ring_fft", way);
    row["batches"] = batches;
    row["seconds"] = seconds;
    row["gb_per_s"] = 1e-9 * bytes / seconds;
    row["times_memory_floor"] = seconds * ceilings.bytes / bytes;
    if (rings) row["times_cufft_of_belt"] = seconds / cufft;
    rows.push_back(std::move(row));
  };
  add(Way::synthesis, device_seconds(stream, [&] { fft->synthesize(modes.view(), map); }),
      rings ? rings->to_pixels : 0);
  add(Way::adjoint, device_seconds(stream, [&] { fft->adjoint(map, {}, modes.view()); }),
      rings ? rings->to_modes : 0);
  return rows;
}

}  // namespace

json measure_device_transform(const Communicator& comm, const DeviceCase& what,
                              const DeviceCeilings& ceilings, int host_repeats) {
  Trial trial(comm, what);
  const double gap = trial.adjoint_gap();
  OnHost on_host;
  if (host_repeats > 0) on_host = trial.measure_host(host_repeats);
  const double flop = trial.plan().legendre_flops().total();

  json rows = measure_ring_fft(what, ceilings, trial, "small", ring_fft_workspace_bytes);
  for (const Way way : {Way::synthesis, Way::adjoint}) {
    json row = row_of(what, "transform", way);
    const double seconds = device_seconds(trial.stream(), [&] { trial.run(way); });
    const double legendre = trial.stage_seconds(way, "legendre");
    row["seconds"] = seconds;
    row["legendre_seconds"] = legendre;
    row["times_legendre"] = seconds / legendre;
    row["gflop_per_s"] = 1e-9 * flop / seconds;
    row["of_peak"] = flop / seconds / ceilings.fma;
    row["adjoint_gap"] = gap;
    row["device_bytes"] = trial.device_bytes();
    const double copied = host_seconds(7, [&] { trial.run_with_transfers(way); });
    row["seconds_with_transfers"] = copied;
    const OnHost::Direction host = way == Way::synthesis ? on_host.synthesis : on_host.adjoint;
    if (host.seconds > 0) {
      row["host_difference"] = host.difference;
      row["host_seconds"] = host.seconds;
      row["times_host"] = host.seconds / seconds;
      row["times_host_with_transfers"] = host.seconds / copied;
    }
    rows.push_back(std::move(row));
  }
  constexpr std::int64_t no_limit = std::int64_t{1} << 40;
  for (json& row : measure_ring_fft(what, ceilings, trial, "whole", no_limit)) {
    rows.push_back(std::move(row));
  }
  return rows;
}

void call_device_transform(const Communicator& comm, const DeviceCase& what,
                           const std::string& direction) {
  if (direction != "synthesis" && direction != "adjoint")
    throw UsageError("--bounds: synthesis or adjoint, not " + direction);
  const TransformPlan plan(spec_of(what), 0, 1);
  const std::int64_t n = plan.spec.fields.n_components();
  DeviceTransform transform(comm, plan);
  DeviceBuffer<Complex> alm(plan.alm.size() * n);
  DeviceBuffer<double> map(plan.rings.n_pixels() * n);
  zero_device_memory(alm.data(), alm.bytes(), transform.stream());
  zero_device_memory(map.data(), map.bytes(), transform.stream());
  const AlmView<double, MemorySpace::device> alm_view(alm.data(), n, plan.alm.size());
  const MapView<double, MemorySpace::device> map_view(map.data(), n, plan.rings.n_pixels());
  if (direction == "synthesis") {
    transform.synthesize<double>(alm_view, map_view);
  } else {
    transform.adjoint<double>(map_view, {}, alm_view);
  }
  transform.stream().synchronize();
}

}  // namespace ringweave::detail
