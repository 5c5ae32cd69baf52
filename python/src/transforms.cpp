// SPDX-License-Identifier: GPL-3.0-or-later
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <utility>

#include "bindings.hpp"
#include "plan.hpp"
#include "transform_plan.hpp"

#include <ringweave/transform.hpp>

namespace ringweave::python {
namespace {

constexpr const char* as_called = "precision and number of maps of a call";

std::vector<double> weights_or_none(nb::handle weights, const LocalRings& rings) {
  if (weights.is_none()) return {};
  Doubles values;
  if (!nb::try_cast(weights, values, false))
    throw ArrayError("weights: expected a contiguous array of float64 with one axis");
  if (static_cast<std::int64_t>(values.size()) != rings.n_rings()) {
    throw UsageError("weights: has " + std::to_string(values.size()) + " values; this rank owns " +
                     std::to_string(rings.n_rings()) + " rings");
  }
  return vector_of(values);
}

std::unique_ptr<TransformPlan> make_transform(const Communicator& comm, const GridHandle& grid,
                                              int lmax, int mmax, const std::vector<int>& spins,
                                              int threads, bool is_cuda, bool sends_single,
                                              std::int64_t mode_bytes) {
  return std::make_unique<TransformPlan>("transform", comm, threads, [&] {
    TransformSpec spec;
    spec.grid = grid.grid;
    spec.lmax = lmax;
    spec.mmax = mmax;
    spec.fields = FieldSet(spins);
    spec.backend = is_cuda ? Backend::cuda : Backend::host;
    spec.exchange.precision = sends_single ? ModePrecision::single_ : ModePrecision::double_;
    if (mode_bytes > 0) spec.mode_bytes = mode_bytes;
    return std::make_unique<SphericalHarmonicTransform>(comm, spec);
  });
}

constexpr const char* the_transform = "the transform";

/// Input and output of a call, checked on all ranks.
struct Call {
  Rows in;
  Rows out;
  nb::object result;
};

Call synthesis_call(TransformPlan& plan, nb::handle alm, nb::handle out) {
  Call call;
  agree(plan.comm(), as_called, [&] {
    const auto& transform = plan.get();
    const std::int64_t n_components = transform.fields().n_components();
    call.in = borrow_rows(alm, "alm", Numbers::complex_, Access::read);
    require_shape(call.in, "alm", n_components, transform.alm_layout().size(), the_transform);
    call.result = output_for(call.in, "alm", Numbers::complex_, out, Numbers::real, n_components,
                             transform.rings().n_pixels(), the_transform, call.out);
    return call.in.digest();
  });
  return call;
}

/// Checks the arrays of a call that makes a_lm of maps, and does `more`.
template <class More>
Call analysis_call(TransformPlan& plan, nb::handle map, nb::handle out, Access access,
                   const More& more) {
  Call call;
  agree(plan.comm(), as_called, [&] {
    const auto& transform = plan.get();
    const std::int64_t n_components = transform.fields().n_components();
    call.in = borrow_rows(map, "map", Numbers::real, access);
    require_shape(call.in, "map", n_components, transform.rings().n_pixels(), the_transform);
    call.result = output_for(call.in, "map", Numbers::real, out, Numbers::complex_, n_components,
                             transform.alm_layout().size(), the_transform, call.out);
    more(transform);
    return call.in.digest();
  });
  return call;
}

nb::object synthesis(TransformPlan& plan, nb::handle alm, nb::handle out) {
  Call call = synthesis_call(plan, alm, out);
  plan.run([&](SphericalHarmonicTransform& transform) {
    with_type(call.in, [&](auto type) {
      using T = decltype(type);
      for (std::int64_t i = 0; i < call.in.n_batch; ++i)
        transform.synthesize<T>(call.in.view<const std::complex<T>>(i), call.out.view<T>(i));
    });
  });
  return call.result;
}

nb::object adjoint(TransformPlan& plan, nb::handle map, nb::handle weights, nb::handle out,
                   bool accumulate, bool scratch) {
  std::vector<double> ring_weights;
  Call call = analysis_call(plan, map, out, scratch ? Access::write : Access::read,
                            [&](const SphericalHarmonicTransform& transform) {
                              if (accumulate && out.is_none())
                                throw UsageError("accumulate=True adds to `out`, which is None");
                              ring_weights = weights_or_none(weights, transform.rings());
                            });
  const Accumulate how = accumulate ? Accumulate::add : Accumulate::overwrite;
  plan.run([&](SphericalHarmonicTransform& transform) {
    with_type(call.in, [&](auto type) {
      using T = decltype(type);
      for (std::int64_t i = 0; i < call.in.n_batch; ++i) {
        const auto result = call.out.view<std::complex<T>>(i);
        if (scratch) {
          transform.adjoint_destroying<T>(call.in.view<T>(i), ring_weights, result, how);
        } else {
          transform.adjoint<T>(call.in.view<const T>(i), ring_weights, result, how);
        }
      }
    });
  });
  return call.result;
}

nb::tuple analysis(TransformPlan& plan, nb::handle map, int iterations, double tolerance,
                   int most_iterations, nb::handle weights, nb::handle pixel_weights,
                   nb::handle out, nb::handle callback) {
  auto all_weights = std::make_shared<AnalysisWeights>();
  Call call =
      analysis_call(plan, map, out, Access::read, [&](const SphericalHarmonicTransform& transform) {
        const LocalRings& rings = transform.rings();
        all_weights->ring = weights_or_none(weights, rings);
        if (weights.is_none()) all_weights->ring = ring_weights(rings);
        if (pixel_weights.is_none()) return;
        all_weights->pixel = vector_of(nb::cast<Doubles>(pixel_weights));
      });
  const AnalysisProgress progress = progress_for(plan.comm(), callback);
  std::vector<AnalysisReport> reports(static_cast<std::size_t>(call.in.n_batch));
  plan.run([&](SphericalHarmonicTransform& transform) {
    Analysis computing(transform, std::shared_ptr<const AnalysisWeights>(all_weights));
    with_type(call.in, [&](auto type) {
      using T = decltype(type);
      for (std::int64_t i = 0; i < call.in.n_batch; ++i) {
        const auto one = call.in.view<const T>(i);
        const auto result = call.out.view<std::complex<T>>(i);
        AnalysisReport& report = reports[static_cast<std::size_t>(i)];
        report = tolerance > 0 ? computing.conjugate_gradients<T>(one, tolerance, most_iterations,
                                                                  result, progress)
                               : computing.jacobi<T>(one, iterations, result, progress);
      }
    });
  });
  nb::list described;
  for (const AnalysisReport& report : reports) described.append(dict_of(report));
  return nb::make_tuple(call.result, described);
}

double inner(TransformPlan& plan, nb::handle a, nb::handle b) {
  Rows first;
  Rows second;
  agree(plan.comm(), as_called, [&] {
    const auto& transform = plan.get();
    const auto borrow = [&](nb::handle array, const char* name) {
      const Rows rows = borrow_rows(array, name, Numbers::complex_, Access::read);
      require_shape(rows, name, transform.fields().n_components(), transform.alm_layout().size(),
                    the_transform);
      if (rows.n_axes == 3) throw UsageError(std::string(name) + ": has an axis of a batch");
      return rows;
    };
    first = borrow(a, "a");
    second = borrow(b, "b");
    if (first.is_single != second.is_single) throw ArrayError("b: has another precision than a");
    return first.digest();
  });
  return plan.run([&](SphericalHarmonicTransform& transform) {
    return with_type(first, [&](auto type) {
      using Complex = const std::complex<decltype(type)>;
      return inner_product<decltype(type)>(plan.comm(), transform.alm_layout(),
                                           first.view<Complex>(), second.view<Complex>());
    });
  });
}

nb::object empty(Numbers numbers, bool is_single, std::int64_t n_components, std::int64_t size) {
  const std::array<std::int64_t, 2> shape{n_components, size};
  return new_array(numbers, is_single, shape);
}

}  // namespace

AnalysisProgress progress_for(const Communicator& comm, nb::handle callback) {
  return [&comm, callback](int pass, int passes, double residual) {
    agree_in_callback(comm, [&] {
      if (callback.is_none()) return;
      callback(pass, passes,
               residual < 0 ? nb::object(nb::none()) : nb::object(nb::float_(residual)));
    });
  };
}

nb::dict dict_of(const AnalysisReport& report) {
  nb::dict result;
  result["iterations"] = report.iterations;
  result["transforms"] = report.transforms;
  result["on_spectra"] = report.on_spectra;
  result["residuals"] = array_of(report.residuals);
  return result;
}

void bind_transforms(nb::module_& module) {
  nb::class_<TransformPlan>(module, "Transform", "Spherical harmonic transform and its adjoint.")
      .def(nb::new_(&make_transform), nb::arg("comm"), nb::arg("grid"), nb::arg("lmax"),
           nb::arg("mmax"), nb::arg("spins"), nb::arg("threads"), nb::arg("is_cuda"),
           nb::arg("sends_single"), nb::arg("mode_bytes"), "Plans it. Collective.")
      .def("close", &TransformPlan::close, "Frees it. Collective.")
      .def_prop_ro("is_open", &TransformPlan::is_open, "Tells whether close() was not called.")
      .def_prop_ro(
          "comm", [](const TransformPlan& plan) { return plan.comm(); }, "Its communicator.")
      .def(
          "rings", [](const TransformPlan& plan) { return plan.get().rings(); },
          "Returns the rings of this rank.")
      .def(
          "alm_layout", [](const TransformPlan& plan) { return plan.get().alm_layout(); },
          "Returns the orders of this rank.")
      .def("synthesis", &synthesis, nb::arg("alm").none(), nb::arg("out").none(), "Collective.")
      .def("adjoint", &adjoint, nb::arg("map").none(), nb::arg("weights").none(),
           nb::arg("out").none(), nb::arg("accumulate"), nb::arg("scratch"), "Collective.")
      .def("analysis", &analysis, nb::arg("map").none(), nb::arg("iterations"),
           nb::arg("tolerance"), nb::arg("most_iterations"), nb::arg("weights").none(),
           nb::arg("pixel_weights").none(), nb::arg("out").none(), nb::arg("callback").none(),
           "Collective.")
      .def("inner", &inner, nb::arg("a").none(), nb::arg("b").none(), "Collective.")
      .def(
          "times", [](TransformPlan& plan) { return times_of(plan); },
          "Returns seconds and calls of the stages.")
      .def(
          "release_workspace",
          [](TransformPlan& plan) {
            plan.get();
            plan.run([](SphericalHarmonicTransform& transform) { transform.release_workspace(); });
          },
          "Frees the workspace until the next call.");
  module.def("numpy_view", &numpy_view, nb::arg("array").none(),
             "Returns an array of numpy in the memory of another one.");
  module.def(
      "empty_map",
      [](bool is_single, std::int64_t n_components, std::int64_t size) {
        return empty(Numbers::real, is_single, n_components, size);
      },
      nb::arg("is_single"), nb::arg("n_components"), nb::arg("size"),
      "Returns an array that is not initialised, aligned to 64 bytes.");
  module.def(
      "empty_alm",
      [](bool is_single, std::int64_t n_components, std::int64_t size) {
        return empty(Numbers::complex_, is_single, n_components, size);
      },
      nb::arg("is_single"), nb::arg("n_components"), nb::arg("size"),
      "Returns an array that is not initialised, aligned to 64 bytes.");
}

}  // namespace ringweave::python
