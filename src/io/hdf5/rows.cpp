// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/hdf5/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "io/byte_digest.hpp"
#include "io/hdf5/read_driver.hpp"
#include "io/output_part.hpp"
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

Hdf5TransferFile::Hdf5TransferFile(const Communicator& comm, const std::string& path,
                                   Hdf5Access access)
    : comm_(comm), path_(path), access_(access) {
  if (access == Hdf5Access::write) return;
  agree(comm, [&] {
    if (!comm.is_root()) check_input_of_other_rank(path);
    stamp_.emplace(path);
    raw_ = RawFile::open_to_read(path);
  });
}

const Hdf5Handle& Hdf5TransferFile::library_file() {
  if (!library_file_.valid()) library_file_ = open_hdf5(path_);
  return library_file_;
}

void Hdf5TransferFile::write(std::int64_t offset, std::span<const std::byte> bytes) {
  raw_.write(offset, bytes);
  ByteDigest digest;
  digest.add(bytes);
  written_.push_back({offset, static_cast<std::int64_t>(bytes.size()), digest.value()});
}

void Hdf5TransferFile::require_written() const {
  const RawFile stored = open_again(path_);
  for (const Written& part : written_) {
    ByteDigest digest;
    read_again(stored, part.offset, part.offset + part.count,
               [&](std::span<const std::byte> bytes) { digest.add(bytes); });
    if (digest.value() != part.digest)
      refuse_as_lost(path_, fmt::format(" at byte {}", part.offset));
  }
}

void Hdf5TransferFile::close(const std::function<void()>& last_write) {
  if (stamp_) return agree(comm_, [&] { stamp_->require_same(); });
  agree(comm_, [&] {
    if (last_write) last_write();
    raw_.close();
  });
  // A rank may have damaged what another had written.
  agree(comm_, [&] { require_written(); });
}

void Hdf5TransferFile::require_inspected(const Hdf5Shape& shape) const {
  if (!stamp_) return;
  if (comm_.is_root()) {
    stamp_->require_state(shape.file_bytes, shape.modified);
  } else {
    require_size_of_root(path_, stamp_->size(), shape.file_bytes);
  }
}

Hdf5Rows::Hdf5Rows(Hdf5TransferFile& file, const std::string& name, const Hdf5Shape& shape,
                   Hdf5Axes axes)
    : file_(file),
      name_(name),
      shape_(shape),
      axes_(axes),
      parts_(shape.number == Hdf5Shape::Number::complex ? 2 : 1) {
  if (file.access_ == Hdf5Access::write) {
    agree(file.comm_, [&] { open_to_write(); });
    file.comm_.broadcast(&shape_.offset, sizeof shape_.offset, 0);
    return;
  }
  agree(file.comm_, [&] {
    file.require_inspected(shape_);
    number_ = Hdf5Handle(H5Tdecode(shape_.type.data()), H5Tclose);
    const bool is_chunked = shape_.layout == Hdf5Shape::Layout::chunked;
    if (is_chunked) report_failed_reads(file.path_, [&] { open_chunks(); });
    if (!number_.valid() || (is_chunked && !type_.valid()))
      throw DataError(file.path_, fmt::format("/{} cannot be opened", name));
  });
}

void Hdf5Rows::open_to_write() {
  if (!file_.raw_.is_open()) file_.raw_ = RawFile::open_to_write(file_.path_);
  number_ = Hdf5Handle(H5Tcopy(written_hdf5_number(shape_)), H5Tclose);
  if (!number_.valid()) throw ResourceError(file_.path_ + ": no memory for its type of numbers");
  if (!file_.comm_.is_root()) return;
  Hdf5Shape stored;
  report_failed_reads(file_.path_, [&] {
    stored = inspect_hdf5_dataset(open_hdf5(file_.path_), file_.path_, name_,
                                  static_cast<int>(shape_.dims.size()));
  });
  const Hdf5Handle type(H5Tdecode(stored.type.data()), H5Tclose);
  if (stored.dims != shape_.dims || stored.number != shape_.number ||
      stored.layout != Hdf5Shape::Layout::contiguous || H5Tequal(type.id(), number_.id()) <= 0)
    throw InternalError(fmt::format("{}: /{} is not what was created", file_.path_, name_));
  shape_.offset = stored.offset;
}

void Hdf5Rows::open_chunks() {
  dataset_ = Hdf5Handle(H5Dopen2(file_.library_file().id(), name_.c_str(), H5P_DEFAULT), H5Dclose);
  if (dataset_.valid()) type_ = Hdf5Handle(H5Dget_type(dataset_.id()), H5Tclose);
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

template <class T>
std::unique_ptr<std::byte[]> Hdf5Rows::staging(std::int64_t numbers) const {
  if (H5Tequal(number_.id(), native_type<T>()) > 0) return nullptr;
  const std::size_t wide = std::max(to_size(shape_.bytes), sizeof(T));
  return std::make_unique_for_overwrite<std::byte[]>(to_size(numbers) * wide + 1);
}

std::int64_t Hdf5Rows::place(std::int64_t row, std::int64_t position) const {
  const std::size_t axes_of_row = axes_ == Hdf5Axes::planes ? 2 : 1;
  std::int64_t row_size = 1;
  for (std::size_t d = shape_.dims.size() - axes_of_row; d < shape_.dims.size(); ++d)
    row_size *= shape_.dims[d];
  return shape_.offset + (row * row_size + position) * shape_.bytes * parts_;
}

void Hdf5Rows::read_bytes(std::int64_t row, std::span<const RowRun> runs,
                          std::span<std::byte> bytes) const {
  for (const RowRun& run : runs) {
    const std::size_t count = to_size(run.count * shape_.bytes * parts_);
    file_.raw_.read(place(row, run.first), bytes.first(count));
    bytes = bytes.subspan(count);
  }
}

void Hdf5Rows::read_chunks(std::int64_t row, std::span<const RowRun> runs, void* numbers) const {
  const std::int64_t elements = total(runs);
  if (elements == 0) return;
  const hsize_t extent = static_cast<hsize_t>(elements);
  const Hdf5Handle to(H5Screate_simple(1, &extent, nullptr), H5Sclose);
  const Hdf5Handle from = file_space(row, runs);
  report_failed_reads(file_.path_, [&] {
    if (H5Dread(dataset_.id(), type_.id(), to.id(), from.id(), H5P_DEFAULT, numbers) >= 0) return;
    throw DataError(
        file_.path_,
        fmt::format("/{} row {} cannot be read: the file is broken; copy it again", name_, row));
  });
}

void Hdf5Rows::convert(hid_t from, hid_t to, std::int64_t numbers, void* values) const {
  if (H5Tconvert(from, to, to_size(numbers), values, nullptr, H5P_DEFAULT) >= 0) return;
  throw DataError(file_.path_, fmt::format("the numbers of /{} cannot be converted", name_));
}

template <class T>
void Hdf5Rows::read(std::int64_t row, std::span<const RowRun> runs, std::span<T> values) const {
  const std::int64_t numbers = total(runs) * parts_;
  const auto staged = staging<T>(numbers);
  std::byte* const stored = staged ? staged.get() : reinterpret_cast<std::byte*>(values.data());
  if (shape_.layout == Hdf5Shape::Layout::chunked) {
    read_chunks(row, runs, stored);
  } else {
    read_bytes(row, runs, {stored, to_size(numbers * shape_.bytes)});
  }
  if (!staged || numbers == 0) return;
  convert(number_.id(), native_type<T>(), numbers, stored);
  std::memcpy(values.data(), stored, to_size(numbers) * sizeof(T));
}

template <class T>
void Hdf5Rows::write(std::int64_t row, std::span<const RowRun> runs,
                     std::span<const T> values) const {
  const std::int64_t numbers = total(runs) * parts_;
  const auto staged = staging<T>(numbers);
  if (staged && numbers > 0) {
    std::memcpy(staged.get(), values.data(), to_size(numbers) * sizeof(T));
    convert(native_type<T>(), number_.id(), numbers, staged.get());
  }
  const std::byte* stored =
      staged ? staged.get() : reinterpret_cast<const std::byte*>(values.data());
  for (const RowRun& run : runs) {
    const std::size_t count = to_size(run.count * shape_.bytes * parts_);
    if (count > 0) file_.write(place(row, run.first), {stored, count});
    stored += count;
  }
}

std::vector<double> Hdf5Rows::read_together(std::span<const int> rows, RowRun run) const {
  const std::int64_t stride = ssize64(rows) * parts_;
  std::vector<double> values;
  std::vector<double> one;
  agree(file_.comm_, [&] {
    values.resize(to_size(run.count * stride));
    one.resize(to_size(run.count * parts_));
  });
  for (std::int64_t r = 0; r < ssize64(rows); ++r) {
    agree(file_.comm_, [&] { read(rows[to_size(r)], std::span(&run, 1), std::span(one)); });
    for (std::int64_t i = 0; i < run.count; ++i)
      std::copy_n(one.begin() + i * parts_, parts_, values.begin() + i * stride + r * parts_);
  }
  return values;
}

void Hdf5Rows::write_together(std::int64_t n_rows, RowRun run,
                              std::span<const double> values) const {
  const std::int64_t stride = n_rows * parts_;
  std::vector<double> one;
  agree(file_.comm_, [&] { one.resize(to_size(run.count * parts_)); });
  for (std::int64_t r = 0; r < n_rows; ++r) {
    for (std::int64_t i = 0; i < run.count; ++i)
      std::copy_n(values.begin() + i * stride + r * parts_, parts_, one.begin() + i * parts_);
    agree(file_.comm_, [&] { write(r, std::span(&run, 1), std::span<const double>(one)); });
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
