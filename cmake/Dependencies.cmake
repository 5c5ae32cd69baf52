# SPDX-License-Identifier: GPL-3.0-or-later
# Every library from outside, found once, as imported targets.
include(CoreDependencies)
include(IoDependencies)
find_package(nlohmann_json REQUIRED)
if(RINGWEAVE_PROGRAM)
  find_package(CLI11 REQUIRED)
  pkg_check_modules(CAIRO IMPORTED_TARGET cairo)
  if(NOT CAIRO_FOUND)
    message(STATUS "cairo: not found; `ringweave plot` will draw no pictures")
  endif()
endif()
