// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/host/host_legendre_stage.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/first_error.hpp"
#include "legendre/host/fold_groups.hpp"
#include "legendre/host/order_sweep.hpp"
#include "legendre/host/theta_resampling.hpp"
#include "legendre/host/theta_route.hpp"

namespace ringweave {
namespace {

using Complex = std::complex<double>;

/// The equidistant rings on which the sums are formed, and what becomes of them there.
struct Resampled {
  explicit Resampled(const LegendreShape& shape)
      : plan(*shape.grid, shape.alm.lmax()),
        limits(plan.equidistant(), shape.alm.lmax(), shape.limits.mmax(), shape.fields.max_spin()) {
  }
  ThetaResampling plan;
  ModeLimits limits;
};

/// What one thread works in.
struct Worker {
  OrderSweep::Scratch sweep;
  ModeRow<Complex> row;
  ModeRow<const Complex> input_row;
  // When the sums are resampled:
  std::vector<ThetaResampling::Block> blocks;  ///< [component]
  HostBuffer<Complex> rows;                    ///< [slot][equidistant ring][component]
  std::array<ModeRow<Complex>, ThetaResampling::width> outputs;
  std::array<ModeRow<const Complex>, ThetaResampling::width> inputs;

  std::int64_t bytes() const {
    std::int64_t total = sweep.bytes() + rows.size() * static_cast<std::int64_t>(sizeof(Complex));
    for (const ThetaResampling::Block& block : blocks) total += block.bytes();
    return total;
  }
};

/// What stages of the same transform share whatever the layout of their modes.
struct Engine {
  explicit Engine(const LegendreShape& shape)
      : phases(*shape.grid, shape.fold, shape.limits.mmax()),
        resampled(resamples_theta(shape) ? std::make_unique<Resampled>(shape) : nullptr),
        sweep(resampled ? resampled->plan.equidistant() : *shape.grid, shape.fields,
              shape.alm.lmax(), shape.alm.mmax(), &phases) {
    for (int i = 0; i < omp_get_max_threads(); ++i) {
      Worker& worker = workers.emplace_back();
      worker.sweep = sweep.scratch();
      if (resampled == nullptr) continue;
      for (std::int64_t c = 0; c < shape.fields.n_components(); ++c) {
        worker.blocks.emplace_back(resampled->plan);
      }
      worker.rows.allocate(ThetaResampling::width * resampled->plan.equidistant().n_rings() *
                           shape.fields.n_components());
    }
  }
  std::int64_t bytes() const {
    std::int64_t total = sweep.bytes() + phases.bytes();
    if (resampled) total += resampled->plan.bytes();
    for (const Worker& worker : workers) total += worker.bytes();
    return total;
  }

  FoldPhases phases;
  std::unique_ptr<Resampled> resampled;  ///< null: the sums are formed on the rings themselves
  OrderSweep sweep;
  std::vector<Worker> workers;
};

class HostLegendreStage final : public LegendreStage {
 public:
  /// `engine` of a stage that differs in its rows only; null: a new one.
  explicit HostLegendreStage(LegendreShape shape, std::shared_ptr<Engine> engine = nullptr)
      : shape_(std::move(shape)),
        groups_(shape_),
        engine_(engine ? std::move(engine) : std::make_shared<Engine>(shape_)),
        phases_(engine_->phases),
        resampled_(engine_->resampled.get()),
        sweep_(engine_->sweep),
        workers_(engine_->workers) {}

  std::unique_ptr<LegendreStage> with_rows(ModeLayout rows) const override {
    LegendreShape shape = shape_;
    shape.rows = std::move(rows);
    return std::make_unique<HostLegendreStage>(std::move(shape), engine_);
  }

  void synthesize(AlmView<const double> alm, ModeView<double> modes) override {
    synthesize_any<double>(all_rows(), alm, modes);
  }
  void synthesize(AlmView<const float> alm, ModeView<double> modes) override {
    synthesize_any<float>(all_rows(), alm, modes);
  }
  void synthesize_rows(std::int64_t first_row, std::int64_t n_rows, AlmView<const double> alm,
                       ModeView<double> modes) override {
    synthesize_any<double>({first_row, first_row + n_rows}, alm, modes);
  }
  void synthesize_rows(std::int64_t first_row, std::int64_t n_rows, AlmView<const float> alm,
                       ModeView<double> modes) override {
    synthesize_any<float>({first_row, first_row + n_rows}, alm, modes);
  }
  void adjoint(ModeView<const double> modes, AlmView<double> alm, Accumulate how) override {
    adjoint_any<double>(all_rows(), modes, alm, how);
  }
  void adjoint(ModeView<const double> modes, AlmView<float> alm, Accumulate how) override {
    adjoint_any<float>(all_rows(), modes, alm, how);
  }
  void adjoint_rows(std::int64_t first_row, std::int64_t n_rows, ModeView<const double> modes,
                    AlmView<double> alm, Accumulate how) override {
    adjoint_any<double>({first_row, first_row + n_rows}, modes, alm, how);
  }
  void adjoint_rows(std::int64_t first_row, std::int64_t n_rows, ModeView<const double> modes,
                    AlmView<float> alm, Accumulate how) override {
    adjoint_any<float>({first_row, first_row + n_rows}, modes, alm, how);
  }

  std::int64_t bytes() const override { return engine_->bytes(); }

 private:
  /// Rows [begin, end).
  struct RowRange {
    std::int64_t begin;
    std::int64_t end;
    bool contains(std::int64_t row) const { return row >= begin && row < end; }
  };
  RowRange all_rows() const { return {0, shape_.alm.n_orders()}; }
  using Rows = std::span<const std::int64_t>;

  template <class T>
  void synthesize_any(RowRange rows, AlmView<const T> alm, ModeView<double> modes) {
    check_sizes(alm.n_components(), alm.size(), modes.size());
    for_each_task(rows, [&](Rows task, Worker& worker) {
      if (resampled_) return synthesize_resampled<T>(task, alm, modes, worker);
      for (const std::int64_t row : task) {
        const int m = shape_.alm.order(row);
        find_modes(row, modes.data(), worker.row);
        sweep_.synthesize<T>(m, shape_.limits.kept(m), row_of<const T>(row, alm), worker.row,
                             worker.sweep);
      }
    });
  }

  template <class T>
  void adjoint_any(RowRange rows, ModeView<const double> modes, AlmView<T> alm, Accumulate how) {
    check_sizes(alm.n_components(), alm.size(), modes.size());
    for_each_task(rows, [&](Rows task, Worker& worker) {
      if (resampled_) return adjoint_resampled<T>(task, modes, alm, how, worker);
      for (const std::int64_t row : task) {
        const int m = shape_.alm.order(row);
        find_modes(row, modes.data(), worker.input_row);
        sweep_.adjoint<T>(m, shape_.limits.kept(m), worker.input_row, row_of<T>(row, alm), how,
                          worker.sweep);
      }
    });
  }

  void check_sizes(std::int64_t n_components, std::int64_t alm_size, std::int64_t n_modes) const {
    const std::int64_t expected = shape_.fields.n_components();
    if (n_components != expected || alm_size != shape_.alm.size()) {
      throw UsageError(fmt::format(
          "Legendre stage: a_lm of {} components x {} coefficients; the plan has {} x {}",
          n_components, alm_size, expected, shape_.alm.size()));
    }
    if (n_modes != shape_.rows.size() * expected) {
      throw UsageError(
          fmt::format("Legendre stage: {} ring modes; the plan has {} positions x {} components",
                      n_modes, shape_.rows.size(), expected));
    }
  }

  /// Calls work(rows, worker) for all of `range`. Rows that fold into one another stay together, in
  /// order. Resampling wants a whole block of rows at once.
  template <class Work>
  void for_each_task(RowRange range, Work&& work) {
    const int n_threads = std::min(omp_get_max_threads(), static_cast<int>(workers_.size()));
    std::vector<std::int64_t> rows;
    std::vector<std::int64_t> group_ends;
    for (std::int64_t group = 0; group < groups_.size(); ++group) {
      if (!range.contains(groups_.rows(group).front())) continue;
      rows.insert(rows.end(), groups_.rows(group).begin(), groups_.rows(group).end());
      group_ends.push_back(ssize64(rows));
    }
    const std::int64_t task_rows =
        resampled_
            ? std::clamp<std::int64_t>(ssize64(rows) / (4 * n_threads), 1, ThetaResampling::width)
            : 1;
    std::vector<std::int64_t> begin{0};
    for (const std::int64_t end : group_ends) {
      if (end - begin.back() >= task_rows || end == ssize64(rows)) begin.push_back(end);
    }

    FirstError error;
#pragma omp parallel for schedule(dynamic, 1) num_threads(n_threads)
    for (std::int64_t task = 0; task < ssize64(begin) - 1; ++task) {
      error.guard([&] {
        const std::int64_t first = begin[to_size(task)];
        const std::int64_t count = begin[to_size(task + 1)] - first;
        work(Rows(rows).subspan(to_size(first), to_size(count)),
             workers_[static_cast<std::size_t>(omp_get_thread_num())]);
      });
    }
    error.rethrow();
  }

  template <class T>
  AlmRow<T> row_of(std::int64_t row, AlmView<T> alm) const {
    const int m = shape_.alm.order(row);
    return {alm, shape_.alm.index(row, m), shape_.alm.lmax() - m + 1};
  }

  /// Where the modes of a row lie.
  template <class Value>
  void find_modes(std::int64_t row_index, Value* modes, ModeRow<Value>& found) const {
    const ModeLayout::Row& row = shape_.rows.rows()[to_size(row_index)];
    const auto add = [&](const RowSegment& segment, RingRange rings, auto& pieces) {
      if (rings.empty()) return;
      const std::int64_t position = segment.first + rings.begin - segment.rings.begin;
      pieces.push_back({rings, modes + position * shape_.fields.n_components()});
    };
    found.own.clear();
    found.aliased.clear();
    for (const RowSegment& segment : shape_.rows.segments(row)) {
      add(segment, segment.rings, found.own);
    }
    if (row.fold_into < 0) return;
    found.alias = shape_.fold.alias(row.m);
    for (const RowSegment& segment :
         shape_.rows.segments(shape_.rows.rows()[to_size(row.fold_into)])) {
      add(segment, intersection(segment.rings, row.fold_rings), found.aliased);
    }
  }

  std::int64_t row_size() const {
    return resampled_->plan.equidistant().n_rings() * shape_.fields.n_components();
  }
  /// Calls work(rows of a block, the rings any of them keeps).
  template <class Work>
  void for_each_block(Rows task, const Work& work) const {
    for (std::size_t first = 0; first < task.size(); first += ThetaResampling::width) {
      const Rows rows =
          task.subspan(first, std::min<std::size_t>(ThetaResampling::width, task.size() - first));
      RingRange kept{shape_.grid->n_rings(), 0};
      for (const std::int64_t row : rows) {
        const RingRange here = shape_.limits.kept(shape_.alm.order(row));
        if (!here.empty()) {
          kept = {std::min(kept.begin, here.begin), std::max(kept.end, here.end)};
        }
      }
      work(rows, kept);
    }
  }
  /// Calls work(component, its block) for all of them, the parities set.
  template <class Work>
  void for_each_component(Rows rows, Worker& worker, const Work& work) const {
    const auto visit = [&](std::int64_t component, int spin) {
      ThetaResampling::Block& block = worker.blocks[to_size(component)];
      for (std::size_t slot = 0; slot < rows.size(); ++slot) {
        const bool odd = (shape_.alm.order(rows[slot]) + spin) % 2 != 0;
        block.set_parity(static_cast<int>(slot), odd ? Parity::odd : Parity::even);
      }
      work(block);
    };
    for (const FieldSet::Field& field : shape_.fields.fields()) {
      visit(field.first_component, field.spin);
      if (field.spin > 0) visit(field.first_component + 1, field.spin);
    }
  }

  /// Calls own(slot, ring, modes) and aliased(slot, ring, modes) for what the rows of a block hold,
  /// some rings of all rows after the other, so that they stay in the cache.
  template <class Value, std::size_t N, class Own, class Aliased>
  void for_each_target(Rows rows, RingRange kept, std::array<ModeRow<Value>, N>& places,
                       Value* modes, const Own& own, const Aliased& aliased) const {
    constexpr std::int64_t tile_rings = 64;
    const std::int64_t n_components = shape_.fields.n_components();
    for (std::size_t slot = 0; slot < rows.size(); ++slot) {
      find_modes(rows[slot], modes, places[slot]);
    }
    const auto visit = [&](std::size_t slot, RingRange tile, const auto& pieces, const auto& work) {
      for (const auto& piece : pieces) {
        const RingRange rings = intersection(piece.rings, tile);
        Value* at = piece.modes + (rings.begin - piece.rings.begin) * n_components;
        for (std::int64_t ring = rings.begin; ring < rings.end; ++ring, at += n_components) {
          work(static_cast<int>(slot), ring, at);
        }
      }
    };
    for (std::int64_t begin = kept.begin; begin < kept.end; begin += tile_rings) {
      const RingRange tile{begin, std::min(begin + tile_rings, kept.end)};
      for (std::size_t slot = 0; slot < rows.size(); ++slot) {
        visit(slot, tile, places[slot].own, own);
        visit(slot, tile, places[slot].aliased, aliased);
      }
    }
  }

  template <class T>
  void synthesize_resampled(Rows task, AlmView<const T> alm, ModeView<double> modes,
                            Worker& worker) const {
    const auto n_components = to_size(shape_.fields.n_components());
    for_each_block(task, [&](Rows rows, RingRange kept) {
      for (std::size_t slot = 0; slot < rows.size(); ++slot) {
        const int m = shape_.alm.order(rows[slot]);
        const RingRange rings = resampled_->limits.kept(m);
        Complex* row = worker.rows.data() + static_cast<std::int64_t>(slot) * row_size();
        Complex* first = row + rings.begin * shape_.fields.n_components();
        std::fill(row, first, Complex());
        std::fill(row + rings.end * shape_.fields.n_components(), row + row_size(), Complex());
        worker.row.aliased.clear();
        worker.row.own.assign(1, {rings, first});
        sweep_.synthesize<T>(m, rings, row_of<const T>(rows[slot], alm), worker.row, worker.sweep);
      }
      if (rows.size() < ThetaResampling::width) {
        for (ThetaResampling::Block& block : worker.blocks) block.clear_equidistant();
      }
      for_each_equidistant(rows, worker, [](Complex& value, double& re, double& im) {
        re = value.real();
        im = value.imag();
      });
      for_each_component(rows, worker, [&](ThetaResampling::Block& block) {
        resampled_->plan.resample(block, kept);
      });
      for_each_target(
          rows, kept, worker.outputs, modes.data(),
          [&](int slot, std::int64_t ring, Complex* target) {
            for (std::size_t c = 0; c < n_components; ++c) {
              target[c] = worker.blocks[c].target(slot, ring);
            }
          },
          [&](int slot, std::int64_t ring, Complex* target) {
            const FoldRule::Alias& alias = worker.outputs[to_size(slot)].alias;
            for (std::size_t c = 0; c < n_components; ++c) {
              phases_.add(worker.blocks[c].target(slot, ring), ring, alias, target[c]);
            }
          });
    });
  }

  template <class T>
  void adjoint_resampled(Rows task, ModeView<const double> modes, AlmView<T> alm, Accumulate how,
                         Worker& worker) const {
    const auto n_components = to_size(shape_.fields.n_components());
    for_each_block(task, [&](Rows rows, RingRange kept) {
      for (ThetaResampling::Block& block : worker.blocks) block.clear_target(kept);
      for_each_target(
          rows, kept, worker.inputs, modes.data(),
          [&](int slot, std::int64_t ring, const Complex* source) {
            for (std::size_t c = 0; c < n_components; ++c) {
              worker.blocks[c].set_target(slot, ring, source[c]);
            }
          },
          [&](int slot, std::int64_t ring, const Complex* source) {
            const FoldRule::Alias& alias = worker.inputs[to_size(slot)].alias;
            for (std::size_t c = 0; c < n_components; ++c) {
              worker.blocks[c].set_target(slot, ring, phases_.repeat(source[c], ring, alias));
            }
          });
      for_each_component(rows, worker, [&](ThetaResampling::Block& block) {
        resampled_->plan.adjoint(block, kept);
      });
      for_each_equidistant(rows, worker, [](Complex& value, double& re, double& im) {
        value = {re, im};
      });
      for (std::size_t slot = 0; slot < rows.size(); ++slot) {
        const int m = shape_.alm.order(rows[slot]);
        const RingRange rings = resampled_->limits.kept(m);
        const Complex* row = worker.rows.data() + static_cast<std::int64_t>(slot) * row_size();
        worker.input_row.aliased.clear();
        worker.input_row.own.assign(1, {rings, row + rings.begin * shape_.fields.n_components()});
        sweep_.adjoint<T>(m, rings, worker.input_row, row_of<T>(rows[slot], alm), how,
                          worker.sweep);
      }
    });
  }

  /// Calls work(entry of worker.rows, real and imaginary part in its block) for all of some rows.
  template <class Work>
  void for_each_equidistant(Rows rows, Worker& worker, const Work& work) const {
    constexpr std::size_t width = ThetaResampling::width;
    const auto n_components = to_size(shape_.fields.n_components());
    Complex* values = worker.rows.data();
    for (std::int64_t ring = 0; ring < resampled_->plan.equidistant().n_rings(); ++ring) {
      for (std::size_t slot = 0; slot < rows.size(); ++slot) {
        Complex* value = values + static_cast<std::int64_t>(slot) * row_size();
        for (std::size_t c = 0; c < n_components; ++c) {
          double* entry = worker.blocks[c].equidistant_row(ring);
          work(value[c], entry[slot], entry[width + slot]);
        }
      }
      values += n_components;
    }
  }

  LegendreShape shape_;
  FoldGroups groups_;
  std::shared_ptr<Engine> engine_;
  const FoldPhases& phases_;
  const Resampled* resampled_;  ///< null: the sums are formed on the rings themselves
  const OrderSweep& sweep_;
  std::vector<Worker>& workers_;
};

}  // namespace

std::unique_ptr<LegendreStage> make_host_legendre_stage(LegendreShape shape) {
  return std::make_unique<HostLegendreStage>(std::move(shape));
}

}  // namespace ringweave
