// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <complex>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/stage_timer.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/memory_check.hpp"
#include "nonuniform/field_rows.hpp"
#include "nonuniform/host/row_sums.hpp"
#include "nonuniform/planned_points.hpp"
#include "nonuniform/point_memory.hpp"
#include "nonuniform/row_modes.hpp"
#include "ringweave/error.hpp"
#include "ringweave/points.hpp"

namespace ringweave {

using namespace detail;

namespace {

constexpr const char* in_field = "field on fine rows";

PointSpec agreed_spec(const Communicator& comm, const PointSpec& asked, std::int64_t n_points) {
  PointSpec spec = agreed(comm, [&] {
    if (n_points < 0)
      throw UsageError(fmt::format("a field for {} points; expected 0 or more", n_points));
    return asked.checked();
  });
  Digest digest;
  digest.add(spec.digest());
  digest.add(n_points);
  agree_same(comm, "the field on fine rows (lmax, mmax, fields, epsilon, options, points)",
             digest.value());
  return spec;
}

/// Returns which rank owns which row, whatever points come.
PointPlan plan_rows(const FineTaps& taps, int n_ranks) {
  const FineRows rows = taps.rows(UntouchedRows::kept);
  const std::vector<std::int64_t> no_points(to_size(rows.n_first_taps()), 0);
  return {rows, no_points, RowCosts::typical(rows), n_ranks};
}

/// Allocates rows of the host if the memory holds them and the modes; none where a device has them.
ComponentBuffer<double> make_rows(const Communicator& comm, const PointSpec& spec,
                                  const FineTaps& taps, const PointPlan& plan) {
  if (spec.backend == Backend::cuda) return {};
  const std::int64_t n_components = spec.fields.n_components();
  const std::int64_t size = plan.rings().n_rings(comm.rank()) * taps.grid.n_columns;
  const std::int64_t bytes = agreed(comm, [&] {
    const std::int64_t modes = modes_of_ranks(spec, plan)[to_size(comm.rank())];
    return n_components * (size * std::int64_t{sizeof(double)} +
                           modes * std::int64_t{sizeof(std::complex<double>)});
  });
  const std::int64_t most = comm.max(bytes);
  require_memory_for(comm, bytes, "fine rows and ring modes",
                     [&](int n_ranks) { return most / n_ranks * comm.size(); });
  return agreed(comm, [&] { return ComponentBuffer<double>(n_components, size); });
}

/// Keeps rows on the host.
class HostFieldRows final : public FieldRows {
 public:
  /// rings  [fine row] its ring of `modes`, -1: another rank's
  /// rows   [component][owned row][column]
  /// Modes and rows must outlive the object. Not collective.
  HostFieldRows(std::shared_ptr<const FineTaps> taps, const RowModes& modes,
                const std::vector<std::int64_t>& rings, ComponentView<double> rows)
      : taps_(std::move(taps)),
        mine_(&modes.plan().rings),
        fft_(&modes.runs()),
        rows_(rows),
        first_value_(first_values(*mine_, rings, taps_->grid.n_columns)) {
    for (const RingBand& band : mine_->bands()) {
      for (std::int64_t begin = band.rings.begin; begin < band.rings.end; begin += run_rows)
        runs_.push_back({begin, std::min(begin + run_rows, band.rings.end)});
    }
  }

  void set(ModeView<const double> modes, StageTimes& times) override {
    const StageTimer timer(&times, "rows");
    const std::int64_t row_size = taps_->grid.n_columns;
    // Nothing in this region allocates or throws.
#pragma omp parallel for num_threads(std::min(fft_->n_threads(), omp_get_max_threads())) \
    schedule(dynamic)
    for (std::int64_t i = 0; i < ssize64(runs_); ++i) {
      const RingRange run = runs_[to_size(i)];
      std::array<double*, to_size(run_rows)> memory;
      double* const first = rows_.data() + index(mine_->local(RingId{run.begin})) * row_size;
      for (std::int64_t r = 0; r < run.size(); ++r) memory[to_size(r)] = first + r * row_size;
      fft_->synthesize(
          omp_get_thread_num(), run, modes,
          {std::span<double* const>(memory.data(), to_size(run.size())), rows_.size()});
    }
  }

  void interpolate(ListedPoints& points, StageTimes& times) override {
    const StageTimer timer(&times, "points");
    constexpr std::int64_t points_at_once = 1024;
    const RowTaps with{taps_->grid, taps_->theta.polynomials(), taps_->phi.polynomials(),
                       first_value_, taps_->beyond_pole};
    const PointOrder& order = points.exchange().summed();
    const ComponentView<double> sums = points.sums();
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t begin = 0; begin < order.size(); begin += points_at_once) {
      const std::int64_t n = std::min(points_at_once, order.size() - begin);
      interpolate_points(with, rows_.data(), rows_.size(),
                         {order.theta.data() + begin, order.phi.data() + begin, n},
                         sums.data() + begin, sums.stride());
    }
  }

  std::int64_t bytes() const override { return held_bytes(first_value_, runs_); }

 private:
  static constexpr std::int64_t run_rows = 16;

  std::shared_ptr<const FineTaps> taps_;
  const LocalRings* mine_;
  RingRuns* fft_;
  ComponentView<double> rows_;
  std::vector<std::int64_t> first_value_;  ///< [fine row] in a component, -1: another rank's
  std::vector<RingRange> runs_;            ///< of owned rows
};

}  // namespace

struct FineField::Impl {
  Impl(const Communicator& communicator, const PointSpec& asked, std::int64_t n_points)
      : comm(communicator),
        spec(agreed_spec(comm, asked, n_points)),
        taps(agreed(comm, [&] { return std::make_shared<const FineTaps>(spec, n_points); })),
        plan(agreed(comm, [&] { return plan_rows(*taps, comm.size()); })),
        of_host(make_rows(comm, spec, *taps, plan)),
        modes(comm, taps->transform_spec(spec, plan.rings()), reusable_memory(), &times) {
    const std::vector<std::int64_t> rings = agreed(comm, [&] { return modes.rings_of_rows(plan); });
    if (spec.backend == Backend::cuda) {
      require_memory_of_ranks(comm, modes.bytes(), 0, "ring modes");
      rows = make_cuda_field_rows(comm, taps, modes.plan().ring_fft_shape(spec.fields), rings);
    } else {
      rows = agreed(comm, [&] {
        return std::make_unique<HostFieldRows>(taps, modes, rings, of_host.view());
      });
    }
  }

  /// Rows of the host hold nothing while modes are exchanged.
  std::optional<View<double>> reusable_memory() {
    if (spec.backend == Backend::cuda) return {};
    return View<double>(of_host.view().data(), of_host.n_components() * of_host.size());
  }

  Communicator comm;
  PointSpec spec;
  std::shared_ptr<const FineTaps> taps;
  PointPlan plan;                   ///< without points; all rows exist
  ComponentBuffer<double> of_host;  ///< [component][owned row][column]; empty: a device has them
  StageTimes times;
  RowModes modes;
  std::unique_ptr<FieldRows> rows;
  bool is_set = false;
};

FineField::FineField(const Communicator& comm, const PointSpec& spec, std::int64_t n_points)
    : impl_(std::make_unique<Impl>(comm, spec, n_points)) {}
FineField::~FineField() = default;
FineField::FineField(FineField&&) noexcept = default;
FineField& FineField::operator=(FineField&&) noexcept = default;

PointSet::PointSet(const FineField& field, std::span<const double> theta,
                   std::span<const double> phi, std::span<const double> psi)
    : planned_(std::make_shared<ListedPoints>(field.impl_->comm, field.impl_->spec,
                                              PointAngles{theta, phi, psi}, field.impl_->taps)) {}

const PointSpec& FineField::spec() const { return impl_->spec; }
const AlmLayout& FineField::alm_layout() const { return impl_->modes.plan().alm; }
StageTimes& FineField::times() { return impl_->times; }
std::int64_t FineField::bytes() const {
  return impl_->of_host.bytes() + impl_->modes.bytes() + impl_->rows->bytes() + impl_->plan.bytes();
}

template <class T>
void FineField::set(AlmView<const T> alm) {
  Impl& own = *impl_;
  agree(own.comm, [&] {
    require_planned(in_field, alm.n_components(), own.spec.fields.n_components(),
                    "components of a_lm");
    require_planned(in_field, alm.size(), alm_layout().size(), "coefficients of a component");
    own.is_set = false;
    own.modes.allocate();
  });
  own.modes.synthesize<T>(alm);
  own.rows->set(own.modes.by_row(), own.times);
  own.modes.release();
  own.is_set = true;
}

template <class T>
void FineField::evaluate(const PointSet& points, ComponentView<T> values) {
  Impl& own = *impl_;
  // Points of a grid are never planned for a field.
  ListedPoints* const planned = points.planned_->listed();
  agree(own.comm, [&] {
    if (!own.is_set) throw UsageError("the field has no a_lm; call set() before evaluate()");
    if (planned == nullptr || planned->taps() != own.taps)
      throw UsageError("the points were planned for something else; give the field to PointSet");
    require_planned(in_field, values.n_components(), points.n_components(), "components of values");
    require_planned(in_field, values.size(), points.size(), "points of a component");
  });
  own.rows->interpolate(*planned, own.times);
  const StageTimer timer(&own.times, "value_exchange");
  planned->gather(values);
}

template void FineField::set<double>(AlmView<const double>);
template void FineField::set<float>(AlmView<const float>);
template void FineField::evaluate(const PointSet&, ComponentView<double>);
template void FineField::evaluate(const PointSet&, ComponentView<float>);

}  // namespace ringweave
