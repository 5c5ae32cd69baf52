// SPDX-License-Identifier: GPL-3.0-or-later
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "bindings.hpp"
#include "convolution_plans.hpp"
#include "transform_plan.hpp"

#include <ringweave/convolution.hpp>
#include <ringweave/kernel.hpp>

namespace ringweave::python {
namespace {

constexpr const char* as_called = "precision and number of maps of a call";

std::span<const double> span_of(const Doubles& values) { return {values.data(), values.size()}; }

KernelSupport support_of(double angle, double error) {
  if (angle > 0) return KernelSupport::angle(angle);
  if (error > 0) return KernelSupport::automatic(error);
  return KernelSupport::whole();
}

std::unique_ptr<RingPlan> make_ring_convolution(const Communicator& comm, const GridHandle& grid,
                                                const RadialKernel& kernel, std::int64_t n_maps,
                                                double error, bool is_single, int threads) {
  return std::make_unique<RingPlan>("ring convolution", comm, threads, [&] {
    RingConvolutionSpec spec;
    spec.grid = grid.grid;
    spec.kernels = {kernel};
    spec.n_maps = n_maps;
    spec.error = error;
    spec.bytes_per_pixel = is_single ? 4 : 8;
    return std::make_unique<RingConvolution>(comm, spec);
  });
}

std::unique_ptr<SplitConvolutionPlan> make_split_convolution(const Communicator& comm,
                                                             const KernelSplit& split,
                                                             const GridHandle& grid,
                                                             std::int64_t n_maps, bool is_single,
                                                             int threads) {
  return std::make_unique<SplitConvolutionPlan>("split convolution", comm, threads, [&] {
    SplitMaps maps;
    maps.grid = grid.grid;
    maps.n_maps = n_maps;
    maps.bytes_per_pixel = is_single ? 4 : 8;
    return std::make_unique<SplitConvolution>(comm, split, maps);
  });
}

/// Convolves maps. A split convolution destroys `map`, which must be writable.
template <class Convolution>
nb::object convolve(Plan<Convolution>& plan, std::int64_t n_maps, nb::handle map, nb::handle out) {
  constexpr bool is_destroying = std::is_same_v<Convolution, SplitConvolution>;
  Rows in;
  Rows result;
  nb::object returned;
  agree(plan.comm(), as_called, [&] {
    const LocalRings& rings = plan.get().rings();
    in = borrow_rows(map, "map", Numbers::real, is_destroying ? Access::write : Access::read);
    require_shape(in, "map", n_maps, rings.n_pixels(), "the convolution");
    returned = output_for(in, "map", Numbers::real, out, Numbers::real, n_maps, rings.n_pixels(),
                          "the convolution", result);
    return in.digest();
  });
  plan.run([&](Convolution& convolution) {
    with_type(in, [&](auto type) {
      using T = decltype(type);
      using In = std::conditional_t<is_destroying, T, const T>;
      for (std::int64_t i = 0; i < in.n_batch; ++i)
        convolution.template convolve<T>(in.view<In>(i), result.view<T>(i));
    });
  });
  return returned;
}

nb::dict dict_of(const SplitCandidate& candidate) {
  nb::dict result;
  result["theta_cut"] = candidate.theta_cut;
  result["l_cut"] = candidate.l_cut;
  result["is_found"] = candidate.is_found;
  result["error"] = candidate.error;
  result["n_harmonic"] = candidate.n_harmonic;
  result["seconds_harmonic"] = candidate.harmonic.seconds;
  result["seconds_rings"] = candidate.rings.seconds;
  result["seconds"] = candidate.total.seconds;
  return result;
}

KernelSplit make_split(const Doubles& b_l, std::int64_t nside, const Doubles& cl, double error,
                       int ranks, int threads, int spin) {
  KernelSplitSpec spec;
  spec.k_l = vector_of(b_l);
  spec.cl = vector_of(cl);
  spec.nside = nside;
  spec.error = error;
  spec.n_ranks = ranks;
  spec.n_threads = threads;
  spec.spin = spin;
  const nb::gil_scoped_release released;
  return KernelSplit(spec);
}

const char* verdict_of(const KernelSplit& split) {
  switch (split.verdict()) {
    case KernelSplit::Verdict::split: return "split";
    case KernelSplit::Verdict::rings: return "ring";
    default: return "harmonic";
  }
}

void bind_kernels(nb::module_& module) {
  nb::class_<RadialKernel>(module, "RadialKernel", "Radial kernel K(theta) per steradian.")
      .def_static(
          "gauss",
          [](double fwhm, double support, double error, int spin) {
            return RadialKernel::gaussian(fwhm, support_of(support, error), spin);
          },
          nb::arg("fwhm"), nb::arg("support"), nb::arg("error"), nb::arg("spin"),
          nb::call_guard<nb::gil_scoped_release>(), "Makes that of a Gaussian.")
      .def_static(
          "from_bl",
          [](const Doubles& b_l, double support, double error, int spin) {
            return RadialKernel::from_beam(span_of(b_l), support_of(support, error), spin);
          },
          nb::arg("b_l"), nb::arg("support"), nb::arg("error"), nb::arg("spin"),
          nb::call_guard<nb::gil_scoped_release>(), "Makes that of b_l.")
      .def_static(
          "profile",
          [](const Doubles& theta, const Doubles& value, double support, double error) {
            return RadialKernel::from_profile(span_of(theta), span_of(value),
                                              support_of(support, error));
          },
          nb::arg("theta"), nb::arg("value"), nb::arg("support"), nb::arg("error"),
          nb::call_guard<nb::gil_scoped_release>(), "Makes that of a table.")
      .def_prop_ro("support", &RadialKernel::support, "Angle where it is cut, radians.")
      .def_prop_ro("spin", &RadialKernel::spin, "Spin of the fields.")
      .def_prop_ro("bound", &RadialKernel::bound, "Upper bound of its values.")
      .def(
          "bl",
          [](const RadialKernel& kernel, int lmax) { return array_of(kernel.multipoles(lmax)); },
          nb::arg("lmax"), "Returns K_l as cut at the support.")
      .def(
          "at",
          [](const RadialKernel& kernel, const Doubles& theta) {
            std::vector<double> values;
            values.reserve(theta.size());
            for (std::size_t i = 0; i < theta.size(); ++i)
              values.push_back(kernel.at(theta.data()[i]));
            return array_of(std::move(values));
          },
          nb::arg("theta"), "Returns K(theta).");
  nb::class_<KernelSplit>(module, "KernelSplit", "Kernel in a harmonic and a compact part.")
      .def(nb::new_(&make_split), nb::arg("b_l"), nb::arg("nside"), nb::arg("cl"), nb::arg("error"),
           nb::arg("ranks"), nb::arg("threads"), nb::arg("spin"), "Searches.")
      .def_prop_ro("verdict", &verdict_of, "Fastest way: split, ring or harmonic.")
      .def_prop_ro("reason", &KernelSplit::reason, "Explains the verdict.")
      .def_prop_ro("has_parts", &KernelSplit::has_parts, "Tells whether a split keeps the error.")
      .def(
          "best", [](const KernelSplit& split) { return dict_of(split.best()); },
          "Returns the split that was chosen.")
      .def(
          "table",
          [](const KernelSplit& split) {
            nb::list rows;
            for (const SplitCandidate& candidate : split.scan()) rows.append(dict_of(candidate));
            return rows;
          },
          "Returns the candidates of all supports.")
      .def(
          "harmonic", [](const KernelSplit& split) { return array_of(split.harmonic()); },
          "Returns K_l of the harmonic part.")
      .def(
          "compact", [](const KernelSplit& split) { return split.compact(); },
          "Returns the kernel of the compact part.")
      .def(
          "error", [](const KernelSplit& split) { return split.error().total; },
          "Returns the error of the parts.")
      .def(
          "seconds_harmonic",
          [](const KernelSplit& split) { return split.harmonic_only().seconds; },
          "Returns the predicted seconds of the harmonic way.");
}

}  // namespace

void bind_convolutions(nb::module_& module) {
  bind_kernels(module);
  nb::class_<RingPlan>(module, "RingConvolution", "Convolution on rings.")
      .def(nb::new_(&make_ring_convolution), nb::arg("comm"), nb::arg("grid"), nb::arg("kernel"),
           nb::arg("n_maps"), nb::arg("error"), nb::arg("is_single"), nb::arg("threads"),
           "Plans it. Collective.")
      .def("close", &RingPlan::close, "Frees it. Collective.")
      .def(
          "rings", [](const RingPlan& plan) { return plan.get().rings(); },
          "Returns the rings of this rank.")
      .def("apply", &convolve<RingConvolution>, nb::arg("n_maps"), nb::arg("map").none(),
           nb::arg("out").none(), "Convolves maps. Collective.")
      .def(
          "halo_bytes_sent", [](const RingPlan& plan) { return plan.get().halo_bytes_sent(); },
          "Returns the bytes that this rank sent in the last call.")
      .def(
          "times", [](RingPlan& plan) { return times_of(plan); },
          "Returns seconds and calls of the stages.");
  nb::class_<SplitConvolutionPlan>(module, "SplitConvolution", "Convolution with a split kernel.")
      .def(nb::new_(&make_split_convolution), nb::arg("comm"), nb::arg("split"), nb::arg("grid"),
           nb::arg("n_maps"), nb::arg("is_single"), nb::arg("threads"), "Plans it. Collective.")
      .def("close", &SplitConvolutionPlan::close, "Frees it. Collective.")
      .def(
          "rings", [](const SplitConvolutionPlan& plan) { return plan.get().rings(); },
          "Returns the rings of this rank.")
      .def("apply", &convolve<SplitConvolution>, nb::arg("n_maps"), nb::arg("map").none(),
           nb::arg("out").none(), "Convolves maps, whose contents are lost. Collective.");
}

}  // namespace ringweave::python
