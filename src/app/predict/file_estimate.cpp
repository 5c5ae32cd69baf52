// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/predict/file_estimate.hpp"

namespace ringweave::detail::inline app {

Estimate predict_files(const Machine& machine, const FileWork& work) {
  const auto all = [](std::int64_t n, const CostCurve& curve, double bytes) {
    return static_cast<double>(n) * curve.estimate(bytes, bytes);
  };
  return all(work.n_read, machine.file_read, work.read_bytes) +
         all(work.n_written, machine.file_write, work.written_bytes);
}

}  // namespace ringweave::detail::inline app
