// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gyro/chebyshev_rows.hpp"
#include "gyro/host/chebyshev_kernels.hpp"
#include "ringweave/gyroaverage.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline gyro {

/// The blocks into which the symmetries of the rectangle cut the operator of a radius, the same for
/// all radii. T_p has the parity of p, so coefficients split into four parts, and only a quarter of
/// the targets needs rows. In a square with the same degrees and targets along x and y, parts of
/// equal parities split again, into sums and differences of (p, q) and (q, p), those of unequal
/// parities are each other's transposes, and only an eighth of the targets needs rows. Plain data.
struct ChebyshevFold {
  /// Element k of a folded row is row[first] + sign row[second]. That of folded coefficients is the
  /// same, halved where the sign is not 0.
  struct Element {
    std::int32_t first = 0;  ///< [q][p], rows padded_length(degrees_x) apart
    std::int32_t second = 0;
    double sign = 0;
  };
  /// Elements of a folded row that are multiplied with as many folded coefficients, or with two
  /// parts of them.
  struct Segment {
    std::int64_t begin = 0;
    std::int64_t size = 0;
    std::int64_t n_products = 0;
    std::array<std::int64_t, 2> column{};  ///< begin of the coefficients
    std::array<std::int64_t, 2> output{};
  };
  /// Target (a, b), counted from the beginning of each axis; it stands for its mirror images.
  struct Target {
    std::int64_t a = 0;
    std::int64_t b = 0;
  };

  std::int64_t degrees_x = 0;
  std::int64_t degrees_y = 0;
  std::int64_t targets_x = 0;
  std::int64_t targets_y = 0;
  PlaneNodes nodes_x = PlaneNodes::chebyshev;  ///< of the targets
  PlaneNodes nodes_y = PlaneNodes::chebyshev;
  bool is_square = false;
  std::vector<Element> elements;  ///< degrees_x * degrees_y
  std::vector<Segment> segments;
  std::vector<Target> targets;
  std::int64_t n_outputs = 0;  ///< 4 of a target, 8 in a square

  std::int64_t row_size() const { return degrees_x * degrees_y; }
  std::int64_t n_blocks() const;  ///< of targets_together targets, the last one filled with zeros
  std::int64_t n_padded_targets() const { return n_blocks() * targets_together; }
  std::int64_t block_size() const { return row_size() * targets_together; }  ///< doubles
  /// Runs of blocks that the transpose sums one after the other, whoever makes them: 16, or fewer.
  std::int64_t n_chunks() const;
  std::int64_t chunk_begin(std::int64_t chunk) const { return chunk * n_blocks() / n_chunks(); }
  /// Doubles that the values of a plane take, or the coefficients of all chunks of the transpose.
  std::int64_t output_size(bool is_average) const {
    return is_average ? n_outputs * n_padded_targets() : n_chunks() * row_size();
  }
};
ChebyshevFold make_chebyshev_fold(const GyroSpec& spec);
/// Returns the doubles of the operator of one radius, all blocks.
double chebyshev_operator_size(const GyroSpec& spec);
/// Returns the coefficients of all chunks of a transpose, of one plane.
std::int64_t chebyshev_chunk_coefficients(const GyroSpec& spec);

/// Matrices of coefficients <-> folded coefficients, and the transpose, which overwrites `matrix`.
void fold_coefficients(const ChebyshevFold& fold, const double* matrix, double* column);
void unfold_coefficients(const ChebyshevFold& fold, const double* column, double* matrix);

/// Computes the values at the targets of blocks [begin, end), and at the images of these, from the
/// sums [output][target] of all blocks.
/// plane  [y][x] of all targets; others are not touched
void unfold_values(const ChebyshevFold& fold, const double* sums, std::int64_t block_begin,
                   std::int64_t block_end, double* plane);
/// The transpose: overwrites [output][target] of all blocks.
void fold_values(const ChebyshevFold& fold, const double* plane, double* sums);

/// Calls work(i, number of the thread) for i in [begin, end), as many at a time as there are
/// threads, each always of the same thread.
template <class Work>
void for_each_in_parallel(int n_threads, std::int64_t begin, std::int64_t end, const Work& work) {
  if (n_threads == 1) {
    // Without a team of one, within which `work` could not have threads of the pool.
    for (std::int64_t i = begin; i < end; ++i) work(i, 0);
    return;
  }
#pragma omp parallel for schedule(static, 1) num_threads(n_threads)
  for (int thread = 0; thread < n_threads; ++thread) {
    for (std::int64_t i = begin + thread; i < end; i += n_threads) work(i, thread);
  }
}

/// Computes the nodes of the circles about the targets of blocks [begin, end), as averages have
/// them. OpenMP. rules  those that are missing are added
struct TargetNodes {
  std::vector<std::int64_t> begin;  ///< [target], and the end
  std::vector<CircleNode> nodes;
};
TargetNodes nodes_of_targets(const ChebyshevFold& fold, double semi_x, double semi_y,
                             std::int64_t block_begin, std::int64_t block_end, GaussRules& rules);

/// Makes the operator of one radius for blocks [begin, end), [block][element][target]. OpenMP.
/// semi_x, semi_y  the radius in units of half the extents
/// rules           those that are missing are added
void make_chebyshev_blocks(const ChebyshevFold& fold, double semi_x, double semi_y,
                           std::int64_t block_begin, std::int64_t block_end, GaussRules& rules,
                           double* blocks);

/// Memory in which one thread applies blocks to at most so many planes.
struct BlockScratch {
  explicit BlockScratch(std::int64_t most_planes);
  static std::int64_t bytes(std::int64_t most_planes);

  std::vector<ColumnSum> sums;
  std::vector<ColumnSpread> spreads;
  HostBuffer<double> partial;  ///< [product][target]
};

/// Adds weight times the products with one block to the sums of its targets.
/// columns  [plane][element]
/// sums     [plane][output][target], all targets
void average_block(const ChebyshevFold& fold, const double* blocks, std::int64_t block,
                   double weight, std::int64_t n_planes, const double* columns, double* sums,
                   BlockScratch& scratch);
/// Adds weight times the transpose of the blocks [begin, end) to columns.
/// blocks  of the first one
void transpose_chunk(const ChebyshevFold& fold, const double* blocks, std::int64_t block_begin,
                     std::int64_t block_end, double weight, std::int64_t n_planes,
                     const double* values, double* columns, BlockScratch& scratch);

}  // namespace ringweave::detail::inline gyro
