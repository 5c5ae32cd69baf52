// SPDX-License-Identifier: GPL-3.0-or-later
#include "legendre/cuda/cuda_legendre_stage.hpp"

#include <complex>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/device_buffer.hpp"
#include "base/error.hpp"
#include "legendre/device_legendre_stage.hpp"

namespace ringweave {
namespace {

using Complex = std::complex<double>;
using Rows = DeviceLegendreStage::Rows;

/// Elements [begin, end).
struct Run {
  std::int64_t begin;
  std::int64_t end;
};
void add_run(std::vector<Run>& runs, std::int64_t begin, std::int64_t end) {
  if (begin == end) return;
  if (!runs.empty() && runs.back().end == begin) {
    runs.back().end = end;
  } else {
    runs.push_back({begin, end});
  }
}

/// The device stage for a_lm and modes of the host: copies in, computes, copies out. Only the rows
/// that are asked for are read and written on the host.
class CudaLegendreStage final : public LegendreStage {
 public:
  explicit CudaLegendreStage(LegendreShape shape)
      : shape_(std::move(shape)),
        stage_(make_device_legendre_stage(shape_, stream_)),
        alm_(shape_.alm.size() * shape_.fields.n_components()),
        modes_(shape_.rows.size() * shape_.fields.n_components()) {}

  void synthesize(AlmView<const double> alm, ModeView<double> modes) override {
    synthesize_any<double>(stage_->all_rows(), alm, modes);
  }
  void synthesize(AlmView<const float> alm, ModeView<double> modes) override {
    synthesize_any<float>(stage_->all_rows(), alm, modes);
  }
  void synthesize_rows(std::int64_t first_row, std::int64_t n_rows, AlmView<const double> alm,
                       ModeView<double> modes) override {
    synthesize_any<double>({first_row, n_rows}, alm, modes);
  }
  void synthesize_rows(std::int64_t first_row, std::int64_t n_rows, AlmView<const float> alm,
                       ModeView<double> modes) override {
    synthesize_any<float>({first_row, n_rows}, alm, modes);
  }
  void adjoint(ModeView<const double> modes, AlmView<double> alm, Accumulate how) override {
    adjoint_any<double>(stage_->all_rows(), modes, alm, how);
  }
  void adjoint(ModeView<const double> modes, AlmView<float> alm, Accumulate how) override {
    adjoint_any<float>(stage_->all_rows(), modes, alm, how);
  }
  void adjoint_rows(std::int64_t first_row, std::int64_t n_rows, ModeView<const double> modes,
                    AlmView<double> alm, Accumulate how) override {
    adjoint_any<double>({first_row, n_rows}, modes, alm, how);
  }
  void adjoint_rows(std::int64_t first_row, std::int64_t n_rows, ModeView<const double> modes,
                    AlmView<float> alm, Accumulate how) override {
    adjoint_any<float>({first_row, n_rows}, modes, alm, how);
  }

  std::unique_ptr<LegendreStage> with_rows(ModeLayout rows) const override {
    LegendreShape shape = shape_;
    shape.rows = std::move(rows);
    return std::make_unique<CudaLegendreStage>(std::move(shape));
  }

  std::int64_t bytes() const override {
    return stage_->device_bytes() + alm_.bytes() + modes_.bytes();
  }

 private:
  template <class T>
  using DeviceAlm = AlmView<T, MemorySpace::device>;

  template <class T>
  void synthesize_any(Rows rows, AlmView<const T> alm, ModeView<double> modes) {
    const DeviceAlm<T> own = device_alm<T>(alm.n_components(), alm.size());
    require_modes(modes.size());
    for_each_alm_run<T>(rows, [&](std::int64_t c, std::int64_t begin, std::int64_t bytes) {
      copy_to_device(alm.component(c).data() + begin, own.component(c).data() + begin, bytes,
                     stream_);
    });
    stage_->synthesize(rows, own, modes_.view());
    for_each_mode_run(rows, [&](std::int64_t begin, std::int64_t bytes) {
      copy_to_host(modes_.data() + begin, modes.data() + begin, bytes, stream_);
    });
    stream_.synchronize();
  }

  template <class T>
  void adjoint_any(Rows rows, ModeView<const double> modes, AlmView<T> alm, Accumulate how) {
    const DeviceAlm<T> own = device_alm<T>(alm.n_components(), alm.size());
    require_modes(modes.size());
    for_each_mode_run(rows, [&](std::int64_t begin, std::int64_t bytes) {
      copy_to_device(modes.data() + begin, modes_.data() + begin, bytes, stream_);
    });
    if (how == Accumulate::add) {
      for_each_alm_run<T>(rows, [&](std::int64_t c, std::int64_t begin, std::int64_t bytes) {
        copy_to_device(alm.component(c).data() + begin, own.component(c).data() + begin, bytes,
                       stream_);
      });
    }
    stage_->adjoint(rows, modes_.view(), own, how);
    for_each_alm_run<T>(rows, [&](std::int64_t c, std::int64_t begin, std::int64_t bytes) {
      copy_to_host(own.component(c).data() + begin, alm.component(c).data() + begin, bytes,
                   stream_);
    });
    stream_.synchronize();
  }

  /// The a_lm on the device, as float or double in the same memory.
  template <class T>
  DeviceAlm<T> device_alm(std::int64_t n_components, std::int64_t size) {
    if (n_components != shape_.fields.n_components() || size != shape_.alm.size()) {
      throw UsageError("Legendre stage: a_lm of " + std::to_string(n_components) +
                       " components x " + std::to_string(size) + " coefficients; the plan has " +
                       std::to_string(shape_.fields.n_components()) + " x " +
                       std::to_string(shape_.alm.size()));
    }
    return {reinterpret_cast<std::complex<T>*>(alm_.data()), n_components, size};
  }
  void require_modes(std::int64_t n_modes) const {
    if (n_modes == modes_.size()) return;
    throw UsageError("Legendre stage: " + std::to_string(n_modes) + " ring modes; the plan has " +
                     std::to_string(modes_.size()));
  }

  template <class Visit>
  void for_each_row(Rows rows, const Visit& visit) const {
    const auto layout = shape_.rows.rows();
    for (std::int64_t i = 0; i < ssize64(layout); ++i) {
      const std::int64_t into = layout[to_size(i)].fold_into;
      const std::int64_t head = into < 0 ? i : into;
      if (head >= rows.first && head < rows.first + rows.count) visit(i);
    }
  }
  template <class T, class Visit>
  void for_each_alm_run(Rows rows, const Visit& visit) const {
    std::vector<Run> runs;
    for_each_row(rows, [&](std::int64_t row) {
      const int m = shape_.alm.order(row);
      const std::int64_t first = shape_.alm.index(row, m);
      add_run(runs, first, first + shape_.alm.lmax() - m + 1);
    });
    for (std::int64_t c = 0; c < shape_.fields.n_components(); ++c) {
      for (const Run& run : runs) {
        visit(c, run.begin, (run.end - run.begin) * std::int64_t{sizeof(std::complex<T>)});
      }
    }
  }
  template <class Visit>
  void for_each_mode_run(Rows rows, const Visit& visit) const {
    const std::int64_t n_components = shape_.fields.n_components();
    std::vector<Run> runs;
    for_each_row(rows, [&](std::int64_t row) {
      for (const RowSegment& segment : shape_.rows.segments(shape_.rows.rows()[to_size(row)])) {
        add_run(runs, segment.first, segment.first + segment.rings.size());
      }
    });
    for (const Run& run : runs) {
      visit(run.begin * n_components,
            (run.end - run.begin) * n_components * std::int64_t{sizeof(Complex)});
    }
  }

  LegendreShape shape_;
  DeviceStream stream_;
  std::unique_ptr<DeviceLegendreStage> stage_;
  DeviceBuffer<Complex> alm_;
  DeviceBuffer<Complex> modes_;
};

}  // namespace

std::unique_ptr<LegendreStage> make_cuda_legendre_stage(LegendreShape shape) {
  return std::make_unique<CudaLegendreStage>(std::move(shape));
}

}  // namespace ringweave
