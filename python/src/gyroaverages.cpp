// SPDX-License-Identifier: GPL-3.0-or-later
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "bindings.hpp"
#include "calls.hpp"

#include <ringweave/gyroaverage.hpp>

namespace ringweave::python {
namespace {

using GyroPlan = Plan<Gyroaverage>;

constexpr const char* the_part = "the part of a rank in the gyroaverage";

PlaneBoundary boundary_of(const std::string& name) {
  if (name == "zero") return PlaneBoundary::zero;
  if (name == "periodic") return PlaneBoundary::periodic;
  if (name == "mirror") return PlaneBoundary::mirror;
  throw UsageError("boundary: is '" + name + "'; expected zero, periodic or mirror");
}

GyroMethod method_of(const std::string& name) {
  if (name == "bilinear") return GyroMethod::bilinear;
  if (name == "bicubic") return GyroMethod::bicubic;
  if (name == "dct") return GyroMethod::dct;
  if (name == "chebyshev") return GyroMethod::chebyshev;
  throw UsageError("method: is '" + name + "'; expected bilinear, bicubic, dct or chebyshev");
}

nb::object nodes_of(const PlaneAxis& axis) {
  std::vector<double> nodes;
  nodes.reserve(static_cast<std::size_t>(axis.size));
  for (std::int64_t i = 0; i < axis.size; ++i) nodes.push_back(axis.node(i));
  return array_of(std::move(nodes));
}

std::unique_ptr<GyroPlan> make_gyroaverage(const Communicator& comm, const PlaneAxis& x,
                                           const PlaneAxis& y, const std::vector<double>& radii,
                                           const std::string& method, std::int64_t targets_x,
                                           std::int64_t targets_y, std::int64_t padding,
                                           std::int64_t n_fields, bool forms_sums,
                                           bool only_doubles, std::int64_t most_bytes, int threads,
                                           bool is_cuda) {
  return std::make_unique<GyroPlan>("gyroaverage", comm, threads, [&] {
    GyroSpec spec;
    spec.grid = {x, y};
    spec.radii = radii;
    spec.method = method_of(method);
    spec.targets_x = targets_x;
    spec.targets_y = targets_y;
    spec.padding = padding;
    spec.n_fields = n_fields;
    spec.sums = forms_sums ? GyroSums::formed : GyroSums::none;
    spec.numbers = only_doubles ? GyroNumbers::doubles : GyroNumbers::any;
    spec.most_bytes = most_bytes;
    spec.backend = is_cuda ? Backend::cuda : Backend::host;
    return std::make_unique<Gyroaverage>(comm, spec);
  });
}

/// Components of a call: one for each field, or for each radius and field.
enum class Planes { of_fields, of_radii };

Argument planes_of_fields(const Gyroaverage& gyro, const char* name, Planes planes) {
  const GyroPart& part = gyro.part();
  return {name, Numbers::real, part.n_fields() * (planes == Planes::of_radii ? part.n_radii() : 1),
          part.n_field_rows() * gyro.spec().grid.x.size};
}

Argument planes_of_results(const Gyroaverage& gyro, const char* name, Planes planes) {
  const GyroPart& part = gyro.part();
  return {name, Numbers::real, part.n_fields() * (planes == Planes::of_radii ? part.n_radii() : 1),
          part.n_rows() * gyro.targets().x.size};
}

/// Applies work(gyro, input, output) from fields to results.
template <class Work>
nb::object average(GyroPlan& plan, nb::handle fields, nb::handle out, Planes from, Planes to,
                   const Work& work) {
  const ArrayCall call = agreed_call(plan, fields, out, the_part, [&](const Gyroaverage& gyro) {
    return std::pair{planes_of_fields(gyro, "fields", from), planes_of_results(gyro, "out", to)};
  });
  run_each(plan, call, [&](Gyroaverage& gyro, auto type, std::int64_t i) {
    work(gyro, call.in.view<const decltype(type)>(i), call.out.view<decltype(type)>(i));
  });
  return call.result;
}

/// Does the same from results to fields.
template <class Work>
nb::object transpose(GyroPlan& plan, nb::handle results, nb::handle out, Planes from, Planes to,
                     const Work& work) {
  const ArrayCall call = agreed_call(plan, results, out, the_part, [&](const Gyroaverage& gyro) {
    return std::pair{planes_of_results(gyro, "results", from), planes_of_fields(gyro, "out", to)};
  });
  run_each(plan, call, [&](Gyroaverage& gyro, auto type, std::int64_t i) {
    work(gyro, call.in.view<const decltype(type)>(i), call.out.view<decltype(type)>(i));
  });
  return call.result;
}

// Their calls deduce T from the views.

nb::object each(GyroPlan& plan, nb::handle fields, nb::handle out) {
  return average(plan, fields, out, Planes::of_fields, Planes::of_radii,
                 [](Gyroaverage& gyro, auto in, auto to) { gyro.each(in, to); });
}

nb::object pairs(GyroPlan& plan, nb::handle fields, nb::handle out) {
  return average(plan, fields, out, Planes::of_radii, Planes::of_radii,
                 [](Gyroaverage& gyro, auto in, auto to) { gyro.pairs(in, to); });
}

nb::object sum(GyroPlan& plan, nb::handle fields, const Doubles& weights, nb::handle out) {
  const std::span<const double> factors(weights.data(), weights.size());
  return average(plan, fields, out, Planes::of_radii, Planes::of_fields,
                 [&](Gyroaverage& gyro, auto in, auto to) { gyro.sum(in, factors, to); });
}

nb::object each_adjoint(GyroPlan& plan, nb::handle results, nb::handle out) {
  return transpose(plan, results, out, Planes::of_radii, Planes::of_fields,
                   [](Gyroaverage& gyro, auto in, auto to) { gyro.each_adjoint(in, to); });
}

nb::object pairs_adjoint(GyroPlan& plan, nb::handle results, nb::handle out) {
  return transpose(plan, results, out, Planes::of_radii, Planes::of_radii,
                   [](Gyroaverage& gyro, auto in, auto to) { gyro.pairs_adjoint(in, to); });
}

nb::object sum_adjoint(GyroPlan& plan, nb::handle results, const Doubles& weights, nb::handle out) {
  const std::span<const double> factors(weights.data(), weights.size());
  return transpose(plan, results, out, Planes::of_fields, Planes::of_radii,
                   [&](Gyroaverage& gyro, auto in, auto to) { gyro.sum_adjoint(in, factors, to); });
}

nb::dict dict_of(const GyroPart& part) {
  nb::dict result;
  result["radii"] = nb::make_tuple(part.radius_begin, part.radius_end);
  result["fields"] = nb::make_tuple(part.field_begin, part.field_end);
  result["rows"] = nb::make_tuple(part.row_begin, part.row_end);
  result["field_rows"] = nb::make_tuple(part.field_row_begin, part.field_row_end);
  return result;
}

/// Averages planes over circles whose radius differs from node to node, or adds the transpose.
void average_with_radii(const PlaneAxis& x, const PlaneAxis& y, const std::string& method,
                        const Doubles& radii, std::int64_t row_begin, std::int64_t row_end,
                        nb::handle in, nb::handle out, bool is_adjoint, int threads, bool is_cuda) {
  const PlaneGrid grid{x, y};
  const GyroMethod interpolant = method_of(method);
  const std::span<const double> rho(radii.data(), radii.size());
  const Rows from = borrow_rows(in, is_adjoint ? "results" : "fields", Numbers::real, Access::read);
  const Rows to = borrow_rows(out, "out", Numbers::real, Access::write);
  require_match(from, "the input", to, "out", Numbers::real, Numbers::real);
  const Backend backend = is_cuda ? Backend::cuda : Backend::host;
  const nb::gil_scoped_release released;
  const ThreadCount count(threads);
  with_type(from, [&](auto type) {
    using T = decltype(type);
    if (is_adjoint) {
      gyroaverage_with_radii_adjoint<T>(grid, interpolant, rho, row_begin, row_end,
                                        from.view<const T>(), to.view<T>(), backend);
    } else {
      gyroaverage_with_radii<T>(grid, interpolant, rho, row_begin, row_end, from.view<const T>(),
                                to.view<T>(), backend);
    }
  });
}

nb::tuple row_of_circle(const PlaneAxis& x, const PlaneAxis& y, const std::string& method,
                        double at_x, double at_y, double rho, std::int64_t padding) {
  std::vector<std::int64_t> columns;
  std::vector<std::int64_t> rows;
  std::vector<double> weights;
  for (const GyroWeight& one : circle_row({x, y}, method_of(method), at_x, at_y, rho, padding)) {
    columns.push_back(one.x);
    rows.push_back(one.y);
    weights.push_back(one.weight);
  }
  return nb::make_tuple(array_of(std::move(columns)), array_of(std::move(rows)),
                        array_of(std::move(weights)));
}

void bind_planes(nb::module_& module) {
  nb::class_<PlaneAxis>(module, "PlaneAxis", "Nodes of one axis of the plane.")
      .def_static(
          "of_nodes",
          [](const Doubles& nodes, const std::string& boundary, const std::string& name) {
            return PlaneAxis::of_nodes({nodes.data(), nodes.size()}, boundary_of(boundary), name);
          },
          nb::arg("nodes"), nb::arg("boundary"), nb::arg("name"),
          "Recognises equispaced and Chebyshev nodes.")
      .def_prop_ro(
          "is_chebyshev", [](const PlaneAxis& axis) { return axis.nodes == PlaneNodes::chebyshev; },
          "Tells whether nodes are Chebyshev's.")
      .def_ro("size", &PlaneAxis::size, "Number of nodes.")
      .def("nodes", &nodes_of, "Returns the nodes.");
  module.def("average_with_radii", &average_with_radii, nb::arg("x"), nb::arg("y"),
             nb::arg("method"), nb::arg("radii"), nb::arg("row_begin"), nb::arg("row_end"),
             nb::arg("input").none(), nb::arg("out").none(), nb::arg("is_adjoint"),
             nb::arg("threads"), nb::arg("is_cuda"),
             "Averages planes over circles whose radius differs from node to node.");
  module.def("circle_row", &row_of_circle, nb::arg("x"), nb::arg("y"), nb::arg("method"),
             nb::arg("at_x"), nb::arg("at_y"), nb::arg("rho"), nb::arg("padding"),
             "Returns columns, rows and weights of the nodes that an average is made of.");
}

}  // namespace

void bind_gyroaverages(nb::module_& module) {
  bind_planes(module);
  nb::class_<GyroPlan>(module, "Gyroaverage", "Averages over circles of given radii.")
      .def(nb::new_(&make_gyroaverage), nb::arg("comm"), nb::arg("x"), nb::arg("y"),
           nb::arg("radii"), nb::arg("method"), nb::arg("targets_x"), nb::arg("targets_y"),
           nb::arg("padding"), nb::arg("n_fields"), nb::arg("forms_sums"), nb::arg("only_doubles"),
           nb::arg("most_bytes"), nb::arg("threads"), nb::arg("is_cuda"), "Plans it. Collective.")
      .def("close", &GyroPlan::close, "Frees it. Collective.")
      .def_prop_ro("is_open", &GyroPlan::is_open, "Tells whether close() was not called.")
      .def(
          "part", [](const GyroPlan& plan) { return dict_of(plan.get().part()); },
          "Returns the ranges [begin, end) of this rank.")
      .def(
          "targets",
          [](const GyroPlan& plan) {
            const PlaneGrid& targets = plan.get().targets();
            return nb::make_tuple(nodes_of(targets.x), nodes_of(targets.y));
          },
          "Returns the nodes of results, x and y.")
      .def("each", &each, nb::arg("fields").none(), nb::arg("out").none(), "Collective.")
      .def("pairs", &pairs, nb::arg("fields").none(), nb::arg("out").none(), "Collective.")
      .def("sum", &sum, nb::arg("fields").none(), nb::arg("weights"), nb::arg("out").none(),
           "Collective.")
      .def("each_adjoint", &each_adjoint, nb::arg("results").none(), nb::arg("out").none(),
           "Collective.")
      .def("pairs_adjoint", &pairs_adjoint, nb::arg("results").none(), nb::arg("out").none(),
           "Collective.")
      .def("sum_adjoint", &sum_adjoint, nb::arg("results").none(), nb::arg("weights"),
           nb::arg("out").none(), "Collective.")
      .def(
          "indicator", [](const GyroPlan& plan) { return plan.get().indicator(); },
          "Returns the error to expect of the last call.")
      .def(
          "bytes", [](const GyroPlan& plan) { return plan.get().bytes(); },
          "Returns the bytes on this rank.")
      .def(
          "times", [](GyroPlan& plan) { return times_of(plan); },
          "Returns seconds and calls of the stages.");
}

}  // namespace ringweave::python
