# SPDX-License-Identifier: GPL-3.0-or-later
# Builds the small libraries whose sources stand in the folder RINGWEAVE_LIBRARY_SOURCES, each in a folder of its
# name, and puts fmt and highway into the installed package. All others are found as without it.
# ringweave_contained: the packages that need not be found any more.
set(ringweave_contained "")
if(NOT RINGWEAVE_LIBRARY_SOURCES)
  return()
endif()
cmake_path(ABSOLUTE_PATH RINGWEAVE_LIBRARY_SOURCES BASE_DIRECTORY ${CMAKE_BINARY_DIR})

function(ringweave_library folder package)
  set(source ${RINGWEAVE_LIBRARY_SOURCES}/${folder})
  if(NOT EXISTS ${source}/CMakeLists.txt)
    return()
  endif()
  message(STATUS "${package}: from ${source}")
  set(CMAKE_COMPILE_WARNING_AS_ERROR OFF)
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  set(BUILD_SHARED_LIBS OFF)
  set(BUILD_TESTING OFF)
  set(CMAKE_POLICY_DEFAULT_CMP0077 NEW)  # set() below overrules their options
  foreach(off IN ITEMS HWY_ENABLE_CONTRIB HWY_ENABLE_EXAMPLES HWY_ENABLE_INSTALL HWY_ENABLE_TESTS FMT_INSTALL
          JSON_BuildTests JSON_Install)
    set(${off} OFF)
  endforeach()
  add_subdirectory(${source} ${PROJECT_BINARY_DIR}/libraries/${folder} EXCLUDE_FROM_ALL SYSTEM)
  list(APPEND ringweave_contained ${package})
  set(ringweave_contained ${ringweave_contained} PARENT_SCOPE)
endfunction()
ringweave_library(fmt fmt)
ringweave_library(highway hwy)
ringweave_library(json nlohmann_json)
ringweave_library(CLI11 CLI11)
if(NOT ringweave_contained AND NOT EXISTS ${RINGWEAVE_LIBRARY_SOURCES}/random123)
  message(FATAL_ERROR "RINGWEAVE_LIBRARY_SOURCES is ${RINGWEAVE_LIBRARY_SOURCES}, which has none of the folders "
    "fmt, highway, json, CLI11 and random123")
endif()
if(hwy IN_LIST ringweave_contained)
  get_directory_property(hwy_VERSION DIRECTORY ${RINGWEAVE_LIBRARY_SOURCES}/highway DEFINITION LIBRARY_VERSION)
  if(NOT TARGET hwy::hwy)
    add_library(hwy::hwy ALIAS hwy)
  endif()
endif()
