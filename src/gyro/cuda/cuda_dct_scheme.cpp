// SPDX-License-Identifier: GPL-3.0-or-later
#include <algorithm>
#include <complex>
#include <memory>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/device.hpp"
#include "base/device_buffer.hpp"
#include "fft/device_plane_filter.hpp"
#include "gyro/dct_plan.hpp"
#include "gyro/device_planes.hpp"
#include "gyro/schemes.hpp"

namespace ringweave::detail::inline gyro {
namespace {

using Complex = std::complex<double>;

constexpr std::int64_t no_filter = DctPlan::no_filter;
constexpr std::int64_t real_bytes = sizeof(double);
constexpr std::int64_t complex_bytes = sizeof(Complex);

/// Planes of the worker, in device memory. Spectra belong to a filter: planes are transformed when
/// a radius asks for them, sums are transformed back when another filter's are formed.
struct CudaDctWork final : SchemeWork {
  Direction direction = Direction::average;
  std::int64_t n_planes = 0;
  DeviceBuffer<double> planes;    ///< what was loaded
  DeviceBuffer<Complex> spectra;  ///< of the filter `loaded`
  std::int64_t loaded = no_filter;
  DeviceBuffer<Complex> sums;  ///< of the filter `summed`
  std::int64_t summed = no_filter;
  DeviceBuffer<double> totals;  ///< sums of filters before
  bool has_totals = false;
  double indicator = 0;  ///< of what was loaded
};

CudaDctWork& mine(SchemeWork& work) { return static_cast<CudaDctWork&>(work); }

class CudaDctScheme final : public Scheme {
 public:
  CudaDctScheme(const GyroSpec& spec, std::int64_t most_planes)
      : plan_(plan_dct(spec)),
        copies_(std::make_unique<DevicePlaneCopies>(stream_, n_nodes())),
        edges_(make_device_edges(plan_.grid, stream_)),
        filters_(make_device_plane_filters(axes(), most_planes, stream_)) {
    for (const auto& filter : filters_) spectrum_ = std::max(spectrum_, filter->spectrum_size());
  }
  /// Waits for work that an error has left, before its memory is freed.
  ~CudaDctScheme() override { stream_.finish(); }

  MemorySpace memory() const override { return MemorySpace::device; }

  std::unique_ptr<SchemeWork> make_work(std::int64_t most_planes, int) const override {
    auto work = std::make_unique<CudaDctWork>();
    work->planes.allocate(most_planes * n_nodes());
    work->totals.allocate(most_planes * n_nodes());
    work->spectra.allocate(most_planes * spectrum_);
    work->sums.allocate(most_planes * spectrum_);
    return work;
  }
  std::int64_t work_bytes(std::int64_t most_planes, int) const override {
    return 2 * most_planes * (n_nodes() * real_bytes + spectrum_ * complex_bytes) +
           device_plane_filter_bytes(axes(), most_planes);
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
    my.direction = direction;
    my.summed = no_filter;
    my.has_totals = false;
  }

  void load(SchemeWork& work, ComponentView<const double> planes) const override {
    CudaDctWork& my = mine(work);
    my.n_planes = planes.n_components();
    my.indicator = edge_indicator(plan_.grid, planes);
    my.loaded = no_filter;
    for (std::int64_t p = 0; p < my.n_planes; ++p)
      copies_->upload(planes.component(p).data(), my.planes.data() + p * n_nodes(), n_nodes());
    if (my.direction == Direction::transpose) edges_->scale(my.planes.data(), my.n_planes, 2);
  }

  void add(SchemeWork& work, std::int64_t radius, double weight) const override {
    CudaDctWork& my = mine(work);
    const std::int64_t f = plan_.filter_of[to_size(radius)];
    if (f == no_filter) return;
    DevicePlaneFilter& filter = *filters_[to_size(f)];
    const PlaneGrid& grid = plan_.grid;
    if (my.loaded != f) {
      filter.forward({my.planes.data(), my.n_planes, n_nodes(), grid.x.size},
                     {0, grid.x.size, 0, grid.y.size}, my.spectra.data());
      my.loaded = f;
    }
    if (my.summed != f) flush(my);
    filter.multiply(tables_[to_size(radius - table_begin_)].data(), weight, my.n_planes,
                    my.spectra.data(), my.sums.data(),
                    my.summed == f ? Accumulate::add : Accumulate::overwrite);
    my.summed = f;
  }

  void store(SchemeWork& work, ComponentView<double> planes, Accumulate how) const override {
    CudaDctWork& my = mine(work);
    flush(my);
    if (!my.has_totals)
      zero_device_memory(my.totals.data(), my.n_planes * n_nodes() * real_bytes, stream_);
    if (my.direction == Direction::transpose) edges_->scale(my.totals.data(), my.n_planes, 0.5);
    copies_->download(my.totals.data(), planes, how);
  }

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
  /// Transforms sums back and adds them to the totals.
  void flush(CudaDctWork& work) const {
    if (work.summed == no_filter) return;
    filters_[to_size(work.summed)]->backward(
        work.sums.data(), {work.totals.data(), work.n_planes, n_nodes(), plan_.grid.x.size},
        work.has_totals ? Accumulate::add : Accumulate::overwrite);
    work.has_totals = true;
    work.summed = no_filter;
  }

  DctPlan plan_;
  DeviceStream stream_;
  std::unique_ptr<DevicePlaneCopies> copies_;
  std::unique_ptr<DeviceEdges> edges_;
  std::vector<std::unique_ptr<DevicePlaneFilter>> filters_;
  std::int64_t spectrum_ = 0;  ///< numbers of a plane, of any filter
  std::int64_t table_begin_ = 0;
  std::vector<DeviceBuffer<double>> tables_;  ///< multipliers of radii from table_begin_ on
};

}  // namespace

std::unique_ptr<Scheme> make_cuda_dct_scheme(const GyroSpec& spec, std::int64_t most_planes) {
  return std::make_unique<CudaDctScheme>(spec, most_planes);
}

}  // namespace ringweave::detail::inline gyro
