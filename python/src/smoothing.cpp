// SPDX-License-Identifier: GPL-3.0-or-later
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>

#include "bindings.hpp"
#include "convolution_plans.hpp"
#include "transform_plan.hpp"

#include <ringweave/smoothing.hpp>

namespace ringweave::python {
namespace {

constexpr const char* as_called = "precision of the maps";
constexpr const char* the_transform = "the transform";

UnseenPolicy policy_of(const std::string& name) {
  if (name == "restore") return UnseenPolicy::restore;
  if (name == "zero") return UnseenPolicy::zero;
  if (name == "normalize") return UnseenPolicy::normalize;
  if (name == "fail") return UnseenPolicy::fail;
  throw UsageError("unseen: '" + name + "'; expected restore, zero, normalize or fail");
}

/// Fills what all methods treat alike.
void set_treatment(MaskOptions& options, const std::string& unseen, nb::handle mask) {
  options.unseen = policy_of(unseen);
  if (!mask.is_none())
    options.mask = std::make_shared<const std::vector<double>>(vector_of(nb::cast<Doubles>(mask)));
}

nb::dict dict_of(const SmoothingReport& report) {
  nb::list unseen;
  for (const TreatmentReport& map : report.maps) {
    for (const std::int64_t pixels : map.unseen_pixels) unseen.append(pixels);
  }
  nb::dict result;
  result["unseen_pixels"] = unseen;
  result["analysis"] = python::dict_of(report.analysis);
  result["convolutions"] = report.convolutions;
  return result;
}

/// Options of smoothing in harmonic space, as Python gives them.
struct HarmonicOptions {
  SmoothingOptions options;

  HarmonicOptions(const SphericalHarmonicTransform& transform, const Doubles& t, const Doubles& e,
                  const Doubles& b, nb::handle ring, nb::handle pixel, int iterations,
                  double tolerance, const std::string& unseen, nb::handle mask) {
    options.beam = {vector_of(t), vector_of(e), vector_of(b)};
    auto weights = std::make_shared<AnalysisWeights>();
    weights->ring =
        ring.is_none() ? ring_weights(transform.rings()) : vector_of(nb::cast<Doubles>(ring));
    if (!pixel.is_none()) weights->pixel = vector_of(nb::cast<Doubles>(pixel));
    options.weights = std::move(weights);
    options.n_iter = iterations;
    options.tolerance = tolerance;
    set_treatment(options, unseen, mask);
  }
};

nb::dict smooth_in_place(TransformPlan& plan, nb::handle map, const Doubles& t, const Doubles& e,
                         const Doubles& b, nb::handle ring, nb::handle pixel, int iterations,
                         double tolerance, const std::string& unseen, nb::handle mask,
                         nb::handle callback) {
  Rows rows;
  std::unique_ptr<HarmonicOptions> how;
  agree(plan.comm(), as_called, [&] {
    const auto& transform = plan.get();
    rows = borrow_rows(map, "map", Numbers::real, Access::write);
    require_shape(rows, "map", transform.fields().n_components(), transform.rings().n_pixels(),
                  the_transform);
    how = std::make_unique<HarmonicOptions>(transform, t, e, b, ring, pixel, iterations, tolerance,
                                            unseen, mask);
    return rows.digest();
  });
  const AnalysisProgress progress = progress_for(plan.comm(), callback);
  SmoothingReport report;
  plan.run([&](SphericalHarmonicTransform& transform) {
    with_type(rows, [&](auto type) {
      using T = decltype(type);
      for (std::int64_t i = 0; i < rows.n_batch; ++i)
        report = smooth_harmonic<T>(transform, how->options, rows.view<T>(i), progress);
    });
  });
  return dict_of(report);
}

nb::object smooth_onto(TransformPlan& from, TransformPlan& onto, nb::handle map, const Doubles& t,
                       const Doubles& e, const Doubles& b, nb::handle ring, nb::handle pixel,
                       int iterations, double tolerance, const std::string& unseen, nb::handle mask,
                       nb::handle callback) {
  Rows rows;
  std::unique_ptr<HarmonicOptions> how;
  agree(from.comm(), as_called, [&] {
    const auto& transform = from.get();
    onto.get();
    rows = borrow_rows(map, "map", Numbers::real, Access::read);
    require_shape(rows, "map", transform.fields().n_components(), transform.rings().n_pixels(),
                  the_transform);
    if (rows.n_axes == 3)
      throw UsageError("map: has an axis of a batch, which grid_out does not take");
    how = std::make_unique<HarmonicOptions>(transform, t, e, b, ring, pixel, iterations, tolerance,
                                            unseen, mask);
    return rows.digest();
  });
  const AnalysisProgress progress = progress_for(from.comm(), callback);
  return with_type(rows, [&](auto type) {
    using T = decltype(type);
    MapBuffer<T> buffer;
    from.run([&](SphericalHarmonicTransform& transform) {
      onto.run_without_gil([&](SphericalHarmonicTransform& other) {
        buffer = MapBuffer<T>(rows.n_components, rows.size);
        for (std::int64_t c = 0; c < rows.n_components; ++c) {
          const View<T> row = rows.view<T>().component(c);
          std::copy(row.data(), row.data() + row.size(), buffer.view().component(c).data());
        }
        smooth_harmonic_onto<T>(transform, other, how->options, buffer, progress);
      });
    });
    return array_of(std::move(buffer));
  });
}

/// Smooths on rings; the contents of `map` are lost.
template <class Convolution>
nb::dict smooth_rings(Plan<Convolution>& plan, std::int64_t n_maps, nb::handle map, nb::handle out,
                      const std::string& unseen, nb::handle mask) {
  Rows in;
  Rows result;
  MaskOptions treatment;
  agree(plan.comm(), as_called, [&] {
    const LocalRings& rings = plan.get().rings();
    in = borrow_rows(map, "map", Numbers::real, Access::write);
    require_shape(in, "map", n_maps, rings.n_pixels(), "the convolution");
    output_for(in, "map", Numbers::real, out, Numbers::real, n_maps, rings.n_pixels(),
               "the convolution", result);
    set_treatment(treatment, unseen, mask);
    return in.digest();
  });
  SmoothingReport report;
  plan.run([&](Convolution& convolution) {
    with_type(in, [&](auto type) {
      using T = decltype(type);
      for (std::int64_t i = 0; i < in.n_batch; ++i) {
        report = smooth_on_rings<T>(plan.comm(), convolution, treatment, in.view<T>(i),
                                    result.view<T>(i));
      }
    });
  });
  return dict_of(report);
}

}  // namespace

void bind_smoothing(nb::module_& module) {
  module.def("smooth", &smooth_in_place, nb::arg("transform"), nb::arg("map").none(), nb::arg("t"),
             nb::arg("e"), nb::arg("b"), nb::arg("ring_weights").none(),
             nb::arg("pixel_weights").none(), nb::arg("iterations"), nb::arg("tolerance"),
             nb::arg("unseen"), nb::arg("mask").none(), nb::arg("callback").none(),
             "Smooths a map in harmonic space, in place. Collective.");
  module.def("smooth_onto", &smooth_onto, nb::arg("transform"), nb::arg("onto"),
             nb::arg("map").none(), nb::arg("t"), nb::arg("e"), nb::arg("b"),
             nb::arg("ring_weights").none(), nb::arg("pixel_weights").none(), nb::arg("iterations"),
             nb::arg("tolerance"), nb::arg("unseen"), nb::arg("mask").none(),
             nb::arg("callback").none(), "Returns a smoothed map on another grid. Collective.");
  module.def("smooth_on_rings", &smooth_rings<RingConvolution>, nb::arg("convolution"),
             nb::arg("n_maps"), nb::arg("map").none(), nb::arg("out").none(), nb::arg("unseen"),
             nb::arg("mask").none(), "Smooths maps, whose contents are lost. Collective.");
  module.def("smooth_split", &smooth_rings<SplitConvolution>, nb::arg("convolution"),
             nb::arg("n_maps"), nb::arg("map").none(), nb::arg("out").none(), nb::arg("unseen"),
             nb::arg("mask").none(), "Smooths maps, whose contents are lost. Collective.");
}

}  // namespace ringweave::python
