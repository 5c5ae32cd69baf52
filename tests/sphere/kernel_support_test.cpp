// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <vector>

#include "kernel_reference.hpp"
#include "ringweave/error.hpp"
#include "ringweave/kernel.hpp"
#include "support/angles.hpp"

namespace ringweave::detail {
namespace {

std::vector<double> white(int lmax) {
  return std::vector<double>(static_cast<std::size_t>(lmax) + 1, 1.0);
}

TEST(KernelSupport, AGaussianIsCutWhereTheRestOfItsPowerIsTheError) {
  for (const double fwhm : {arcmin(1), arcmin(4.7), arcmin(45), degrees(1), degrees(10)}) {
    const double sigma = sigma_of(fwhm);
    for (const double error : {1e-3, 1e-6, 1e-12}) {
      // On the plane the share exp(-theta^2 / sigma^2) of the power is beyond theta.
      const double plane = sigma * std::sqrt(2 * std::log(1 / error));
      const RadialKernel kernel = RadialKernel::gaussian(fwhm, KernelSupport::automatic(error));
      EXPECT_NEAR(kernel.support(), plane, 0.06 * plane) << fwhm << " " << error;
    }
  }
}

TEST(KernelSupport, WhiteNoiseIsConvolvedToTheAskedError) {
  std::vector<double> wavelet(600);
  for (std::size_t l = 0; l < wavelet.size(); ++l) {
    const double x = static_cast<double>(l) / 100;
    wavelet[l] = x * x * std::exp(-x * x);
  }
  for (const std::vector<double>& b_l :
       {wavelet, gaussian_k_l(sigma_of(arcmin(20)), 2000), gaussian_k_l(0.1, 20)}) {
    for (const double error : {0.1, 1e-2, 1e-5, 1e-9}) {
      const RadialKernel kernel = RadialKernel::from_beam(b_l, KernelSupport::automatic(error));
      // To degrees that include the power of a sharp cut.
      const KernelTruncation truncation = kernel.truncation(white(20 * kernel.degree()));
      EXPECT_LE(truncation.relative, error) << b_l.size();
      if (kernel.support() < pi) {
        EXPECT_GE(truncation.relative, error / 30) << b_l.size() << " " << error;
      }
    }
  }
}

TEST(KernelSupport, ASpectrumIsConvolvedToTheAskedError) {
  const std::vector<double> b_l = gaussian_k_l(sigma_of(arcmin(20)), 3600);
  std::vector<double> red(1001, 0.0);
  for (std::size_t l = 2; l < red.size(); ++l) red[l] = std::pow(static_cast<double>(l), -3);
  std::vector<double> dipole{0, 1};
  for (const std::vector<double>& cl : {red, dipole, white(1000)}) {
    for (const double error : {1e-2, 1e-6, 1e-11}) {
      const KernelSupport support = KernelSupport::automatic(error, cl);
      const RadialKernel kernel = RadialKernel::from_beam(b_l, support);
      const double relative = kernel.truncation(cl).relative;
      EXPECT_LE(relative, error);
      EXPECT_GE(relative, error / 2);
    }
  }
}

TEST(KernelSupport, TruncationIsEquation7) {
  // K = P_40 cut at 1 rad, maps of degree 3 alone and of degree 40 too.
  const unsigned n = 40;
  std::vector<double> b_l(n + 1, 0.0);
  b_l[n] = 4 * pi / (2.0 * n + 1);
  const RadialKernel kernel = RadialKernel::from_beam(b_l, KernelSupport::angle(1));
  std::vector<double> cl(n + 1, 0.0);
  cl[3] = 5;
  EXPECT_THROW(kernel.truncation(cl), UsageError);  // such maps would have no power left
  cl[n] = 2;
  const std::vector<double> k_l = kernel.multipoles(static_cast<int>(n));
  const double lost =
      7 * 5 * std::pow(2 * pi * product_of_two(3, n, 1), 2) + 81 * 2 * std::pow(b_l[n] - k_l[n], 2);
  const KernelTruncation truncation = kernel.truncation(cl);
  EXPECT_NEAR(truncation.rms, std::sqrt(lost / (4 * pi)), 1e-12 * truncation.rms);
  EXPECT_NEAR(truncation.relative, std::sqrt(lost / (81 * 2 * b_l[n] * b_l[n])),
              1e-12 * truncation.relative);
}

TEST(KernelSupport, WhatIsNotCutLosesNothing) {
  const std::vector<double> b_l(30, 1.0);
  EXPECT_EQ(RadialKernel::from_beam(b_l, KernelSupport::whole()).truncation(white(60)).rms, 0);
  const std::vector<double> theta{0, 0.1, 0.2};
  const std::vector<double> value{1, 1, 1};
  const RadialKernel hat = RadialKernel::from_profile(theta, value, KernelSupport::automatic(1e-6));
  EXPECT_EQ(hat.support(), 0.2);
  EXPECT_EQ(hat.truncation(white(60)).relative, 0);
}

TEST(KernelSupport, AProfilesLongTailIsCutToo) {
  std::vector<double> theta;
  std::vector<double> value;
  for (int i = 0; i <= 3000; ++i) {
    theta.push_back(1e-3 * i);
    value.push_back(std::exp(-theta.back() / 0.02));
  }
  const RadialKernel kernel =
      RadialKernel::from_profile(theta, value, KernelSupport::automatic(1e-4));
  // The share (1 + 2 x) exp(-2 x) of the power is beyond x = theta / 0.02.
  const double x = kernel.support() / 0.02;
  EXPECT_NEAR((1 + 2 * x) * std::exp(-2 * x), 1e-8, 2e-9);
  EXPECT_LE(kernel.truncation(white(3000)).relative, 1e-4);
}

TEST(KernelSupport, RefusesWhatIsNoCut) {
  for (const double angle : {0.0, -1.0, 3.2, std::nan("")})
    EXPECT_THROW(KernelSupport::angle(angle), UsageError) << angle;
  for (const double error : {0.0, 1e-14, 1.0, 2.0, std::nan("")})
    EXPECT_THROW(KernelSupport::automatic(error), UsageError) << error;
  EXPECT_THROW(KernelSupport::automatic(0.1, std::vector<double>{}), UsageError);
  EXPECT_THROW(KernelSupport::automatic(0.1, std::vector<double>{0, 0}), UsageError);
  EXPECT_THROW(KernelSupport::automatic(0.1, std::vector<double>{1, -1}), UsageError);
  EXPECT_THROW(KernelSupport::automatic(0.1, std::vector<double>{1, std::nan("")}), UsageError);
}

}  // namespace
}  // namespace ringweave::detail
