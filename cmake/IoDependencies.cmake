# SPDX-License-Identifier: GPL-3.0-or-later
# Libraries that the component io links, as imported targets. Used by the build and by the installed package.
find_package(PkgConfig REQUIRED)
find_package(ZLIB REQUIRED)
pkg_check_modules(HDF5 REQUIRED IMPORTED_TARGET hdf5-openmpi)
pkg_check_modules(CFITSIO REQUIRED IMPORTED_TARGET cfitsio)
pkg_check_modules(HEALPIX REQUIRED IMPORTED_TARGET healpix_cxx)
