// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "fft/cuda/device_ring_plan.hpp"
#include "fft/cuda/mode_tile_launches.hpp"
#include "fft/cuda/row_launches.hpp"

namespace ringweave::detail::gpu {

/// Memory of a ring FFT for a batch of rings: their rows, and the work memory of FFTs.
struct RingFftWorkspaceSize {
  std::int64_t values = 0;
  std::int64_t fft_bytes = 0;

  /// Returns the memory that is enough for both.
  friend RingFftWorkspaceSize larger(const RingFftWorkspaceSize& a, const RingFftWorkspaceSize& b) {
    return {std::max(a.values, b.values), std::max(a.fft_bytes, b.fft_bytes)};
  }
};

/// Memory of that size; ring FFTs that run one after the other may share it.
template <class Machine>
struct RingFftWorkspace {
  RingFftWorkspace(Machine& machine, const RingFftWorkspaceSize& size)
      : rows(machine.template allocate<Double2>(size.values)),
        fft_work(machine.template allocate<std::byte>(size.fft_bytes)) {}
  typename Machine::template Buffer<Double2> rows;
  typename Machine::template Buffer<std::byte> fft_work;

  std::int64_t bytes() const { return rows.bytes() + fft_work.bytes(); }
};

/// Launches of a ring FFT in order. Machine runs them: a device, or its emulation on the host. It
/// provides the interface that StageSequence needs, and plans FFTs, as FftSize says.
template <class Machine>
class RingFftSequence {
 public:
  RingFftSequence(const DeviceRingPlan& plan, Machine& machine)
      : machine_(&machine),
        n_components_(plan.n_components),
        batches_(plan.batches),
        rings_(machine.upload(plan.rings)),
        chirp_lengths_(machine.upload(plan.chirp_lengths)),
        orders_(machine.upload(plan.orders)),
        segments_(machine.upload(plan.segments)),
        workspace_values_(plan.workspace_values) {
    const UnitPowers powers(plan.tables);
    const auto factors = powers.factors();
    factors_ = machine.upload(reinterpret_cast<const Double2*>(factors.data()), factors.size());
    for (const FftSize& size : plan.ffts) ffts_.push_back(machine.plan_fft(size));
  }

  RingFftWorkspaceSize workspace_size() const {
    RingFftWorkspaceSize size{workspace_values_, 0};
    for (const auto& fft : ffts_) size.fft_bytes = std::max(size.fft_bytes, fft.work_bytes());
    return size;
  }
  /// Sets the workspace, before the first transform; it must outlive them.
  void work_in(RingFftWorkspace<Machine>& workspace) {
    workspace_ = workspace.rows.data();
    for (auto& fft : ffts_) fft.work_in(workspace.fft_work.data());
  }

  /// modes  [position][component]
  /// map    [component][pixel], components `stride` pixels apart
  template <class T>
  void synthesize(const Double2* modes, T* map, std::int64_t stride) {
    for (const RingBatch& batch : batches_) {
      const FillRows fill{tiles(batch), modes};
      machine_->launch(fill, fill.tiles.n_blocks());
      if (is_direct(batch, map, stride)) {
        for_each_component(batch, [&](std::int64_t c, Double2* row) {
          transform(batch, row, pixels_as_rows(batch, map + c * stride));
        });
        continue;
      }
      transform_rows(batch);
      const RowPieces pieces{n_rows(batch), batch.longest};
      machine_->launch(StorePixels<T>{pieces, rows(batch), factors_.data(), {map, stride}},
                       pieces.n_blocks());
    }
  }

  /// Applies the exact transpose; weights  [owned ring], null: all 1.
  template <class T>
  void adjoint(const T* map, std::int64_t stride, const double* weights, Double2* modes) {
    for (const RingBatch& batch : batches_) {
      if (is_direct(batch, map, stride)) {
        for_each_component(batch, [&](std::int64_t c, Double2* row) {
          transform(batch, pixels_as_rows(batch, map + c * stride), row);
        });
      } else {
        const RowPieces pieces{n_rows(batch), batch.row_length};
        machine_->launch(LoadPixels<T>{pieces, rows(batch), factors_.data(), {map, stride}},
                         pieces.n_blocks());
        transform_rows(batch);
      }
      const UnfoldRows unfold{tiles(batch), weights, modes};
      machine_->launch(unfold, unfold.tiles.n_blocks());
    }
  }

  /// Returns the bytes of the tables.
  std::int64_t bytes() const {
    return rings_.bytes() + chirp_lengths_.bytes() + orders_.bytes() + segments_.bytes() +
           factors_.bytes();
  }

 private:
  template <class T>
  using Buffer = typename Machine::template Buffer<T>;

  std::int64_t n_rows(const RingBatch& batch) const { return batch.n_rings * n_components_; }
  RingRows rows(const RingBatch& batch) {
    return {rings_.data() + batch.first_ring, batch.n_rings, batch.row_length, workspace_};
  }
  ModeTiles tiles(const RingBatch& batch) {
    return {rows(batch),
            {orders_.data(), segments_.data(), factors_.data(), n_components_},
            ModeTiles::bin_tiles(batch.most_bins)};
  }

  /// Returns whether the FFTs can read and write the pixels of a map in place.
  template <class T>
  bool is_direct(const RingBatch& batch, const T* map, std::int64_t stride) const {
    if (!std::is_same_v<T, double> || !batch.pixels_are_rows) return false;
    return reinterpret_cast<std::uintptr_t>(map + batch.first_pixel) % sizeof(Double2) == 0 &&
           (n_components_ == 1 || stride % 2 == 0);
  }
  template <class T>
  static auto pixels_as_rows(const RingBatch& batch, T* component) {
    using Row = std::conditional_t<std::is_const_v<T>, const Double2, Double2>;
    return reinterpret_cast<Row*>(component + batch.first_pixel);
  }

  /// Calls work(component, its first row).
  template <class Work>
  void for_each_component(const RingBatch& batch, const Work& work) {
    for (std::int64_t c = 0; c < n_components_; ++c) {
      work(c, workspace_ + c * batch.n_rings * batch.row_length);
    }
  }

  void transform(const RingBatch& batch, const Double2* from, Double2* to) {
    ffts_[to_size(batch.rows_fft)].transform(FftSign::backward, from, to);
  }
  /// Applies backward FFTs to all rows in place; for chirp transforms without the chirp factors
  /// before and after.
  void transform_rows(const RingBatch& batch) {
    if (!batch.has_chirps()) {
      for_each_component(batch, [&](std::int64_t, Double2* row) { transform(batch, row, row); });
      return;
    }
    Double2* chirps = workspace_ + batch.first_chirp_row * batch.row_length;
    const RowPieces chirp_pieces{batch.n_chirps, batch.row_length};
    machine_->launch(MakeChirps{chirp_pieces, chirp_lengths_.data() + batch.first_chirp,
                                factors_.data(), chirps},
                     chirp_pieces.n_blocks());
    auto& chirps_fft = ffts_[to_size(batch.chirps_fft)];
    chirps_fft.transform(FftSign::forward, chirps, chirps);
    auto& rows_fft = ffts_[to_size(batch.rows_fft)];
    rows_fft.transform(FftSign::forward, workspace_, workspace_);
    const RowPieces pieces{n_rows(batch), batch.row_length};
    machine_->launch(MultiplyByChirps{pieces, rows(batch), chirps}, pieces.n_blocks());
    rows_fft.transform(FftSign::backward, workspace_, workspace_);
  }

  Machine* machine_;
  std::int64_t n_components_;
  std::vector<RingBatch> batches_;
  Buffer<PlannedRing> rings_;
  Buffer<ChirpLength> chirp_lengths_;
  Buffer<OrderSegments> orders_;
  Buffer<RowSegment> segments_;
  Buffer<Double2> factors_;
  std::vector<typename Machine::Fft> ffts_;
  std::int64_t workspace_values_;
  Double2* workspace_ = nullptr;
};

}  // namespace ringweave::detail::gpu
