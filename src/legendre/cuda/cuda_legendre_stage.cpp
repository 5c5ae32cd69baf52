// SPDX-License-Identifier: GPL-3.0-or-later
#include <complex>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "base/checked_cast.hpp"
#include "base/mode_view.hpp"
#include "legendre/cuda/blocks/row_pipeline.hpp"
#include "legendre/cuda/plan/stage_memory.hpp"
#include "legendre/device_legendre_stage.hpp"
#include "legendre/legendre_stage.hpp"
#include "legendre/shared/fold_groups.hpp"

namespace ringweave::detail::inline legendre {
namespace {

using Pipeline = gpu::RowPipeline<DevicePipeline>;
using Data = gpu::RowData<DevicePipeline>;

constexpr const char* where = "Legendre stage";

/// Returns the coefficients of a block as float or double, whichever the call uses; both share the
/// memory.
template <class T>
std::complex<T>* as(std::complex<double>* memory) {
  return reinterpret_cast<std::complex<T>*>(memory);
}

/// Checks that the shape is consistent.
LegendreShape checked(LegendreShape shape) {
  FoldGroups{shape};  // throws if the shape is inconsistent
  return shape;
}

/// The device stage and its block pipeline for one partition into blocks.
struct BlockedEngine {
  gpu::RowBlocks blocks;
  Pipeline pipeline;
  std::unique_ptr<DeviceLegendreStage> stage;

  explicit BlockedEngine(const LegendreShape& shape)
      : blocks(shape, gpu::memory_in_blocks(shape).block_bytes),
        pipeline(gpu::make_row_pipeline<DevicePipeline>(blocks, shape.fields.n_components())),
        stage(gpu::make_device_stage_in_blocks(shape, blocks, pipeline.stream())) {}
};

/// Device stage for a_lm and modes on the host, of any size: blocks of rows go through the device
/// one after the other.
class CudaLegendreStage final : public LegendreStage {
 public:
  explicit CudaLegendreStage(LegendreShape shape)
      : CudaLegendreStage(std::make_shared<BlockedEngine>(checked(shape)), shape) {}
  CudaLegendreStage(std::shared_ptr<BlockedEngine> engine, LegendreShape shape)
      : shape_(std::move(shape)),
        n_components_(shape_.fields.n_components()),
        engine_(std::move(engine)),
        blocks_(engine_->blocks) {}

  void synthesize(AnyConstAlmView<> alm, ModePieces<double> modes, RowRange rows) override {
    std::visit([&](auto view) { synthesize_rows(view, modes, rows); }, alm);
  }
  void adjoint(ModePieces<const double> modes, AnyAlmView<> alm, Accumulate how,
               RowRange rows) override {
    std::visit([&](auto view) { adjoint_rows(modes, view, how, rows); }, alm);
  }

  std::unique_ptr<LegendreStage> with_rows(ModeLayout rows) const override {
    blocks_.require_same_modes(rows);
    LegendreShape shape = shape_;
    shape.rows = std::move(rows);
    return std::make_unique<CudaLegendreStage>(engine_, checked(std::move(shape)));
  }

  std::int64_t bytes() const override { return engine_->pipeline.bytes().pinned_bytes; }
  std::int64_t device_bytes() const override {
    return engine_->stage->device_bytes() + engine_->pipeline.bytes().device_bytes;
  }

 private:
  template <class T>
  void synthesize_rows(ComponentView<const std::complex<T>> alm, ModePieces<double> modes,
                       RowRange rows) {
    struct Work {
      const CudaLegendreStage& self;
      AlmView<const T> alm;
      ModePieces<double> modes;
      RowRange wanted;

      std::optional<RowRange> block(std::int64_t b) const {
        return gpu::requested_rows(self.blocks_, b, wanted);
      }
      void fill(Data& data, RowRange heads) const {
        self.blocks_.template gather<T>(heads, alm, as<T>(data.host_alm.data()));
      }
      void upload(Data& data, RowRange heads, const DeviceStream& stream) const {
        self.upload_alm<T>(data, heads, stream);
      }
      void compute(Data& data, RowRange heads) const {
        self.engine_->stage->synthesize(self.device_alm<const T>(data), data.modes.view(), heads);
      }
      void download(Data& data, RowRange heads, const DeviceStream& stream) const {
        self.for_modes(heads, [&](std::int64_t begin, std::int64_t bytes) {
          copy_to_host(data.modes.data() + begin, data.host_modes.data() + begin, bytes, stream);
        });
      }
      void unpack(Data& data, RowRange heads) const {
        self.blocks_.scatter(heads, data.host_modes.data(), self.shape_.rows, modes);
      }
    };
    check(alm.n_components(), alm.size(), modes.size());
    engine_->pipeline.run(Work{*this, alm, modes, rows});
  }

  template <class T>
  void adjoint_rows(ModePieces<const double> modes, ComponentView<std::complex<T>> alm,
                    Accumulate how, RowRange rows) {
    struct Work {
      const CudaLegendreStage& self;
      ModePieces<const double> modes;
      AlmView<T> alm;
      Accumulate how;
      RowRange wanted;

      std::optional<RowRange> block(std::int64_t b) const {
        return gpu::requested_rows(self.blocks_, b, wanted);
      }
      void fill(Data& data, RowRange heads) const {
        self.blocks_.gather(heads, self.shape_.rows, modes, data.host_modes.data());
        if (how == Accumulate::overwrite) return;
        self.blocks_.template gather<T>(heads, alm, as<T>(data.host_alm.data()));
      }
      void upload(Data& data, RowRange heads, const DeviceStream& stream) const {
        self.for_modes(heads, [&](std::int64_t begin, std::int64_t bytes) {
          copy_to_device(data.host_modes.data() + begin, data.modes.data() + begin, bytes, stream);
        });
        if (how == Accumulate::add) self.upload_alm<T>(data, heads, stream);
      }
      void compute(Data& data, RowRange heads) const {
        self.engine_->stage->adjoint(data.modes.view(), self.device_alm<T>(data), how, heads);
      }
      void download(Data& data, RowRange heads, const DeviceStream& stream) const {
        self.for_alm<T>(heads, [&](std::int64_t begin, std::int64_t bytes) {
          copy_to_host(as<T>(data.alm.data()) + begin, as<T>(data.host_alm.data()) + begin, bytes,
                       stream);
        });
      }
      void unpack(Data& data, RowRange heads) const {
        self.blocks_.template scatter<T>(heads, as<T>(data.host_alm.data()), alm);
      }
    };
    check(alm.n_components(), alm.size(), modes.size());
    engine_->pipeline.run(Work{*this, modes, alm, how, rows});
  }

  template <class T>
  AlmView<T, MemorySpace::device> device_alm(Data& data) const {
    return {as<std::remove_const_t<T>>(data.alm.data()), n_components_, blocks_.alm_size()};
  }
  template <class T>
  void upload_alm(Data& data, RowRange heads, const DeviceStream& stream) const {
    for_alm<T>(heads, [&](std::int64_t begin, std::int64_t bytes) {
      copy_to_device(as<T>(data.host_alm.data()) + begin, as<T>(data.alm.data()) + begin, bytes,
                     stream);
    });
  }
  template <class T, class Copy>
  void for_alm(RowRange heads, const Copy& copy) const {
    const auto run = blocks_.alm_of(heads);
    for (std::int64_t c = 0; c < n_components_; ++c) {
      copy(c * blocks_.alm_size() + run.begin, run.size() * std::int64_t{sizeof(std::complex<T>)});
    }
  }
  template <class Copy>
  void for_modes(RowRange heads, const Copy& copy) const {
    const auto run = blocks_.modes_of(heads);
    copy(run.begin * n_components_,
         run.size() * n_components_ * std::int64_t{sizeof(std::complex<double>)});
  }

  void check(std::int64_t n_components, std::int64_t alm_size, std::int64_t n_modes) const {
    require_planned(where, n_components, n_components_, "components of a_lm");
    require_planned(where, alm_size, shape_.alm.size(), "coefficients of a component");
    require_planned(where, n_modes, shape_.rows.size() * n_components_, "ring modes");
  }

  LegendreShape shape_;
  std::int64_t n_components_;
  std::shared_ptr<BlockedEngine> engine_;
  const gpu::RowBlocks& blocks_;
};

}  // namespace

std::unique_ptr<LegendreStage> make_cuda_legendre_stage(LegendreShape shape) {
  return std::make_unique<CudaLegendreStage>(std::move(shape));
}

}  // namespace ringweave::detail::inline legendre
