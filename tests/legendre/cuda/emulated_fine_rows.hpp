// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "base/block_pipeline.hpp"
#include "base/checked_cast.hpp"
#include "legendre/cuda/blocks/row_blocks.hpp"
#include "legendre/cuda/emulated_stage.hpp"
#include "legendre/cuda/plan/fine_row_plan.hpp"
#include "legendre/cuda/plan/fine_row_sequence.hpp"
#include "legendre/cuda/plan/stage_memory.hpp"
#include "legendre/fine_row_problem.hpp"
#include "support/emulated_fft.hpp"

namespace ringweave::detail {

/// The launches of a device stage of fine rows, run on the host.
class EmulatedFineRows {
 public:
  explicit EmulatedFineRows(const FineRowProblem& problem)
      : EmulatedFineRows(problem, usual_block_bytes, {}) {}
  /// block_bytes  of the rows that are transformed together
  EmulatedFineRows(const FineRowProblem& problem, std::int64_t block_bytes,
                   const gpu::StageMemory& memory)
      : EmulatedFineRows(
            problem,
            gpu::FineRowPlan(problem.shape, gpu::RowBlocks(problem.shape, block_bytes).all_heads(),
                             memory.theta_bytes),
            memory, {}) {}
  /// plan  of a shape with the problem's orders and any layout of their modes
  EmulatedFineRows(const FineRowProblem& problem, const gpu::FineRowPlan& plan,
                   const gpu::StageMemory& memory, std::span<const std::int64_t> alm_begin)
      : problem_(problem),
        n_parts_(ssize64(plan.parts)),
        n_columns_(plan.n_columns),
        sums_(problem, plan.sums, alm_begin, memory),
        sequence_(plan, machine_) {}

  std::int64_t n_parts() const { return n_parts_; }
  std::int64_t n_columns() const { return n_columns_; }
  std::int64_t device_bytes() const { return sums_.device_bytes() + sequence_.bytes(); }
  RowRange all() const { return sums_.all(); }

  std::vector<Complex> synthesize(const std::vector<Complex>& alm) {
    std::vector<Complex> modes(to_size(problem_.modes_size()));
    synthesize(alm.data(), problem_.alm_layout.size(), modes.data(), all());
    return modes;
  }
  std::vector<Complex> adjoint(const std::vector<Complex>& modes) {
    std::vector<Complex> alm(to_size(problem_.alm_size()));
    adjoint(modes.data(), alm.data(), problem_.alm_layout.size(), Accumulate::overwrite, all());
    return alm;
  }
  // As EmulatedStage.
  void synthesize(const Complex* alm, std::int64_t stride, Complex* modes, RowRange rows) {
    const auto sums = [&](gpu::Double2* equidistant, RowRange of) {
      sums_.synthesize(alm, stride, reinterpret_cast<Complex*>(equidistant), of);
    };
    sequence_.synthesize(sums, reinterpret_cast<double*>(modes), rows);
  }
  void adjoint(const Complex* modes, Complex* alm, std::int64_t stride, Accumulate how,
               RowRange rows) {
    const auto sums = [&](const gpu::Double2* equidistant, RowRange of) {
      sums_.adjoint(reinterpret_cast<const Complex*>(equidistant), alm, stride, how, of);
    };
    sequence_.adjoint(reinterpret_cast<const double*>(modes), sums, rows);
  }

 private:
  using Machine = gpu::WithFfts<gpu::EmulatedMachine>;

  const LegendreProblem& problem_;
  std::int64_t n_parts_;
  std::int64_t n_columns_;
  EmulatedStage sums_;
  Machine machine_;
  gpu::FineRowSequence<Machine> sequence_;
};

}  // namespace ringweave::detail
