// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/checked_cast.hpp"
#include "gyro/operator_rows.hpp"
#include "gyro/target_weights.hpp"

namespace ringweave::detail::inline gyro {
namespace {

/// Sums weights by node.
class NodeSums {
 public:
  explicit NodeSums(const PlaneGrid& grid)
      : n_x_(grid.x.size), sums_(to_size(grid.n_nodes())), is_listed_(sums_.size()) {}

  void add(std::int64_t x, std::int64_t y, double weight) {
    const std::int64_t node = y * n_x_ + x;
    if (!is_listed_[to_size(node)]) listed_.push_back(node);
    is_listed_[to_size(node)] = true;
    sums_[to_size(node)] += weight;
  }
  std::vector<GyroWeight> sorted() {
    std::sort(listed_.begin(), listed_.end());
    std::vector<GyroWeight> weights;
    for (const std::int64_t node : listed_) {
      const double weight = sums_[to_size(node)];
      if (weight != 0) weights.push_back({node % n_x_, node / n_x_, weight});
    }
    return weights;
  }

 private:
  std::int64_t n_x_;
  std::vector<double> sums_;
  std::vector<bool> is_listed_;
  std::vector<std::int64_t> listed_;
};

}  // namespace

std::vector<GyroWeight> stencil_row(const PlaneGrid& grid, Interpolation interpolation, double x,
                                    double y, double rho) {
  const TargetWeights targets(grid, interpolation);
  NodeSums sums(grid);
  targets.visit(targets.point(x, y), rho, [&](const ArcWeights& arc) {
    const ArcIndices nodes(targets, arc);
    for (std::size_t j = 0; j < arc.y_count; ++j) {
      for (std::size_t i = 0; i < arc.x_count; ++i)
        sums.add(nodes.x[i], nodes.y[j], arc.weight[j][i]);
    }
  });
  return sums.sorted();
}

}  // namespace ringweave::detail::inline gyro
