# SPDX-License-Identifier: GPL-3.0-or-later
# Libraries that the component core links, as imported targets. Used by the build, with REQUIRED in ringweave_find, and
# by the installed package, which looks at ringweave_core_libraries. What is in ringweave_contained is there already.
set(ringweave_core_libraries PkgConfig MPI OpenMP FFTW)
find_package(PkgConfig ${ringweave_find})
find_package(MPI ${ringweave_find} COMPONENTS C)
find_package(OpenMP ${ringweave_find} COMPONENTS CXX)
foreach(library IN ITEMS fmt hwy)
  if(NOT library IN_LIST ringweave_contained)
    list(APPEND ringweave_core_libraries ${library})
    find_package(${library} ${ringweave_find})
  endif()
endforeach()
if(PkgConfig_FOUND)
  pkg_check_modules(FFTW ${ringweave_find} IMPORTED_TARGET fftw3)
endif()
