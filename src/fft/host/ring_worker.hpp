// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <span>

#include "base/scratch_arena.hpp"
#include "fft/host/mode_tile.hpp"
#include "fft/host/ring_plan.hpp"
#include "fft/host/ring_spectrum.hpp"
#include "fft/host/split_fft.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline fft {

/// One thread's part of the ring FFT for blocks of rings of many lengths: a tile of modes, scratch,
/// and the tables of the ring length and offset used last (neighbouring rings mostly share them).
/// Results do not depend on what a worker did before.
class RingWorker {
 public:
  RingWorker(const RingPlan& plan, const RingFftShape& shape);
  /// Sets the scratch before each use; another worker may have used it since.
  void place(ScratchArena& pieces);

  template <class T>
  void synthesize(const RingBlock& block, const std::complex<double>* modes,
                  MapView<T> map) noexcept;
  /// ring_weights  [owned ring]; empty: all 1
  template <class T>
  void adjoint(const RingBlock& block, MapView<const T> map, std::span<const double> ring_weights,
               std::complex<double>* modes) noexcept;
  template <class T>
  void to_spectra(const RingBlock& block, MapView<T> map) noexcept;
  /// squares  [owned ring][component]
  template <class T>
  void apply_operator(SpectrumOperator what, const RingBlock& block, MapView<const T> spectra,
                      std::span<const double> ring_weights, std::complex<double>* modes,
                      double* squares) noexcept;

  std::int64_t bytes() const;

 private:
  /// One component of one ring of a block.
  struct Row {
    LocalRing ring{};
    const RingPlan::RingEntry* entry = nullptr;
    const RingPlan::Length* length = nullptr;
    std::int64_t component = 0;
    std::complex<double>* values = nullptr;  ///< in the tile
  };
  /// Calls work(row) for all rows of a block, mirrors in succession so that they share tables.
  template <class Work>
  void for_each_row(const RingBlock& block, const Work& work);
  /// Calls work(row) for the rows whose length is not smooth, after making their tables.
  template <class Work>
  void for_each_split_row(const RingBlock& block, const Work& work);

  /// Returns 1 + the highest order of a block's rings.
  std::int64_t n_modes_of(const RingBlock& block);
  /// Copies the modes of a block to the tile.
  void gather(const RingBlock& block, const std::complex<double>* modes) noexcept;
  /// Calls transformed(row, output of the FFT of its pixels) for all rows; the output may be
  /// overwritten.
  template <class T, class Transformed>
  void transform_pixels(const RingBlock& block, MapView<const T> map,
                        const Transformed& transformed) noexcept;
  void prepare_roots(const Row& row) noexcept;
  void prepare_phases(const Row& row) noexcept;
  const std::complex<double>* phases(const Row& row) const noexcept {
    return row.entry->phases < 0 ? nullptr : phases_.data();
  }
  /// Computes the input of the row's FFT from the modes in the tile.
  void pack(const Row& row, std::complex<double>* packed) noexcept;
  /// Computes bins_ from the modes in the tile.
  void fold_row(const Row& row) noexcept;
  /// Computes bins_ from the output of the row's FFT.
  void unpack(const Row& row, const std::complex<double>* transformed, double weight) noexcept;
  /// Computes the modes in the tile from bins_.
  void unfold_row(const Row& row) noexcept;
  /// Applies a SpectrumOperator to bins_ and a spectrum, with the result in bins_; returns the sum
  /// of squares of the residual's pixels.
  template <SpectrumOperator what, class T>
  double combine(const Row& row, const T* spectrum, double weight) noexcept;
  template <class T>
  double combine(SpectrumOperator what, const Row& row, const T* spectrum, double weight) noexcept;
  static double weight_of(const Row& row, std::span<const double> ring_weights) noexcept {
    return ring_weights.empty() ? 1.0 : ring_weights[static_cast<std::size_t>(row.ring)];
  }
  /// Returns whether the row's FFT can read or write the pixels themselves as complex numbers.
  template <class T>
  static bool is_fft_data(const Row& row, const T* pixels) noexcept;
  /// Calls transform(output of the FFT), with the pixels themselves as output if possible.
  template <class T, class Transform>
  void write_pixels(const Row& row, MapView<T> map, const Transform& transform) noexcept;
  /// Returns the pixels as input of the row's FFT, copied to `copy` if they cannot be read in
  /// place.
  template <class T>
  const std::complex<double>* read_pixels(const Row& row, MapView<const T> map,
                                          std::complex<double>* copy) noexcept;

  const RingPlan* plan_;
  const ModeLayout* rows_;
  const LocalRings* rings_;
  std::int64_t n_components_;
  const RingPlan::Length* length_ = nullptr;        ///< the length roots_ are for
  const RingPlan::Length* split_length_ = nullptr;  ///< the length split_ is prepared for
  std::int64_t phase_table_ = -1;                   ///< the table phases_ are for
  std::int64_t n_phases_ = 0;

  ModeTile tile_;
  HostBuffer<std::complex<double>> phases_;  ///< exp(i m phi0)
  HostBuffer<std::complex<double>> roots_;   ///< exp(2 pi i k / n)
  std::complex<double>* bins_ = nullptr;
  std::complex<double>* packed_ = nullptr;
  std::complex<double>* row_ = nullptr;  ///< for pixels that an FFT cannot read or write in place
  SplitFft split_;
};

}  // namespace ringweave::detail::inline fft
