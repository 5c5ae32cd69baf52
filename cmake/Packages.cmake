# SPDX-License-Identifier: GPL-3.0-or-later
# `cpack` makes a .deb for the Debian or Ubuntu that it runs on.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME ringweave)
set(CPACK_PACKAGE_VENDOR "The Ringweave developers")
set(CPACK_PACKAGE_CONTACT "${CPACK_PACKAGE_VENDOR}" CACHE STRING "Maintainer of the packages: name <address>")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
# With DESTDIR instead of a prefix below the build folder, installed files know their final place.
set(CPACK_SET_DESTDIR ON)
set(CPACK_INSTALL_PREFIX /usr)

set(CPACK_PACKAGE_DESCRIPTION "Ringweave computes with fields on the sphere: it synthesizes, analyses,
smooths, converts, compares and draws sky maps on HEALPix and other
iso-latitude grids, on one processor or on many nodes under MPI.
.
This package has the program, and the library with its headers.")
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Not seen by shlibdeps: MPI's launcher, which a single rank starts too, and a font for pictures.
set(mpi_package ${RINGWEAVE_MPI})
if(RINGWEAVE_MPI STREQUAL "openmpi")
  set(mpi_package openmpi-bin)
endif()
set(CPACK_DEBIAN_PACKAGE_DEPENDS "${mpi_package}, fonts-dejavu-core")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "bash-completion, python3")
# Packages that find_package(Ringweave) looks for.
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "cmake, pkg-config, lib${RINGWEAVE_MPI}-dev, libfftw3-dev, libhdf5-${RINGWEAVE_MPI}-dev, libcfitsio-dev, libhealpix-cxx-dev, libhwy-dev, libfmt-dev, zlib1g-dev")
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/DebianFiles.cmake)
include(CPack)
