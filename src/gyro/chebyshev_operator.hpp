// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/device.hpp"
#include "gyro/chebyshev_blocks.hpp"
#include "gyro/scheme.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline gyro {

/// Memory of a worker that applies operators.
class OperatorWork {
 public:
  virtual ~OperatorWork() = default;
};

/// The chunks of targets of a rank, and their blocks.
struct ChunkRange {
  std::int64_t chunk_begin = 0;
  std::int64_t chunk_end = 0;
  std::int64_t block_begin = 0;
  std::int64_t block_end = 0;

  std::int64_t n_blocks() const { return block_end - block_begin; }
};

/// The operators of a list of radii for some targets of a fold. Planes are folded: averages take
/// coefficients [plane][element] to values [plane][output][target], transposes take these to
/// coefficients [chunk][plane][element]. Other targets and chunks stay zero.
///
///     load(in);  clear(out);  add(in, out) for some radii;  finish(out)
///
/// Workers may work at once.
class ChebyshevOperator {
 public:
  virtual ~ChebyshevOperator() = default;

  /// Returns where operators and the memory of workers are.
  virtual MemorySpace memory() const = 0;
  virtual std::unique_ptr<OperatorWork> make_work(std::int64_t most_planes,
                                                  int n_threads) const = 0;
  virtual std::int64_t work_bytes(std::int64_t most_planes, int n_threads) const = 0;

  /// Makes the operators of radii [begin, end), and drops others. OpenMP.
  virtual void set_radii(std::int64_t begin, std::int64_t end) = 0;

  /// Takes the planes to average, which must not change until finish().
  virtual void load(OperatorWork& work, Direction direction, std::int64_t n_planes,
                    const double* in) const = 0;
  virtual void clear(OperatorWork& work, Direction direction, std::int64_t n_planes,
                     double* out) const = 0;
  /// Adds weight times the averages over a radius, or the transpose. `out` is complete after
  /// finish().
  virtual void add(OperatorWork& work, Direction direction, std::int64_t radius, double weight,
                   std::int64_t n_planes, const double* in, double* out) const = 0;
  virtual void finish(OperatorWork& work, Direction direction, std::int64_t n_planes,
                      double* out) const = 0;
};

/// The semi-axes of a circle in units of half the extents.
struct SemiAxes {
  double x = 0;
  double y = 0;
};

/// The fold must outlive the operator.
std::unique_ptr<ChebyshevOperator> make_host_chebyshev_operator(const ChebyshevFold& fold,
                                                                const ChunkRange& chunks,
                                                                std::vector<SemiAxes> radii);
/// Makes the operator on this thread's device, for one worker.
/// Error  UsageError when this build has no CUDA, ResourceError from the device.
std::unique_ptr<ChebyshevOperator> make_cuda_chebyshev_operator(const ChebyshevFold& fold,
                                                                const ChunkRange& chunks,
                                                                std::vector<SemiAxes> radii);

}  // namespace ringweave::detail::inline gyro
