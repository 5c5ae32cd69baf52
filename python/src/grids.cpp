// SPDX-License-Identifier: GPL-3.0-or-later
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "bindings.hpp"

namespace ringweave::python {
namespace {

GridHandle handle_of(RingGrid grid) { return {std::make_shared<const RingGrid>(std::move(grid))}; }

GridHandle grid_of_rings(const std::vector<double>& theta, const std::vector<std::int64_t>& n_phi,
                         const std::vector<double>& phi0, const std::vector<double>& weight) {
  const std::size_t n_rings = theta.size();
  if (n_phi.size() != n_rings || phi0.size() != n_rings || weight.size() != n_rings) {
    throw UsageError("theta, nphi, phi0 and weight have " + std::to_string(n_rings) + ", " +
                     std::to_string(n_phi.size()) + ", " + std::to_string(phi0.size()) + " and " +
                     std::to_string(weight.size()) + " values; expected one for each ring");
  }
  std::vector<RingSpec> rings(n_rings);
  for (std::size_t i = 0; i < n_rings; ++i) rings[i] = {theta[i], phi0[i], n_phi[i], weight[i]};
  return handle_of(RingGrid::from_rings(std::move(rings)));
}

GridHandle subset(const GridHandle& full, const std::vector<std::int64_t>& kept) {
  std::vector<RingId> rings;
  rings.reserve(kept.size());
  for (const std::int64_t ring : kept) rings.push_back(RingId{ring});
  return handle_of(full.grid->subset(rings));
}

/// Makes an array of a number of every ring.
template <class Value>
nb::object of_rings(const GridHandle& handle, const Value& value) {
  std::vector<decltype(value(Ring{}))> values;
  values.reserve(static_cast<std::size_t>(handle.grid->n_rings()));
  for (const Ring& ring : handle.grid->rings()) values.push_back(value(ring));
  return array_of(std::move(values));
}

LocalRings rings_of_bands(const GridHandle& handle,
                          const std::vector<std::pair<std::int64_t, std::int64_t>>& bands) {
  std::vector<RingRange> ranges;
  ranges.reserve(bands.size());
  for (const auto& [begin, end] : bands) ranges.push_back({begin, end});
  return {handle.grid, ranges};
}

std::vector<std::pair<std::int64_t, std::int64_t>> bands_of(const LocalRings& rings) {
  std::vector<std::pair<std::int64_t, std::int64_t>> bands;
  for (const RingBand& band : rings.bands()) bands.emplace_back(band.rings.begin, band.rings.end);
  return bands;
}

nb::object slabs_of(const LocalRings& rings) {
  std::vector<std::int64_t> values;
  for (const PixelSlab& slab : rings.slabs())
    values.insert(values.end(), {slab.first_global, slab.first_local, slab.count});
  return array_of(std::move(values));
}

nb::object weights_of_rings(const LocalRings& rings, const Doubles& northern) {
  return array_of(ring_weights(rings, std::span(northern.data(), northern.size())));
}

nb::object weights_of_pixels(const LocalRings& rings, const Doubles& compressed) {
  return array_of(expand_pixel_weights(rings, std::span(compressed.data(), compressed.size())));
}

void bind_layouts(nb::module_& module) {
  nb::class_<LocalRings>(module, "Rings", "Rings that a rank owns.")
      .def(nb::new_(&rings_of_bands), nb::arg("grid"), nb::arg("bands"),
           "Makes the rings of some bands (first, end), from north to south.")
      .def_prop_ro("n_rings", &LocalRings::n_rings, "Number of rings.")
      .def_prop_ro("n_pixels", &LocalRings::n_pixels, "Number of pixels.")
      .def("bands", &bands_of, "Returns the bands as (first, end).")
      .def("slabs", &slabs_of,
           "Returns (first pixel of the grid, place, count) of each band, flat.")
      .def("ring_weights", &weights_of_rings, nb::arg("northern"),
           "Returns the quadrature weight of a pixel of every ring.")
      .def("pixel_weights", &weights_of_pixels, nb::arg("compressed"),
           "Returns HEALPix's weight of every pixel.");
  nb::class_<AlmLayout>(module, "AlmLayout", "Orders of a_lm that a rank owns.")
      .def(nb::init<int, int, std::vector<int>>(), nb::arg("lmax"), nb::arg("mmax"),
           nb::arg("orders"), "Lays out some orders.")
      .def_prop_ro("lmax", &AlmLayout::lmax, "Highest degree.")
      .def_prop_ro("mmax", &AlmLayout::mmax, "Highest order of all ranks.")
      .def_prop_ro("size", &AlmLayout::size, "Coefficients of one component.")
      .def(
          "orders",
          [](const AlmLayout& layout) {
            return array_of(std::vector<int>(layout.orders().begin(), layout.orders().end()));
          },
          "Returns the orders, ascending.");
}

}  // namespace

void bind_grids(nb::module_& module) {
  nb::class_<GridHandle>(module, "Grid", "Rings of equal latitude.")
      .def_static(
          "healpix", [](std::int64_t nside) { return handle_of(RingGrid::healpix(nside)); },
          nb::arg("nside"), "Makes HEALPix's grid.")
      .def_static(
          "gauss",
          [](std::int64_t n_rings, std::int64_t n_phi) {
            return handle_of(RingGrid::gauss_legendre(n_rings, n_phi));
          },
          nb::arg("n_rings"), nb::arg("n_phi") = 0, "Makes a grid of Gauss-Legendre nodes.")
      .def_static(
          "clenshaw",
          [](std::int64_t n_rings, std::int64_t n_phi) {
            return handle_of(RingGrid::clenshaw_curtis(n_rings, n_phi));
          },
          nb::arg("n_rings"), nb::arg("n_phi") = 0, "Makes an equidistant grid with poles.")
      .def_static(
          "fejer",
          [](std::int64_t n_rings, std::int64_t n_phi) {
            return handle_of(RingGrid::fejer(n_rings, n_phi));
          },
          nb::arg("n_rings"), nb::arg("n_phi") = 0, "Makes an equidistant grid without poles.")
      .def_static(
          "from_name", [](const std::string& name) { return handle_of(RingGrid::from_name(name)); },
          nb::arg("name"), "Makes the grid of a name, such as healpix:64.")
      .def_static("rings", &grid_of_rings, nb::arg("theta"), nb::arg("n_phi"), nb::arg("phi0"),
                  nb::arg("weight"), "Makes a grid of rings given by arrays.")
      .def("subset", &subset, nb::arg("rings"), "Makes the grid with only these rings.")
      .def_prop_ro(
          "kind", [](const GridHandle& self) { return static_cast<int>(self.grid->kind()); },
          "Number of GridKind.")
      .def_prop_ro(
          "nside", [](const GridHandle& self) { return self.grid->nside(); },
          "Parameter of HEALPix, else 0.")
      .def_prop_ro(
          "is_subset", [](const GridHandle& self) { return self.grid->is_subset(); },
          "Tells whether subset() made it.")
      .def_prop_ro(
          "name", [](const GridHandle& self) { return self.grid->name(); }, "Name or description.")
      .def_prop_ro(
          "n_rings", [](const GridHandle& self) { return self.grid->n_rings(); },
          "Number of rings.")
      .def_prop_ro(
          "n_pixels", [](const GridHandle& self) { return self.grid->n_pixels(); },
          "Number of pixels.")
      .def_prop_ro(
          "default_lmax", [](const GridHandle& self) { return self.grid->default_lmax(); },
          "Highest degree of a map by default.")
      .def(
          "theta",
          [](const GridHandle& self) {
            return of_rings(self, [](const Ring& r) { return r.theta; });
          },
          "Returns the colatitudes of the rings.")
      .def(
          "phi0",
          [](const GridHandle& self) {
            return of_rings(self, [](const Ring& r) { return r.phi0; });
          },
          "Returns the longitudes of their first pixels.")
      .def(
          "weight",
          [](const GridHandle& self) {
            return of_rings(self, [](const Ring& r) { return r.weight; });
          },
          "Returns the quadrature weights of their pixels.")
      .def(
          "n_phi",
          [](const GridHandle& self) {
            return of_rings(self, [](const Ring& r) { return r.n_phi; });
          },
          "Returns their numbers of pixels.")
      .def(
          "first_pixel",
          [](const GridHandle& self) {
            return of_rings(self, [](const Ring& r) { return r.first_pixel; });
          },
          "Returns the numbers of their first pixels.")
      .def(
          "source_pixel",
          [](const GridHandle& self) {
            return of_rings(self, [](const Ring& r) { return r.source_pixel; });
          },
          "Returns these numbers in the full grid.");
  bind_layouts(module);
}

}  // namespace ringweave::python
