// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/hdf5/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/row_redistribution.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

template <class T>
hid_t native_type() {
  if constexpr (std::is_same_v<T, float>) {
    return H5T_NATIVE_FLOAT;
  } else if constexpr (std::is_same_v<T, double>) {
    return H5T_NATIVE_DOUBLE;
  } else {
    static_assert(std::is_same_v<T, std::int64_t>);
    return H5T_NATIVE_INT64;
  }
}

std::int64_t total(std::span<const RowRun> runs) {
  std::int64_t count = 0;
  for (const RowRun& run : runs) count += run.count;
  return count;
}

}  // namespace

Hdf5Mode hdf5_read_mode(const Hdf5Shape& shape) {
  return shape.layout == Hdf5Shape::Layout::contiguous ? Hdf5Mode::collective : Hdf5Mode::alone;
}

Hdf5Mode hdf5_write_mode(const Communicator& comm, DiskSpace on_root) {
  comm.broadcast(&on_root, sizeof on_root, 0);
  return on_root == DiskSpace::reserved ? Hdf5Mode::collective : Hdf5Mode::independent;
}

Hdf5TransferFile::Hdf5TransferFile(const Communicator& comm, const std::string& path,
                                   Hdf5Access access, Hdf5Mode mode)
    : comm_(comm), path_(path), mode_(mode) {
  if (mode == Hdf5Mode::alone) {
    agree(comm, [&] { file_ = open_hdf5(path); });
  } else {
    file_ = open_hdf5_together(comm, path, access);
  }
}

void Hdf5TransferFile::close() {
  const bool closed = file_.close();
  agree(comm_, [&] {
    if (!closed) {
      throw ResourceError(
          fmt::format("{}: closing it failed; is the disk full or a quota reached?", path_));
    }
  });
}

Hdf5Rows::Hdf5Rows(const Hdf5TransferFile& file, const std::string& name, const Hdf5Shape& shape,
                   Hdf5Axes axes)
    : comm_(file.comm_),
      path_(file.path_),
      name_(name),
      shape_(shape),
      axes_(axes),
      dataset_(H5Dopen2(file.file_.id(), name.c_str(), H5P_DEFAULT), H5Dclose),
      transfer_(H5Pcreate(H5P_DATASET_XFER), H5Pclose),
      parts_(shape.number == Hdf5Shape::Number::complex ? 2 : 1) {
  if (comm_.size() > 1 && file.mode_ == Hdf5Mode::collective) {
    H5Pset_dxpl_mpio(transfer_.id(), H5FD_MPIO_COLLECTIVE);
  }
  if (dataset_.valid()) {
    type_ = Hdf5Handle(H5Dget_type(dataset_.id()), H5Tclose);
    number_ =
        Hdf5Handle(parts_ == 2 ? H5Tget_member_type(type_.id(), 0) : H5Tcopy(type_.id()), H5Tclose);
  }
  agree(file.comm_, [&] {
    if (!number_.valid()) throw DataError(path_, fmt::format("/{} cannot be opened", name));
  });
}

void Hdf5Rows::select_lines(const Hdf5Handle& space, std::int64_t plane, const RowRun& run) const {
  const std::size_t last = shape_.dims.size() - 1;
  const std::int64_t line = shape_.dims[last];
  std::vector<hsize_t> start(last + 1, 0);
  std::vector<hsize_t> count(last + 1, 1);
  start[last - 1] = static_cast<hsize_t>(run.first / line);
  count[last - 1] = static_cast<hsize_t>(run.count / line);
  count[last] = static_cast<hsize_t>(line);
  for (std::size_t d = last - 1; d-- > 0;) {
    start[d] = static_cast<hsize_t>(plane % shape_.dims[d]);
    plane /= shape_.dims[d];
  }
  H5Sselect_hyperslab(space.id(), H5S_SELECT_OR, start.data(), nullptr, count.data(), nullptr);
}

Hdf5Handle Hdf5Rows::file_space(std::int64_t row, std::span<const RowRun> runs) const {
  Hdf5Handle space(H5Dget_space(dataset_.id()), H5Sclose);
  H5Sselect_none(space.id());
  for (const RowRun& run : runs) {
    if (run.count == 0) continue;
    if (axes_ == Hdf5Axes::planes) {
      select_lines(space, row, run);
      continue;
    }
    const hsize_t start[2] = {static_cast<hsize_t>(row), static_cast<hsize_t>(run.first)};
    const hsize_t count[2] = {1, static_cast<hsize_t>(run.count)};
    const std::size_t skip = shape_.dims.size() == 1 ? 1 : 0;
    H5Sselect_hyperslab(space.id(), H5S_SELECT_OR, start + skip, nullptr, count + skip, nullptr);
  }
  return space;
}

Hdf5Handle Hdf5Rows::memory_space(std::int64_t elements) const {
  const hsize_t extent = static_cast<hsize_t>(std::max<std::int64_t>(elements, 1));
  Hdf5Handle space(H5Screate_simple(1, &extent, nullptr), H5Sclose);
  if (elements == 0) H5Sselect_none(space.id());
  return space;
}

template <class T>
std::unique_ptr<char[]> Hdf5Rows::staging(std::int64_t numbers) const {
  if (H5Tequal(number_.id(), native_type<T>()) > 0) return nullptr;
  const std::size_t wide = std::max(to_size(shape_.bytes), sizeof(T));
  return abort_on_error(
      comm_, [&] { return std::make_unique_for_overwrite<char[]>(to_size(numbers) * wide + 1); });
}

template <class T>
void Hdf5Rows::read(std::int64_t row, std::span<const RowRun> runs, std::span<T> values) const {
  // The transfer itself converts nothing, because a conversion would make HDF5 give up collective
  // I/O.
  const std::int64_t numbers = total(runs) * parts_;
  const auto staged = staging<T>(numbers);
  void* const stored = staged ? static_cast<void*>(staged.get()) : values.data();
  const Hdf5Handle from = file_space(row, runs);
  const Hdf5Handle to = memory_space(numbers / parts_);
  if (H5Dread(dataset_.id(), type_.id(), to.id(), from.id(), transfer_.id(), stored) < 0 ||
      (staged && H5Tconvert(number_.id(), native_type<T>(), to_size(numbers), stored, nullptr,
                            H5P_DEFAULT) < 0)) {
    throw DataError(
        path_,
        fmt::format("/{} row {} cannot be read: the file is broken; copy it again", name_, row));
  }
  if (staged && numbers > 0) std::memcpy(values.data(), stored, to_size(numbers) * sizeof(T));
}

template <class T>
void Hdf5Rows::write(std::int64_t row, std::span<const RowRun> runs,
                     std::span<const T> values) const {
  const std::int64_t numbers = total(runs) * parts_;
  const auto staged = staging<T>(numbers);
  if (staged && numbers > 0) std::memcpy(staged.get(), values.data(), to_size(numbers) * sizeof(T));
  const void* const stored = staged ? static_cast<void*>(staged.get()) : values.data();
  const Hdf5Handle to = file_space(row, runs);
  const Hdf5Handle from = memory_space(numbers / parts_);
  if ((staged && H5Tconvert(native_type<T>(), number_.id(), to_size(numbers), staged.get(), nullptr,
                            H5P_DEFAULT) < 0) ||
      H5Dwrite(dataset_.id(), type_.id(), from.id(), to.id(), transfer_.id(), stored) < 0) {
    throw ResourceError(
        fmt::format("{}: /{} row {} cannot be written; is the disk full or a quota reached?", path_,
                    name_, row));
  }
}

std::vector<double> Hdf5Rows::read_together(std::span<const int> rows, RowRun run) const {
  const std::int64_t stride = ssize64(rows) * parts_;
  std::vector<double> values;
  std::vector<double> one;
  agree(comm_, [&] {
    values.resize(to_size(run.count * stride));
    one.resize(to_size(run.count * parts_));
  });
  for (std::int64_t r = 0; r < ssize64(rows); ++r) {
    run_collectively(comm_, [&] { read(rows[to_size(r)], std::span(&run, 1), std::span(one)); });
    for (std::int64_t i = 0; i < run.count; ++i)
      std::copy_n(one.begin() + i * parts_, parts_, values.begin() + i * stride + r * parts_);
  }
  return values;
}

void Hdf5Rows::write_together(std::int64_t n_rows, RowRun run,
                              std::span<const double> values) const {
  const std::int64_t stride = n_rows * parts_;
  std::vector<double> one;
  agree(comm_, [&] { one.resize(to_size(run.count * parts_)); });
  for (std::int64_t r = 0; r < n_rows; ++r) {
    for (std::int64_t i = 0; i < run.count; ++i)
      std::copy_n(values.begin() + i * stride + r * parts_, parts_, one.begin() + i * parts_);
    run_collectively(comm_, [&] { write(r, std::span(&run, 1), std::span<const double>(one)); });
  }
}

template void Hdf5Rows::read(std::int64_t, std::span<const RowRun>, std::span<double>) const;
template void Hdf5Rows::read(std::int64_t, std::span<const RowRun>, std::span<float>) const;
template void Hdf5Rows::read(std::int64_t, std::span<const RowRun>, std::span<std::int64_t>) const;
template void Hdf5Rows::write(std::int64_t, std::span<const RowRun>, std::span<const double>) const;
template void Hdf5Rows::write(std::int64_t, std::span<const RowRun>, std::span<const float>) const;
template void Hdf5Rows::write(std::int64_t, std::span<const RowRun>,
                              std::span<const std::int64_t>) const;

std::vector<SlabCall> slab_calls(const Communicator& comm, std::span<const PixelRun> owned,
                                 const Hdf5Limits& limits) {
  std::vector<SlabCall> calls;
  for (const PixelRun& run : owned) {
    for (std::int64_t done = 0; done < run.count;) {
      if (calls.empty() || calls.back().count == limits.numbers_per_call ||
          ssize64(calls.back().runs) == limits.runs_per_call) {
        calls.push_back({{}, run.local + done, 0});
      }
      SlabCall& call = calls.back();
      const std::int64_t count = std::min(run.count - done, limits.numbers_per_call - call.count);
      call.runs.push_back({run.first + done, count});
      call.count += count;
      done += count;
    }
  }
  calls.resize(to_size(comm.max(ssize64(calls))));
  return calls;
}

}  // namespace ringweave::detail::inline io
