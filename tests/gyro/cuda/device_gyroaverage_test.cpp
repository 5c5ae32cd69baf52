// SPDX-License-Identifier: GPL-3.0-or-later
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/device.hpp"
#include "base/device_buffer.hpp"
#include "gyro/chebyshev_problem.hpp"
#include "gyro/gyro_plan.hpp"
#include "gyro/gyro_problem.hpp"
#include "gyro/radius_problem.hpp"
#include "gyro/schemes.hpp"
#include "ringweave/error.hpp"
#include "ringweave/execution.hpp"
#include "ringweave/gyroaverage.hpp"
#include "support/expect_error.hpp"
#include "support/on_devices.hpp"
#include "support/tolerance.hpp"

// Gyroaverages on a device against the host's. Ranks of one launch share the available devices.
namespace ringweave::detail::test {
namespace {

class GyroaveragesOnDevices : public OnDevices {};
INSTANTIATE_TEST_SUITE_P(Ranks, GyroaveragesOnDevices, every_rank_count(), name_of_rank_groups);

double rms_difference(const std::vector<double>& found, const std::vector<double>& expected) {
  double gap = 0;
  double all = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    gap += std::pow(found[i] - expected[i], 2);
    all += expected[i] * expected[i];
  }
  return std::sqrt(gap / all);
}

template <class T>
void expect_as_the_host(const Communicator& comm, GyroSpec spec, double bound,
                        std::span<const GyroCall> calls = all_gyro_calls) {
  Gyroaverage host(comm, spec);
  spec.backend = Backend::cuda;
  Gyroaverage device(comm, spec);
  for (const GyroCall call : calls) {
    SCOPED_TRACE(testing::Message() << "method " << static_cast<int>(spec.method) << ", call "
                                    << static_cast<int>(call));
    const std::vector<double> in = random_values(values_of(spec, input_of(call)), 5);
    const std::vector<double> expected = run_call<T>(comm, host, call, in);
    const std::vector<double> found = run_call<T>(comm, device, call, in);
    EXPECT_LE(rms_difference(found, expected), bound);
    if (call == GyroCall::each_adjoint) {
      EXPECT_EQ(run_call<T>(comm, device, call, in), found) << "differs from run to run";
    }
    EXPECT_NEAR(device.indicator(), host.indicator(), as_the_host * host.indicator());
  }
}

GyroSpec rectangle(GyroMethod method, std::vector<double> radii, std::int64_t n_fields) {
  GyroSpec spec = gyro_spec(method, 13, 11, std::move(radii), n_fields);
  spec.grid.y.last = 0.7;
  return spec;
}

TEST_P(GyroaveragesOnDevices, AreThoseOfTheHostInASmallCase) {
  for (const GyroMethod method : all_gyro_methods)
    expect_as_the_host<double>(comm(), rectangle(method, {0.3, 0.9}, 2), as_the_host);
}

TEST_P(GyroaveragesOnDevices, AreThoseOfTheHostOnMirroredAndPeriodicAxes) {
  for (const GyroMethod method : all_gyro_methods) {
    if (method == GyroMethod::chebyshev) continue;
    GyroSpec spec = rectangle(method, {0, 0.35}, 1);
    spec.grid.x.boundary = PlaneBoundary::mirror;
    spec.grid.y.boundary = PlaneBoundary::periodic;
    expect_as_the_host<double>(comm(), spec, as_the_host);
    std::swap(spec.grid.x.boundary, spec.grid.y.boundary);
    expect_as_the_host<float>(comm(), spec, tolerance::single_storage);
  }
}

// More fields than go together.
TEST_P(GyroaveragesOnDevices, OfManyFieldsAreThoseOfTheHost) {
  constexpr GyroCall some_calls[] = {GyroCall::each, GyroCall::each_adjoint};
  for (const GyroMethod method : all_gyro_methods) {
    expect_as_the_host<double>(comm(), gyro_spec(method, 12, 12, {0.1, 5, 0.8}, 11), as_the_host,
                               some_calls);
  }
}

/// A rank's part of planes in the memory of its device, a few values of each component apart.
template <class T>
class DevicePart {
 public:
  explicit DevicePart(const ComponentBuffer<T>& part)
      : n_components_(part.n_components()),
        size_(part.size()),
        values_(n_components_ * (size_ + gap)) {
    for (std::int64_t c = 0; c < n_components_; ++c) {
      copy_to_device(part.view().component(c).data(), view().component(c).data(), bytes(), stream_);
    }
    stream_.synchronize();
  }
  ComponentView<T, MemorySpace::device> view() {
    return {values_.data(), n_components_, size_, size_ + gap};
  }
  void copy_to(ComponentBuffer<T>& part) {
    for (std::int64_t c = 0; c < n_components_; ++c) {
      detail::copy_to_host(view().component(c).data(), part.view().component(c).data(), bytes(),
                           stream_);
    }
    stream_.synchronize();
  }

 private:
  static constexpr std::int64_t gap = 3;
  std::int64_t bytes() const { return size_ * std::int64_t{sizeof(T)}; }

  DeviceStream stream_;
  std::int64_t n_components_;
  std::int64_t size_;
  DeviceBuffer<T> values_;
};

/// Does what run_call() does, with planes in the memory of devices.
template <class T>
std::vector<double> run_call_on_device(const Communicator& comm, Gyroaverage& gyro, GyroCall call,
                                       const std::vector<double>& whole) {
  const GyroSpec& spec = gyro.spec();
  const GyroPart& part = gyro.part();
  ComponentBuffer<T> out = make_part<T>(spec, part, output_of(call));
  for (std::int64_t c = 0; c < out.n_components(); ++c) {
    for (std::int64_t i = 0; i < out.size(); ++i) out.view().component(c)[i] = 7;
  }
  DevicePart<T> in_there(part_of<T>(spec, part, input_of(call), whole));
  DevicePart<T> out_there(out);
  call_gyroaverage<T>(gyro, call, ComponentView<const T, MemorySpace::device>(in_there.view()),
                      out_there.view(), weights_of(spec));
  out_there.copy_to(out);
  return whole_of<T>(comm, spec, part, output_of(call), std::as_const(out).view());
}

template <class T>
void expect_as_from_the_host(const Communicator& comm, GyroSpec spec,
                             std::span<const GyroCall> calls = all_gyro_calls) {
  spec.backend = Backend::cuda;
  Gyroaverage from_host(comm, spec);
  spec.data = MemorySpace::device;
  Gyroaverage on_device(comm, spec);
  EXPECT_GE(on_device.bytes(), from_host.bytes());
  for (const GyroCall call : calls) {
    SCOPED_TRACE(testing::Message() << "method " << static_cast<int>(spec.method) << ", call "
                                    << static_cast<int>(call));
    const std::vector<double> in = random_values(values_of(spec, input_of(call)), 5);
    EXPECT_EQ(run_call_on_device<T>(comm, on_device, call, in),
              run_call<T>(comm, from_host, call, in));
    EXPECT_EQ(on_device.indicator(), from_host.indicator());
  }
}

TEST_P(GyroaveragesOnDevices, OfPlanesThatAreThereAreThoseOfTheHostsPlanesInASmallCase) {
  for (const GyroMethod method : all_gyro_methods) {
    expect_as_from_the_host<double>(comm(), rectangle(method, {0.3, 0.9}, 2));
    expect_as_from_the_host<float>(comm(), rectangle(method, {0.3, 0.9}, 2));
  }
}

TEST_P(GyroaveragesOnDevices, OfManyPlanesThatAreThereAreThoseOfTheHostsPlanes) {
  constexpr GyroCall some_calls[] = {GyroCall::each, GyroCall::each_adjoint};
  for (const GyroMethod method : all_gyro_methods) {
    expect_as_from_the_host<double>(comm(), gyro_spec(method, 12, 12, {0.1, 5, 0.8}, 9),
                                    some_calls);
  }
  GyroSpec spec = rectangle(GyroMethod::bicubic, {0, 0.35}, 3);
  spec.grid.x.boundary = PlaneBoundary::mirror;
  spec.grid.y.boundary = PlaneBoundary::periodic;
  expect_as_from_the_host<float>(comm(), spec, some_calls);
  spec.method = GyroMethod::dct;
  expect_as_from_the_host<double>(comm(), spec, some_calls);
}

// A device takes 32 planes at once.
TEST_P(GyroaveragesOnDevices, OfMorePlanesThanADeviceTakesAreThoseOfTheHostsPlanes) {
  constexpr GyroCall some_calls[] = {GyroCall::each};
  for (const GyroMethod method : {GyroMethod::bilinear, GyroMethod::dct})
    expect_as_from_the_host<double>(comm(), gyro_spec(method, 5, 4, {0.1, 0.8}, 70), some_calls);
}

TEST_P(GyroaveragesOnDevices, MayReplaceThePlanesThatAreThere) {
  for (const GyroMethod method : all_gyro_methods) {
    GyroSpec spec = rectangle(method, {0.3, 0.9}, 2);
    spec.backend = Backend::cuda;
    spec.data = MemorySpace::device;
    Gyroaverage gyro(comm(), spec);
    const GyroPlanes planes = input_of(GyroCall::pairs);
    const std::vector<double> in = random_values(values_of(spec, planes), 5);
    ComponentBuffer<double> part = part_of<double>(spec, gyro.part(), planes, in);
    DevicePart<double> there(part);
    gyro.pairs<double>(ComponentView<const double, MemorySpace::device>(there.view()),
                       there.view());
    there.copy_to(part);
    EXPECT_EQ(whole_of<double>(comm(), spec, gyro.part(), planes, std::as_const(part).view()),
              run_call_on_device<double>(comm(), gyro, GyroCall::pairs, in));
  }
}

TEST_P(GyroaveragesOnDevices, OfSharedRowsThatAreThereAreThoseOfTheHostsPlanes) {
  constexpr GyroCall some_calls[] = {GyroCall::each, GyroCall::each_adjoint};
  GyroSpec spec = gyro_spec(GyroMethod::bilinear, 40, 400, {0.05}, 1);
  const GyroPlan plan = plan_gyroaverage(spec, comm().size());
  EXPECT_EQ(plan.row_parts > 1, comm().size() > 1);
  expect_as_from_the_host<float>(comm(), spec, some_calls);
}

TEST_P(GyroaveragesOnDevices, FindValuesThatAreNotFiniteInADevicesMemory) {
  for (const GyroMethod method : all_gyro_methods) {
    GyroSpec spec = rectangle(method, {0.3, 0.9}, 2);
    spec.backend = Backend::cuda;
    spec.data = MemorySpace::device;
    Gyroaverage gyro(comm(), spec);
    std::vector<double> in = random_values(values_of(spec, input_of(GyroCall::pairs)), 5);
    const std::int64_t plane = spec.grid.n_nodes();
    in[to_size(plane + 2 * spec.grid.x.size + 4)] = std::nan("");
    in[to_size(3 * plane + 7)] = INFINITY;
    expect_error(ErrorKind::data,
                 "2 values are NaN or infinite; the first is in radius 0, field 1, row 2, column 4",
                 [&] { run_call_on_device<double>(comm(), gyro, GyroCall::pairs, in); });
    // It is still usable.
    run_call_on_device<double>(comm(), gyro, GyroCall::pairs, std::vector<double>(in.size(), 1));
  }
}

TEST_P(GyroaveragesOnDevices, TakeViewsOfTheMemoryThatTheirSpecificationNames) {
  GyroSpec spec = rectangle(GyroMethod::bicubic, {0.3}, 1);
  spec.backend = Backend::cuda;
  const std::vector<double> in(to_size(values_of(spec, input_of(GyroCall::each))), 1.0);
  Gyroaverage of_host(comm(), spec);
  expect_error(ErrorKind::usage,
               "views of a device's memory, and the specification says that fields and results are "
               "in the host's",
               [&] { run_call_on_device<double>(comm(), of_host, GyroCall::each, in); });
  spec.data = MemorySpace::device;
  Gyroaverage of_device(comm(), spec);
  expect_error(ErrorKind::usage,
               "views of the host's memory, and the specification says that fields and results are "
               "in a device's",
               [&] { run_call<double>(comm(), of_device, GyroCall::each, in); });
}

/// Ranks that share the rows of two planes, against whole planes on the host.
void expect_shared_rows(const Communicator& comm, GyroSpec spec) {
  constexpr std::int64_t n_planes = 2;
  const std::int64_t n_x = spec.grid.x.size;
  const std::int64_t n_y = spec.grid.y.size;
  const std::int64_t n = n_x * n_y;
  const bool is_stencil = spec.method != GyroMethod::chebyshev;
  const RowShare share{n_y * comm.rank() / comm.size(), n_y * (comm.rank() + 1) / comm.size(),
                       comm.rank(), comm.size()};
  const Communicator self = Communicator::self();
  const auto host = is_stencil ? make_stencil_scheme(spec, self, {0, n_y})
                               : make_chebyshev_scheme(spec, self, {0, n_y});
  spec.backend = Backend::cuda;
  const auto device = is_stencil ? make_cuda_stencil_scheme(spec, comm, share, n_planes)
                                 : make_chebyshev_scheme(spec, comm, share);
  host->set_radii(0, ssize64(spec.radii));
  device->set_radii(0, ssize64(spec.radii));
  const auto own = [&](const std::vector<double>& planes) {
    std::vector<double> rows;
    for (std::int64_t p = 0; p < n_planes; ++p) {
      const double* const plane = planes.data() + p * n;
      rows.insert(rows.end(), plane + share.row_begin * n_x, plane + share.row_end * n_x);
    }
    return rows;
  };
  const std::vector<double> planes = random_values(n_planes * n, 3);
  const std::int64_t n_own = (share.row_end - share.row_begin) * n_x;
  for (const Direction direction : {Direction::average, Direction::transpose}) {
    const bool takes_rows = is_stencil || direction == Direction::transpose;
    const bool makes_rows = is_stencil || direction == Direction::average;
    const std::vector<double> whole = averaged(*host, direction, planes, n_planes, n, {0, 1});
    const std::vector<double> found =
        averaged(*device, direction, takes_rows ? own(planes) : planes, n_planes,
                 makes_rows ? n_own : n, {0, 1});
    EXPECT_LE(rms_difference(found, makes_rows ? own(whole) : whole), as_the_host);
  }
}

TEST_P(GyroaveragesOnDevices, OfSharedRowsAreThoseOfTheHostInASmallCase) {
  for (const GyroMethod method : {GyroMethod::bilinear, GyroMethod::bicubic, GyroMethod::chebyshev})
    expect_shared_rows(comm(), rectangle(method, {0.25, 1.1}, 1));
  GyroSpec periodic = rectangle(GyroMethod::bicubic, {0.25, 0.6}, 1);
  periodic.grid.y.boundary = PlaneBoundary::periodic;
  expect_shared_rows(comm(), periodic);
}

/// Averages with a radius for each node of this rank's rows, and their transposes.
template <class T>
void expect_radii_as_the_host(const Communicator& comm, const PlaneGrid& grid, GyroMethod method,
                              std::int64_t n_fields, double bound) {
  const RadiusProblem problem(grid, method, n_fields, grid.y.size * comm.rank() / comm.size(),
                              grid.y.size * (comm.rank() + 1) / comm.size());
  const std::vector<double> averages = problem.average<T>(Backend::cuda);
  EXPECT_LE(largest_error(averages, problem.average<T>(Backend::host)), bound);
  EXPECT_EQ(problem.average<T>(Backend::cuda), averages) << "differs from run to run";
  const std::vector<double> transposes = problem.transpose<T>(Backend::cuda);
  EXPECT_LE(largest_error(transposes, problem.transpose<T>(Backend::host)), bound);
  EXPECT_EQ(problem.transpose<T>(Backend::cuda), transposes) << "differs from run to run";
}

TEST_P(GyroaveragesOnDevices, OverTheRadiusOfEachNodeAreThoseOfTheHostInASmallCase) {
  const PlaneGrid grid{plane_axis(12, PlaneBoundary::zero, 0, 11),
                       plane_axis(10, PlaneBoundary::zero, -1, 6.2)};
  for (const GyroMethod method : {GyroMethod::bilinear, GyroMethod::bicubic})
    expect_radii_as_the_host<double>(comm(), grid, method, 3, tolerance::gyroaverage);
}

TEST_P(GyroaveragesOnDevices, OverTheRadiusOfEachNodeAreThoseOfTheHostForAllBoundaries) {
  for (const PlaneGrid& grid : rectangles_for_radii()) {
    for (const GyroMethod method : {GyroMethod::bilinear, GyroMethod::bicubic})
      expect_radii_as_the_host<double>(comm(), grid, method, 1, tolerance::gyroaverage);
  }
}

TEST_P(GyroaveragesOnDevices, OfManyFieldsOverTheRadiusOfEachNodeAreThoseOfTheHost) {
  const PlaneGrid grid{plane_axis(10, PlaneBoundary::periodic),
                       plane_axis(11, PlaneBoundary::mirror)};
  for (const GyroMethod method : {GyroMethod::bilinear, GyroMethod::bicubic})
    expect_radii_as_the_host<float>(comm(), grid, method, 9, tolerance::single_storage);
}

}  // namespace
}  // namespace ringweave::detail::test
