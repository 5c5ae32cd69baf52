# SPDX-License-Identifier: GPL-3.0-or-later
# Libraries that the component io links beside those of core. Used as CoreDependencies.cmake is, and after it.
set(ringweave_io_libraries ZLIB HDF5 CFITSIO HEALPIX)
find_package(ZLIB ${ringweave_find})
set(HDF5_PREFER_PARALLEL ON)
find_package(HDF5 ${ringweave_find} COMPONENTS C HL)
pkg_check_modules(CFITSIO ${ringweave_find} IMPORTED_TARGET cfitsio)
pkg_check_modules(HEALPIX ${ringweave_find} IMPORTED_TARGET healpix_cxx)
set(ringweave_io_problem "")  # what else is wrong
if(HDF5_FOUND AND NOT HDF5_IS_PARALLEL)
  string(CONCAT ringweave_io_problem
    "The HDF5 found (${HDF5_C_LIBRARIES}) is not built for MPI, and Ringweave's files are parallel. "
    "Set HDF5_ROOT to one that is, or HDF5_C_COMPILER_EXECUTABLE to its h5pcc.")
endif()
