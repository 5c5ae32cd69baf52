# SPDX-License-Identifier: GPL-3.0-or-later
# Libraries that the component core links, as imported targets. Used by the build, with REQUIRED in ringweave_find, and
# by the installed package, which looks at ringweave_core_libraries.
set(ringweave_core_libraries PkgConfig MPI OpenMP fmt hwy FFTW)
find_package(PkgConfig ${ringweave_find})
find_package(MPI ${ringweave_find} COMPONENTS C)
find_package(OpenMP ${ringweave_find} COMPONENTS CXX)
find_package(fmt ${ringweave_find})
find_package(hwy ${ringweave_find})
if(PkgConfig_FOUND)
  pkg_check_modules(FFTW ${ringweave_find} IMPORTED_TARGET fftw3)
endif()
