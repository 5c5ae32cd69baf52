// SPDX-License-Identifier: GPL-3.0-or-later
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "bindings.hpp"
#include "transform_plan.hpp"

#include <ringweave/files.hpp>
#include <ringweave/version.hpp>

namespace ringweave::python {
namespace {

using KeywordTuple = std::pair<std::string, std::variant<bool, std::int64_t, double, std::string>>;

std::string bytes_of(Precision precision) { return precision == Precision::single_ ? "f4" : "f8"; }

nb::dict dict_of(const FileOrigin& origin) {
  nb::dict keywords;
  for (const Keyword& keyword : origin.keywords) keywords[keyword.name.c_str()] = keyword.value;
  nb::dict result;
  result["history"] = origin.history;
  result["keywords"] = keywords;
  result["comments"] = origin.comments;
  return result;
}

nb::dict dict_of(const MapHeader& header) {
  nb::list columns;
  nb::list units;
  for (const MapColumn& column : header.columns) {
    columns.append(column.name);
    units.append(column.unit);
  }
  nb::dict result;
  result["kind"] = "map";
  result["grid"] = header.grid->name();
  result["ordering"] = header.ordering == Ordering::nested ? "NESTED" : "RING";
  result["is_partial"] = header.coverage == SkyCoverage::partial;
  result["dtype"] = bytes_of(header.precision);
  result["columns"] = columns;
  result["units"] = units;
  result["coordsys"] = header.coordsys;
  result["polarisation_was_iau"] = header.polarisation_was_iau;
  result["listed_pixels"] = header.listed_pixels;
  result["warnings"] = header.warnings;
  result["processing"] = dict_of(header.origin);
  return result;
}

nb::dict dict_of(const AlmHeader& header) {
  nb::dict result;
  result["kind"] = "alm";
  result["lmax"] = header.lmax;
  result["mmax"] = header.mmax;
  result["components"] = header.components;
  result["dtype"] = bytes_of(header.precision);
  result["unit"] = header.unit;
  result["coordsys"] = header.coordsys;
  result["warnings"] = header.warnings;
  result["processing"] = dict_of(header.origin);
  return result;
}

template <class Reader>
struct OpenFile {
  Communicator comm;
  std::unique_ptr<Reader> reader;
};
using OpenMap = OpenFile<MapReader>;
using OpenAlm = OpenFile<AlmReader>;

std::unique_ptr<OpenMap> open_map_file(const Communicator& comm, const std::string& path,
                                       const std::string& variable) {
  const nb::gil_scoped_release released;
  return std::make_unique<OpenMap>(OpenMap{comm, open_map(comm, path, variable)});
}

std::unique_ptr<OpenAlm> open_alm_file(const Communicator& comm, const std::string& path) {
  const nb::gil_scoped_release released;
  return std::make_unique<OpenAlm>(OpenAlm{comm, open_alm(comm, path)});
}

constexpr const char* as_called = "precision and number of components";

Rows rows_of_file(const Communicator& comm, nb::handle array, const char* name, Numbers numbers,
                  Access access, std::int64_t size, std::int64_t n_components, const char* whose) {
  Rows rows;
  agree(comm, as_called, [&] {
    rows = borrow_rows(array, name, numbers, access);
    require_shape(rows, name, n_components < 0 ? rows.n_components : n_components, size, whose);
    return rows.n_components * 2 + (rows.is_single ? 1 : 0);
  });
  return rows;
}

void read_map_columns(OpenMap& file, const std::vector<int>& columns, const LocalRings& rings,
                      nb::handle out) {
  const Rows rows =
      rows_of_file(file.comm, out, "out", Numbers::real, Access::write, rings.n_pixels(),
                   static_cast<std::int64_t>(columns.size()), "the layout");
  const nb::gil_scoped_release released;
  with_type(rows, [&](auto type) {
    file.reader->read(columns, rings, AnyMapView<>(rows.view<decltype(type)>()));
  });
}

void read_alm_components(OpenAlm& file, const std::vector<int>& components, const AlmLayout& layout,
                         nb::handle out) {
  const Rows rows =
      rows_of_file(file.comm, out, "out", Numbers::complex_, Access::write, layout.size(),
                   static_cast<std::int64_t>(components.size()), "the layout");
  const nb::gil_scoped_release released;
  with_type(rows, [&](auto type) {
    file.reader->read(components, layout, AnyAlmView<>(rows.view<std::complex<decltype(type)>>()));
  });
}

Provenance provenance_of(const std::string& date, const std::string& command_line,
                         const std::vector<std::string>& history,
                         const std::vector<KeywordTuple>& keywords, const std::string& version) {
  Provenance provenance;
  provenance.version = version;
  provenance.date = date;
  provenance.command_line = command_line;
  provenance.origin.history = history;
  for (const auto& [name, value] : keywords) {
    Keyword keyword{name, {}, {}};
    std::visit([&](const auto& held) { keyword.value = held; }, value);
    provenance.origin.keywords.push_back(std::move(keyword));
  }
  return provenance;
}

IfExists if_exists(bool overwrite) { return overwrite ? IfExists::overwrite : IfExists::fail; }

void write_map_file(const Communicator& comm, const std::string& path, bool overwrite,
                    const GridHandle& grid, const LocalRings& rings, nb::handle map,
                    const std::vector<std::string>& names, const std::vector<std::string>& units,
                    const std::string& coordsys, bool is_nested, bool is_partial, bool is_single,
                    const Provenance& provenance) {
  MapHeader header;
  header.grid = grid.grid;
  header.ordering = is_nested ? Ordering::nested : Ordering::ring;
  header.coverage = is_partial ? SkyCoverage::partial : SkyCoverage::full;
  header.precision = is_single ? Precision::single_ : Precision::double_;
  header.coordsys = coordsys;
  for (std::size_t i = 0; i < names.size(); ++i)
    header.columns.push_back({names[i], i < units.size() ? units[i] : "", 0});
  const Rows rows = rows_of_file(comm, map, "map", Numbers::real, Access::read, rings.n_pixels(),
                                 static_cast<std::int64_t>(names.size()), "the layout");
  const nb::gil_scoped_release released;
  with_type(rows, [&](auto type) {
    write_map(comm, path, if_exists(overwrite), header, provenance, rings,
              AnyConstMapView<>(rows.view<const decltype(type)>()));
  });
}

void write_alm_file(const Communicator& comm, const std::string& path, bool overwrite,
                    const AlmLayout& layout, nb::handle alm,
                    const std::vector<std::string>& components, const std::string& unit,
                    const std::string& coordsys, bool is_single, const Provenance& provenance) {
  AlmHeader header;
  header.lmax = layout.lmax();
  header.mmax = layout.mmax();
  header.components = components;
  header.unit = unit;
  header.coordsys = coordsys;
  header.precision = is_single ? Precision::single_ : Precision::double_;
  const Rows rows = rows_of_file(comm, alm, "alm", Numbers::complex_, Access::read, layout.size(),
                                 static_cast<std::int64_t>(components.size()), "the layout");
  const nb::gil_scoped_release released;
  with_type(rows, [&](auto type) {
    write_alm(comm, path, if_exists(overwrite), header, provenance, layout,
              AnyConstAlmView<>(rows.view<const std::complex<decltype(type)>>()));
  });
}

nb::dict read_cl_file(const Communicator& comm, const std::string& path, const std::string& kind) {
  SpectraFile file;
  {
    const nb::gil_scoped_release released;
    SpectrumKind how = SpectrumKind::stated_or_c_l;
    if (kind == "Cl") how = SpectrumKind::c_l;
    if (kind == "Dl") how = SpectrumKind::d_l;
    file = read_spectra(comm, path, how);
  }
  nb::dict result;
  result["kind"] = "cl";
  result["cl"] = python::dict_of(file.spectra);
  result["held_d_l"] = file.held_d_l;
  result["is_stated"] = file.is_stated;
  result["unit"] = file.unit;
  result["ignored_columns"] = file.ignored_columns;
  result["warnings"] = file.warnings;
  result["processing"] = dict_of(file.origin);
  return result;
}

void write_cl_file(const Communicator& comm, const std::string& path, bool overwrite,
                   const nb::dict& values, const std::string& unit, const Provenance& provenance) {
  const Spectra spectra = spectra_of(values);
  const nb::gil_scoped_release released;
  write_spectra(comm, path, if_exists(overwrite), provenance, spectra, unit);
}

nb::tuple tuple_of(Beam beam) {
  return nb::make_tuple(array_of(std::move(beam.t)), array_of(std::move(beam.e)),
                        array_of(std::move(beam.b)));
}

void bind_tables(nb::module_& module) {
  module.def("read_cl", &read_cl_file, nb::arg("comm"), nb::arg("path"), nb::arg("kind"),
             "Returns the spectra of a file. Collective.");
  module.def("write_cl", &write_cl_file, nb::arg("comm"), nb::arg("path"), nb::arg("overwrite"),
             nb::arg("spectra"), nb::arg("unit"), nb::arg("provenance"),
             "Writes spectra. Collective.");
  module.def(
      "read_beam",
      [](const Communicator& comm, const std::string& path) {
        BeamFile file = read_beam(comm, path);
        return nb::make_tuple(tuple_of(std::move(file.beam)), file.warnings);
      },
      nb::arg("comm"), nb::arg("path"), "Returns (t, e, b) and warnings. Collective.");
  module.def(
      "read_pixel_window",
      [](const Communicator& comm, const std::string& path, std::int64_t nside) {
        return tuple_of(read_pixel_window(comm, path, nside));
      },
      nb::arg("comm"), nb::arg("path"), nb::arg("nside"), "Returns (t, e, b). Collective.");
  module.def(
      "read_ring_weights",
      [](const Communicator& comm, const std::string& path, std::int64_t nside) {
        return array_of(read_ring_weights(comm, path, nside));
      },
      nb::arg("comm"), nb::arg("path"), nb::arg("nside"),
      "Returns w of northern rings. Collective.");
  module.def(
      "read_pixel_weights",
      [](const Communicator& comm, const std::string& path, std::int64_t nside) {
        return array_of(read_pixel_weights(comm, path, nside));
      },
      nb::arg("comm"), nb::arg("path"), nb::arg("nside"), "Returns w - 1, compressed. Collective.");
}

}  // namespace

void bind_files(nb::module_& module) {
  nb::class_<Provenance>(module, "Provenance", "Origin of an output.")
      .def(nb::new_([](const std::string& date, const std::string& command_line,
                       const std::vector<std::string>& history,
                       const std::vector<KeywordTuple>& keywords) {
             return provenance_of(date, command_line, history, keywords, RINGWEAVE_VERSION);
           }),
           nb::arg("date"), nb::arg("command_line"), nb::arg("history"), nb::arg("keywords"),
           "Makes it.");
  nb::class_<OpenMap>(module, "MapFile", "Open file of maps.")
      .def(nb::new_(&open_map_file), nb::arg("comm"), nb::arg("path"), nb::arg("variable"),
           "Opens it. Collective.")
      .def(
          "header", [](const OpenMap& file) { return dict_of(file.reader->header()); },
          "Returns its header.")
      .def(
          "grid", [](const OpenMap& file) { return GridHandle{file.reader->header().grid}; },
          "Returns its full grid.")
      .def("read", &read_map_columns, nb::arg("columns"), nb::arg("rings"), nb::arg("out").none(),
           "Reads columns. Collective.");
  nb::class_<OpenAlm>(module, "AlmFile", "Open file of a_lm.")
      .def(nb::new_(&open_alm_file), nb::arg("comm"), nb::arg("path"), "Opens it. Collective.")
      .def(
          "header", [](const OpenAlm& file) { return dict_of(file.reader->header()); },
          "Returns its header.")
      .def("read", &read_alm_components, nb::arg("components"), nb::arg("layout"),
           nb::arg("out").none(), "Reads components. Collective.");
  module.def("write_map", &write_map_file, nb::arg("comm"), nb::arg("path"), nb::arg("overwrite"),
             nb::arg("grid"), nb::arg("rings"), nb::arg("map").none(), nb::arg("names"),
             nb::arg("units"), nb::arg("coordsys"), nb::arg("is_nested"), nb::arg("is_partial"),
             nb::arg("is_single"), nb::arg("provenance"), "Writes a map. Collective.");
  module.def("write_alm", &write_alm_file, nb::arg("comm"), nb::arg("path"), nb::arg("overwrite"),
             nb::arg("layout"), nb::arg("alm").none(), nb::arg("components"), nb::arg("unit"),
             nb::arg("coordsys"), nb::arg("is_single"), nb::arg("provenance"),
             "Writes a_lm. Collective.");
  bind_tables(module);
}

}  // namespace ringweave::python
