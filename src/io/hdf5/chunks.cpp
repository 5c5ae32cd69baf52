// SPDX-License-Identifier: GPL-3.0-or-later
#include "io/hdf5/chunks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/checked_cast.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline io {
namespace {

/// The chunks of a dataset.
struct Chunks {
  std::vector<std::int64_t> dims;   ///< of the dataset
  std::vector<std::int64_t> sizes;  ///< of a chunk in each dimension
  std::int64_t all = 0;
  std::int64_t written = 0;
  bool has_value = false;  ///< that its writer defined for the numbers of the others

  bool are_missing() const { return written < all && !has_value; }
};

std::vector<std::int64_t> extents(int rank, const std::array<hsize_t, H5S_MAX_RANK>& from) {
  std::vector<std::int64_t> to;
  for (int d = 0; d < rank; ++d)
    to.push_back(checked_cast<std::int64_t>(from[to_size(d)], "extent of a dataset"));
  return to;
}

/// Describes a dataset in chunks; without any where it is contiguous.
Chunks chunks_of(const Hdf5Handle& dataset) {
  Chunks chunks;
  const Hdf5Handle creation(H5Dget_create_plist(dataset.id()), H5Pclose);
  if (H5Pget_layout(creation.id()) != H5D_CHUNKED) return chunks;
  const Hdf5Handle space(H5Dget_space(dataset.id()), H5Sclose);
  std::array<hsize_t, H5S_MAX_RANK> dims{}, sizes{};
  const int rank = H5Sget_simple_extent_dims(space.id(), dims.data(), nullptr);
  hsize_t written = 0;
  H5D_fill_value_t value = H5D_FILL_VALUE_ERROR;
  if (rank < 1 || H5Pget_chunk(creation.id(), rank, sizes.data()) != rank ||
      H5Dget_num_chunks(dataset.id(), space.id(), &written) < 0 ||
      H5Pfill_value_defined(creation.id(), &value) < 0)
    return chunks;
  chunks.dims = extents(rank, dims);
  chunks.sizes = extents(rank, sizes);
  chunks.all = 1;
  for (std::size_t d = 0; d < chunks.dims.size(); ++d)
    chunks.all *= (chunks.dims[d] + chunks.sizes[d] - 1) / chunks.sizes[d];
  chunks.written = checked_cast<std::int64_t>(written, "chunks");
  chunks.has_value = value == H5D_FILL_VALUE_USER_DEFINED;
  return chunks;
}

[[noreturn]] void refuse(const Chunks& chunks, const std::string& path, const std::string& name) {
  throw DataError(path, fmt::format("/{} is not finished: {} of its {} chunks were never written; "
                                    "let its program end, or run it again",
                                    name, chunks.all - chunks.written, chunks.all));
}

}  // namespace

void require_written_chunks(const Hdf5Handle& dataset, const std::string& path,
                            const std::string& name) {
  const Chunks chunks = chunks_of(dataset);
  if (chunks.are_missing()) refuse(chunks, path, name);
}

bool UnwrittenColumns::contains(std::int64_t column) const {
  return std::binary_search(numbers.begin(), numbers.end(), column / width);
}

UnwrittenColumns find_unwritten_columns(const Hdf5Handle& dataset, const std::string& path,
                                        const std::string& name) {
  const Chunks chunks = chunks_of(dataset);
  UnwrittenColumns unwritten;
  if (!chunks.are_missing()) return unwritten;
  if (chunks.dims.size() != 2 || chunks.sizes[0] < chunks.dims[0] ||
      chunks.dims[1] % chunks.sizes[1] != 0 || chunks.written == 0)
    refuse(chunks, path, name);
  unwritten.width = chunks.sizes[1];
  for (std::int64_t number = 0; number < chunks.all; ++number) {
    const hsize_t place[2] = {0, static_cast<hsize_t>(number * unwritten.width)};
    unsigned filters = 0;
    haddr_t address = HADDR_UNDEF;
    hsize_t bytes = 0;
    if (H5Dget_chunk_info_by_coord(dataset.id(), place, &filters, &address, &bytes) < 0)
      throw DataError(path, fmt::format("the chunks of /{} are broken; copy the file again", name));
    if (address == HADDR_UNDEF) unwritten.numbers.push_back(number);
  }
  return unwritten;
}

}  // namespace ringweave::detail::inline io
