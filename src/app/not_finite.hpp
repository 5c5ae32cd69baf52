// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <complex>
#include <cstdint>

#include "base/view.hpp"
#include "distribute/mpi/communicator.hpp"

namespace ringweave {

inline bool is_finite(double value) { return std::isfinite(value); }
template <class T>
bool is_finite(const std::complex<T>& value) {
  return std::isfinite(value.real()) && std::isfinite(value.imag());
}

/// Counts the values of a map or of a_lm that are NaN or infinite, over all ranks. Collective.
template <class Element>
std::int64_t count_not_finite(const Communicator& comm, ComponentView<Element> values) {
  std::int64_t count = 0;
  for (std::int64_t c = 0; c < values.n_components(); ++c) {
    const auto f = values.component(c);
    for (std::int64_t i = 0; i < f.size(); ++i) count += is_finite(f[i]) ? 0 : 1;
  }
  return comm.sum(count);
}

}  // namespace ringweave
