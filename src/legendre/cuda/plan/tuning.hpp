// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "legendre/cuda/plan/field_passes.hpp"
#include "legendre/cuda/sums/adjoint_sums.hpp"
#include "legendre/cuda/sums/synthesis_sums.hpp"
#include "legendre/device_legendre_stage.hpp"

namespace ringweave::detail::gpu {

/// One-degree steps are few and not worth more registers.
inline constexpr int pairs_by_one = 1;

/// Tuning for a number of maps: ring pairs per thread; for the adjoint also maps per launch, steps
/// summed together, and blocks on a multiprocessor, which limit the registers; and the way sums are
/// formed. Measured on an H200 (docs/measurements/2026-11-26-h200.md).
template <int Maps, BatchedSums Way>
struct Tuning : Tuning<Maps, BatchedSums::by_threads> {};

template <int Maps>
struct ThreadTuning {
  static constexpr int maps = Maps;
  template <class S, int Pairs, class Block>
  using Synthesis = SynthesisByThreads<S, Pairs, Block>;
  template <class S, int Pairs, int Steps, class Block>
  using Adjoint = AdjointByThreads<S, Pairs, Steps, Block>;
};
template <>
struct Tuning<1, BatchedSums::by_threads> : ThreadTuning<1> {
  static constexpr int synthesis_pairs = 8;
  static constexpr int adjoint_maps = 1;
  static constexpr int adjoint_pairs = 8;
  static constexpr int adjoint_steps = 8;
  static constexpr int adjoint_blocks = 2;
};
template <>
struct Tuning<2, BatchedSums::by_threads> : ThreadTuning<2> {
  static constexpr int synthesis_pairs = 5;
  static constexpr int adjoint_maps = 2;
  static constexpr int adjoint_pairs = 4;
  static constexpr int adjoint_steps = 2;
  static constexpr int adjoint_blocks = 3;
};
template <>
struct Tuning<3, BatchedSums::by_threads> : ThreadTuning<3> {
  static constexpr int synthesis_pairs = 4;
  static constexpr int adjoint_maps = 3;
  static constexpr int adjoint_pairs = 4;
  static constexpr int adjoint_steps = 2;
  static constexpr int adjoint_blocks = 2;
};
/// Tuning for four maps: an adjoint has room for so few pairs that the reduction over lanes costs
/// more than sharing the recurrence saves; it uses two launches of two maps.
template <>
struct Tuning<4, BatchedSums::by_threads> : ThreadTuning<4> {
  static constexpr int synthesis_pairs = 3;
  static constexpr int adjoint_maps = 2;
  static constexpr int adjoint_pairs = 4;
  static constexpr int adjoint_steps = 2;
  static constexpr int adjoint_blocks = 3;
};

// Two maps fill the eight columns of a matrix product; one or three do not.
template <int Maps>
struct MatrixTuning {
  static constexpr int maps = Maps;
  static constexpr int adjoint_maps = Maps;
  static constexpr int adjoint_steps = chunk;
  template <class S, int Pairs, class Block>
  using Synthesis = SynthesisByMatrices<S, Pairs, Block>;
  template <class S, int Pairs, int Steps, class Block>
  using Adjoint = AdjointByMatrices<S, Pairs, Steps, Block>;
};
template <>
struct Tuning<2, BatchedSums::by_matrices> : MatrixTuning<2> {
  static constexpr int synthesis_pairs = 4;
  static constexpr int adjoint_pairs = 3;
  static constexpr int adjoint_blocks = 3;
};
template <>
struct Tuning<4, BatchedSums::by_matrices> : MatrixTuning<4> {
  static constexpr int synthesis_pairs = 3;
  static constexpr int adjoint_pairs = 3;
  static constexpr int adjoint_blocks = 2;
};

template <int Maps>
struct MeasuredTuning : Tuning<Maps, BatchedSums::by_matrices> {
  using ByThreads = Tuning<Maps, BatchedSums::by_threads>;
  static constexpr int synthesis_pairs = ByThreads::synthesis_pairs;
  template <class S, int Pairs, class Block>
  using Synthesis = typename ByThreads::template Synthesis<S, Pairs, Block>;
};
template <>
struct Tuning<2, BatchedSums::as_measured> : MeasuredTuning<2> {};
template <>
struct Tuning<4, BatchedSums::as_measured> : MeasuredTuning<4> {};

/// Calls work(tuning) with the tuning for a number of maps.
template <class Work>
void with_tuning(int n_maps, BatchedSums sums, const Work& work) {
  const auto tuned = [&]<BatchedSums Way>() {
    switch (n_maps) {
      case 1: return work(Tuning<1, Way>());
      case 2: return work(Tuning<2, Way>());
      case 3: return work(Tuning<3, Way>());
      default: return work(Tuning<most_maps, Way>());
    }
  };
  switch (sums) {
    case BatchedSums::by_threads: return tuned.template operator()<BatchedSums::by_threads>();
    case BatchedSums::by_matrices: return tuned.template operator()<BatchedSums::by_matrices>();
    case BatchedSums::as_measured: return tuned.template operator()<BatchedSums::as_measured>();
  }
}

}  // namespace ringweave::detail::gpu
