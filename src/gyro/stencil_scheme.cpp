// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <complex>
#include <optional>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/stage_timer.hpp"
#include "distribute/mpi/agree.hpp"
#include "gyro/radius_tables.hpp"
#include "gyro/row_halo.hpp"
#include "gyro/schemes.hpp"
#include "gyro/side_sums.hpp"
#include "gyro/stencil_plan.hpp"

namespace ringweave::detail::inline gyro {
namespace {

using Complex = std::complex<double>;

/// Elements that a worker needs.
struct StencilSizes {
  std::int64_t held = 0;  ///< doubles of a plane
  std::int64_t sums = 0;
  std::int64_t sides = 0;
  std::int64_t spectrum = 0;  ///< complex numbers of a plane
  std::int64_t scratch = 0;   ///< doubles of all threads

  std::int64_t bytes(std::int64_t n_planes) const {
    constexpr std::int64_t real = sizeof(double);
    constexpr std::int64_t complex = sizeof(Complex);
    return n_planes * ((held + sums + sides) * real + 2 * spectrum * complex) + scratch * real;
  }
};

/// Planes of a worker: [plane][...].
struct StencilWork : SchemeWork {
  std::int64_t most_planes = 1;
  std::int64_t n_planes = 0;  ///< loaded
  int n_threads = 1;
  Direction direction = Direction::average;
  StencilSizes sizes;
  HostBuffer<double> held;  ///< rows that are held, as loaded
  HostBuffer<double> sums;  ///< of the filters before the present one
  HostBuffer<double> sides;
  HostBuffer<double> scratch;
  HostBuffer<Complex> spectra;  ///< of the loaded planes, for one filter
  HostBuffer<Complex> totals;   ///< sums of one filter
  std::int64_t spectra_filter = -1;
  std::int64_t totals_filter = -1;
  bool has_sums = false;
  bool is_clear = true;         ///< nothing was added
  std::optional<RowHalo> halo;  ///< where ranks share rows

  double* held_plane(std::int64_t p) { return held.data() + p * sizes.held; }
  double* sums_plane(std::int64_t p) { return sums.data() + p * sizes.sums; }
  double* sides_plane(std::int64_t p) { return sides.data() + p * sizes.sides; }
  Complex* spectrum(std::int64_t p) { return spectra.data() + p * sizes.spectrum; }
  Complex* total(std::int64_t p) { return totals.data() + p * sizes.spectrum; }
};

StencilWork& of(SchemeWork& work) { return static_cast<StencilWork&>(work); }

class StencilScheme : public Scheme {
 public:
  StencilScheme(StencilPlan plan, const Communicator& rows, std::optional<HaloPlan> halo)
      : plan_(std::move(plan)), rows_(rows), halo_(std::move(halo)), sides_(plan_.sides) {
    filters_.reserve(plan_.filters.size());
    for (const StencilFilter& filter : plan_.filters) filters_.emplace_back(filter.x, filter.y);
  }

  std::unique_ptr<SchemeWork> make_work(std::int64_t most_planes, int n_threads) const override;
  std::int64_t work_bytes(std::int64_t most_planes, int n_threads) const override {
    return work_sizes(n_threads).bytes(most_planes) +
           (halo_ ? RowHalo::bytes(*halo_, most_planes) : 0);
  }
  void set_radii(std::int64_t begin, std::int64_t end) override;
  std::int64_t table_bytes(std::int64_t radius) const override { return plan_.table_bytes(radius); }
  std::int64_t held_bytes(std::int64_t radius) const override {
    const RadiusTables& tables = tables_[to_size(radius - first_radius_)];
    return tables.sides.bytes() + tables.multiplier.size() * std::int64_t{sizeof(double)};
  }
  std::int64_t making_bytes(std::int64_t radius) const override {
    return radius_making_bytes(plan_, radius);
  }
  void clear(SchemeWork& work, Direction direction) const override;
  void load(SchemeWork& work, ComponentView<const double> planes) const override;
  void add(SchemeWork& work, std::int64_t radius, double weight) const override;
  void store(SchemeWork& work, ComponentView<double> planes, Accumulate how) const override;
  double indicator(const SchemeWork&) const override { return 0; }
  std::int64_t bytes_sent(const SchemeWork& work) const override {
    const auto& halo = static_cast<const StencilWork&>(work).halo;
    return halo ? halo->bytes_sent() : 0;
  }

 private:
  std::int64_t n_own() const { return plan_.rows().own.size(); }
  StencilSizes work_sizes(int n_threads) const;
  void copy_rows(StencilWork& work, std::int64_t p, const double* plane) const;
  void begin_sums(StencilWork& work) const;
  void add_filtered(StencilWork& work, std::int64_t filter, const FilterMultiplier& multiplier,
                    double weight) const;
  void add_identity(StencilWork& work, double weight) const;
  void finish_filter(StencilWork& work) const;
  /// Writes the result of the filters.
  void write_filtered(StencilWork& work, std::int64_t p, double* plane) const;
  /// Tells whether a node is its own mirror image.
  bool is_mirror(std::int64_t node, std::int64_t n, PlaneBoundary boundary) const {
    return boundary == PlaneBoundary::mirror && (node == 0 || node == n - 1);
  }
  /// Multiplies the nodes of a row that are their own image.
  void scale_edges(double* row, std::int64_t y, double factor) const;

  StencilPlan plan_;
  Communicator rows_;
  std::optional<HaloPlan> halo_;  ///< where ranks share rows
  SideSums sides_;
  std::vector<PlaneFilter> filters_;
  std::vector<RadiusTables> tables_;  ///< from radius first_radius_ on
  std::int64_t first_radius_ = 0;
};

StencilSizes StencilScheme::work_sizes(int n_threads) const {
  StencilSizes sizes;
  sizes.held = plan_.rows().size() * plan_.n_x;
  sizes.sums = n_own() * plan_.n_x;
  sizes.sides = sides_.work_size();
  for (const PlaneFilter& filter : filters_) {
    sizes.spectrum = std::max(sizes.spectrum, filter.spectrum_size());
    sizes.scratch = std::max(sizes.scratch, filter.scratch_size(n_threads));
  }
  return sizes;
}

std::unique_ptr<SchemeWork> StencilScheme::make_work(std::int64_t most_planes,
                                                     int n_threads) const {
  const auto make = [&] {
    auto work = std::make_unique<StencilWork>();
    work->most_planes = most_planes;
    work->n_threads = n_threads;
    const StencilSizes& sizes = work->sizes = work_sizes(n_threads);
    work->held.allocate(most_planes * sizes.held);
    work->sums.allocate(most_planes * sizes.sums);
    work->sides.allocate(most_planes * sizes.sides);
    work->spectra.allocate(most_planes * sizes.spectrum);
    work->totals.allocate(most_planes * sizes.spectrum);
    work->scratch.allocate(sizes.scratch);
    std::fill(work->sides.begin(), work->sides.end(), 0.0);
    return work;
  };
  if (!halo_) return make();
  auto work = agreed(rows_, make);
  work->halo.emplace(rows_, *halo_, most_planes);
  return work;
}

void StencilScheme::set_radii(std::int64_t begin, std::int64_t end) {
  const auto make = [&] {
    tables_.clear();
    tables_.reserve(to_size(end - begin));
    first_radius_ = begin;
    for (std::int64_t r = begin; r < end; ++r) {
      const StencilPlan::Radius& radius = plan_.radii[to_size(r)];
      tables_.push_back(make_radius_tables(plan_, r, plan_.form_of(radius)));
    }
  };
  // Ranks that share rows would wait for one without memory.
  halo_ ? agree(rows_, make) : make();
}

void StencilScheme::clear(SchemeWork& some_work, Direction direction) const {
  StencilWork& work = of(some_work);
  work.direction = direction;
  work.is_clear = true;
}

void StencilScheme::scale_edges(double* row, std::int64_t y, double factor) const {
  const PlaneBoundary x_boundary = plan_.sides.x_boundary;
  if (is_mirror(y, plan_.n_y, plan_.rows().boundary)) {
    for (std::int64_t x = 0; x < plan_.n_x; ++x) row[x] *= factor;
  }
  for (const std::int64_t x : {std::int64_t{0}, plan_.n_x - 1}) {
    if (is_mirror(x, plan_.n_x, x_boundary)) row[x] *= factor;
  }
}

void StencilScheme::copy_rows(StencilWork& work, std::int64_t p, const double* plane) const {
  const HeldRows& rows = plan_.rows();
#pragma omp parallel for num_threads(work.n_threads)
  for (std::int64_t h = 0; h < rows.size(); ++h) {
    const std::int64_t y = rows.row(h);
    const bool is_own = y >= rows.own.begin && y < rows.own.end;
    const double* const from =
        is_own ? plane + (y - rows.own.begin) * plan_.n_x : work.halo->row(p, y);
    double* const to = work.held_plane(p) + h * plan_.n_x;
    std::copy_n(from, plan_.n_x, to);
    // A node that is its own mirror image counts half as often as others, which has to be undone
    // before and after a symmetric filter.
    if (work.direction == Direction::transpose) scale_edges(to, y, 2);
  }
}

void StencilScheme::load(SchemeWork& some_work, ComponentView<const double> planes) const {
  StencilWork& work = of(some_work);
  work.n_planes = planes.n_components();
  work.spectra_filter = -1;
  if (halo_) {
    const StageTimer timer(&work.times, "halo");
    work.halo->fetch(planes);
  }
  for (std::int64_t p = 0; p < work.n_planes; ++p) {
    copy_rows(work, p, planes.component(p).data());
    const StageTimer timer(&work.times, "sides");
    sides_.load(work.direction, work.held_plane(p), work.sides_plane(p), work.n_threads);
  }
}

void StencilScheme::begin_sums(StencilWork& work) const {
  if (!work.is_clear) return;
  for (std::int64_t p = 0; p < work.n_planes; ++p)
    sides_.clear(work.direction, work.sides_plane(p));
  work.totals_filter = -1;
  work.has_sums = false;
  work.is_clear = false;
}

void StencilScheme::finish_filter(StencilWork& work) const {
  if (work.totals_filter < 0) return;
  const PlaneFilter& filter = filters_[to_size(work.totals_filter)];
  for (std::int64_t p = 0; p < work.n_planes; ++p) {
    filter.backward(work.total(p), work.sums_plane(p), plan_.n_x,
                    work.has_sums ? Accumulate::add : Accumulate::overwrite, work.scratch.data(),
                    work.n_threads);
  }
  work.has_sums = true;
  work.totals_filter = -1;
}

void StencilScheme::add_filtered(StencilWork& work, std::int64_t number,
                                 const FilterMultiplier& multiplier, double weight) const {
  const PlaneFilter& filter = filters_[to_size(number)];
  const std::int64_t first_row = plan_.filters[to_size(number)].first_row;
  if (work.spectra_filter != number) {
    // The filter's part of the outermost nodes is right in averages; that of a transpose is not
    // used.
    const FilterWindow window = work.direction == Direction::average
                                    ? plan_.whole_sources(first_row)
                                    : FilterWindow{0, plan_.n_x, 0, filter.y().size};
    for (std::int64_t p = 0; p < work.n_planes; ++p) {
      filter.forward(work.held_plane(p) + first_row * plan_.n_x, plan_.n_x, window,
                     work.spectrum(p), work.scratch.data(), work.n_threads);
    }
    work.spectra_filter = number;
  }
  if (work.totals_filter != number) finish_filter(work);
  const Accumulate how = work.totals_filter < 0 ? Accumulate::overwrite : Accumulate::add;
  for (std::int64_t p = 0; p < work.n_planes; ++p) {
    filter.multiply(multiplier, weight, work.spectrum(p), work.total(p), how, work.scratch.data(),
                    work.n_threads);
  }
  work.totals_filter = number;
}

void StencilScheme::add_identity(StencilWork& work, double weight) const {
  const HeldRows& rows = plan_.rows();
  const std::int64_t first_row = rows.own.begin - rows.positions.begin;
  const FilterWindow window = plan_.whole_sources(first_row);
  for (std::int64_t p = 0; p < work.n_planes; ++p) {
    double* const sums = work.sums_plane(p);
    const double* const own = work.held_plane(p) + first_row * plan_.n_x;
    if (!work.has_sums) std::fill_n(sums, work.sizes.sums, 0.0);
#pragma omp parallel for num_threads(work.n_threads)
    for (std::int64_t y = window.y_begin; y < std::min(window.y_end, n_own()); ++y) {
      for (std::int64_t i = y * plan_.n_x + window.x_begin; i < y * plan_.n_x + window.x_end; ++i)
        sums[i] += weight * own[i];
    }
  }
  work.has_sums = true;
}

void StencilScheme::add(SchemeWork& some_work, std::int64_t radius, double weight) const {
  StencilWork& work = of(some_work);
  begin_sums(work);
  const StencilPlan::Radius& planned = plan_.radii[to_size(radius)];
  if (planned.is_beyond || n_own() == 0) return;
  const RadiusTables& tables = tables_[to_size(radius - first_radius_)];
  if (planned.filter < 0) {
    add_identity(work, weight);
  } else {
    add_filtered(work, planned.filter, {tables.multiplier.data(), plan_.form_of(planned)}, weight);
  }
  const StageTimer timer(&work.times, "sides");
  for (std::int64_t p = 0; p < work.n_planes; ++p)
    sides_.add(work.direction, tables.sides, weight, work.sides_plane(p), work.n_threads);
}

void StencilScheme::write_filtered(StencilWork& work, std::int64_t p, double* plane) const {
  if (work.has_sums && plane != work.sums_plane(p))
    std::copy_n(work.sums_plane(p), work.sizes.sums, plane);
  if (work.totals_filter >= 0) {
    filters_[to_size(work.totals_filter)].backward(
        work.total(p), plane, plan_.n_x, work.has_sums ? Accumulate::add : Accumulate::overwrite,
        work.scratch.data(), work.n_threads);
  } else if (!work.has_sums) {
    std::fill_n(plane, work.sizes.sums, 0.0);
  }
}

void StencilScheme::store(SchemeWork& some_work, ComponentView<double> planes,
                          Accumulate how) const {
  StencilWork& work = of(some_work);
  begin_sums(work);
  const std::int64_t n_rows = n_own();
  for (std::int64_t p = 0; p < planes.n_components(); ++p) {
    double* const out = planes.component(p).data();
    double* const plane = how == Accumulate::overwrite ? out : work.sums_plane(p);
    write_filtered(work, p, plane);
    const StageTimer timer(&work.times, "sides");
    sides_.store(work.direction, work.sides_plane(p), plane, plan_.n_x, work.n_threads);
#pragma omp parallel for num_threads(work.n_threads)
    for (std::int64_t y = 0; y < n_rows; ++y) {
      double* const row = plane + y * plan_.n_x;
      if (work.direction == Direction::transpose) scale_edges(row, plan_.rows().own.begin + y, 0.5);
      for (std::int64_t x = 0; how == Accumulate::add && x < plan_.n_x; ++x)
        out[y * plan_.n_x + x] += row[x];
    }
  }
  work.is_clear = true;
}

}  // namespace

std::unique_ptr<Scheme> make_stencil_scheme(const GyroSpec& spec, const Communicator& rows,
                                            const RowShare& share) {
  const SharedRows shared = share_rows(spec, rows, share);
  return agreed(rows, [&]() -> std::unique_ptr<Scheme> {
    StencilPlan plan = plan_stencil(spec, shared.own);
    std::optional<HaloPlan> halo = plan_halo(plan, shared);
    return std::make_unique<StencilScheme>(std::move(plan), rows, std::move(halo));
  });
}

}  // namespace ringweave::detail::inline gyro
