# SPDX-License-Identifier: GPL-3.0-or-later
# Libraries that the component io links, as imported targets. Used by the build and by the installed package.
find_package(PkgConfig REQUIRED)
find_package(ZLIB REQUIRED)
set(HDF5_PREFER_PARALLEL ON)
find_package(HDF5 REQUIRED COMPONENTS C HL)
if(NOT HDF5_IS_PARALLEL)
  message(FATAL_ERROR "The HDF5 found (${HDF5_C_LIBRARIES}) is not built for MPI, and Ringweave's files are parallel. "
    "Set HDF5_ROOT to one that is, or HDF5_C_COMPILER_EXECUTABLE to its h5pcc.")
endif()
pkg_check_modules(CFITSIO REQUIRED IMPORTED_TARGET cfitsio)
pkg_check_modules(HEALPIX REQUIRED IMPORTED_TARGET healpix_cxx)
