// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <variant>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/atomic_output.hpp"
#include "io/file_kind.hpp"
#include "io/file_origin.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/dimensions.hpp"
#include "io/hdf5/map_header.hpp"
#include "io/hdf5/plane.hpp"
#include "io/plane_output.hpp"
#include "ringweave/error.hpp"

namespace ringweave {
namespace detail::inline io {
namespace {

Hdf5Shape shape_of(const PlaneHeader& header) {
  return {plane_dims(header), Hdf5Shape::Number::real,
          header.precision == Precision::single_ ? 4 : 8, Hdf5Shape::Layout::contiguous};
}

void require_file(const std::string& path) {
  const FileKind kind = file_kind(path);
  if (kind == FileKind::hdf5 || kind == FileKind::netcdf) return;
  throw UsageError(path + ": fields in the plane are written as HDF5 (.h5) or NetCDF-4 (.nc)");
}

/// Throws a UsageError for an axis without a name, numbers or one coordinate for each index.
void check_axis(const std::string& path, const PlaneFileAxis& axis) {
  if (axis.name.empty() || axis.name == "." || axis.name.find('/') != std::string::npos)
    throw UsageError(fmt::format("{}: '{}' is no name of an axis", path, axis.name));
  if (axis.size < 1) {
    throw UsageError(
        fmt::format("{}: axis {} has the size {}; expected 1 or more", path, axis.name, axis.size));
  }
  if (!axis.coordinates.empty() && ssize64(axis.coordinates) != axis.size) {
    throw UsageError(fmt::format("{}: axis {} has {} coordinates; expected {} or none", path,
                                 axis.name, axis.coordinates.size(), axis.size));
  }
}

void check_attribute(const std::string& path, const Keyword& attribute) {
  if (!attribute.name.empty() && !describes_its_file(attribute.name)) return;
  throw UsageError(fmt::format("{}: '{}' is no attribute to add: the file has its own of this name",
                               path, attribute.name));
}

void check_header(const std::string& path, const PlaneHeader& header) {
  require_file(path);
  const std::string& name = header.name;
  if (name.empty() || name.front() == '/' || name.back() == '/' ||
      name.find("//") != std::string::npos)
    throw UsageError(fmt::format("{}: '{}' is no name of a data set", path, name));
  std::vector<std::string> taken{name.substr(0, name.find('/'))};
  for (std::int64_t i = 0; i < ssize64(header.axes) + 2; ++i) {
    const PlaneFileAxis& axis = plane_axis_at(header, i);
    check_axis(path, axis);
    for (const Keyword& attribute : axis.attributes)
      if (attribute.name != "standard_name") check_attribute(path, attribute);
    if (std::find(taken.begin(), taken.end(), axis.name) != taken.end()) {
      throw UsageError(
          fmt::format("{}: {} is the name of two things; expected different names for "
                      "/{} and its axes",
                      path, axis.name, name));
    }
    taken.push_back(axis.name);
  }
  for (const Keyword& attribute : header.attributes) check_attribute(path, attribute);
}

Hdf5Handle write_axis(const Hdf5Handle& file, const std::string& path, const PlaneFileAxis& axis) {
  const char* name = axis.name.c_str();
  if (axis.coordinates.empty()) return create_hdf5_dimension(file, path, name, axis.size);
  Hdf5Handle scale =
      write_small_dataset(file, path, name, H5T_IEEE_F64LE, {axis.size}, axis.coordinates.data());
  make_hdf5_scale(scale, path, name);
  const Hdf5AttributeWriter attributes(scale, path);
  if (!axis.unit.empty()) attributes.text("units", axis.unit);
  if (!axis.long_name.empty()) attributes.text("long_name", axis.long_name);
  for (const Keyword& attribute : axis.attributes) attributes.keyword(attribute);
  return scale;
}

/// Creates the dataset in its groups.
Hdf5Handle create_field(const Hdf5Handle& file, const std::string& path,
                        const PlaneHeader& header) {
  std::vector<Hdf5Handle> groups;
  std::size_t begin = 0;
  for (std::size_t end; (end = header.name.find('/', begin)) != std::string::npos; begin = end + 1)
    groups.push_back(create_hdf5_group(groups.empty() ? file : groups.back(), path,
                                       header.name.substr(begin, end - begin).c_str()));
  return create_hdf5_dataset(groups.empty() ? file : groups.back(), path,
                             header.name.substr(begin).c_str(), shape_of(header));
}

/// Adds the attributes of the data set to a file with its numbers. Not collective. Error
/// ResourceError.
void write_plane_attributes(const std::string& path, const std::string& name,
                            const Provenance& provenance) {
  Hdf5Handle file = reopen_hdf5(path);
  Hdf5Handle dataset(H5Dopen2(file.id(), name.c_str(), H5P_DEFAULT), H5Dclose);
  if (!dataset.valid())
    throw ResourceError(fmt::format("{}: /{} cannot be opened again", path, name));
  write_hdf5_processing(dataset, path, provenance);
  dataset.close();
  close_hdf5(std::move(file), path);
}

}  // namespace

void create_hdf5_plane(const std::string& path, const PlaneHeader& header,
                       const Provenance& provenance) {
  Hdf5Handle file = create_hdf5(path);
  write_hdf5_root(file, path, provenance, plane_schema);
  std::vector<Hdf5Handle> scales;
  for (std::int64_t i = 0; i < ssize64(header.axes) + 2; ++i)
    scales.push_back(write_axis(file, path, plane_axis_at(header, i)));
  Hdf5Handle field = create_field(file, path, header);
  std::vector<const Hdf5Handle*> attached;
  for (const Hdf5Handle& scale : scales) attached.push_back(&scale);
  attach_hdf5_scales(field, path, attached);
  const Hdf5AttributeWriter attributes(field, path);
  if (!header.unit.empty()) attributes.text("units", header.unit);
  if (!header.long_name.empty()) attributes.text("long_name", header.long_name);
  field.close();
  scales.clear();
  close_hdf5(std::move(file), path);
}

template <class T>
void write_hdf5_plane(const Communicator& comm, const std::string& path, const PlaneHeader& header,
                      const PlaneFilePart& part, MapView<const T> values,
                      const Hdf5Limits& limits) {
  const std::vector<PlaneCall> calls =
      plane_calls(comm, path, header, part, values.n_components(), values.size(), limits);
  const std::int64_t n_x = header.x.size;
  Hdf5TransferFile file(comm, path, Hdf5Access::write);
  {
    const Hdf5Rows rows(file, header.name, shape_of(header), Hdf5Axes::planes);
    for (const PlaneCall& call : calls) {
      const RowRun run{call.first_row * n_x, call.n_rows * n_x};
      const bool is_empty = run.count == 0;
      agree(comm, [&] {
        rows.write(is_empty ? 0 : part.fields[to_size(call.component)],
                   std::span(&run, is_empty ? 0 : 1),
                   is_empty ? std::span<const T>()
                            : std::span<const T>(values.component(call.component).data() +
                                                     (call.first_row - part.row_begin) * n_x,
                                                 to_size(run.count)));
      });
    }
  }
  file.close();
}

template void write_hdf5_plane(const Communicator&, const std::string&, const PlaneHeader&,
                               const PlaneFilePart&, MapView<const double>, const Hdf5Limits&);
template void write_hdf5_plane(const Communicator&, const std::string&, const PlaneHeader&,
                               const PlaneFilePart&, MapView<const float>, const Hdf5Limits&);

PlaneOutput::PlaneOutput(const AtomicOutput& output, const PlaneHeader& header,
                         const Provenance& provenance)
    : output_(output), header_(header), provenance_(provenance) {
  const Communicator& comm = output.comm();
  agree(comm, [&] { check_header(output.path(), header); });
  for (const Keyword& attribute : header.attributes)
    provenance_.origin.keywords.push_back(attribute);
  const auto create = [&] {
    if (comm.is_root()) create_hdf5_plane(output.temporary_path(), header, provenance);
  };
  output.write([&] { agree(comm, create); });
}

void PlaneOutput::write(const PlaneFilePart& part, AnyConstMapView<> values) {
  const auto write = [&](auto view) {
    write_hdf5_plane(output_.comm(), output_.temporary_path(), header_, part, view);
  };
  output_.write([&] { std::visit(write, values); });
}

void PlaneOutput::add(const Keyword& attribute) {
  agree(output_.comm(), [&] { check_attribute(output_.path(), attribute); });
  provenance_.origin.keywords.push_back(attribute);
}

void PlaneOutput::finish() {
  const auto finish = [&] {
    if (output_.comm().is_root())
      write_plane_attributes(output_.temporary_path(), header_.name, provenance_);
  };
  output_.write([&] { agree(output_.comm(), finish); });
}

}  // namespace detail::inline io

struct PlaneFileWriter::Impl {
  Impl(const Communicator& comm, const std::string& path, IfExists if_exists,
       const PlaneHeader& header, const Provenance& provenance)
      : output(comm, path, if_exists), planes(output, header, provenance) {}

  detail::AtomicOutput output;
  detail::PlaneOutput planes;
};

PlaneFileWriter::PlaneFileWriter(const Communicator& comm, const std::string& path,
                                 IfExists if_exists, const PlaneHeader& header,
                                 const Provenance& provenance)
    : impl_(std::make_unique<Impl>(comm, path, if_exists, header, provenance)) {}

PlaneFileWriter::~PlaneFileWriter() = default;

void PlaneFileWriter::write(const PlaneFilePart& part, AnyConstMapView<> values) {
  impl_->planes.write(part, values);
}

void PlaneFileWriter::add(const Keyword& attribute) { impl_->planes.add(attribute); }

void PlaneFileWriter::commit() {
  impl_->planes.finish();
  impl_->output.commit();
}

}  // namespace ringweave
