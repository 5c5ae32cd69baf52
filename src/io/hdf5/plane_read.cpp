// SPDX-License-Identifier: GPL-3.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <span>
#include <variant>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/hdf5/attributes.hpp"
#include "io/hdf5/plane.hpp"
#include "io/hdf5/read_apart.hpp"
#include "io/header_json.hpp"
#include "ringweave/error.hpp"

namespace ringweave {

std::int64_t PlaneHeader::n_fields() const {
  std::int64_t n = 1;
  for (const PlaneFileAxis& axis : axes) n = detail::checked_product(n, axis.size, "fields");
  return n;
}

namespace detail::inline io {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Hdf5PlaneInfo, header, origin, warnings)

namespace {

/// Storage of the numbers of a data set in its file.
struct PlaneStorage {
  Hdf5Shape shape;
  std::vector<double> missing;  ///< numbers that stand for no value
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PlaneStorage, shape, missing)

/// A row of a field with numbers that are no values.
struct BadRow {
  std::int64_t row = 0;  ///< rows of all fields are numbered one after another
  std::int64_t x = 0;    ///< of the first of them
  std::string value;     ///< of the first, in words
  std::int64_t count = 0;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BadRow, row, x, value, count)

PlaneStorage inspect_storage(const std::string& path, const PlaneHeader& header) {
  const Hdf5Handle file = open_hdf5(path);
  PlaneStorage storage{inspect_hdf5_dataset(file, path, header.name, H5S_MAX_RANK), {}};
  if (storage.shape.dims != plane_dims(header)) {
    throw DataError(path, fmt::format("/{} has another shape than when it was opened; does another "
                                      "program write it?",
                                      header.name));
  }
  const Hdf5Handle dataset(H5Dopen2(file.id(), header.name.c_str(), H5P_DEFAULT), H5Dclose);
  storage.missing = Hdf5AttributeReader(dataset, path).missing_values();
  std::erase_if(storage.missing, [](double value) { return !std::isfinite(value); });
  return storage;
}

template <class T>
std::vector<BadRow> bad_rows(const PlaneHeader& header, const PlaneFilePart& part,
                             const std::vector<double>& missing, MapView<const T> values) {
  const std::int64_t n_x = header.x.size;
  std::vector<BadRow> rows;
  for (std::int64_t c = 0; c < ssize64(part.fields); ++c) {
    for (std::int64_t y = part.row_begin; y < part.row_end; ++y) {
      const T* row = values.component(c).data() + (y - part.row_begin) * n_x;
      BadRow bad{part.fields[to_size(c)] * header.y.size + y, 0, "", 0};
      for (std::int64_t x = 0; x < n_x; ++x) {
        const auto value = static_cast<double>(row[x]);
        const bool is_missing = std::find(missing.begin(), missing.end(), value) != missing.end();
        if (std::isfinite(value) && !is_missing) continue;
        if (bad.count++ > 0) continue;
        bad.x = x;
        bad.value = is_missing ? fmt::format("missing ({})", value) : fmt::format("{}", value);
      }
      if (bad.count > 0) rows.push_back(bad);
    }
  }
  return rows;
}

/// Throws a DataError on every rank where a number is no value. Ranks may have the same rows.
/// Collective.
void require_values(const Communicator& comm, const std::string& path, const PlaneHeader& header,
                    const std::vector<BadRow>& own) {
  if (comm.max(ssize64(own)) == 0) return;
  const auto texts = comm.gather(agreed(comm, [&] { return json_text(nlohmann::json(own)); }));
  agree(comm, [&] {
    if (!comm.is_root()) return;
    std::map<std::int64_t, BadRow> rows;
    for (const std::string& text : texts) {
      for (const BadRow& bad : nlohmann::json::parse(text).get<std::vector<BadRow>>())
        rows[bad.row] = bad;
    }
    const std::int64_t count =
        std::accumulate(rows.begin(), rows.end(), std::int64_t{0},
                        [](std::int64_t sum, const auto& row) { return sum + row.second.count; });
    const BadRow& first = rows.begin()->second;
    throw DataError(
        path,
        fmt::format("/{} is {} at {}{} {}, {} {} (from 0), and is not finite or missing "
                    "at {} places of the fields read with it; expected a number everywhere",
                    header.name, first.value, words_of_field(header, first.row / header.y.size),
                    header.y.name, first.row % header.y.size, header.x.name, first.x, count));
  });
}

}  // namespace

const PlaneFileAxis& plane_axis_at(const PlaneHeader& header, std::int64_t place) {
  const std::int64_t n_before = ssize64(header.axes);
  return place < n_before ? header.axes[to_size(place)] : place == n_before ? header.y : header.x;
}

std::vector<std::int64_t> plane_dims(const PlaneHeader& header) {
  std::vector<std::int64_t> dims;
  for (std::int64_t i = 0; i < ssize64(header.axes) + 2; ++i)
    dims.push_back(plane_axis_at(header, i).size);
  return dims;
}

std::string words_of_field(const PlaneHeader& header, std::int64_t field) {
  std::string words;
  for (auto axis = header.axes.rbegin(); axis != header.axes.rend(); ++axis) {
    words = fmt::format("{} {}, ", axis->name, field % axis->size) + words;
    field /= axis->size;
  }
  return words;
}

std::vector<PlaneCall> plane_calls(const Communicator& comm, const std::string& path,
                                   const PlaneHeader& header, const PlaneFilePart& part,
                                   std::int64_t n_components, std::int64_t size,
                                   const Hdf5Limits& limits) {
  std::vector<PlaneCall> calls = agreed(comm, [&] {
    const std::int64_t n_rows = part.row_end - part.row_begin;
    const std::int64_t n_fields = header.n_fields();
    if (part.row_begin < 0 || n_rows < 0 || part.row_end > header.y.size ||
        std::any_of(part.fields.begin(), part.fields.end(),
                    [&](std::int64_t field) { return field < 0 || field >= n_fields; })) {
      throw UsageError(
          fmt::format("{}: rows {} to {} of some fields are not all in /{}, which has "
                      "{} fields of {} rows",
                      path, part.row_begin, part.row_end, header.name, n_fields, header.y.size));
    }
    if (n_components != ssize64(part.fields) || size != n_rows * header.x.size) {
      throw UsageError(fmt::format("{}: {} components of {} numbers are not {} fields of {} x {}",
                                   path, n_components, size, part.fields.size(), n_rows,
                                   header.x.size));
    }
    const std::int64_t most = std::max<std::int64_t>(1, limits.numbers_per_call / header.x.size);
    std::vector<PlaneCall> own;
    for (std::int64_t c = 0; c < n_components; ++c) {
      for (std::int64_t y = part.row_begin; y < part.row_end; y += most)
        own.push_back({c, y, std::min(most, part.row_end - y)});
    }
    return own;
  });
  const std::int64_t n_calls = comm.max(ssize64(calls));
  agree(comm, [&] { calls.resize(to_size(n_calls)); });
  return calls;
}

template <class T>
void read_hdf5_plane(const Communicator& comm, const std::string& path, const PlaneHeader& header,
                     const PlaneFilePart& part, MapView<T> values, const Hdf5Limits& limits) {
  const std::vector<PlaneCall> calls =
      plane_calls(comm, path, header, part, values.n_components(), values.size(), limits);
  const PlaneStorage storage = share_from_root(
      comm, [&] { return read_apart(path, [&] { return inspect_storage(path, header); }); });
  const std::int64_t n_x = header.x.size;
  {
    Hdf5TransferFile file(comm, path, Hdf5Access::read);
    const Hdf5Rows rows(file, header.name, storage.shape, Hdf5Axes::planes);
    for (const PlaneCall& call : calls) {
      const RowRun run{call.first_row * n_x, call.n_rows * n_x};
      const bool is_empty = run.count == 0;
      agree(comm, [&] {
        rows.read(is_empty ? 0 : part.fields[to_size(call.component)],
                  std::span(&run, is_empty ? 0 : 1),
                  is_empty ? std::span<T>()
                           : std::span<T>(values.component(call.component).data() +
                                              (call.first_row - part.row_begin) * n_x,
                                          to_size(run.count)));
      });
    }
    file.close();
  }
  require_values(comm, path, header,
                 agreed(comm, [&] { return bad_rows<T>(header, part, storage.missing, values); }));
}

template void read_hdf5_plane(const Communicator&, const std::string&, const PlaneHeader&,
                              const PlaneFilePart&, MapView<double>, const Hdf5Limits&);
template void read_hdf5_plane(const Communicator&, const std::string&, const PlaneHeader&,
                              const PlaneFilePart&, MapView<float>, const Hdf5Limits&);

}  // namespace detail::inline io

PlaneFileReader::PlaneFileReader(const Communicator& comm, const std::string& path,
                                 const std::string& field)
    : comm_(comm), path_(path) {
  detail::Hdf5PlaneInfo info = detail::share_from_root(comm, [&] {
    return detail::read_apart(path, [&] { return detail::find_hdf5_plane(path, field); });
  });
  header_ = std::move(info.header);
  origin_ = std::move(info.origin);
  warnings_ = std::move(info.warnings);
}

void PlaneFileReader::read(const PlaneFilePart& part, AnyMapView<> values) const {
  std::visit([&](auto view) { detail::read_hdf5_plane(comm_, path_, header_, part, view); },
             values);
}

}  // namespace ringweave
