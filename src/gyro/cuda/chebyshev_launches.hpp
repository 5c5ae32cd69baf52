// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cmath>
#include <cstdint>

#include "base/cuda/arithmetic.hpp"
#include "base/cuda/block_types.hpp"
#include "base/cuda/row_pieces.hpp"
#include "base/host_device.hpp"
#include "gyro/chebyshev_rows.hpp"

namespace ringweave::detail::gpu {

/// Targets whose rows are stored together.
inline constexpr int targets_of_group = 16;

/// Sums weight T_p(x) T_q(y) over the nodes of a target's circle. A block has a square of degrees:
/// it computes polynomials of some nodes in shared memory, and each thread sums products of its
/// degrees in registers.
struct SumCircle {
  static constexpr int least_blocks = 4;
  static constexpr int side = 32;  ///< degrees of a block along each axis
  static constexpr int nodes_together = block_threads / 2;
  static constexpr int p_lanes = 16;
  static constexpr int q_lanes = block_threads / p_lanes;
  static constexpr int p_of_thread = side / p_lanes;
  static constexpr int q_of_thread = side / q_lanes;

  struct Shared {
    // Not a multiple of the banks from degree to degree.
    Array<Array<Array<double, nodes_together + 1>, side>, 2> values;  ///< [x or y][degree][node]
  };
  struct Sums {
    Array<Array<double, p_of_thread>, q_of_thread> of;
  };

  std::int64_t degrees_x;
  std::int64_t degrees_y;
  std::int64_t row;                ///< from q to q + 1 in the matrices
  const std::int64_t* node_begin;  ///< [target], and the end
  const CircleNode* nodes;
  double* matrices;          ///< [group of targets][q][p][target]
  std::int64_t matrix_size;  ///< numbers of a target

  static RINGWEAVE_HOST_DEVICE std::int64_t squares(std::int64_t degrees) {
    return (degrees + side - 1) / side;
  }
  std::int64_t n_blocks(std::int64_t n_targets) const {
    return n_targets * squares(degrees_x) * squares(degrees_y);
  }

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared& shared) const {
    const Quotient of_x = divide(block.index(), squares(degrees_x));
    const Quotient of_y = divide(of_x.whole, squares(degrees_y));
    const std::int64_t target = of_y.whole;
    const std::int64_t first_p = of_x.rest * side;
    const std::int64_t first_q = of_y.rest * side;
    typename Block::template PerThread<Sums> sums;
    block.each([&](int thread) {
      RINGWEAVE_UNROLL
      for (int j = 0; j < q_of_thread; ++j) {
        RINGWEAVE_UNROLL
        for (int i = 0; i < p_of_thread; ++i) sums[thread].of[j][i] = 0;
      }
    });
    const std::int64_t end = node_begin[target + 1];
    for (std::int64_t begin = node_begin[target]; begin < end; begin += nodes_together) {
      const std::int64_t left = end - begin;
      const int n = left < nodes_together ? static_cast<int>(left) : nodes_together;
      block.sync();
      block.each([&](int thread) {
        const int node = thread % nodes_together;
        if (node >= n) return;
        const CircleNode at = nodes[begin + node];
        if (thread < nodes_together) {
          compute(at.x, 1, first_p, node, shared.values[0]);
        } else {
          compute(at.y, at.weight, first_q, node, shared.values[1]);
        }
      });
      block.sync();
      block.each([&](int thread) {
        const int p = thread % p_lanes;
        const int q = thread / p_lanes;
        for (int k = 0; k < n; ++k) add_node(shared, p, q, k, sums[thread]);
      });
    }
    double* const matrix = matrices + target / targets_of_group * matrix_size * targets_of_group +
                           target % targets_of_group;
    block.each([&](int thread) {
      RINGWEAVE_UNROLL
      for (int j = 0; j < q_of_thread; ++j) {
        const std::int64_t q = first_q + thread / p_lanes + j * q_lanes;
        RINGWEAVE_UNROLL
        for (int i = 0; i < p_of_thread; ++i) {
          const std::int64_t p = first_p + thread % p_lanes + i * p_lanes;
          if (p < degrees_x && q < degrees_y)
            matrix[(q * row + p) * targets_of_group] = sums[thread].of[j][i];
        }
      }
    });
  }

 private:
  /// Computes factor T_p(u) for `side` degrees from `first` on, by the three-term recurrence.
  static RINGWEAVE_HOST_DEVICE void compute(double u, double factor, std::int64_t first, int node,
                                            Array<Array<double, nodes_together + 1>, side>& to) {
    double now = factor;
    double before = u * factor;  // T_{-1} = T_1
    const double twice = u + u;
    for (std::int64_t p = 0; p < first + side; ++p) {
      if (p >= first) to[p - first][node] = now;
      const double next = std::fma(twice, now, -before);
      before = now;
      now = next;
    }
  }

  static RINGWEAVE_HOST_DEVICE void add_node(const Shared& shared, int p, int q, int k,
                                             Sums& sums) {
    Array<double, p_of_thread> x;
    RINGWEAVE_UNROLL
    for (int i = 0; i < p_of_thread; ++i) x[i] = shared.values[0][p + i * p_lanes][k];
    RINGWEAVE_UNROLL
    for (int j = 0; j < q_of_thread; ++j) {
      const double y = shared.values[1][q + j * q_lanes][k];
      RINGWEAVE_UNROLL
      for (int i = 0; i < p_of_thread; ++i) sums.of[j][i] = std::fma(y, x[i], sums.of[j][i]);
    }
  }
};

/// ChebyshevFold::Element.
struct FoldedElement {
  std::int32_t first;
  std::int32_t second;
  double sign;
};

/// Writes the folded rows of groups of targets.
struct FoldRows {
  using Shared = NoShared;
  static constexpr int least_blocks = 8;
  RowPieces pieces;  ///< a row for each group, of [element][target]
  const FoldedElement* elements;
  const double* matrices;
  std::int64_t matrix_size;
  std::int64_t n_targets;  ///< others are zero
  double* rows;            ///< [group][element][target]

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    pieces.each(block, [&](std::int64_t group, std::int64_t i) {
      const std::int64_t target = i % targets_of_group;
      double value = 0;
      if (group * targets_of_group + target < n_targets) {
        const FoldedElement element = elements[i / targets_of_group];
        const double* const of = matrices + group * matrix_size * targets_of_group + target;
        value = of[element.first * std::int64_t{targets_of_group}];
        if (element.sign != 0)
          value =
              std::fma(element.sign, of[element.second * std::int64_t{targets_of_group}], value);
      }
      rows[group * pieces.row_length + i] = value;
    });
  }
};

/// ChebyshevFold::Segment, or a part of one.
struct FoldedSegment {
  std::int64_t begin;
  std::int64_t size;
  std::int64_t n_products;
  Array<std::int64_t, 2> column;  ///< begin of the coefficients, for the first element
  Array<std::int64_t, 2> output;
};

/// Coefficients and values of `planes` planes of a call.
struct FoldedPlanes {
  std::int64_t row_size;  ///< elements of a row
  std::int64_t n_outputs;
  std::int64_t n_targets;    ///< of a row of values, padded
  std::int64_t first_group;  ///< of targets, that rows begin with

  RINGWEAVE_HOST_DEVICE std::int64_t column(std::int64_t plane) const { return plane * row_size; }
  RINGWEAVE_HOST_DEVICE std::int64_t value(std::int64_t plane, std::int64_t output) const {
    return (plane * n_outputs + output) * n_targets;
  }
};

/// Sums of a thread: up to two products of a row's elements, for each plane.
template <int planes>
struct ProductSums {
  /// Sums of all threads of a block.
  struct OfBlock {
    Array<Array<Array<double, block_threads>, planes>, 2> of;

    /// Returns the sum over n threads, from `first` on in steps.
    RINGWEAVE_HOST_DEVICE double over(int product, int plane, int first, int step, int n) const {
      double sum = 0;
      for (int k = 0; k < n; ++k) sum += of[product][plane][first + k * step];
      return sum;
    }
  };
  Array<Array<double, planes>, 2> of;

  RINGWEAVE_HOST_DEVICE void clear() {
    RINGWEAVE_UNROLL
    for (int c = 0; c < planes; ++c) of[0][c] = of[1][c] = 0;
  }

  /// Adds entry times factor(product, plane) to each of n_products.
  template <class Factor>
  RINGWEAVE_HOST_DEVICE void add(double entry, std::int64_t n_products, const Factor& factor) {
    RINGWEAVE_UNROLL
    for (int product = 0; product < 2; ++product) {
      if (product >= n_products) continue;
      RINGWEAVE_UNROLL
      for (int c = 0; c < planes; ++c)
        of[product][c] = std::fma(entry, factor(product, c), of[product][c]);
    }
  }

  RINGWEAVE_HOST_DEVICE void store(OfBlock& to, int thread) const {
    RINGWEAVE_UNROLL
    for (int product = 0; product < 2; ++product) {
      RINGWEAVE_UNROLL
      for (int c = 0; c < planes; ++c) to.of[product][c][thread] = of[product][c];
    }
  }
};

/// Sums rows times coefficients over a part of the elements, for a group of targets. Lanes of equal
/// targets take elements in turn.
template <int planes>
struct SumElements {
  static constexpr int least_blocks = 4;
  static constexpr int turns = block_threads / targets_of_group;
  using Shared = typename ProductSums<planes>::OfBlock;

  const FoldedSegment* parts;
  std::int64_t n_parts;
  FoldedPlanes layout;
  const double* rows;     ///< [group][element][target]
  const double* columns;  ///< of the first plane
  double* sums;           ///< [group][part][product][plane][target]

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared& shared) const {
    const Quotient at = divide(block.index(), n_parts);
    const FoldedSegment part = parts[at.rest];
    const double* const of_group =
        rows + (at.whole * layout.row_size + part.begin) * targets_of_group;
    block.each([&](int thread) {
      const int target = thread % targets_of_group;
      ProductSums<planes> mine;
      mine.clear();
      for (std::int64_t k = thread / targets_of_group; k < part.size; k += turns) {
        const double* const from = columns + k;
        mine.add(of_group[k * targets_of_group + target], part.n_products,
                 [&](int product, int plane) {
                   return from[part.column[product] + layout.column(plane)];
                 });
      }
      mine.store(shared, thread);
    });
    block.sync();
    block.each([&](int thread) {
      for (int i = thread; i < 2 * planes * targets_of_group; i += block_threads) {
        const int target = i % targets_of_group;
        const int plane = i / targets_of_group % planes;
        const int product = i / targets_of_group / planes;
        sums[block.index() * 2 * planes * targets_of_group + i] =
            shared.over(product, plane, target, targets_of_group, turns);
      }
    });
  }
};

/// The parts that are summed to an output.
struct OutputParts {
  std::int64_t begin;
  std::int64_t end;
  std::int64_t product;
};

/// Adds weight times the sums of all parts, in order, to values.
template <int planes>
struct AddParts {
  using Shared = NoShared;
  static constexpr int least_blocks = 8;
  RowPieces pieces;  ///< a row for each plane and output, of the targets of all groups
  const OutputParts* outputs;
  std::int64_t n_parts;
  FoldedPlanes layout;
  double weight;
  const double* sums;
  double* values;  ///< of the first plane

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared&) const {
    pieces.each(block, [&](std::int64_t row, std::int64_t i) {
      const Quotient at = divide(row, layout.n_outputs);  // plane, output
      const OutputParts output = outputs[at.rest];
      const std::int64_t group = i / targets_of_group;
      double sum = 0;
      for (std::int64_t part = output.begin; part < output.end; ++part) {
        const std::int64_t of_part = (group * n_parts + part) * 2 + output.product;
        sum += sums[(of_part * planes + at.whole) * targets_of_group + i % targets_of_group];
      }
      double& to =
          values[layout.value(at.whole, at.rest) + layout.first_group * targets_of_group + i];
      to = std::fma(weight, sum, to);
    });
  }
};

/// Adds weight times the transpose of the rows of a segment, chunk by chunk of targets.
template <int planes>
struct SpreadSegment {
  static constexpr int least_blocks = 4;
  static constexpr int elements = block_threads / targets_of_group;  ///< of a block
  using Shared = typename ProductSums<planes>::OfBlock;

  FoldedSegment segment;
  FoldedPlanes layout;
  const std::int64_t* chunks;  ///< [chunk] its first group, and the end
  double weight;
  const double* rows;
  const double* values;  ///< of the first plane
  double* columns;       ///< [chunk][plane][element], of the first plane
  std::int64_t chunk_stride;

  RINGWEAVE_HOST_DEVICE std::int64_t pieces() const {
    return (segment.size + elements - 1) / elements;
  }

  template <class Block>
  RINGWEAVE_LAUNCH void operator()(const Block& block, Shared& shared) const {
    const Quotient at = divide(block.index(), pieces());
    const std::int64_t chunk = at.whole;
    const std::int64_t first = at.rest * elements;
    block.each([&](int thread) {
      const std::int64_t k = first + thread / targets_of_group;
      const int target = thread % targets_of_group;
      ProductSums<planes> mine;
      mine.clear();
      for (std::int64_t group = chunks[chunk]; group < chunks[chunk + 1] && k < segment.size;
           ++group) {
        const double entry =
            rows[((group - layout.first_group) * layout.row_size + segment.begin + k) *
                     targets_of_group +
                 target];
        mine.add(entry, segment.n_products, [&](int product, int plane) {
          return values[layout.value(plane, segment.output[product]) + group * targets_of_group +
                        target];
        });
      }
      mine.store(shared, thread);
    });
    block.sync();
    block.each([&](int thread) {
      for (int i = thread; i < 2 * planes * elements; i += block_threads) {
        const int element = i % elements;
        const int plane = i / elements % planes;
        const int product = i / elements / planes;
        if (first + element >= segment.size || product >= segment.n_products) continue;
        const double sum =
            shared.over(product, plane, element * targets_of_group, 1, targets_of_group);
        double& to = columns[chunk * chunk_stride + layout.column(plane) + segment.column[product] +
                             first + element];
        to = std::fma(weight, sum, to);
      }
    });
  }
};

}  // namespace ringweave::detail::gpu
