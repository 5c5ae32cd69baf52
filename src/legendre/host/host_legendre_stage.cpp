// SPDX-License-Identifier: GPL-3.0-or-later
#include <omp.h>

#include <algorithm>
#include <complex>
#include <memory>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "base/activity.hpp"
#include "base/checked_cast.hpp"
#include "base/first_error.hpp"
#include "base/mode_view.hpp"
#include "legendre/host/order_rows.hpp"
#include "legendre/host/order_sweep.hpp"
#include "legendre/host/resampled_orders.hpp"
#include "legendre/legendre_stage.hpp"
#include "legendre/shared/fold_groups.hpp"
#include "legendre/theta_route.hpp"

namespace ringweave::detail::inline legendre {
namespace {

using Complex = std::complex<double>;

constexpr const char* where = "Legendre stage";

/// Work space of one thread, for rows on the grid itself or for resampled ones.
struct Worker {
  OrderSweep::Scratch sweep;
  ModeRow<Complex> row;
  ModeRow<const Complex> input_row;
  ResampledOrders::Scratch resampled;
  std::int64_t bytes() const { return sweep.bytes() + resampled.bytes(); }
  /// Allocates for orders whose modes are so many pieces.
  void reserve(std::int64_t n_pieces) {
    row.reserve(n_pieces);
    input_row.reserve(n_pieces);
    resampled.reserve(n_pieces);
  }
};

/// Tables that stages of the same transform share, whatever the layout of their modes.
struct Engine {
  explicit Engine(const LegendreShape& shape)
      : phases(*shape.grid, shape.fold, shape.limits.mmax()),
        workers(static_cast<std::size_t>(omp_get_max_threads())) {
    if (resamples_theta(shape)) {
      resampled = std::make_unique<ResampledOrders>(shape, phases);
      for (Worker& worker : workers) worker.resampled = resampled->scratch();
    } else {
      sweep = std::make_unique<OrderSweep>(*shape.grid, shape.fields, shape.alm.lmax(),
                                           shape.alm.mmax(), &phases);
      sweep->cache_seeds(shape.alm, shape.limits);
      for (Worker& worker : workers) worker.sweep = sweep->scratch();
    }
  }
  std::int64_t bytes() const {
    std::int64_t total = phases.bytes() + (resampled ? resampled->bytes() : sweep->bytes());
    for (const Worker& worker : workers) total += worker.bytes();
    return total;
  }

  FoldPhases phases;
  std::unique_ptr<ResampledOrders> resampled;  ///< null: the sums are computed on the grid itself
  std::unique_ptr<OrderSweep> sweep;           ///< null if resampled
  std::vector<Worker> workers;
};

/// The rows of a call, distributed over threads.
struct Tasks {
  /// Allocates for so many rows.
  explicit Tasks(std::int64_t n_rows) {
    rows.reserve(to_size(n_rows));
    group_ends.reserve(to_size(n_rows));
    begins.reserve(to_size(n_rows + 1));
  }
  std::int64_t size() const { return ssize64(begins) - 1; }

  std::vector<std::int64_t> rows;
  std::vector<std::int64_t> group_ends;  ///< rows that fold into each other
  std::vector<std::int64_t> begins;      ///< of tasks, and their end
};

class HostLegendreStage final : public LegendreStage {
 public:
  /// `engine`: that of a stage with other rows but otherwise equal shape; null: a new one.
  explicit HostLegendreStage(LegendreShape shape, std::shared_ptr<Engine> engine = nullptr)
      : shape_(std::move(shape)),
        groups_(shape_),
        engine_(engine ? std::move(engine) : std::make_shared<Engine>(shape_)),
        tasks_(shape_.alm.n_orders()) {
    std::int64_t most_pieces = 0;
    for (const ModeLayout::Row& row : shape_.rows.rows())
      most_pieces = std::max(most_pieces, ssize64(shape_.rows.segments(row)));
    for (Worker& worker : engine_->workers) worker.reserve(most_pieces);
  }

  std::unique_ptr<LegendreStage> with_rows(ModeLayout rows) const override {
    LegendreShape shape = shape_;
    shape.rows = std::move(rows);
    return std::make_unique<HostLegendreStage>(std::move(shape), engine_);
  }

  void synthesize(AnyConstAlmView<> alm, ModePieces<double> modes, RowRange rows) override {
    std::visit([&](auto view) { synthesize_rows(view, modes, rows); }, alm);
  }
  void adjoint(ModePieces<const double> modes, AnyAlmView<> alm, Accumulate how,
               RowRange rows) override {
    std::visit([&](auto view) { adjoint_rows(modes, view, how, rows); }, alm);
  }

  std::int64_t bytes() const override { return engine_->bytes(); }

 private:
  using Rows = std::span<const std::int64_t>;

  template <class T>
  void synthesize_rows(ComponentView<const std::complex<T>> alm, ModePieces<double> modes,
                       RowRange rows) {
    check(alm.n_components(), alm.size(), modes.size());
    for_each_task(rows, [&](Rows task, Worker& worker) {
      if (engine_->resampled)
        return engine_->resampled->synthesize<T>(shape_, task, alm, modes, worker.resampled);
      for (const std::int64_t row : task) {
        const int m = shape_.alm.order(row);
        find_modes(shape_, row, modes, worker.row);
        engine_->sweep->synthesize<T>(m, shape_.limits.kept(m), alm_row<const T>(shape_, row, alm),
                                      worker.row, worker.sweep);
      }
    });
  }

  template <class T>
  void adjoint_rows(ModePieces<const double> modes, ComponentView<std::complex<T>> alm,
                    Accumulate how, RowRange rows) {
    check(alm.n_components(), alm.size(), modes.size());
    for_each_task(rows, [&](Rows task, Worker& worker) {
      if (engine_->resampled)
        return engine_->resampled->adjoint<T>(shape_, task, modes, alm, how, worker.resampled);
      for (const std::int64_t row : task) {
        const int m = shape_.alm.order(row);
        find_modes(shape_, row, modes, worker.input_row);
        engine_->sweep->adjoint<T>(m, shape_.limits.kept(m), worker.input_row,
                                   alm_row<T>(shape_, row, alm), how, worker.sweep);
      }
    });
  }

  void check(std::int64_t n_components, std::int64_t alm_size, std::int64_t n_modes) const {
    const std::int64_t expected = shape_.fields.n_components();
    require_planned(where, n_components, expected, "components of a_lm");
    require_planned(where, alm_size, shape_.alm.size(), "coefficients of a component");
    require_planned(where, n_modes, shape_.rows.size() * expected, "ring modes");
  }

  /// Calls work(rows, worker) for all of `range`. Rows that fold into each other stay together, in
  /// order; with resampling, rows are passed in whole blocks.
  template <class Work>
  void for_each_task(RowRange range, Work&& work) {
    const int n_threads =
        std::min(omp_get_max_threads(), static_cast<int>(engine_->workers.size()));
    auto& [rows, group_ends, begins] = tasks_;
    rows.clear();
    group_ends.clear();
    for (std::int64_t group = 0; group < groups_.size(); ++group) {
      if (!range.contains(groups_.rows(group).front())) continue;
      rows.insert(rows.end(), groups_.rows(group).begin(), groups_.rows(group).end());
      group_ends.push_back(ssize64(rows));
    }
    const std::int64_t task_rows =
        engine_->resampled
            ? std::clamp<std::int64_t>(ssize64(rows) / (4 * n_threads), 1, ResampledOrders::width)
            : 1;
    begins.assign(1, 0);
    for (const std::int64_t end : group_ends) {
      if (end - begins.back() >= task_rows || end == ssize64(rows)) begins.push_back(end);
    }

    FirstError error;
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_threads)
    for (std::int64_t task = 0; task < tasks_.size(); ++task) {
      error.guard([&] {
        const std::int64_t first = tasks_.begins[to_size(task)];
        const std::int64_t count = tasks_.begins[to_size(task + 1)] - first;
        work(Rows(tasks_.rows).subspan(to_size(first), to_size(count)),
             engine_->workers[static_cast<std::size_t>(omp_get_thread_num())]);
        Activity::of_process().step();
      });
    }
    error.rethrow();
  }

  LegendreShape shape_;
  FoldGroups groups_;
  std::shared_ptr<Engine> engine_;
  Tasks tasks_;
};

}  // namespace

std::unique_ptr<LegendreStage> make_host_legendre_stage(LegendreShape shape) {
  return std::make_unique<HostLegendreStage>(std::move(shape));
}

}  // namespace ringweave::detail::inline legendre
