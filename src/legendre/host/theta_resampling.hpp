// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <span>
#include <vector>

#include "legendre/deconvolved_rows.hpp"
#include "legendre/host/theta_columns.hpp"
#include "legendre/host/theta_fft.hpp"
#include "ringweave/grid.hpp"
#include "ringweave/views.hpp"

namespace ringweave::detail::inline legendre {

/// F(-theta) = parity F(theta). Ring modes of a scalar field have the parity of m, those of a spin
/// s field the parity of m + s.
enum class Parity { even, odd };

/// Resamples ring modes from few equidistant rings to arbitrary rings, and applies the exact
/// transpose.
///
/// The functions of one order, sum_l a_l lambda_lm(theta) with l <= degree, are trigonometric
/// polynomials of that degree on the doubled circle, even or odd in theta, so they are determined
/// by degree + 1 rings at theta_j = pi (j + 1/2) / n. An FFT gives their coefficients. These are
/// divided by the transform of a spreading kernel, zero-padded and transformed back to samples on a
/// finer equidistant grid, of which 16 around each ring give its value. With DeconvolvedRows the
/// rings are samples of the finer grid themselves and the factors are the caller's. The result for
/// one order does not depend on the others in its block. Accuracy  3e-14 of the rms of the values
/// (rms), 1e-13 at worst; the transpose holds to 3e-15. Cost      two complex FFTs of 1 and 1.75
/// degree rows, 32 multiply-adds per target ring and
///           order.
/// From   Barnett, Magland, af Klinteberg (2019), SIAM J. Sci. Comput. 41, doi:10.1137/18M120885X
///        (the kernel); Makhoul (1980), IEEE Trans. ASSP 28, doi:10.1109/TASSP.1980.1163351 (half
///        transforms)
class ThetaResampling {
 public:
  using Complex = std::complex<double>;
  static constexpr int width = static_cast<int>(columns::width);  ///< slots of a block

  /// degree  largest l of the functions (lmax, or lmax + |spin|)
  /// Error   UsageError when it is negative.
  ThetaResampling(const RingGrid& target, std::int64_t degree);
  /// The target's rings are fine rows. The members of `rows` must fit to the degree.
  /// Error   UsageError when a ring is not a row.
  ThetaResampling(const RingGrid& target, std::int64_t degree, const DeconvolvedRows& rows);

  /// Returns equidistant_rings(degree).
  const RingGrid& equidistant() const { return equidistant_; }
  std::int64_t bytes() const;

  /// Returns the number of doubles in the targets of a block.
  std::int64_t target_size() const;

  /// The values of `width` orders, each of one component, on one of the two sets of rings;
  /// computing one set destroys the other. One block per thread. New blocks hold zeros, all with
  /// even parity and the factor 1.
  class Block {
   public:
    /// targets  target_size() numbers, aligned to 64 bytes, that outlive the block; null: allocated
    ///          by the block
    explicit Block(const ThetaResampling& plan, double* targets = nullptr);

    void set_parity(int slot, Parity parity) {
      parity_[static_cast<std::size_t>(slot)] = parity == Parity::even ? 1.0 : -1.0;
    }

    /// Multiplies the targets of an order (resample), or its equidistant rings (adjoint).
    void set_factor(int slot, double factor) { factor_[static_cast<std::size_t>(slot)] = factor; }

    void set_equidistant(int slot, std::int64_t ring, Complex value) {
      set(equidistant_row(ring) + slot, value);
    }
    Complex equidistant(int slot, std::int64_t ring) const {
      return get(fine_.data() + ring * columns::row_size + slot);
    }
    void set_target(int slot, std::int64_t ring, Complex value) {
      set(target_row(ring) + slot, value);
    }
    Complex target(int slot, std::int64_t ring) const {
      return get(targets_ + ring * columns::row_size + slot);
    }

    /// Returns one ring of all orders: [real, imaginary][slot], aligned to 64 bytes.
    double* equidistant_row(std::int64_t ring) { return fine_.data() + ring * columns::row_size; }
    double* target_row(std::int64_t ring) { return targets_ + ring * columns::row_size; }

    void clear_target(RingRange rings);
    std::int64_t bytes() const;

   private:
    friend class ThetaResampling;
    static void set(double* entry, Complex value) {
      entry[0] = value.real();
      entry[columns::width] = value.imag();
    }
    static Complex get(const double* entry) { return {entry[0], entry[columns::width]}; }

    columns::Columns factors() const { return {parity_.data(), factor_.data()}; }
    columns::Folded folded(double* samples) const { return {samples, parity_.data()}; }

    std::array<double, static_cast<std::size_t>(columns::width)> parity_;
    std::array<double, static_cast<std::size_t>(columns::width)> factor_;
    /// [target ring][row], or all fine rows; holds coefficients between the two sets
    double* targets_;
    HostBuffer<double> own_targets_;
    /// [ghosts, fine sample, ghosts][row]; before or after them [equidistant ring][row]
    HostBuffer<double> fine_;
  };

  /// Computes the target rings [kept) of all orders from all equidistant rings; destroys these and
  /// the other target rings. No allocation. Not collective; thread safe for different blocks.
  void resample(Block& block, RingRange kept) const noexcept;
  /// Applies the transpose: overwrites the equidistant rings from target rings within `kept`
  /// (others count as zero), which are destroyed.
  void adjoint(Block& block, RingRange kept) const noexcept;

 private:
  ThetaResampling(std::int64_t n_targets, std::int64_t degree, std::int64_t fine_length);
  std::int64_t coarse_length() const { return equidistant_.n_rings(); }
  bool ends_at_rows() const { return !rows_.empty(); }
  void plan_coefficients(std::span<const double> factors);
  void plan_spreading();
  void plan_taps(const RingGrid& target);
  columns::CoefficientTable coefficients() const;
  columns::SpreadTable spreading() const;
  columns::TapTable tap_table() const;
  void gather_rings(RingRange kept, double* targets) const noexcept;
  void scatter_rings(RingRange kept, double* targets) const noexcept;

  std::int64_t degree_;
  std::int64_t n_targets_;
  RingGrid equidistant_;
  columns::ThetaFft coarse_fft_;
  columns::ThetaFft fine_fft_;

  std::vector<columns::CoefficientPair> coefficient_pairs_;
  std::vector<columns::CoefficientAlone> coefficients_alone_;
  std::vector<columns::SpreadPair> spread_pairs_;
  std::int64_t n_full_ = 0;  ///< pairs with two coefficients; the rest has one or none
  std::int64_t n_half_ = 0;  ///< pairs with at least one
  std::vector<columns::SpreadAlone> spread_alone_;

  std::vector<std::int64_t> rows_;  ///< [ring], its fine row; empty: taps are used
  std::vector<double> weights_;
  std::vector<std::int64_t> weight_offsets_;
  std::vector<std::int64_t> first_samples_;
  std::vector<RingRange> touching_;
};

}  // namespace ringweave::detail::inline legendre
