// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <complex>
#include <memory>
#include <span>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/stage_timer.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/memory_check.hpp"
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
    if (asked.backend == Backend::cuda) {
      throw UsageError(
          "fields that are kept on fine rows are not implemented on GPUs yet; choose the host "
          "backend, or a PointTransform");
    }
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

/// Allocates rows if the memory holds them and the modes.
ComponentBuffer<double> make_rows(const Communicator& comm, const PointSpec& spec,
                                  const FineTaps& taps, const PointPlan& plan) {
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

}  // namespace

struct FineField::Impl {
  Impl(const Communicator& communicator, const PointSpec& asked, std::int64_t n_points)
      : comm(communicator),
        spec(agreed_spec(comm, asked, n_points)),
        taps(agreed(comm, [&] { return std::make_shared<const FineTaps>(spec, n_points); })),
        plan(agreed(comm, [&] { return plan_rows(*taps, comm.size()); })),
        row_size(taps->grid.n_columns),
        rows(make_rows(comm, spec, *taps, plan)),
        // Rows hold nothing while modes are exchanged.
        modes(comm, taps->transform_spec(spec, plan.rings()),
              View<double>(rows.view().data(), rows.n_components() * rows.size()), &times) {
    agree(comm, [&] {
      const std::vector<std::int64_t> rings = modes.rings_of_rows(plan);
      for (const std::int64_t ring : rings) {
        const LocalRings& mine = modes.plan().rings;
        first_value.push_back(ring < 0 ? -1 : index(mine.local(RingId{ring})) * row_size);
      }
      for (const RingBand& band : modes.plan().rings.bands()) {
        for (std::int64_t begin = band.rings.begin; begin < band.rings.end; begin += run_rows)
          runs.push_back({begin, std::min(begin + run_rows, band.rings.end)});
      }
    });
  }

  /// Computes rows from modes.
  void fill_rows() {
    RingRuns& fft = modes.runs();
    const ModeView<const double> from = modes.by_row();
    const LocalRings& mine = modes.plan().rings;
    // Nothing in this region allocates or throws.
#pragma omp parallel for num_threads(std::min(fft.n_threads(), omp_get_max_threads())) \
    schedule(dynamic)
    for (std::int64_t i = 0; i < ssize64(runs); ++i) {
      const RingRange run = runs[to_size(i)];
      std::array<double*, to_size(run_rows)> memory;
      double* const first = rows.view().data() + index(mine.local(RingId{run.begin})) * row_size;
      for (std::int64_t r = 0; r < run.size(); ++r) memory[to_size(r)] = first + r * row_size;
      fft.synthesize(omp_get_thread_num(), run, from,
                     {std::span<double* const>(memory.data(), to_size(run.size())), rows.size()});
    }
  }

  /// Computes sums over the rows of this rank.
  void interpolate(const PointOrder& points, ComponentView<double> sums) {
    constexpr std::int64_t points_at_once = 1024;
    const RowTaps with{taps->grid, taps->theta.polynomials(), taps->phi.polynomials(), first_value,
                       taps->beyond_pole};
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t begin = 0; begin < points.size(); begin += points_at_once) {
      const std::int64_t n = std::min(points_at_once, points.size() - begin);
      interpolate_points(with, rows.view().data(), rows.size(),
                         {points.theta.data() + begin, points.phi.data() + begin, n},
                         sums.data() + begin, sums.stride());
    }
  }

  static constexpr std::int64_t run_rows = 16;

  Communicator comm;
  PointSpec spec;
  std::shared_ptr<const FineTaps> taps;
  PointPlan plan;  ///< without points; all rows exist
  std::int64_t row_size;
  ComponentBuffer<double> rows;  ///< [component][owned row][column]
  StageTimes times;
  RowModes modes;
  std::vector<std::int64_t> first_value;  ///< [fine row] in a component, -1: another rank's
  std::vector<RingRange> runs;            ///< of owned rows
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
  return impl_->rows.bytes() + impl_->modes.bytes() + held_bytes(impl_->first_value, impl_->runs) +
         impl_->plan.bytes();
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
  {
    const StageTimer timer(&own.times, "rows");
    own.fill_rows();
  }
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
  {
    const StageTimer timer(&own.times, "points");
    own.interpolate(planned->exchange().summed(), planned->sums());
  }
  const StageTimer timer(&own.times, "value_exchange");
  planned->gather(values);
}

template void FineField::set<double>(AlmView<const double>);
template void FineField::set<float>(AlmView<const float>);
template void FineField::evaluate(const PointSet&, ComponentView<double>);
template void FineField::evaluate(const PointSet&, ComponentView<float>);

}  // namespace ringweave
