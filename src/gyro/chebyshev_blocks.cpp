// SPDX-License-Identifier: GPL-3.0-or-later
#include "gyro/chebyshev_blocks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/checked_cast.hpp"
#include "base/first_error.hpp"
#include "gyro/schemes.hpp"

namespace ringweave::detail::inline gyro {
namespace {

/// Makes the lists of elements and segments.
class FoldMaker {
 public:
  explicit FoldMaker(ChebyshevFold& fold) : fold_(fold), row_(padded_length(fold.degrees_x)) {}

  void make_quarters() {
    fold_.n_outputs = 4;
    for (const std::int64_t parity_y : {0, 1}) {
      for (const std::int64_t parity_x : {0, 1}) {
        const std::int64_t begin = size();
        for (std::int64_t q = parity_y; q < fold_.degrees_y; q += 2) {
          for (std::int64_t p = parity_x; p < fold_.degrees_x; p += 2) add(p, q, 0);
        }
        fold_.segments.push_back(
            {begin, size() - begin, 1, {begin, 0}, {2 * parity_y + parity_x, 0}});
      }
    }
  }

  void make_eighths() {
    fold_.n_outputs = 8;
    std::int64_t output = 0;
    for (const std::int64_t parity : {0, 1}) {
      for (const double sign : {1.0, -1.0}) {
        const std::int64_t begin = size();
        for (std::int64_t q = parity; q < fold_.degrees_y; q += 2) {
          for (std::int64_t p = parity; p < q; p += 2) add(p, q, sign);
          if (sign > 0) add(q, q, 0);
        }
        fold_.segments.push_back({begin, size() - begin, 1, {begin, 0}, {output++, 0}});
      }
    }
    // Elements (even p, odd q), and in the same order their transposes.
    const std::int64_t begin = size();
    for (std::int64_t odd = 1; odd < fold_.degrees_y; odd += 2) {
      for (std::int64_t even = 0; even < fold_.degrees_x; even += 2) add(even, odd, 0);
    }
    const std::int64_t middle = size();
    for (std::int64_t odd = 1; odd < fold_.degrees_x; odd += 2) {
      for (std::int64_t even = 0; even < fold_.degrees_y; even += 2) add(odd, even, 0);
    }
    fold_.segments.push_back({begin, middle - begin, 2, {begin, middle}, {4, 5}});
    fold_.segments.push_back({middle, size() - middle, 2, {begin, middle}, {6, 7}});
  }

 private:
  std::int64_t size() const { return ssize64(fold_.elements); }
  void add(std::int64_t p, std::int64_t q, double sign) {
    fold_.elements.push_back(
        {checked_cast<std::int32_t>(q * row_ + p, "number of Chebyshev coefficients"),
         sign == 0 ? 0 : checked_cast<std::int32_t>(p * row_ + q, "number of coefficients"), sign});
  }

  ChebyshevFold& fold_;
  std::int64_t row_;
};

/// Values of a target, by parities in x and y: even even, odd even, even odd, odd odd.
using ParityParts = std::array<double, 4>;

/// Calls use(node, signs of x and y) for the mirror images of a target.
template <class Use>
void for_each_image(const ChebyshevFold& fold, std::int64_t a, std::int64_t b, const Use& use) {
  const std::int64_t mirrored_a = fold.targets_x - 1 - a;
  const std::int64_t mirrored_b = fold.targets_y - 1 - b;
  use(b * fold.targets_x + a, 1.0, 1.0);
  if (mirrored_a != a) use(b * fold.targets_x + mirrored_a, -1.0, 1.0);
  if (mirrored_b != b) use(mirrored_b * fold.targets_x + a, 1.0, -1.0);
  if (mirrored_a != a && mirrored_b != b) use(mirrored_b * fold.targets_x + mirrored_a, -1.0, -1.0);
}

void write_images(const ChebyshevFold& fold, std::int64_t a, std::int64_t b,
                  const ParityParts& parts, double* plane) {
  for_each_image(fold, a, b, [&](std::int64_t node, double x, double y) {
    plane[node] = (parts[0] + x * y * parts[3]) + (x * parts[1] + y * parts[2]);
  });
}

ParityParts read_images(const ChebyshevFold& fold, std::int64_t a, std::int64_t b,
                        const double* plane) {
  ParityParts parts{};
  for_each_image(fold, a, b, [&](std::int64_t node, double x, double y) {
    parts[0] += plane[node];
    parts[1] += x * plane[node];
    parts[2] += y * plane[node];
    parts[3] += x * y * plane[node];
  });
  return parts;
}

UnitEllipse ellipse_of(const ChebyshevFold& fold, std::int64_t target, double semi_x,
                       double semi_y) {
  const auto& [a, b] = fold.targets[to_size(target)];
  return {unit_node(fold.nodes_x, a, fold.targets_x), unit_node(fold.nodes_y, b, fold.targets_y),
          semi_x, semi_y};
}

/// The fold without its lists.
ChebyshevFold sizes_of_fold(const GyroSpec& spec) {
  ChebyshevFold fold;
  fold.degrees_x = spec.grid.x.size;
  fold.degrees_y = spec.grid.y.size;
  fold.targets_x = spec.targets_x == 0 ? fold.degrees_x : spec.targets_x;
  fold.targets_y = spec.targets_y == 0 ? fold.degrees_y : spec.targets_y;
  if (spec.targets_x != 0) fold.nodes_x = PlaneNodes::equispaced;
  if (spec.targets_y != 0) fold.nodes_y = PlaneNodes::equispaced;
  const double extent_x = spec.grid.x.last - spec.grid.x.first;
  const double extent_y = spec.grid.y.last - spec.grid.y.first;
  fold.is_square =
      fold.degrees_x == fold.degrees_y && fold.targets_x == fold.targets_y &&
      fold.nodes_x == fold.nodes_y &&
      std::abs(extent_x - extent_y) <= 4 * std::numeric_limits<double>::epsilon() * extent_x;
  return fold;
}

/// Returns the blocks of a fold without its lists: a count that may exceed 64 bits.
double blocks_of(const ChebyshevFold& fold) {
  const auto half_x = static_cast<double>((fold.targets_x + 1) / 2);
  const auto half_y = static_cast<double>((fold.targets_y + 1) / 2);
  const double n_targets = fold.is_square ? half_x * (half_x + 1) / 2 : half_x * half_y;
  return std::ceil(n_targets / targets_together);
}

}  // namespace

std::int64_t ChebyshevFold::n_blocks() const {
  return (ssize64(targets) + targets_together - 1) / targets_together;
}

std::int64_t ChebyshevFold::n_chunks() const { return std::min(most_chebyshev_chunks, n_blocks()); }

ChebyshevFold make_chebyshev_fold(const GyroSpec& spec) {
  ChebyshevFold fold = sizes_of_fold(spec);
  FoldMaker maker(fold);
  fold.is_square ? maker.make_eighths() : maker.make_quarters();
  const std::int64_t half_x = (fold.targets_x + 1) / 2;
  const std::int64_t half_y = (fold.targets_y + 1) / 2;
  for (std::int64_t b = 0; b < half_y; ++b) {
    const std::int64_t end = fold.is_square ? b + 1 : half_x;
    for (std::int64_t a = 0; a < end; ++a) fold.targets.push_back({a, b});
  }
  return fold;
}

double chebyshev_operator_size(const GyroSpec& spec) {
  const ChebyshevFold fold = sizes_of_fold(spec);
  return blocks_of(fold) * static_cast<double>(fold.block_size());
}

std::int64_t chebyshev_chunk_coefficients(const GyroSpec& spec) {
  const ChebyshevFold fold = sizes_of_fold(spec);
  const double n_chunks = std::min(static_cast<double>(most_chebyshev_chunks), blocks_of(fold));
  return static_cast<std::int64_t>(n_chunks) * fold.row_size();
}

void fold_coefficients(const ChebyshevFold& fold, const double* matrix, double* column) {
  for (const ChebyshevFold::Element& element : fold.elements) {
    *column++ = element.sign == 0
                    ? matrix[element.first]
                    : 0.5 * (matrix[element.first] + element.sign * matrix[element.second]);
  }
}

void unfold_coefficients(const ChebyshevFold& fold, const double* column, double* matrix) {
  std::fill_n(matrix, fold.degrees_y * padded_length(fold.degrees_x), 0.0);
  for (const ChebyshevFold::Element& element : fold.elements) {
    const double value = *column++;
    if (element.sign == 0) {
      matrix[element.first] += value;
    } else {
      matrix[element.first] += 0.5 * value;
      matrix[element.second] += 0.5 * element.sign * value;
    }
  }
}

void unfold_values(const ChebyshevFold& fold, const double* sums, std::int64_t block_begin,
                   std::int64_t block_end, double* plane) {
  const std::int64_t stride = fold.n_padded_targets();
  const std::int64_t end = std::min(block_end * targets_together, ssize64(fold.targets));
  for (std::int64_t t = block_begin * targets_together; t < end; ++t) {
    const auto& [a, b] = fold.targets[to_size(t)];
    const auto sum = [&](std::int64_t output) { return sums[output * stride + t]; };
    if (!fold.is_square) {
      write_images(fold, a, b, {sum(0), sum(1), sum(2), sum(3)}, plane);
      continue;
    }
    write_images(fold, a, b, {sum(0) + sum(1), sum(7), sum(4), sum(2) + sum(3)}, plane);
    if (a != b) write_images(fold, b, a, {sum(0) - sum(1), sum(5), sum(6), sum(2) - sum(3)}, plane);
  }
}

void fold_values(const ChebyshevFold& fold, const double* plane, double* sums) {
  const std::int64_t stride = fold.n_padded_targets();
  std::fill_n(sums, fold.n_outputs * stride, 0.0);
  for (std::int64_t t = 0; t < ssize64(fold.targets); ++t) {
    const auto& [a, b] = fold.targets[to_size(t)];
    const ParityParts here = read_images(fold, a, b, plane);
    if (!fold.is_square) {
      for (std::int64_t output = 0; output < 4; ++output)
        sums[output * stride + t] = here[to_size(output)];
      continue;
    }
    const ParityParts there = a == b ? ParityParts{} : read_images(fold, b, a, plane);
    const std::array<double, 8> values = {here[0] + there[0],
                                          here[0] - there[0],
                                          here[3] + there[3],
                                          here[3] - there[3],
                                          here[2],
                                          there[1],
                                          there[2],
                                          here[1]};
    for (std::int64_t output = 0; output < 8; ++output)
      sums[output * stride + t] = values[to_size(output)];
  }
}

namespace {

/// Makes blocks, with scratch for one thread.
class BlockMaker {
 public:
  BlockMaker(const ChebyshevFold& fold, std::int64_t most_nodes)
      : fold_(fold),
        rows_(fold.degrees_x, fold.degrees_y, most_nodes),
        matrix_(fold.degrees_y * padded_length(fold.degrees_x)),
        folded_(fold.block_size()) {}

  /// The row of target number `i` of the block.
  void make_row(std::int64_t i, const UnitEllipse& ellipse, const InsideArcs& arcs,
                const GaussRules& rules) {
    rows_.compute(ellipse, arcs, rules, matrix_.data());
    double* to = folded_.data() + i * fold_.row_size();
    for (const ChebyshevFold::Element& element : fold_.elements)
      *to++ = matrix_[element.first] + element.sign * matrix_[element.second];
  }
  void leave_out_row(std::int64_t i) {
    std::fill_n(folded_.data() + i * fold_.row_size(), fold_.row_size(), 0.0);
  }
  void store(double* block) const {
    const std::int64_t size = fold_.row_size();
    for (std::int64_t k = 0; k < size; ++k) {
      for (std::int64_t i = 0; i < targets_together; ++i)
        block[k * targets_together + i] = folded_[i * size + k];
    }
  }

 private:
  const ChebyshevFold& fold_;
  ChebyshevRows rows_;
  HostBuffer<double> matrix_;
  HostBuffer<double> folded_;  ///< [target][element]
};

/// The arcs of the circles about the targets of some blocks, whose rules are made.
struct TargetArcs {
  TargetArcs(const ChebyshevFold& fold, double semi_x, double semi_y, std::int64_t block_begin,
             std::int64_t block_end, GaussRules& rules)
      : begin(block_begin * targets_together),
        end(std::min(block_end * targets_together, ssize64(fold.targets))),
        arcs(to_size(std::max<std::int64_t>(0, end - begin))) {
#pragma omp parallel for schedule(static)
    for (std::int64_t t = begin; t < end; ++t) {
      arcs[to_size(t - begin)] =
          arcs_inside(ellipse_of(fold, t, semi_x, semi_y), fold.degrees_x, fold.degrees_y);
    }
    for (const InsideArcs& of_target : arcs) {
      most_nodes = std::max(most_nodes, of_target.n_nodes());
      if (of_target.is_whole) continue;
      for (std::int64_t i = 0; i < of_target.count; ++i)
        rules.need(of_target.arcs[to_size(i)].n_nodes);
    }
    rules.make();
  }
  const InsideArcs& of(std::int64_t target) const { return arcs[to_size(target - begin)]; }

  std::int64_t begin;
  std::int64_t end;
  std::vector<InsideArcs> arcs;
  std::int64_t most_nodes = 0;
};

}  // namespace

TargetNodes nodes_of_targets(const ChebyshevFold& fold, double semi_x, double semi_y,
                             std::int64_t block_begin, std::int64_t block_end, GaussRules& rules) {
  const TargetArcs targets(fold, semi_x, semi_y, block_begin, block_end, rules);
  TargetNodes made;
  made.begin.push_back(0);
  for (std::int64_t t = targets.begin; t < targets.end; ++t)
    made.begin.push_back(made.begin.back() + targets.of(t).n_nodes());
  made.nodes.resize(to_size(made.begin.back()));
#pragma omp parallel for schedule(static)
  for (std::int64_t t = targets.begin; t < targets.end; ++t) {
    std::int64_t at = made.begin[to_size(t - targets.begin)];
    for_each_node(ellipse_of(fold, t, semi_x, semi_y), targets.of(t), rules,
                  [&](const CircleNode& node) { made.nodes[to_size(at++)] = node; });
  }
  return made;
}

void make_chebyshev_blocks(const ChebyshevFold& fold, double semi_x, double semi_y,
                           std::int64_t block_begin, std::int64_t block_end, GaussRules& rules,
                           double* blocks) {
  const TargetArcs targets(fold, semi_x, semi_y, block_begin, block_end, rules);
  FirstError error;
#pragma omp parallel
  {
    std::optional<BlockMaker> maker;
#pragma omp for schedule(dynamic)
    for (std::int64_t block = block_begin; block < block_end; ++block) {
      error.guard([&] {
        if (!maker) maker.emplace(fold, targets.most_nodes);
        for (std::int64_t i = 0; i < targets_together; ++i) {
          const std::int64_t t = block * targets_together + i;
          if (t >= targets.end) {
            maker->leave_out_row(i);
          } else {
            maker->make_row(i, ellipse_of(fold, t, semi_x, semi_y), targets.of(t), rules);
          }
        }
        maker->store(blocks + (block - block_begin) * fold.block_size());
      });
    }
  }
  error.rethrow();
}

BlockScratch::BlockScratch(std::int64_t most_planes)
    : sums(to_size(2 * most_planes)),
      spreads(to_size(2 * most_planes)),
      partial(2 * most_planes * targets_together) {}

std::int64_t BlockScratch::bytes(std::int64_t most_planes) {
  return 2 * most_planes *
         static_cast<std::int64_t>(sizeof(ColumnSum) + sizeof(ColumnSpread) +
                                   targets_together * sizeof(double));
}

void average_block(const ChebyshevFold& fold, const double* blocks, std::int64_t block,
                   double weight, std::int64_t n_planes, const double* columns, double* sums,
                   BlockScratch& scratch) {
  const std::int64_t stride = fold.n_padded_targets();
  for (const ChebyshevFold::Segment& segment : fold.segments) {
    const std::int64_t n = segment.n_products * n_planes;
    std::fill_n(scratch.partial.data(), n * targets_together, 0.0);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t plane = i / segment.n_products;
      const std::int64_t begin = segment.column[to_size(i % segment.n_products)];
      scratch.sums[to_size(i)] = {columns + plane * fold.row_size() + begin,
                                  scratch.partial.data() + i * targets_together};
    }
    add_row_sums(blocks + segment.begin * targets_together, segment.size, scratch.sums.data(), n);
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t plane = i / segment.n_products;
      const std::int64_t output = segment.output[to_size(i % segment.n_products)];
      double* to = sums + (plane * fold.n_outputs + output) * stride + block * targets_together;
      for (std::int64_t t = 0; t < targets_together; ++t)
        to[t] += weight * scratch.partial[i * targets_together + t];
    }
  }
}

void transpose_chunk(const ChebyshevFold& fold, const double* blocks, std::int64_t block_begin,
                     std::int64_t block_end, double weight, std::int64_t n_planes,
                     const double* values, double* columns, BlockScratch& scratch) {
  const std::int64_t stride = fold.n_padded_targets();
  for (const ChebyshevFold::Segment& segment : fold.segments) {
    const std::int64_t n = segment.n_products * n_planes;
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t plane = i / segment.n_products;
      const std::size_t product = to_size(i % segment.n_products);
      scratch.spreads[to_size(i)] = {
          values + (plane * fold.n_outputs + segment.output[product]) * stride +
              block_begin * targets_together,
          columns + plane * fold.row_size() + segment.column[product]};
    }
    spread_rows(blocks + segment.begin * targets_together, fold.block_size(),
                block_end - block_begin, segment.size, weight, scratch.spreads.data(), n);
  }
}

}  // namespace ringweave::detail::inline gyro
