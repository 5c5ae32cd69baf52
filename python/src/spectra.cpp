// SPDX-License-Identifier: GPL-3.0-or-later
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <utility>

#include "bindings.hpp"
#include "transform_plan.hpp"

#include <ringweave/rotation.hpp>

namespace ringweave::python {
namespace {

constexpr const char* as_called = "precision and number of a_lm of a call";
constexpr const char* the_layout = "the layout";

/// Borrows a_lm of a layout, of any number of components, without an axis of a batch.
Rows borrow_alm(nb::handle alm, const char* name, const AlmLayout& layout, Access access) {
  const Rows rows = borrow_rows(alm, name, Numbers::complex_, access);
  if (rows.n_axes == 3)
    throw UsageError(std::string(name) + ": has an axis of a batch; expected none");
  require_shape(rows, name, rows.n_components, layout.size(), the_layout);
  return rows;
}

std::int64_t digest(const Rows& rows) { return rows.n_components * 2 + (rows.is_single ? 1 : 0); }

void multiply_in_place(nb::handle alm, const AlmLayout& layout, const Doubles& factors) {
  const Rows rows = borrow_alm(alm, "alm", layout, Access::write);
  Beam beam;
  beam.t = vector_of(factors);
  const FieldSet fields = FieldSet::batch(0, static_cast<int>(rows.n_components));
  const nb::gil_scoped_release released;
  if (rows.is_single) {
    multiply(beam, layout, fields, rows.view<std::complex<float>>());
  } else {
    multiply(beam, layout, fields, rows.view<std::complex<double>>());
  }
}

void draw(const nb::dict& values, std::uint64_t seed, const AlmLayout& layout, nb::handle alm) {
  const Rows rows = borrow_alm(alm, "out", layout, Access::write);
  const Spectra spectra = spectra_of(values);
  const nb::gil_scoped_release released;
  if (rows.is_single) {
    draw_alm(spectra, seed, layout, rows.view<std::complex<float>>());
  } else {
    draw_alm(spectra, seed, layout, rows.view<std::complex<double>>());
  }
}

nb::dict spectra_of_alm(const Communicator& comm, const AlmLayout& layout, nb::handle first,
                        nb::handle second) {
  Rows a;
  Rows b;
  agree(comm, as_called, [&] {
    a = borrow_alm(first, "a", layout, Access::read);
    if (second.is_none()) return digest(a);
    b = borrow_alm(second, "b", layout, Access::read);
    if (a.is_single != b.is_single) throw ArrayError("b: has another precision than a");
    if (a.n_components != b.n_components)
      throw UsageError("b: has another number of components than a");
    return digest(a);
  });
  Spectra result(0);
  {
    const nb::gil_scoped_release released;
    result = with_type(a, [&](auto type) {
      using T = decltype(type);
      using Complex = const std::complex<T>;
      return second.is_none()
                 ? power_spectra<T>(comm, layout, a.view<Complex>())
                 : cross_spectra<T>(comm, layout, a.view<Complex>(), b.view<Complex>());
    });
  }
  return dict_of(result);
}

void rotate_in_place(const Communicator& comm, const AlmLayout& layout, nb::handle alm, double psi,
                     double theta, double phi) {
  Rows rows;
  agree(comm, as_called, [&] {
    rows = borrow_alm(alm, "alm", layout, Access::write);
    return digest(rows);
  });
  const nb::gil_scoped_release released;
  with_type(rows, [&](auto type) {
    using T = decltype(type);
    rotate<T>(comm, layout, rows.view<std::complex<T>>(), EulerAngles{psi, theta, phi});
  });
}

CoordinateSystem system_of(const std::string& letter) {
  if (letter == "G") return CoordinateSystem::galactic;
  if (letter == "C") return CoordinateSystem::celestial;
  if (letter == "E") return CoordinateSystem::ecliptic;
  throw UsageError("'" + letter + "' is no coordinate system; expected G, C or E");
}

nb::tuple tuple_of(const EulerAngles& angles) {
  return nb::make_tuple(angles.psi, angles.theta, angles.phi);
}

}  // namespace

Spectra spectra_of(const nb::dict& values) {
  std::size_t size = 0;
  for (const auto& [name, array] : values) size = std::max(size, nb::cast<Doubles>(array).size());
  if (size == 0) throw UsageError("spectra: none is given");
  Spectra spectra(static_cast<int>(size) - 1);
  for (const auto& [key, array] : values) {
    const auto name = nb::cast<std::string>(key);
    const auto found = std::find(Spectra::names.begin(), Spectra::names.end(), name);
    if (found == Spectra::names.end())
      throw UsageError("spectra: '" + name + "' is none; expected TT, EE, ...");
    const auto given = nb::cast<Doubles>(array);
    const std::span<double> kept =
        spectra.values(static_cast<Spectra::Name>(found - Spectra::names.begin()));
    std::copy(given.data(), given.data() + given.size(), kept.begin());
  }
  return spectra;
}

nb::dict dict_of(const Spectra& spectra) {
  nb::dict result;
  for (int name = 0; name < Spectra::n_names; ++name) {
    const std::span<const double> values = spectra.values(static_cast<Spectra::Name>(name));
    if (values.empty()) continue;
    const std::string text(Spectra::names[static_cast<std::size_t>(name)]);
    result[text.c_str()] = array_of(std::vector<double>(values.begin(), values.end()));
  }
  return result;
}

void bind_spectra(nb::module_& module) {
  module.def("multiply", &multiply_in_place, nb::arg("alm").none(), nb::arg("layout"),
             nb::arg("factors"), "Multiplies a_lm by factors of l, in place.");
  module.def("draw_alm", &draw, nb::arg("spectra"), nb::arg("seed"), nb::arg("layout"),
             nb::arg("out").none(), "Draws Gaussian a_lm.");
  module.def("alm2cl", &spectra_of_alm, nb::arg("comm"), nb::arg("layout"), nb::arg("a").none(),
             nb::arg("b").none(), "Returns the spectra of a_lm. Collective.");
  module.def("rotate", &rotate_in_place, nb::arg("comm"), nb::arg("layout"), nb::arg("alm").none(),
             nb::arg("psi"), nb::arg("theta"), nb::arg("phi"),
             "Rotates a_lm in place. Collective.");
  module.def(
      "euler_between",
      [](const std::string& from, const std::string& to) {
        return tuple_of(EulerAngles::between(system_of(from), system_of(to)));
      },
      nb::arg("from"), nb::arg("to"), "Returns (psi, theta, phi) between coordinate systems.");
  module.def(
      "euler_of_matrix",
      [](const RotationMatrix& matrix) { return tuple_of(EulerAngles::of(matrix)); },
      nb::arg("matrix"), "Returns (psi, theta, phi) of a matrix.");
  module.def(
      "gauss_beam",
      [](double fwhm, int lmax, int spin) {
        Beam beam = gaussian_beam(fwhm, lmax, spin == 0 ? 2 : spin);
        return array_of(std::move(spin == 0 ? beam.t : beam.e));
      },
      nb::arg("fwhm"), nb::arg("lmax"), nb::arg("spin"), "Returns b_l of a Gaussian beam.");
}

}  // namespace ringweave::python
