# SPDX-License-Identifier: GPL-3.0-or-later
# The libraries that the rooms link, as imported targets. Used by the build and by the installed package.
find_package(PkgConfig REQUIRED)
find_package(MPI REQUIRED COMPONENTS C)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(hwy REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(FFTW REQUIRED IMPORTED_TARGET fftw3)
pkg_check_modules(HDF5 REQUIRED IMPORTED_TARGET hdf5-openmpi)
pkg_check_modules(CFITSIO REQUIRED IMPORTED_TARGET cfitsio)
pkg_check_modules(HEALPIX REQUIRED IMPORTED_TARGET healpix_cxx)
