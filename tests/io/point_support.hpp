// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "io/hdf5/file.hpp"
#include "io_support.hpp"

namespace ringweave::detail::test {

enum class Storage { contiguous, chunked };

/// Writes one dataset of doubles as `type`, as a program other than ours would.
inline void put_dataset(const Hdf5Handle& parent, const char* name, hid_t type,
                        const std::vector<hsize_t>& dims, const std::vector<double>& values,
                        Storage storage = Storage::contiguous) {
  const std::vector<hsize_t> most(dims.size(), H5S_UNLIMITED);
  const bool is_chunked = storage == Storage::chunked;
  const Hdf5Handle space(H5Screate_simple(static_cast<int>(dims.size()), dims.data(),
                                          is_chunked ? most.data() : nullptr),
                         H5Sclose);
  const Hdf5Handle creation(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
  const std::vector<hsize_t> chunk(dims.size(), 3);
  if (is_chunked) H5Pset_chunk(creation.id(), static_cast<int>(dims.size()), chunk.data());
  const Hdf5Handle dataset(
      H5Dcreate2(parent.id(), name, type, space.id(), H5P_DEFAULT, creation.id(), H5P_DEFAULT),
      H5Dclose);
  ASSERT_TRUE(dataset.valid());
  if (!values.empty())
    H5Dwrite(dataset.id(), H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
}

/// Lets rank 0 write an HDF5 file. Collective.
inline void make_hdf5(const Communicator& comm, const std::string& path,
                      const std::function<void(const Hdf5Handle& file)>& fill) {
  on_root(comm, [&] {
    const Hdf5Handle file(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT),
                          H5Fclose);
    fill(file);
  });
}

inline std::int64_t part_of(std::int64_t n, std::int64_t part, const Communicator& comm) {
  return n * part / comm.size();
}

}  // namespace ringweave::detail::test
