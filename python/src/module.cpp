// SPDX-License-Identifier: GPL-3.0-or-later
#include <nanobind/nanobind.h>

#include "bindings.hpp"
#include "errors.hpp"

#include <ringweave/version.hpp>

NB_MODULE(_core, module) {
  namespace python = ringweave::python;
  module.doc() = "Ringweave's C++ library. Use the package ringweave, which is made of it.";
  module.attr("version") = RINGWEAVE_VERSION;
  python::translate_errors();
  python::bind_communicators(module);
  python::bind_grids(module);
  python::bind_transforms(module);
  python::bind_spectra(module);
  python::bind_convolutions(module);
  python::bind_smoothing(module);
  python::bind_files(module);
  python::bind_points(module);
  python::bind_lensing(module);
  python::bind_gyroaverages(module);
}
