// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "perf_models/cost_curve.hpp"
#include "perf_models/device_costs.hpp"
#include "perf_models/exchange_model.hpp"

namespace ringweave::detail::inline perf_models {

/// The costs of Ringweave's stages on one machine, fitted from runs of the program's own code
/// (`ringweave calibrate`). Stages are assumed to divide their work evenly among threads: seconds
/// are those of one thread while all others work too.
struct Machine {
  std::string name;   ///< of the processor
  std::string date;   ///< of the calibration, ISO 8601; empty: described, not measured
  std::string notes;  ///< source of a described machine's figures
  std::string backend = "host";
  int n_ranks = 1;  ///< in the calibration
  int n_threads = 1;

  // Size: lmax. Unit: a useful FLOP (TransformPlan::legendre_flops) on HEALPix with lmax = 2 nside.
  CostCurve legendre_scalar;
  CostCurve legendre_spin;
  // Size: pixels of the grid's longest ring. Unit: a byte of pixels; of modes.
  CostCurve ring_fft;
  CostCurve ring_fft_modes;
  // Size: lmax. Unit: a ring of the grid; per rank, whatever its share.
  CostCurve transform_planning;
  Network network;

  // Size: lmax. Unit: an operation on vectors for the taps of a point (tap_operations in
  // nonuniform).
  CostCurve point_sums;

  // Measured seconds over those RingConvolutionPlan predicts. Size: pixels of the longest ring.
  CostCurve convolution_stencil;
  CostCurve convolution_sectors;
  CostCurve convolution_ring_fft;
  CostCurve convolution_modes;
  CostCurve convolution_spin;  ///< of the sectors of fields of spin
  // Unit: a ring of the grid.
  CostCurve convolution_planning;

  // Size: lmax. Unit: a search for a split kernel (KernelSplit), of all threads.
  CostCurve split_search;

  // Size and unit: a byte of large buffers, newly allocated from the system.
  CostCurve new_memory;
  // Size and unit: a byte of the file.
  CostCurve file_read;
  CostCurve file_write;

  std::optional<DeviceCosts> device;  ///< of every rank
};

/// A current server core and a 12 GB/s network, good to a factor of two: used without a
/// calibration.
const Machine& typical_machine();

/// Machines that come with the program, by the names of their files in perf_models/machines.
std::vector<std::string> described_machine_names();
/// Returns the machine of a name. Error  UsageError that lists the names when there is no such
/// machine.
Machine described_machine(const std::string& name);

}  // namespace ringweave::detail::inline perf_models
