// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <complex>
#include <vector>

#include "base/checked_cast.hpp"
#include "fft/plane_filter.hpp"
#include "gyro/dct_plan.hpp"
#include "gyro/schemes.hpp"

namespace ringweave::detail::inline gyro {
namespace {

using Complex = std::complex<double>;

constexpr std::int64_t no_filter = DctPlan::no_filter;

/// Spectra belong to a filter. Planes are transformed when a radius asks for them, and sums are
/// transformed back when another filter's are formed.
struct DctWork final : SchemeWork {
  int n_threads = 1;
  Direction direction = Direction::average;
  std::int64_t n_planes = 0;
  HostBuffer<Complex> spectra;  ///< [plane], of the filter `loaded`
  std::int64_t loaded = no_filter;
  HostBuffer<Complex> sums;  ///< [plane], of the filter `summed`
  std::int64_t summed = no_filter;
  HostBuffer<double> scratch;
  HostBuffer<double> planes;  ///< as loaded, if they may be needed again
  HostBuffer<double> totals;  ///< sums of filters before, if there are several
  bool has_totals = false;
  double indicator = 0;  ///< of the loaded planes
};

DctWork& mine(SchemeWork& work) { return static_cast<DctWork&>(work); }

class DctScheme final : public Scheme {
 public:
  explicit DctScheme(const GyroSpec& spec);

  std::unique_ptr<SchemeWork> make_work(std::int64_t most_planes, int n_threads) const override;
  std::int64_t work_bytes(std::int64_t most_planes, int n_threads) const override;
  void set_radii(std::int64_t begin, std::int64_t end) override;
  std::int64_t table_bytes(std::int64_t radius) const override;
  void clear(SchemeWork& work, Direction direction) const override;
  void load(SchemeWork& work, ComponentView<const double> planes) const override;
  void add(SchemeWork& work, std::int64_t radius, double weight) const override;
  void store(SchemeWork& work, ComponentView<double> planes, Accumulate how) const override;
  double indicator(const SchemeWork& work) const override;
  std::int64_t bytes_sent(const SchemeWork&) const override { return 0; }

 private:
  /// Doubles of the arrays of a worker.
  struct WorkSizes {
    std::int64_t spectra = 0;  ///< complex numbers
    std::int64_t scratch = 0;
    std::int64_t planes = 0;
    std::int64_t totals = 0;
  };
  WorkSizes work_sizes(std::int64_t most_planes, int n_threads) const;
  std::int64_t n_nodes() const { return plan_.grid.n_nodes(); }
  /// Returns whether planes differ from their transformed form, or spectra of several filters are
  /// needed.
  bool keeps_planes() const { return ssize64(filters_) > 1 || plan_.is_mirrored(); }
  const PlaneFilter& filter(std::int64_t f) const { return filters_[to_size(f)]; }
  /// Transforms planes for a filter.
  void transform(DctWork& work, ComponentView<const double> planes, std::int64_t f) const;
  /// Transforms sums back and adds them to the totals.
  void flush(DctWork& work) const;
  /// Multiplies the values on the edges of mirrored axes. Of such an axis the transpose of the
  /// average is itself between factors of 2 and 1/2 there: a node at the edge is its own image.
  void scale_edges(double* plane, double factor) const;

  DctPlan plan_;
  std::vector<PlaneFilter> filters_;
  std::int64_t most_spectrum_ = 0;  ///< of the filters
  std::int64_t table_begin_ = 0;
  std::vector<HostBuffer<double>> tables_;  ///< multipliers of radii from table_begin_ on
};

DctScheme::DctScheme(const GyroSpec& spec) : plan_(plan_dct(spec)) {
  for (const BesselAxes& axes : plan_.filters) {
    filters_.emplace_back(axes.x, axes.y);
    most_spectrum_ = std::max(most_spectrum_, filters_.back().spectrum_size());
  }
}

DctScheme::WorkSizes DctScheme::work_sizes(std::int64_t most_planes, int n_threads) const {
  WorkSizes sizes{.spectra = most_planes * most_spectrum_};
  for (const PlaneFilter& filter : filters_)
    sizes.scratch = std::max(sizes.scratch, filter.scratch_size(n_threads));
  if (keeps_planes()) sizes.planes = sizes.totals = most_planes * n_nodes();
  return sizes;
}

std::unique_ptr<SchemeWork> DctScheme::make_work(std::int64_t most_planes, int n_threads) const {
  const WorkSizes sizes = work_sizes(most_planes, n_threads);
  auto work = std::make_unique<DctWork>();
  work->n_threads = n_threads;
  work->spectra.allocate(sizes.spectra);
  work->sums.allocate(sizes.spectra);
  work->scratch.allocate(sizes.scratch);
  work->planes.allocate(sizes.planes);
  work->totals.allocate(sizes.totals);
  return work;
}

std::int64_t DctScheme::work_bytes(std::int64_t most_planes, int n_threads) const {
  const WorkSizes sizes = work_sizes(most_planes, n_threads);
  constexpr std::int64_t real = sizeof(double);
  constexpr std::int64_t complex = sizeof(Complex);
  return 2 * sizes.spectra * complex + (sizes.scratch + sizes.planes + sizes.totals) * real;
}

void DctScheme::set_radii(std::int64_t begin, std::int64_t end) {
  tables_.clear();
  table_begin_ = begin;
  for (std::int64_t r = begin; r < end; ++r) {
    HostBuffer<double>& table = tables_.emplace_back();
    table.allocate(plan_.multiplier_size(r));
    plan_.make_multiplier(r, table.data());
  }
}

std::int64_t DctScheme::table_bytes(std::int64_t radius) const {
  return plan_.multiplier_size(radius) * std::int64_t{sizeof(double)};
}

void DctScheme::clear(SchemeWork& work, Direction direction) const {
  DctWork& my = mine(work);
  my.direction = direction;
  my.summed = no_filter;
  my.has_totals = false;
}

void DctScheme::load(SchemeWork& work, ComponentView<const double> planes) const {
  DctWork& my = mine(work);
  my.n_planes = planes.n_components();
  my.indicator = edge_indicator(plan_.grid, planes, my.n_threads);
  if (filters_.empty()) return;
  if (!keeps_planes()) return transform(my, planes, 0);
  my.loaded = no_filter;
  for (std::int64_t plane = 0; plane < my.n_planes; ++plane) {
    double* kept = my.planes.data() + plane * n_nodes();
    std::copy_n(planes.component(plane).data(), n_nodes(), kept);
    if (my.direction == Direction::transpose) scale_edges(kept, 2);
  }
}

void DctScheme::transform(DctWork& work, ComponentView<const double> planes, std::int64_t f) const {
  const FilterWindow all{0, plan_.grid.x.size, 0, plan_.grid.y.size};
  for (std::int64_t plane = 0; plane < work.n_planes; ++plane)
    filter(f).forward(planes.component(plane).data(), plan_.grid.x.size, all,
                      work.spectra.data() + plane * most_spectrum_, work.scratch.data(),
                      work.n_threads);
  work.loaded = f;
}

void DctScheme::add(SchemeWork& work, std::int64_t radius, double weight) const {
  DctWork& my = mine(work);
  const std::int64_t f = plan_.filter_of[to_size(radius)];
  if (f == no_filter) return;
  if (my.loaded != f) transform(my, {my.planes.data(), my.n_planes, n_nodes()}, f);
  if (my.summed != f) flush(my);
  const Accumulate how = my.summed == f ? Accumulate::add : Accumulate::overwrite;
  for (std::int64_t plane = 0; plane < my.n_planes; ++plane)
    filter(f).multiply({tables_[to_size(radius - table_begin_)].data()}, weight,
                       my.spectra.data() + plane * most_spectrum_,
                       my.sums.data() + plane * most_spectrum_, how, my.scratch.data(),
                       my.n_threads);
  my.summed = f;
}

void DctScheme::flush(DctWork& work) const {
  if (work.summed == no_filter) return;
  const Accumulate how = work.has_totals ? Accumulate::add : Accumulate::overwrite;
  for (std::int64_t plane = 0; plane < work.n_planes; ++plane)
    filter(work.summed)
        .backward(work.sums.data() + plane * most_spectrum_, work.totals.data() + plane * n_nodes(),
                  plan_.grid.x.size, how, work.scratch.data(), work.n_threads);
  work.has_totals = true;
  work.summed = no_filter;
}

void DctScheme::store(SchemeWork& work, ComponentView<double> planes, Accumulate how) const {
  DctWork& my = mine(work);
  const bool has_scaled_edges = my.direction == Direction::transpose && plan_.is_mirrored();
  if (my.has_totals || has_scaled_edges) flush(my);
  for (std::int64_t plane = 0; plane < planes.n_components(); ++plane) {
    double* to = planes.component(plane).data();
    if (my.has_totals) {
      double* totals = my.totals.data() + plane * n_nodes();
      if (has_scaled_edges) scale_edges(totals, 0.5);
      const bool adds = how == Accumulate::add;
      for (std::int64_t i = 0; i < n_nodes(); ++i) to[i] = adds ? to[i] + totals[i] : totals[i];
    } else if (my.summed != no_filter) {
      filter(my.summed).backward(my.sums.data() + plane * most_spectrum_, to, plan_.grid.x.size,
                                 how, my.scratch.data(), my.n_threads);
    } else if (how == Accumulate::overwrite) {
      std::fill_n(to, n_nodes(), 0.0);
    }
  }
}

void DctScheme::scale_edges(double* plane, double factor) const {
  const std::int64_t n_x = plan_.grid.x.size;
  const std::int64_t n_y = plan_.grid.y.size;
  if (plan_.grid.x.boundary == PlaneBoundary::mirror) {
    for (std::int64_t j = 0; j < n_y; ++j) {
      plane[j * n_x] *= factor;
      plane[j * n_x + n_x - 1] *= factor;
    }
  }
  if (plan_.grid.y.boundary == PlaneBoundary::mirror) {
    for (std::int64_t i = 0; i < n_x; ++i) {
      plane[i] *= factor;
      plane[(n_y - 1) * n_x + i] *= factor;
    }
  }
}

double DctScheme::indicator(const SchemeWork& work) const {
  return static_cast<const DctWork&>(work).indicator;
}

}  // namespace

std::unique_ptr<Scheme> make_dct_scheme(const GyroSpec& spec) {
  return std::make_unique<DctScheme>(spec);
}

}  // namespace ringweave::detail::inline gyro
