// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/report/transform_report.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "app/backend_choice.hpp"
#include "app/report/plan_table.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/transform.hpp"
#include "transform/device_budget.hpp"
#include "transform/offloaded_transform.hpp"

namespace ringweave::detail::inline app {
namespace {

/// Steps of conjugate gradients assumed by a plan. HEALPix with lmax = 2 nside takes 5 to a
/// residual of 1e-10; with 3 nside - 1 it takes 6 to 1e-3 and may not reach 1e-6 in a hundred.
constexpr int assumed_steps = 10;

/// Work of all transforms of a run on this rank.
struct RunWork {
  TransformEstimate predicted;
  double legendre_flops = 0;
  double fft_bytes = 0;
  double sent_bytes = 0;
};

/// Adds n transforms, of which n_on_spectra have no FFTs where these run on the host.
void add(const TransformWork& work, int n, int n_on_spectra, const Machine& machine, RunWork& sum) {
  if (work.place != Place::host && work.on_device != StagesOnDevice::legendre) n_on_spectra = 0;
  const int n_whole = n - n_on_spectra;
  sum.predicted = sum.predicted + n_whole * estimate_transform(work, machine) +
                  n_on_spectra * estimate_transform(on_spectra(work), machine);
  sum.legendre_flops += n * (work.scalar_flops + work.spin_flops);
  sum.fft_bytes += n_whole * static_cast<double>(work.fft_pixel_bytes) +
                   n * static_cast<double>(work.fft_mode_bytes);
  sum.sent_bytes += n * static_cast<double>(work.sent_bytes);
}

/// `all_fields`: one transform of all fields of the plan.
RunWork work_of_run(const TransformPlan& plan, const TransformWork& all_fields,
                    const TransformCount& count, const Machine& machine) {
  RunWork work;
  add(all_fields, count.all_fields, count.all_fields_on_spectra, machine, work);
  if (count.mask > 0) {
    TransformSpec scalar = plan.spec;
    scalar.fields = FieldSet({0});
    TransformWork mask =
        work_of(TransformPlan(scalar, plan.rank, plan.n_ranks), all_fields.n_threads);
    mask.place = all_fields.place;
    mask.on_device = all_fields.on_device;
    mask.route = all_fields.route;
    mask.ranks_of_device = all_fields.ranks_of_device;
    add(mask, count.mask, count.mask_on_spectra, machine, work);
  }
  return work;
}

/// Collective.
TransformPrediction prediction_of_slowest(const Communicator& comm, const RunWork& work) {
  const TransformEstimate& mine = work.predicted;
  return {{of_slowest(comm, mine.legendre), of_slowest(comm, mine.ring_fft),
           of_slowest(comm, mine.exchange), of_slowest(comm, mine.copies)},
          of_slowest(comm, mine.total())};
}

void put_prediction(const TransformPrediction& prediction, const TransformCount& count,
                    nlohmann::ordered_json& plan) {
  plan["transforms"] = count.all_fields;
  plan["mask_transforms"] = count.mask;
  plan["transforms_are_a_guess"] = count.is_a_guess;
  plan["predicted_seconds"] = prediction.total.seconds;
  plan["predicted_uncertainty_seconds"] = prediction.total.sigma;
  plan["predicted_stages"] = {{"legendre", prediction.stages.legendre.seconds},
                              {"ring_fft", prediction.stages.ring_fft.seconds},
                              {"exchange", prediction.stages.exchange.seconds}};
  if (prediction.stages.copies.seconds > 0)
    plan["predicted_stages"]["copies"] = prediction.stages.copies.seconds;
}

std::string count_text(const TransformCount& count) {
  return fmt::format("{}{} transform(s){}", count.is_a_guess ? "perhaps " : "", count.all_fields,
                     count.mask > 0 ? fmt::format(" and {} of the mask", count.mask) : "");
}

std::string whereabouts(const DeviceBudget& device) {
  if (device.on_device()) return "a_lm, ring modes and maps go there";
  return "a_lm and maps stay on the host and are copied in blocks, because " + device.reason;
}

/// Prints the entries of record_device() as rows of the plan. Collective.
void print_device(Run& run, const SphericalHarmonicTransform& transform, PlanTable& table) {
  const DeviceBudget* device = transform.device();
  if (device == nullptr) return;
  const DeviceMemoryPlan& planned = device->planned;
  const char* const how = device->on_device() ? "" : ", in blocks";
  if (transform.plan().legendre_backend() == Backend::cuda)
    table.bytes(fmt::format("device: Legendre stage{}", how), planned.legendre);
  if (transform.plan().ring_fft_backend() == Backend::cuda)
    table.bytes(fmt::format("device: ring FFT{}", how), planned.ring_fft);
  if (device->on_device()) {
    table.bytes("device: ring modes", planned.modes);
    table.bytes("device: a_lm and map", planned.alm + planned.map);
  }
  table.bytes("device memory", planned.total());
  run.print_line(fmt::format("  device: {}; {}", device_text(*device), whereabouts(*device)));
}

/// Returns the seconds of each stage in words.
std::string stages_text(const TransformEstimate& stages) {
  const double copies = stages.copies.seconds;
  return fmt::format("Legendre {:.2g}, ring FFT {:.2g}, exchange {:.2g}{}", stages.legendre.seconds,
                     stages.ring_fft.seconds, stages.exchange.seconds,
                     copies > 0 ? fmt::format(", copies {:.2g}", copies) : "");
}

void print_plan(Run& run, const SphericalHarmonicTransform& transform,
                const MemoryEstimate& estimate, const TransformCount& count,
                const TransformPrediction& prediction) {
  const TransformPlan& plan = transform.plan();
  const std::size_t n_groups = plan.groups.size();
  run.print_line(fmt::format(
      "plan: {}, lmax {}, mmax {}, {} component(s){}, {} rank(s) x {} thread(s), {}",
      plan.spec.grid->name(), plan.spec.lmax, plan.spec.mmax, plan.spec.fields.n_components(),
      n_groups > 1 ? fmt::format(" in {} groups", n_groups) : "", run.comm.size(),
      omp_get_max_threads(), count_text(count)));
  PlanTable table(run);
  table.count("rings", plan.rings.n_rings());
  table.count("pixels", plan.rings.n_pixels());
  table.count("orders m", plan.alm.n_orders());
  table.bytes("sent per transform", plan.bytes_sent());
  table.memory(estimate);
  print_device(run, transform, table);
  run.print_line(fmt::format("  predicted{}: {} in transforms ({})",
                             whose_costs(run, transform.device() != nullptr),
                             seconds_text(prediction.total), stages_text(prediction.stages)));
}

}  // namespace

TransformCount& TransformCount::operator+=(const TransformCount& more) {
  all_fields += more.all_fields;
  mask += more.mask;
  is_a_guess = is_a_guess || more.is_a_guess;
  all_fields_on_spectra += more.all_fields_on_spectra;
  mask_on_spectra += more.mask_on_spectra;
  return *this;
}

TransformCount planned_analysis(int n_iter, double tolerance, PixelWeights weights) {
  TransformCount count;
  count.is_a_guess = tolerance > 0;
  count.all_fields = tolerance > 0 ? 3 + 2 * assumed_steps : 1 + 2 * n_iter;
  if (weights == PixelWeights::none) count.all_fields_on_spectra = count.all_fields - 1;
  return count;
}

Estimate of_slowest(const Communicator& comm, const Estimate& mine) {
  return {comm.max(mine.seconds), comm.max(mine.sigma)};
}

std::string whose_costs(const Run& run, bool is_on_device) {
  if (!is_on_device || run.machine.device) return "";
  return " for the host, since no GPU is in the machine file (ringweave calibrate --backend cuda)";
}

TransformPrediction predict_transforms(const Run& run, const TransformPlan& plan,
                                       const TransformCount& count) {
  TransformWork work = work_of(plan, omp_get_max_threads());
  if (plan.spec.backend == Backend::cuda)
    work.ranks_of_device = std::min(plan.n_ranks, ranks_of_device(run));
  return prediction_of_slowest(run.comm, work_of_run(plan, work, count, run.machine));
}

void record_plan(Run& run, const SphericalHarmonicTransform& transform,
                 const MemoryEstimate& estimate, const TransformCount& count) {
  const TransformPrediction prediction = prediction_of_slowest(
      run.comm,
      work_of_run(transform.plan(), work_of(transform, omp_get_max_threads()), count, run.machine));
  record_memory(run, estimate);
  nlohmann::ordered_json& plan = run.report["plan"];
  plan["groups_of_fields"] = transform.plan().groups.size();
  put_prediction(prediction, count, plan);
  record_device(run, transform);
  if (run.options.dry_run || run.options.verbose)
    print_plan(run, transform, estimate, count, prediction);
}

void record_synthesis_plan(Run& run, const SphericalHarmonicTransform& transform,
                           const TransformCount& count) {
  const TransformPlan& plan = transform.plan();
  const TransformPrediction prediction = prediction_of_slowest(
      run.comm, work_of_run(plan, work_of(transform, omp_get_max_threads()), count, run.machine));
  put_prediction(prediction, count, run.report["plan"]["synthesis"]);
  if (!run.options.dry_run && !run.options.verbose) return;
  run.print_line(fmt::format("  predicted: {} in {} transform(s) onto {} ({})",
                             seconds_text(prediction.total), count.all_fields,
                             plan.spec.grid->name(), stages_text(prediction.stages)));
}

std::string device_text(const DeviceShare& device) {
  return fmt::format("{}, {} rank(s) on it, {} free", device.device.name, device.n_ranks,
                     bytes_text(static_cast<double>(device.free_bytes)));
}

nlohmann::ordered_json device_entry(const Run& run, const DeviceShare& device,
                                    std::int64_t planned_bytes) {
  return {{"name", device.device.name},
          {"ranks_on_it", run.comm.max(std::int64_t{device.n_ranks})},
          {"free_bytes", over_ranks(run.comm, static_cast<double>(device.free_bytes))},
          {"planned_bytes", over_ranks(run.comm, static_cast<double>(planned_bytes))}};
}

void record_device(Run& run, const SphericalHarmonicTransform& transform) {
  const DeviceBudget* device = transform.device();
  if (device == nullptr) return;
  const OffloadedTransform* offloaded = transform.offloaded();
  run.report["device"] = device_entry(run, *device, device->planned.total());
  run.report["device"]["data_on_device"] = device->on_device();
  run.report["device"]["reason"] = device->reason;
  if (offloaded == nullptr) return;
  run.report["device"]["held_bytes"] =
      over_ranks(run.comm, static_cast<double>(offloaded->device_bytes()));
  run.report["device"]["mpi"] = offloaded->transform().route() == DeviceRoute::direct
                                    ? "from device memory"
                                    : "through the host's memory";
}

void record_transform(Run& run, SphericalHarmonicTransform& transform, const TransformCount& count,
                      PlanPart part) {
  const TransformPlan& plan = transform.plan();
  const Communicator& comm = run.comm;
  for (const auto& [stage, entry] : transform.times().entries())
    run.times.add(stage, entry.seconds);
  const RunWork work =
      work_of_run(plan, work_of(transform, omp_get_max_threads()), count, run.machine);
  const auto giga_per_second = [&](double mine, const char* stage) {
    const double seconds = comm.max(transform.times().seconds(stage));
    const double sum = comm.sum(mine);
    return seconds > 0 ? sum / seconds * 1e-9 : 0.0;
  };
  const bool is_synthesis = part == PlanPart::synthesis;
  run.report[is_synthesis ? "synthesis" : "transform"] = {
      {"grid", plan.spec.grid->name()},
      {"lmax", plan.spec.lmax},
      {"mmax", plan.spec.mmax},
      {"components", plan.spec.fields.n_components()},
      {"transforms", count.all_fields},
      {"mask_transforms", count.mask},
      {"bytes_sent_per_transform", comm.sum(plan.bytes_sent())},
      {"legendre_gflop_per_s", giga_per_second(work.legendre_flops, "legendre")},
      {"ring_fft_gb_per_s", giga_per_second(work.fft_bytes, "ring_fft")},
      {"exchange_gb_per_s", giga_per_second(work.sent_bytes, "exchange")},
  };
  nlohmann::ordered_json& whole = run.report["plan"];
  put_prediction(prediction_of_slowest(comm, work), count,
                 is_synthesis ? whole["synthesis"] : whole);
  if (is_synthesis) return;
  run.report["layout"] = {
      {"rings", over_ranks(comm, static_cast<double>(plan.rings.n_rings()))},
      {"pixels", over_ranks(comm, static_cast<double>(plan.rings.n_pixels()))},
      {"orders", over_ranks(comm, static_cast<double>(plan.alm.n_orders()))},
  };
}

}  // namespace ringweave::detail::inline app
