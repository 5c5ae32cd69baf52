// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace ringweave::detail::inline convolve {

/// Nanoseconds of one thread for the elementary operations of a convolution, fitted to its stages
/// on bands of the sphere (a core with 512-bit vectors; bench/ring_convolution_ranks prints stages
/// and predictions). Their ratios decide which path is taken and where bands are cut.
struct ConvolutionRates {
  double stencil_pixel = 1.25;
  double stencil_product = 0.0225;  ///< per pixel and tap
  double stencil_weight = 12;       ///< per tap of a pair of rings
  double sector_pixel = 4;
  double sector_product = 0.052;     ///< per pair of pixels, lanes full
  double sector_value_digit = 0.09;  ///< per kernel value and digit of it
  double spin_product = 0.11;        ///< per map of a field of spin, pair of pixels
  double spin_row = 1.2;             ///< per map and pair of a pixel and a ring
  double spin_value = 3;             ///< per kernel value of spin
  double equal_ring_fft = 1.05;      ///< per pixel of the longest run of equal rings, one direction
  double ring_fft = 4;               ///< per pixel of other rings
  double ring_fft_mode = 1;          ///< per mode, one direction
  double mode_copy = 4;              ///< per mode, both directions
  double mode_sample = 6.5;          ///< per kernel value for the modes
  double mode_sum = 0.03;            ///< per kernel value and cosine
  double row_fold = 0.035;           ///< per kernel value and exp(i s phi) of a class
  double row_point = 0.05;           ///< per kernel mode of a row by FFT, without its
  double row_pass = 0.07;            ///< passes, for each factor of 2
  double row_product = 0.6;          ///< products: read from memory
  double mode_product = 0.5;         ///< per kernel mode and four (two without mirrors) ring modes
};

/// Predicted seconds of one thread.
struct ConvolutionSeconds {
  double stencil = 0;
  double sectors = 0;
  double ring_fft = 0;
  double modes = 0;
  double total() const { return stencil + sectors + ring_fft + modes; }
  void add(const ConvolutionSeconds& other, double factor) {
    stencil += factor * other.stencil;
    sectors += factor * other.sectors;
    ring_fft += factor * other.ring_fft;
    modes += factor * other.modes;
  }
};

}  // namespace ringweave::detail::inline convolve
