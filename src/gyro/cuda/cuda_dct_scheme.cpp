// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <memory>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/device.hpp"
#include "base/device_buffer.hpp"
#include "fft/device_plane_filter.hpp"
#include "gyro/dct_plan.hpp"
#include "gyro/device_filter_batch.hpp"
#include "gyro/device_plane_values.hpp"
#include "gyro/device_planes.hpp"
#include "gyro/schemes.hpp"

namespace ringweave::detail::inline gyro {
namespace {

constexpr std::int64_t no_filter = DctPlan::no_filter;
constexpr std::int64_t real_bytes = sizeof(double);

/// Planes of the worker, in device memory.
struct CudaDctWork final : SchemeWork {
  Direction direction = Direction::average;
  bool is_clear = true;         ///< nothing was added
  DeviceBuffer<double> planes;  ///< as loaded
  DeviceBuffer<double> sums;    ///< [result][plane]
  double indicator = 0;         ///< of the loaded planes
};

CudaDctWork& mine(SchemeWork& work) { return static_cast<CudaDctWork&>(work); }

class CudaDctScheme final : public Scheme {
 public:
  CudaDctScheme(const GyroSpec& spec, std::int64_t most_planes)
      : plan_(plan_dct(spec)),
        copies_(std::make_unique<DevicePlaneCopies>(stream_, n_nodes())),
        edges_(make_device_edges(plan_.grid, stream_)),
        most_planes_(most_planes),
        batch_(std::make_unique<DeviceFilterBatch>(axes(), most_planes, ssize64(plan_.radii),
                                                   stream_)) {}
  /// Waits for work that an error has left, before its memory is freed.
  ~CudaDctScheme() override { stream_.finish(); }

  MemorySpace memory() const override { return MemorySpace::device; }

  std::unique_ptr<SchemeWork> make_work(std::int64_t most_planes, int) const override {
    auto work = std::make_unique<CudaDctWork>();
    work->planes.allocate(most_planes * n_nodes());
    work->sums.allocate(most_sums() * n_nodes());
    batch_->allocate();
    return work;
  }
  std::int64_t work_bytes(std::int64_t most_planes, int) const override {
    return (most_planes + most_sums()) * n_nodes() * real_bytes + batch_->bytes();
  }
  std::int64_t host_work_bytes(std::int64_t, int) const override { return copies_->host_bytes(); }

  void set_radii(std::int64_t begin, std::int64_t end) override {
    stream_.synchronize();
    tables_.clear();
    table_begin_ = begin;
    for (std::int64_t r = begin; r < end; ++r) {
      HostBuffer<double> multiplier(plan_.multiplier_size(r));
      plan_.make_multiplier(r, multiplier.data());
      DeviceBuffer<double>& table = tables_.emplace_back(multiplier.size());
      copy_to_device(multiplier.data(), table.data(), table.bytes(), stream_);
      stream_.synchronize();
    }
  }
  std::int64_t table_bytes(std::int64_t radius) const override {
    return plan_.multiplier_size(radius) * real_bytes;
  }
  std::int64_t making_bytes(std::int64_t radius) const override { return table_bytes(radius); }

  void clear(SchemeWork& work, Direction direction) const override {
    CudaDctWork& my = mine(work);
    if (direction != my.direction) complete(work);
    my.direction = direction;
    my.is_clear = true;
  }

  void load(SchemeWork& work, ComponentView<const double> planes) const override {
    CudaDctWork& my = mine(work);
    complete(work);
    batch_->load(planes.n_components());
    my.indicator = edge_indicator(plan_.grid, planes);
    for (std::int64_t p = 0; p < planes.n_components(); ++p)
      copies_->upload(planes.component(p).data(), my.planes.data() + p * n_nodes(), n_nodes());
    if (my.direction == Direction::transpose)
      edges_->scale(my.planes.data(), planes.n_components(), 2);
  }
  bool takes_device_planes() const override { return true; }
  void load_on_device(SchemeWork& work, ComponentView<const double, MemorySpace::device> planes,
                      DevicePlaneValues& values) const override {
    CudaDctWork& my = mine(work);
    complete(work);
    batch_->load(planes.n_components());
    my.indicator = 0;
    for (std::int64_t p = 0; p < planes.n_components(); ++p) {
      const PlaneFindings found = values.inspect(planes.component(p), edge_of(plan_.grid));
      if (found.largest > 0)
        my.indicator = std::max(my.indicator, found.largest_at_edge / found.largest);
      copies_->copy(planes.component(p).data(), my.planes.data() + p * n_nodes(), n_nodes());
    }
    stream_.synchronize();
    if (my.direction == Direction::transpose)
      edges_->scale(my.planes.data(), planes.n_components(), 2);
  }

  void add(SchemeWork& work, std::int64_t radius, double weight) const override {
    CudaDctWork& my = mine(work);
    begin_sums(my);
    const std::int64_t f = plan_.filter_of[to_size(radius)];
    if (f == no_filter) return;
    const PlaneGrid& grid = plan_.grid;
    batch_->add(f, {my.planes.data(), batch_->n_planes(), n_nodes(), grid.x.size},
                {0, grid.x.size, 0, grid.y.size}, tables_[to_size(radius - table_begin_)].data(),
                weight, all_sums(my));
  }

  void store(SchemeWork& work, ComponentView<double> planes, Accumulate how) const override {
    store_results(mine(work), planes, how);
  }
  void store_on_device(SchemeWork& work,
                       ComponentView<double, MemorySpace::device> planes) const override {
    store_results(mine(work), planes, Accumulate::overwrite);
  }

  void complete(SchemeWork& work) const override {
    CudaDctWork& my = mine(work);
    if (batch_->n_results() > 0) {
      batch_->finish(all_sums(my));
      if (my.direction == Direction::transpose)
        edges_->scale(my.sums.data(), batch_->first_plane(), 0.5);
      const double* from = my.sums.data();
      for (const DeviceFilterBatch::Result& result : batch_->results()) {
        copies_->download(from, result.planes, result.how);
        from += batch_->n_planes() * n_nodes();
      }
      stream_.synchronize();
    }
    batch_->clear();
  }
  void drop_results(SchemeWork&) const override { batch_->clear(); }

  double indicator(const SchemeWork& work) const override {
    return static_cast<const CudaDctWork&>(work).indicator;
  }
  std::int64_t bytes_sent(const SchemeWork&) const override { return 0; }

 private:
  std::int64_t n_nodes() const { return plan_.grid.n_nodes(); }
  std::vector<PlaneFilterAxes> axes() const {
    std::vector<PlaneFilterAxes> axes;
    for (const BesselAxes& of : plan_.filters) axes.push_back({of.x, of.y});
    return axes;
  }
  std::int64_t most_sums() const { return batch_->most_results() * most_planes_; }
  DevicePlanes<double> all_sums(CudaDctWork& work) const {
    return {work.sums.data(), most_sums(), n_nodes(), plan_.grid.x.size};
  }
  void store_results(CudaDctWork& work, const ResultPlanes& planes, Accumulate how) const {
    begin_sums(work);
    batch_->end(planes, how);
    if (batch_->is_full()) complete(work);
    work.is_clear = true;
  }
  void begin_sums(CudaDctWork& work) const {
    if (!work.is_clear) return;
    work.is_clear = false;
    batch_->begin();
    zero_device_memory(work.sums.data() + batch_->first_plane() * n_nodes(),
                       batch_->n_planes() * n_nodes() * real_bytes, stream_);
  }

  DctPlan plan_;
  DeviceStream stream_;
  std::unique_ptr<DevicePlaneCopies> copies_;
  std::unique_ptr<DeviceEdges> edges_;
  std::int64_t most_planes_;  ///< of a load
  std::unique_ptr<DeviceFilterBatch> batch_;
  std::int64_t table_begin_ = 0;
  std::vector<DeviceBuffer<double>> tables_;  ///< multipliers of radii from table_begin_ on
};

}  // namespace

std::unique_ptr<Scheme> make_cuda_dct_scheme(const GyroSpec& spec, std::int64_t most_planes) {
  return std::make_unique<CudaDctScheme>(spec, most_planes);
}

}  // namespace ringweave::detail::inline gyro
