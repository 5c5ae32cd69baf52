// SPDX-License-Identifier: GPL-3.0-or-later
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "bindings.hpp"
#include "calls.hpp"
#include "point_specs.hpp"

#include <ringweave/points.hpp>

namespace ringweave::python {
namespace {

/// Points with the transform to them.
struct PlannedTransform {
  std::int64_t n_alm_components;
  PointSet points;
  PointTransform transform;

  StageTimes& times() { return transform.times(); }  ///< of the transform
};
using PointPlan = Plan<PlannedTransform>;
using FieldPlan = Plan<FineField>;

constexpr const char* the_transform_to_points = "the transform to points";
constexpr const char* the_field = "the field";

std::span<const double> angles_of(const Doubles& values) { return {values.data(), values.size()}; }

std::unique_ptr<PointPlan> make_points(const Communicator& comm, const Doubles& theta,
                                       const Doubles& phi, const Doubles& psi, int lmax, int mmax,
                                       const std::vector<int>& spins, double epsilon, int threads,
                                       bool is_cuda, bool sends_single) {
  return std::make_unique<PointPlan>("transform to points", comm, threads, [&] {
    const PointSpec spec = point_spec(lmax, mmax, spins, epsilon, is_cuda, sends_single);
    const PointSet points(comm, spec, angles_of(theta), angles_of(phi), angles_of(psi));
    return std::make_unique<PlannedTransform>(
        PlannedTransform{spec.fields.n_components(), points, PointTransform(comm, spec, points)});
  });
}

std::unique_ptr<FieldPlan> make_field(const Communicator& comm, std::int64_t n_points, int lmax,
                                      int mmax, const std::vector<int>& spins, double epsilon,
                                      int threads, bool is_cuda, bool sends_single) {
  return std::make_unique<FieldPlan>("field on fine rows", comm, threads, [&] {
    const PointSpec spec = point_spec(lmax, mmax, spins, epsilon, is_cuda, sends_single);
    return std::make_unique<FineField>(comm, spec, n_points);
  });
}

Argument coefficients_of(const PlannedTransform& planned) {
  return {"alm", Numbers::complex_, planned.n_alm_components,
          planned.transform.alm_layout().size()};
}

Argument values_of(const PlannedTransform& planned) {
  return {"values", Numbers::real, planned.points.n_components(), planned.points.size()};
}

nb::object evaluate(PointPlan& plan, nb::handle alm, nb::handle out) {
  const ArrayCall call =
      agreed_call(plan, alm, out, the_transform_to_points, [](const PlannedTransform& planned) {
        return std::pair{coefficients_of(planned), values_of(planned)};
      });
  run_each(plan, call, [&](PlannedTransform& planned, auto type, std::int64_t i) {
    using T = decltype(type);
    planned.transform.evaluate<T>(call.in.view<const std::complex<T>>(i), call.out.view<T>(i));
  });
  return call.result;
}

nb::object adjoint_of_points(PointPlan& plan, nb::handle values, nb::handle out, bool accumulate) {
  const ArrayCall call = agreed_call(
      plan, values, out, the_transform_to_points,
      [](const PlannedTransform& planned) {
        return std::pair{values_of(planned), coefficients_of(planned)};
      },
      accumulate ? OutputIs::given : OutputIs::any);
  const Accumulate how = accumulate ? Accumulate::add : Accumulate::overwrite;
  run_each(plan, call, [&](PlannedTransform& planned, auto type, std::int64_t i) {
    using T = decltype(type);
    planned.transform.adjoint<T>(call.in.view<const T>(i), call.out.view<std::complex<T>>(i), how);
  });
  return call.result;
}

nb::dict dict_of(const PointReport& report) {
  nb::dict result;
  result["theta_taps"] = report.theta_taps;
  result["phi_taps"] = report.phi_taps;
  result["fine_rows"] = report.fine_rows;
  result["fine_columns"] = report.fine_columns;
  result["predicted_error"] = report.predicted_error;
  result["points"] = report.points;
  result["most_points"] = report.most_points;
  result["mean_points"] = report.mean_points;
  result["most_rows"] = report.most_rows;
  result["mean_rows"] = report.mean_rows;
  return result;
}

void set_field(FieldPlan& plan, nb::handle alm) {
  Rows in;
  agree(plan.comm(), "precision of the a_lm", [&] {
    const FineField& field = plan.get();
    in = borrow_rows(alm, "alm", Numbers::complex_, Access::read);
    require_shape(in, "alm", field.spec().fields.n_components(), field.alm_layout().size(),
                  the_field);
    if (in.n_axes == 3) throw UsageError("alm: has an axis of a batch; a field is one");
    return in.digest();
  });
  plan.run([&](FineField& field) {
    with_type(in, [&](auto type) {
      field.set<decltype(type)>(in.view<const std::complex<decltype(type)>>());
    });
  });
}

nb::object evaluate_field(FieldPlan& plan, const Doubles& theta, const Doubles& phi,
                          const Doubles& psi, bool has_psi, bool is_single, nb::handle out) {
  Rows rows;
  nb::object result = nb::borrow(out);
  agree(plan.comm(), "precision of the values, and psi or not", [&] {
    const std::int64_t n_components = has_psi ? 1 : plan.get().spec().fields.n_components();
    const std::array<std::int64_t, 2> shape{n_components, static_cast<std::int64_t>(theta.size())};
    if (out.is_none()) result = new_array(Numbers::real, is_single, shape);
    rows = borrow_rows(result, "out", Numbers::real, Access::write);
    require_shape(rows, "out", shape[0], shape[1], "the set of points");
    return rows.digest() + (has_psi ? 4 : 0);
  });
  plan.run([&](FineField& field) {
    const PointSet points(field, angles_of(theta), angles_of(phi), angles_of(psi));
    with_type(rows, [&](auto type) {
      field.evaluate<decltype(type)>(points, rows.view<decltype(type)>());
    });
  });
  return result;
}

void bind_fields(nb::module_& module) {
  nb::class_<FieldPlan>(module, "FineField", "A field for many sets of points.")
      .def(nb::new_(&make_field), nb::arg("comm"), nb::arg("n_points"), nb::arg("lmax"),
           nb::arg("mmax"), nb::arg("spins"), nb::arg("epsilon"), nb::arg("threads"),
           nb::arg("is_cuda"), nb::arg("sends_single"), "Plans it. Collective.")
      .def("close", &FieldPlan::close, "Frees it. Collective.")
      .def_prop_ro("is_open", &FieldPlan::is_open, "Tells whether close() was not called.")
      .def(
          "alm_layout", [](const FieldPlan& plan) { return plan.get().alm_layout(); },
          "Returns the orders of this rank.")
      .def("set", &set_field, nb::arg("alm").none(), "Collective.")
      .def("evaluate", &evaluate_field, nb::arg("theta"), nb::arg("phi"), nb::arg("psi"),
           nb::arg("has_psi"), nb::arg("is_single"), nb::arg("out").none(), "Collective.")
      .def(
          "bytes", [](const FieldPlan& plan) { return plan.get().bytes(); },
          "Returns the bytes on this rank.")
      .def(
          "times", [](FieldPlan& plan) { return times_of(plan); },
          "Returns seconds and calls of the stages.");
}

}  // namespace

void bind_points(nb::module_& module) {
  nb::class_<PointPlan>(module, "PointTransform", "Transform to points and its adjoint.")
      .def(nb::new_(&make_points), nb::arg("comm"), nb::arg("theta"), nb::arg("phi"),
           nb::arg("psi"), nb::arg("lmax"), nb::arg("mmax"), nb::arg("spins"), nb::arg("epsilon"),
           nb::arg("threads"), nb::arg("is_cuda"), nb::arg("sends_single"), "Plans it. Collective.")
      .def("close", &PointPlan::close, "Frees it. Collective.")
      .def_prop_ro("is_open", &PointPlan::is_open, "Tells whether close() was not called.")
      .def(
          "alm_layout", [](const PointPlan& plan) { return plan.get().transform.alm_layout(); },
          "Returns the orders of this rank.")
      .def_prop_ro(
          "n_components", [](const PointPlan& plan) { return plan.get().points.n_components(); },
          "Components of values.")
      .def("evaluate", &evaluate, nb::arg("alm").none(), nb::arg("out").none(), "Collective.")
      .def("adjoint", &adjoint_of_points, nb::arg("values").none(), nb::arg("out").none(),
           nb::arg("accumulate"), "Collective.")
      .def(
          "report", [](const PointPlan& plan) { return dict_of(plan.get().points.report()); },
          "Returns taps, fine rows and load of the ranks.")
      .def(
          "bytes", [](const PointPlan& plan) { return plan.get().transform.bytes(); },
          "Returns the bytes on this rank.")
      .def(
          "times", [](PointPlan& plan) { return times_of(plan); },
          "Returns seconds and calls of the stages.");
  bind_fields(module);
}

}  // namespace ringweave::python
