// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "transform/transform_problem.hpp"

namespace ringweave::detail::test {

/// Results of every entry point of a transform.
template <class T>
struct EntryPointResults {
  MapBuffer<T> map;
  MapBuffer<T> map_of_consumed;
  AlmBuffer<T> alm;
  AlmBuffer<T> alm_of_destroyed;
  AlmBuffer<T> alm_of_consumed;
};

/// Computes them for random a_lm and the map `input`. Collective.
template <class T>
EntryPointResults<T> entry_point_results(SphericalHarmonicTransform& transform,
                                         const MapBuffer<T>& input) {
  EntryPointResults<T> results{synthesized(transform, random_alm<T>(transform)),
                               transform.template synthesize<T>(random_alm<T>(transform)),
                               adjoint_of(transform, input), transform.make_alm<T>(),
                               transform.template adjoint<T>(copy_of(input), {})};
  MapBuffer<T> scratch = copy_of(input);
  transform.adjoint_destroying<T>(scratch.view(), {}, results.alm_of_destroyed.view());
  return results;
}

template <class T>
void expect_same_bits(const EntryPointResults<T>& a, const EntryPointResults<T>& b) {
  EXPECT_TRUE(same_bits(a.map, b.map));
  EXPECT_TRUE(same_bits(a.map_of_consumed, b.map_of_consumed));
  EXPECT_TRUE(same_bits(a.alm, b.alm));
  EXPECT_TRUE(same_bits(a.alm_of_destroyed, b.alm_of_destroyed));
  EXPECT_TRUE(same_bits(a.alm_of_consumed, b.alm_of_consumed));
}

}  // namespace ringweave::detail::test
