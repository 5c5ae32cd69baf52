// SPDX-License-Identifier: GPL-3.0-or-later
#include "fft/device_plane_filter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/device_buffer.hpp"
#include "fft/cuda/emulated_plane_fft.hpp"
#include "fft/cuda/plane_filter_sequence.hpp"
#include "fft/plane_problem.hpp"
#include "support/tolerance.hpp"

// Filters of planes on a device, and the same launches as loops, against the host's.
namespace ringweave::detail::test {
namespace {

using Complex = std::complex<double>;

/// Planes that are filtered by two multipliers, whose sums are added to what results had before.
struct Problem {
  Problem(const PlaneFilterAxes& of, std::int64_t planes)
      : axes(of),
        n_planes(planes),
        in(random_plane(n_planes * stride_in(), 1)),
        before(random_plane(n_planes * stride_out(), 2)) {
    const std::int64_t size = multiplier_size(axes.x, axes.y, MultiplierForm::whole);
    for (unsigned i = 0; i < 2; ++i) multipliers.at(i) = random_plane(size, 3 + i);
  }
  // Rows are longer than planes, and planes are apart.
  std::int64_t row_in() const { return axes.x.size + 1; }
  std::int64_t row_out() const { return axes.x.size_out + 2; }
  std::int64_t stride_in() const { return axes.y.size * row_in() + 3; }
  std::int64_t stride_out() const { return axes.y.size_out * row_out() + 1; }
  FilterWindow window() const { return {1, axes.x.size, 0, axes.y.size - 1}; }

  Plane on_the_host() const {
    const PlaneFilter filter(axes.x, axes.y);
    HostBuffer<Complex> spectrum(filter.spectrum_size());
    HostBuffer<Complex> sum(filter.spectrum_size());
    HostBuffer<double> scratch(filter.scratch_size(1));
    Plane out = before;
    for (std::int64_t p = 0; p < n_planes; ++p) {
      filter.forward(in.data() + p * stride_in(), row_in(), window(), spectrum.data(),
                     scratch.data(), 1);
      for (unsigned i = 0; i < 2; ++i) {
        filter.multiply({multipliers.at(i).data(), MultiplierForm::whole}, weights.at(i),
                        spectrum.data(), sum.data(),
                        i == 0 ? Accumulate::overwrite : Accumulate::add, scratch.data(), 1);
      }
      filter.backward(sum.data(), out.data() + p * stride_out(), row_out(), Accumulate::add,
                      scratch.data(), 1);
    }
    return out;
  }

  /// Calls the functions of a filter whose data are at these addresses.
  template <class Filter, class Number>
  void run(Filter& filter, const double* from, const double* first, const double* second,
           Number* spectra, Number* sums, double* out) const {
    filter.forward({from, n_planes, stride_in(), row_in()}, window(), spectra);
    filter.multiply(first, weights[0], n_planes, spectra, sums, Accumulate::overwrite);
    filter.multiply(second, weights[1], n_planes, spectra, sums, Accumulate::add);
    filter.backward(sums, {out, n_planes, stride_out(), row_out()}, Accumulate::add);
  }

  PlaneFilterAxes axes;
  std::int64_t n_planes;
  Plane in;
  Plane before;
  std::array<Plane, 2> multipliers;
  std::array<double, 2> weights{1.5, -0.75};
};

void expect_equal(const Plane& found, const Plane& expected) {
  double difference = 0;
  double largest = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double gap = std::abs(found[i] - expected[i]);
    difference = gap <= difference ? difference : gap;
    largest = std::max(largest, std::abs(expected[i]));
  }
  EXPECT_LE(difference, tolerance::filtered_plane * largest);
}

std::vector<PlaneFilterAxes> axes_of_planes() {
  std::vector<PlaneFilterAxes> all;
  for (const FilterAxis& x : axes()) {
    for (const FilterAxis& y : axes()) {
      if (x.size > 1 && y.size > 1) all.push_back({x, y});
    }
  }
  return all;
}

TEST(EmulatedPlaneFilter, IsTheHosts) {
  for (const PlaneFilterAxes& of : axes_of_planes()) {
    SCOPED_TRACE(testing::Message() << of.x.length << " x " << of.y.length);
    const Problem problem(of, 2);
    gpu::EmulatedPlaneMachine machine;
    gpu::PlaneFilterSequence filter(of, problem.n_planes, machine);
    gpu::PlaneWorkspace workspace(machine, filter.padded_values(), filter.fft_bytes());
    filter.work_in(workspace);
    std::vector<gpu::Double2> spectra(to_size(problem.n_planes * filter.spectrum_size()));
    std::vector<gpu::Double2> sums(spectra.size());
    Plane out = problem.before;
    problem.run(filter, problem.in.data(), problem.multipliers[0].data(),
                problem.multipliers[1].data(), spectra.data(), sums.data(), out.data());
    expect_equal(out, problem.on_the_host());
  }
}

class DevicePlaneTest : public testing::Test {
 protected:
  void SetUp() override {
    if (device_count() == 0) GTEST_SKIP() << "no CUDA device: " << device_unavailable_reason();
    choose_device(0);
  }
};

DeviceBuffer<double> on_device(const Plane& values, const DeviceStream& stream) {
  DeviceBuffer<double> buffer(ssize64(values));
  copy_to_device(values.data(), buffer.data(), buffer.bytes(), stream);
  return buffer;
}

void expect_as_the_host(const std::vector<PlaneFilterAxes>& axes, std::int64_t n_planes) {
  const DeviceStream stream;
  const auto filters = make_device_plane_filters(axes, n_planes, stream);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    SCOPED_TRACE(testing::Message() << axes[i].x.length << " x " << axes[i].y.length);
    const Problem problem(axes[i], n_planes);
    DevicePlaneFilter& filter = *filters[i];
    const auto in = on_device(problem.in, stream);
    auto out = on_device(problem.before, stream);
    const auto first = on_device(problem.multipliers[0], stream);
    const auto second = on_device(problem.multipliers[1], stream);
    DeviceBuffer<Complex> spectra(n_planes * filter.spectrum_size());
    DeviceBuffer<Complex> sums(spectra.size());
    problem.run(filter, in.data(), first.data(), second.data(), spectra.data(), sums.data(),
                out.data());
    Plane found(problem.before.size());
    copy_to_host(out.data(), found.data(), out.bytes(), stream);
    stream.synchronize();
    expect_equal(found, problem.on_the_host());
  }
}

TEST_F(DevicePlaneTest, AreTheHostsInASmallCase) {
  expect_as_the_host({{axes()[0], axes()[1]},
                      {axes()[4], axes()[3]},
                      {axes()[6], axes()[7]},
                      {axes()[6], axes()[2]},
                      {axes()[1], axes()[6]}},
                     3);
}

TEST_F(DevicePlaneTest, AreTheHostsForMorePlanesThanGoTogether) {
  expect_as_the_host({{axes()[3], axes()[9]}}, planes_together + 2);
}

}  // namespace
}  // namespace ringweave::detail::test
