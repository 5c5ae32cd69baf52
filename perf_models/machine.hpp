// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "perf_models/cost_curve.hpp"
#include "perf_models/device_costs.hpp"
#include "perf_models/exchange_model.hpp"

namespace ringweave {

/// Costs of the stages of Ringweave on one machine, fitted to timings of the program's own code
/// (`ringweave calibrate`). Threads are assumed to share the work of a stage evenly: seconds are
/// those of one thread while all others work too.
struct Machine {
  std::string name;   ///< of the processor
  std::string date;   ///< of the calibration, ISO 8601; empty for a described machine
  std::string notes;  ///< sources of the figures of a described machine
  std::string backend = "host";
  int n_ranks = 1;  ///< of the calibration
  int n_threads = 1;

  // Size: lmax. Unit: a useful FLOP (TransformPlan::legendre_flops) on HEALPix with lmax = 2 nside.
  CostCurve legendre_scalar;
  CostCurve legendre_spin;
  // Size: pixels of the grid's longest ring. Unit: a byte of pixels (ring_fft), of modes
  // (ring_fft_modes).
  CostCurve ring_fft;
  CostCurve ring_fft_modes;
  // Size: lmax. Unit: a ring of the grid, on every rank whatever its share.
  CostCurve transform_planning;
  Network network;

  // Measured seconds divided by those RingConvolutionPlan predicts. Size: pixels of the longest
  // ring.
  CostCurve convolution_stencil;
  CostCurve convolution_sectors;
  CostCurve convolution_ring_fft;
  CostCurve convolution_modes;
  // Unit: a ring of the grid.
  CostCurve convolution_planning;

  // Size: lmax. Unit: one search for a split kernel (KernelSplit) with all threads.
  CostCurve split_search;

  // Size and unit: a byte of large buffers newly allocated by the system.
  CostCurve new_memory;
  // Size and unit: a byte of the file.
  CostCurve file_read;
  CostCurve file_write;

  std::optional<DeviceCosts> device;  ///< same for every rank
};

/// Returns the default machine: a present-day server core and a 12 GB/s network, good to a factor
/// of two.
const Machine& typical_machine();

/// Returns the names of the machines that come with the program (files in perf_models/machines).
std::vector<std::string> described_machine_names();
/// Returns the machine of this name. Error  UsageError that lists the names when it is unknown.
Machine described_machine(const std::string& name);

}  // namespace ringweave
