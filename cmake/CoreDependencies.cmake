# SPDX-License-Identifier: GPL-3.0-or-later
# Libraries that the component core links, as imported targets. Used by the build and by the installed package.
find_package(PkgConfig REQUIRED)
find_package(MPI REQUIRED COMPONENTS C)
find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(fmt REQUIRED)
find_package(hwy REQUIRED)
pkg_check_modules(FFTW REQUIRED IMPORTED_TARGET fftw3)
