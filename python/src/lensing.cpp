// SPDX-License-Identifier: GPL-3.0-or-later
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "bindings.hpp"
#include "calls.hpp"
#include "point_specs.hpp"

#include <ringweave/lensing.hpp>

namespace ringweave::python {
namespace {

using DeflectionPlan = Plan<Deflection>;

/// A transform to deflected pixels, with the number of components of its fields.
template <class Transform>
struct OfComponents {
  std::int64_t n_components;
  Transform transform;

  StageTimes& times() { return transform.times(); }  ///< of the transform
};
using LensingPlan = Plan<OfComponents<Lensing>>;
using DelensingPlan = Plan<OfComponents<Delensing>>;

constexpr const char* the_lensing = "the lensing";
constexpr const char* the_delensing = "the delensing";

/// Returns the a_lm of one component.
Rows one_component(nb::handle alm, const char* name, const AlmLayout& layout) {
  const Rows rows = borrow_rows(alm, name, Numbers::complex_, Access::read);
  require_shape(rows, name, 1, layout.size(), "the layout");
  if (rows.n_axes == 3 || rows.is_single)
    throw ArrayError(std::string(name) + ": expected one array of complex128");
  return rows;
}

std::unique_ptr<DeflectionPlan> make_deflection(const Communicator& comm, const GridHandle& grid,
                                                const AlmLayout& layout, nb::handle phi,
                                                nb::handle omega, int threads, bool sends_single) {
  Potential potential{layout, {}, {}};
  Rows gradient;
  Rows curl;
  agree(comm, "the potential, with a curl or without", [&] {
    gradient = one_component(phi, "phi", layout);
    potential.phi = gradient.view<const std::complex<double>>();
    if (omega.is_none()) return std::int64_t{0};
    curl = one_component(omega, "omega", layout);
    potential.omega = curl.view<const std::complex<double>>();
    return std::int64_t{1};
  });
  return std::make_unique<DeflectionPlan>("deflection", comm, threads, [&] {
    ExchangeOptions exchange;
    exchange.precision = sends_single ? ModePrecision::single_ : ModePrecision::double_;
    return std::make_unique<Deflection>(comm, grid.grid, potential, exchange);
  });
}

std::unique_ptr<DeflectionPlan> invert(DeflectionPlan& plan, int threads) {
  agree(plan.comm(), "the inverse", [&] {
    plan.get();
    return std::int64_t{0};
  });
  return std::make_unique<DeflectionPlan>("deflection", plan.comm(), threads, [&] {
    return plan.run_without_gil([](const Deflection& deflection) {
      return std::make_unique<Deflection>(deflection.inverse());
    });
  });
}

/// Returns d as an array that keeps the memory of the deflection.
nb::object vectors(const DeflectionPlan& plan) {
  auto* const kept = new Deflection(plan.get());
  const nb::capsule owner(kept,
                          [](void* memory) noexcept { delete static_cast<Deflection*>(memory); });
  const MapView<const double> d = kept->vectors();
  const std::array<std::size_t, 2> shape{static_cast<std::size_t>(d.n_components()),
                                         static_cast<std::size_t>(d.size())};
  const std::array<std::int64_t, 2> strides{d.stride(), 1};
  return nb::cast(nb::ndarray<nb::numpy, const double, nb::ndim<2>>(d.data(), 2, shape.data(),
                                                                    owner, strides.data()));
}

/// Makes an array of two rows, which work(deflection, first, second) fills.
template <class Work>
nb::object two_rows(DeflectionPlan& plan, const Work& work) {
  ComponentBuffer<double> rows(2, plan.get().rings().n_pixels());
  plan.run([&](const Deflection& deflection) {
    work(deflection, rows.view().component(0), rows.view().component(1));
  });
  return array_of(std::move(rows));
}

nb::object magnification(DeflectionPlan& plan, nb::handle out) {
  nb::object result = nb::borrow(out);
  Rows rows;
  agree(plan.comm(), "the magnification", [&] {
    const std::array<std::int64_t, 1> shape{plan.get().rings().n_pixels()};
    if (out.is_none()) result = new_array(Numbers::real, false, shape);
    rows = borrow_rows(result, "out", Numbers::real, Access::write);
    require_shape(rows, "out", 1, shape[0], "the deflection");
    if (rows.is_single) throw ArrayError("out: is of float32; expected float64");
    return std::int64_t{0};
  });
  plan.run([&](const Deflection& deflection) {
    deflection.magnification(rows.view<double>().component(0));
  });
  return result;
}

/// Returns a copy of the deflection on all ranks of `comm`.
Deflection deflection_of(const Communicator& comm, const DeflectionPlan& plan) {
  const Deflection* found = nullptr;
  agree(comm, "the deflection", [&] {
    found = &plan.get();
    return std::int64_t{0};
  });
  return *found;
}

FrameRotation rotation_of(bool is_carried) {
  return is_carried ? FrameRotation::carried : FrameRotation::none;
}

std::unique_ptr<LensingPlan> make_lensing(const DeflectionPlan& deflected, int lmax, int mmax,
                                          const std::vector<int>& spins, double epsilon,
                                          bool is_carried, int threads, bool is_cuda,
                                          bool sends_single) {
  const Communicator& comm = deflected.comm();
  const Deflection deflection = deflection_of(comm, deflected);
  return std::make_unique<LensingPlan>("lensing", comm, threads, [&] {
    const PointSpec spec = point_spec(lmax, mmax, spins, epsilon, is_cuda, sends_single);
    return std::make_unique<OfComponents<Lensing>>(OfComponents<Lensing>{
        spec.fields.n_components(), Lensing(comm, deflection, spec, rotation_of(is_carried))});
  });
}

std::unique_ptr<DelensingPlan> make_delensing(const DeflectionPlan& inverse, int lmax, int mmax,
                                              const std::vector<int>& spins, double epsilon,
                                              int iterations, bool is_carried, int threads,
                                              bool is_cuda, bool sends_single) {
  const Communicator& comm = inverse.comm();
  const Deflection deflection = deflection_of(comm, inverse);
  return std::make_unique<DelensingPlan>("delensing", comm, threads, [&] {
    const PointSpec spec = point_spec(lmax, mmax, spins, epsilon, is_cuda, sends_single);
    return std::make_unique<OfComponents<Delensing>>(OfComponents<Delensing>{
        spec.fields.n_components(),
        Delensing(comm, deflection, spec, iterations, rotation_of(is_carried))});
  });
}

template <class Transform>
Argument map_of(const OfComponents<Transform>& planned, const char* name) {
  return {name, Numbers::real, planned.n_components, planned.transform.rings().n_pixels()};
}

Argument unlensed_of(const OfComponents<Lensing>& planned) {
  return {"alm", Numbers::complex_, planned.n_components, planned.transform.alm_layout().size()};
}

nb::object lens(LensingPlan& plan, nb::handle alm, nb::handle out) {
  const ArrayCall call =
      agreed_call(plan, alm, out, the_lensing, [](const OfComponents<Lensing>& planned) {
        return std::pair{unlensed_of(planned), map_of(planned, "out")};
      });
  run_each(plan, call, [&](OfComponents<Lensing>& planned, auto type, std::int64_t i) {
    using T = decltype(type);
    planned.transform.lens<T>(call.in.view<const std::complex<T>>(i), call.out.view<T>(i));
  });
  return call.result;
}

nb::object adjoint_of_lensing(LensingPlan& plan, nb::handle map, nb::handle out, bool accumulate) {
  const ArrayCall call = agreed_call(
      plan, map, out, the_lensing,
      [](const OfComponents<Lensing>& planned) {
        return std::pair{map_of(planned, "map"), unlensed_of(planned)};
      },
      accumulate ? OutputIs::given : OutputIs::any);
  const Accumulate how = accumulate ? Accumulate::add : Accumulate::overwrite;
  run_each(plan, call, [&](OfComponents<Lensing>& planned, auto type, std::int64_t i) {
    using T = decltype(type);
    planned.transform.adjoint<T>(call.in.view<const T>(i), call.out.view<std::complex<T>>(i), how);
  });
  return call.result;
}

nb::object delens(DelensingPlan& plan, nb::handle map, nb::handle out) {
  const ArrayCall call =
      agreed_call(plan, map, out, the_delensing, [](const OfComponents<Delensing>& planned) {
        return std::pair{map_of(planned, "map"), map_of(planned, "out")};
      });
  run_each(plan, call, [&](OfComponents<Delensing>& planned, auto type, std::int64_t i) {
    using T = decltype(type);
    planned.transform.delens<T>(call.in.view<const T>(i), call.out.view<T>(i));
  });
  return call.result;
}

void bind_deflection(nb::module_& module) {
  nb::class_<DeflectionPlan>(module, "Deflection", "Deflection of the pixels of a grid.")
      .def(nb::new_(&make_deflection), nb::arg("comm"), nb::arg("grid"), nb::arg("layout"),
           nb::arg("phi").none(), nb::arg("omega").none(), nb::arg("threads"),
           nb::arg("sends_single"), "Computes it. Collective.")
      .def("close", &DeflectionPlan::close, "Frees it. Collective.")
      .def_prop_ro("is_open", &DeflectionPlan::is_open, "Tells whether close() was not called.")
      .def_prop_ro(
          "comm", [](const DeflectionPlan& plan) { return plan.comm(); }, "Its communicator.")
      .def(
          "rings", [](const DeflectionPlan& plan) { return plan.get().rings(); },
          "Returns the rings of this rank.")
      .def("vectors", &vectors, "Returns d, to the south and to the east, read-only.")
      .def(
          "positions",
          [](DeflectionPlan& plan) {
            return two_rows(plan, [](const Deflection& deflection, View<double> theta,
                                     View<double> phi) { deflection.positions(theta, phi); });
          },
          "Returns theta and phi of the points that the pixels see.")
      .def(
          "rotation",
          [](DeflectionPlan& plan) {
            return two_rows(
                plan, [](const Deflection& deflection, View<double> cos_gamma,
                         View<double> sin_gamma) { deflection.rotation(cos_gamma, sin_gamma); });
          },
          "Returns cos and sin of the angle gamma by which fields turn.")
      .def("magnification", &magnification, nb::arg("out").none(), "Collective.")
      .def("inverse", &invert, nb::arg("threads"), "Finds the inverse. Collective.")
      .def(
          "rms", [](const DeflectionPlan& plan) { return plan.get().rms(); }, "Returns that of d.")
      .def(
          "largest", [](const DeflectionPlan& plan) { return plan.get().largest(); },
          "Returns the largest length of d.");
}

}  // namespace

void bind_lensing(nb::module_& module) {
  bind_deflection(module);
  nb::class_<LensingPlan>(module, "Lensing", "Transform to a lensed map and its adjoint.")
      .def(nb::new_(&make_lensing), nb::arg("deflection"), nb::arg("lmax"), nb::arg("mmax"),
           nb::arg("spins"), nb::arg("epsilon"), nb::arg("is_carried"), nb::arg("threads"),
           nb::arg("is_cuda"), nb::arg("sends_single"), "Plans it. Collective.")
      .def("close", &LensingPlan::close, "Frees it. Collective.")
      .def(
          "rings", [](const LensingPlan& plan) { return plan.get().transform.rings(); },
          "Returns the rings of this rank.")
      .def(
          "alm_layout", [](const LensingPlan& plan) { return plan.get().transform.alm_layout(); },
          "Returns the orders of this rank.")
      .def("lens", &lens, nb::arg("alm").none(), nb::arg("out").none(), "Collective.")
      .def("adjoint", &adjoint_of_lensing, nb::arg("map").none(), nb::arg("out").none(),
           nb::arg("accumulate"), "Collective.")
      .def(
          "bytes", [](const LensingPlan& plan) { return plan.get().transform.bytes(); },
          "Returns the bytes on this rank.")
      .def(
          "times", [](LensingPlan& plan) { return times_of(plan); },
          "Returns seconds and calls of the stages.");
  nb::class_<DelensingPlan>(module, "Delensing", "Analysis and transform that undo a lensing.")
      .def(nb::new_(&make_delensing), nb::arg("inverse"), nb::arg("lmax"), nb::arg("mmax"),
           nb::arg("spins"), nb::arg("epsilon"), nb::arg("iterations"), nb::arg("is_carried"),
           nb::arg("threads"), nb::arg("is_cuda"), nb::arg("sends_single"), "Plans it. Collective.")
      .def("close", &DelensingPlan::close, "Frees it. Collective.")
      .def(
          "rings", [](const DelensingPlan& plan) { return plan.get().transform.rings(); },
          "Returns the rings of this rank.")
      .def("delens", &delens, nb::arg("map").none(), nb::arg("out").none(), "Collective.")
      .def(
          "times", [](DelensingPlan& plan) { return times_of(plan); },
          "Returns seconds and calls of the stages.");
}

}  // namespace ringweave::python
