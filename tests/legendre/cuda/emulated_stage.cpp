// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/cuda/emulated_stage.hpp"

#include "support/warpwise_block.hpp"

namespace ringweave::detail {

template <class Machine>
EmulatedStageOn<Machine>::EmulatedStageOn(const LegendreProblem& problem, gpu::StageMemory memory,
                                          BatchedSums sums)
    : problem_(problem), sequence_(shape_of(problem), machine_, memory, {}, sums) {}

template <class Machine>
EmulatedStageOn<Machine>::EmulatedStageOn(const LegendreProblem& problem,
                                          const LegendreShape& shape,
                                          std::span<const std::int64_t> alm_begin,
                                          gpu::StageMemory memory)
    : problem_(problem), sequence_(shape, machine_, memory, alm_begin) {}

template <class Machine>
template <class T>
void EmulatedStageOn<Machine>::synthesize(const std::complex<T>* alm, std::int64_t stride,
                                          Complex* modes, RowRange rows) {
  sequence_.template synthesize<T>(reinterpret_cast<const T*>(alm), stride,
                                   reinterpret_cast<double*>(modes), rows);
}

template <class Machine>
template <class T>
void EmulatedStageOn<Machine>::adjoint(const Complex* modes, std::complex<T>* alm,
                                       std::int64_t stride, Accumulate how, RowRange rows) {
  sequence_.template adjoint<T>(reinterpret_cast<const double*>(modes), reinterpret_cast<T*>(alm),
                                stride, how == Accumulate::add, rows);
}

template EmulatedStage::EmulatedStageOn(const LegendreProblem&, gpu::StageMemory, BatchedSums);
template EmulatedStage::EmulatedStageOn(const LegendreProblem&, const LegendreShape&,
                                        std::span<const std::int64_t>, gpu::StageMemory);
template EmulatedStageOn<gpu::WarpwiseMachine>::EmulatedStageOn(const LegendreProblem&,
                                                                gpu::StageMemory, BatchedSums);
template void EmulatedStage::synthesize(const std::complex<double>*, std::int64_t, Complex*,
                                        RowRange);
template void EmulatedStage::synthesize(const std::complex<float>*, std::int64_t, Complex*,
                                        RowRange);
template void EmulatedStage::adjoint(const Complex*, std::complex<double>*, std::int64_t,
                                     Accumulate, RowRange);
template void EmulatedStage::adjoint(const Complex*, std::complex<float>*, std::int64_t, Accumulate,
                                     RowRange);
template void EmulatedStageOn<gpu::WarpwiseMachine>::synthesize(const std::complex<double>*,
                                                                std::int64_t, Complex*, RowRange);
template void EmulatedStageOn<gpu::WarpwiseMachine>::adjoint(const Complex*, std::complex<double>*,
                                                             std::int64_t, Accumulate, RowRange);

}  // namespace ringweave::detail
