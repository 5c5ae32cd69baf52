// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/device.hpp"
#include "base/device_buffer.hpp"
#include "base/stage_timer.hpp"
#include "base/stream_copies.hpp"
#include "distribute/mpi/agree.hpp"
#include "fft/device_plane_filter.hpp"
#include "gyro/device_filter_batch.hpp"
#include "gyro/device_planes.hpp"
#include "gyro/device_stencil_sums.hpp"
#include "gyro/radius_tables.hpp"
#include "gyro/row_halo.hpp"
#include "gyro/schemes.hpp"
#include "gyro/stencil_plan.hpp"

namespace ringweave::detail::inline gyro {
namespace {

constexpr std::int64_t real_bytes = sizeof(double);

/// The worker, whose planes the scheme holds: there is one.
struct CudaStencilWork final : SchemeWork {
  Direction direction = Direction::average;
  bool is_clear = true;         ///< nothing was added
  std::optional<RowHalo> halo;  ///< where ranks share rows
};

CudaStencilWork& of(SchemeWork& work) { return static_cast<CudaStencilWork&>(work); }

std::vector<PlaneFilterAxes> axes_of(const StencilPlan& plan) {
  std::vector<PlaneFilterAxes> axes;
  // A rank without rows filters nothing.
  for (const StencilFilter& filter : plan.filters) {
    if (plan.rows().own.size() > 0) axes.push_back({filter.x, filter.y});
  }
  return axes;
}

class CudaStencilScheme final : public Scheme {
 public:
  CudaStencilScheme(StencilPlan plan, const Communicator& rows, std::optional<HaloPlan> halo,
                    std::int64_t most_planes)
      : plan_(std::move(plan)),
        rows_(rows),
        halo_(std::move(halo)),
        sides_(plan_.sides),
        most_planes_(most_planes),
        planes_(std::make_unique<DevicePlaneCopies>(stream_, own_size())),
        batch_(std::make_unique<DeviceFilterBatch>(axes_of(plan_), most_planes,
                                                   ssize64(plan_.radii), stream_)),
        sums_(make_device_stencil_sums(sides_, most_planes, most_sums(), stream_)) {}
  /// Waits for work that an error has left, before its memory is freed.
  ~CudaStencilScheme() override { stream_.finish(); }

  MemorySpace memory() const override { return MemorySpace::device; }

  std::unique_ptr<SchemeWork> make_work(std::int64_t most_planes, int) const override {
    auto work = std::make_unique<CudaStencilWork>();
    const auto allocate = [&] { batch_->allocate(); };
    halo_ ? agree(rows_, allocate) : allocate();
    if (halo_) work->halo.emplace(rows_, *halo_, most_planes);
    return work;
  }
  std::int64_t work_bytes(std::int64_t, int) const override {
    const std::int64_t of_sums = own_size() + sides_.work_size();
    return (most_planes_ * plan_.rows().size() * plan_.n_x + most_sums() * of_sums) * real_bytes +
           batch_->bytes();
  }
  std::int64_t host_work_bytes(std::int64_t most_planes, int) const override {
    return planes_->host_bytes() + (halo_ ? RowHalo::bytes(*halo_, most_planes) : 0);
  }

  void set_radii(std::int64_t begin, std::int64_t end) override {
    const auto make = [&] {
      stream_.synchronize();
      sums_->drop_tables();
      multipliers_.clear();
      first_radius_ = begin;
      for (std::int64_t r = begin; r < end; ++r) {
        const RadiusTables tables = make_radius_tables(plan_, r, MultiplierForm::whole);
        sums_->add_tables(tables.sides);
        DeviceBuffer<double>& multiplier = multipliers_.emplace_back(tables.multiplier.size());
        copy_to_device(tables.multiplier.data(), multiplier.data(), multiplier.bytes(), stream_);
        stream_.synchronize();
      }
    };
    // Ranks that share rows would wait for one without memory.
    halo_ ? agree(rows_, make) : make();
  }
  std::int64_t table_bytes(std::int64_t number) const override {
    const StencilPlan::Radius& radius = plan_.radii[to_size(number)];
    if (radius.is_beyond || n_own() == 0) return 0;
    // Corners are there by target and by source, and have a number for each target.
    const std::int64_t margin = plan_.sides.margin;
    std::int64_t bytes = 3 * side_table_bytes(plan_, number).sides +
                         (radius.reach_x + margin + 1) * (radius.reach_y + margin + 1) *
                             std::int64_t{sizeof(std::int32_t)};
    if (radius.filter >= 0) {
      const StencilFilter& filter = plan_.filters[to_size(radius.filter)];
      bytes += multiplier_size(filter.x, filter.y, MultiplierForm::whole) * real_bytes;
    }
    return bytes;
  }
  std::int64_t held_bytes(std::int64_t radius) const override {
    const std::int64_t number = radius - first_radius_;
    return sums_->table_bytes(number) + multipliers_[to_size(number)].bytes();
  }
  std::int64_t making_bytes(std::int64_t radius) const override {
    return plan_.table_bytes(radius) + radius_making_bytes(plan_, radius);
  }

  void clear(SchemeWork& some_work, Direction direction) const override {
    CudaStencilWork& work = of(some_work);
    if (direction != work.direction) complete_results_of(work);
    work.direction = direction;
    work.is_clear = true;
  }
  void load(SchemeWork& some_work, ComponentView<const double> planes) const override;
  bool takes_device_planes() const override { return !halo_; }
  void load_on_device(SchemeWork& some_work,
                      ComponentView<const double, MemorySpace::device> planes,
                      DevicePlaneValues&) const override;
  void add(SchemeWork& work, std::int64_t radius, double weight) const override;
  void store(SchemeWork& work, ComponentView<double> planes, Accumulate how) const override {
    store_results(of(work), planes, how);
  }
  void store_on_device(SchemeWork& work,
                       ComponentView<double, MemorySpace::device> planes) const override {
    store_results(of(work), planes, Accumulate::overwrite);
  }
  void complete(SchemeWork& work) const override {
    const auto complete_results = [&] { complete_results_of(of(work)); };
    halo_ ? agree(rows_, complete_results) : complete_results();
  }
  void drop_results(SchemeWork&) const override { batch_->clear(); }
  double indicator(const SchemeWork&) const override { return 0; }
  std::int64_t bytes_sent(const SchemeWork& work) const override {
    const auto& halo = static_cast<const CudaStencilWork&>(work).halo;
    return halo ? halo->bytes_sent() : 0;
  }

 private:
  std::int64_t n_own() const { return plan_.rows().own.size(); }
  std::int64_t own_size() const { return n_own() * plan_.n_x; }
  /// Calls copy(from, to, n) for the held rows of a plane, as many at once as follow each other.
  template <class Copy>
  void copy_rows(const CudaStencilWork& work, std::int64_t p, const double* plane,
                 const Copy& copy) const;
  void begin_sums(CudaStencilWork& work) const;
  void store_results(CudaStencilWork& work, const ResultPlanes& planes, Accumulate how) const;
  /// Writes all results to where they belong.
  void complete_results_of(const CudaStencilWork& work) const;
  void add_filtered(const CudaStencilWork& work, std::int64_t filter, const double* multiplier,
                    double weight) const;
  std::int64_t most_sums() const { return batch_->most_results() * most_planes_; }
  /// The sums of all results.
  DevicePlanes<double> all_sums() const {
    return {sums_->sums(), most_sums(), own_size(), plan_.n_x};
  }

  StencilPlan plan_;
  Communicator rows_;
  std::optional<HaloPlan> halo_;  ///< where ranks share rows
  SideSums sides_;                ///< its layout
  DeviceStream stream_;
  std::int64_t most_planes_;  ///< of a load
  std::unique_ptr<DevicePlaneCopies> planes_;
  std::unique_ptr<DeviceFilterBatch> batch_;
  std::unique_ptr<DeviceStencilSums> sums_;
  std::vector<DeviceBuffer<double>> multipliers_;  ///< from radius first_radius_ on
  std::int64_t first_radius_ = 0;
};

template <class Copy>
void CudaStencilScheme::copy_rows(const CudaStencilWork& work, std::int64_t p, const double* plane,
                                  const Copy& copy) const {
  const HeldRows& rows = plan_.rows();
  const auto row_at = [&](std::int64_t held) {
    const std::int64_t y = rows.row(held);
    const bool is_own = y >= rows.own.begin && y < rows.own.end;
    return is_own ? plane + (y - rows.own.begin) * plan_.n_x : work.halo->row(p, y);
  };
  double* const to = sums_->held() + p * rows.size() * plan_.n_x;
  std::int64_t count = 0;
  for (std::int64_t h = 0; h < rows.size(); h += count) {
    const double* const from = row_at(h);
    count = 1;
    while (h + count < rows.size() && row_at(h + count) == from + count * plan_.n_x) ++count;
    copy(from, to + h * plan_.n_x, count * plan_.n_x);
  }
}

void CudaStencilScheme::load(SchemeWork& some_work, ComponentView<const double> planes) const {
  CudaStencilWork& work = of(some_work);
  if (halo_) {
    const StageTimer timer(&work.times, "halo");
    work.halo->fetch(planes);
  }
  const auto load_planes = [&] {
    complete_results_of(work);
    batch_->load(planes.n_components());
    if (n_own() == 0) return;
    for (std::int64_t p = 0; p < planes.n_components(); ++p) {
      copy_rows(
          work, p, planes.component(p).data(),
          [&](const double* from, double* to, std::int64_t n) { planes_->upload(from, to, n); });
    }
    sums_->load(work.direction, planes.n_components());
  };
  halo_ ? agree(rows_, load_planes) : load_planes();
}

void CudaStencilScheme::load_on_device(SchemeWork& some_work,
                                       ComponentView<const double, MemorySpace::device> planes,
                                       DevicePlaneValues&) const {
  CudaStencilWork& work = of(some_work);
  complete_results_of(work);
  batch_->load(planes.n_components());
  for (std::int64_t p = 0; p < planes.n_components(); ++p) {
    copy_rows(work, p, planes.component(p).data(),
              [&](const double* from, double* to, std::int64_t n) { planes_->copy(from, to, n); });
  }
  stream_.synchronize();
  sums_->load(work.direction, planes.n_components());
}

void CudaStencilScheme::begin_sums(CudaStencilWork& work) const {
  if (!work.is_clear) return;
  sums_->clear(work.direction, batch_->n_planes(), batch_->first_plane());
  batch_->begin();
  work.is_clear = false;
}

void CudaStencilScheme::complete_results_of(const CudaStencilWork& work) const {
  if (batch_->n_results() > 0 && n_own() > 0) {
    batch_->finish(all_sums());
    sums_->finish(work.direction, batch_->first_plane());
    const double* from = sums_->sums();
    for (const DeviceFilterBatch::Result& result : batch_->results()) {
      planes_->download(from, result.planes, result.how);
      from += batch_->n_planes() * own_size();
    }
    stream_.synchronize();
  }
  batch_->clear();
}

void CudaStencilScheme::add_filtered(const CudaStencilWork& work, std::int64_t number,
                                     const double* multiplier, double weight) const {
  const StencilFilter& planned = plan_.filters[to_size(number)];
  // The filter's part of the outermost nodes is right in averages; that of a transpose is not used.
  const FilterWindow window = work.direction == Direction::average
                                  ? plan_.whole_sources(planned.first_row)
                                  : FilterWindow{0, plan_.n_x, 0, planned.y.size};
  batch_->add(number,
              {sums_->held() + planned.first_row * plan_.n_x, batch_->n_planes(),
               plan_.rows().size() * plan_.n_x, plan_.n_x},
              window, multiplier, weight, all_sums());
}

void CudaStencilScheme::add(SchemeWork& some_work, std::int64_t radius, double weight) const {
  CudaStencilWork& work = of(some_work);
  const auto add_radius = [&] {
    if (n_own() == 0) return;
    begin_sums(work);
    const StencilPlan::Radius& planned = plan_.radii[to_size(radius)];
    if (planned.is_beyond) return;
    const std::int64_t number = radius - first_radius_;
    const std::int64_t n_planes = batch_->n_planes();
    if (planned.filter < 0) {
      const HeldRows& rows = plan_.rows();
      FilterWindow window = plan_.whole_sources(rows.own.begin - rows.positions.begin);
      window.y_end = std::min(window.y_end, n_own());
      sums_->add_identity(window, weight, n_planes, batch_->first_plane());
    } else {
      add_filtered(work, planned.filter, multipliers_[to_size(number)].data(), weight);
    }
    sums_->add(work.direction, number, weight, n_planes, batch_->first_plane());
  };
  halo_ ? agree(rows_, add_radius) : add_radius();
}

void CudaStencilScheme::store_results(CudaStencilWork& work, const ResultPlanes& planes,
                                      Accumulate how) const {
  const auto store_planes = [&] {
    if (n_own() > 0) begin_sums(work);
    batch_->end(planes, how);
    if (batch_->is_full()) complete_results_of(work);
  };
  halo_ ? agree(rows_, store_planes) : store_planes();
  work.is_clear = true;
}

}  // namespace

std::unique_ptr<Scheme> make_cuda_stencil_scheme(const GyroSpec& spec, const Communicator& rows,
                                                 const RowShare& share, std::int64_t most_planes) {
  const SharedRows shared = share_rows(spec, rows, share);
  return agreed(rows, [&]() -> std::unique_ptr<Scheme> {
    StencilPlan plan = plan_stencil(spec, shared.own);
    std::optional<HaloPlan> halo = plan_halo(plan, shared);
    return std::make_unique<CudaStencilScheme>(std::move(plan), rows, std::move(halo), most_planes);
  });
}

}  // namespace ringweave::detail::inline gyro
