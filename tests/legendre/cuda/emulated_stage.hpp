// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "base/checked_cast.hpp"
#include "legendre/cuda/blocks/row_blocks.hpp"
#include "legendre/cuda/plan/stage_sequence.hpp"
#include "legendre/legendre_problem.hpp"
#include "support/emulated_block.hpp"

namespace ringweave::detail {

/// The launches of a device stage for the same problem as a host stage, run on the host. They are
/// compiled in emulated_stage.cpp, once for all tests.
template <class Machine = gpu::EmulatedMachine>
class EmulatedStageOn {
 public:
  explicit EmulatedStageOn(const LegendreProblem& problem, gpu::StageMemory memory = {},
                           BatchedSums sums = usual_sums);
  /// shape, alm_begin  as in StageSequence
  EmulatedStageOn(const LegendreProblem& problem, const LegendreShape& shape,
                  std::span<const std::int64_t> alm_begin, gpu::StageMemory memory = {});

  RowRange all() const { return {0, problem_.alm_layout.n_orders()}; }
  std::int64_t device_bytes() const { return sequence_.bytes(); }
  bool barriers_agree() const { return machine_.barriers_agree; }

  template <class T>
  std::vector<Complex> synthesize(const std::vector<std::complex<T>>& alm) {
    std::vector<Complex> modes(to_size(problem_.modes_size()));
    synthesize(alm, modes, all());
    return modes;
  }
  template <class T>
  void synthesize(const std::vector<std::complex<T>>& alm, std::vector<Complex>& modes,
                  RowRange rows) {
    synthesize(alm.data(), problem_.alm_layout.size(), modes.data(), rows);
  }
  /// Does what StageSequence::synthesize does.
  template <class T>
  void synthesize(const std::complex<T>* alm, std::int64_t stride, Complex* modes, RowRange rows);
  std::vector<Complex> adjoint(const std::vector<Complex>& modes) {
    std::vector<Complex> alm(to_size(problem_.alm_size()));
    adjoint(modes, alm, Accumulate::overwrite, all());
    return alm;
  }
  template <class T>
  void adjoint(const std::vector<Complex>& modes, std::vector<std::complex<T>>& alm, Accumulate how,
               RowRange rows) {
    adjoint(modes.data(), alm.data(), problem_.alm_layout.size(), how, rows);
  }
  /// Does what StageSequence::adjoint does.
  template <class T>
  void adjoint(const Complex* modes, std::complex<T>* alm, std::int64_t stride, Accumulate how,
               RowRange rows);

 private:
  const LegendreProblem& problem_;
  Machine machine_;
  gpu::StageSequence<Machine> sequence_;
};
using EmulatedStage = EmulatedStageOn<>;

}  // namespace ringweave::detail
