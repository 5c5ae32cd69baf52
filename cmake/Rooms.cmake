# SPDX-License-Identifier: GPL-3.0-or-later
# How every room, test and benchmark is compiled.
include(CheckCXXCompilerFlag)

add_library(ringweave_build_flags INTERFACE)
target_compile_features(ringweave_build_flags INTERFACE cxx_std_20)
target_compile_options(ringweave_build_flags INTERFACE
  -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Werror
  -fstack-protector-strong)
# Complex products without the special cases of C99 Annex G; NaN and infinities still propagate.
check_cxx_compiler_flag(-fcx-limited-range RINGWEAVE_HAS_LIMITED_RANGE)
if(RINGWEAVE_HAS_LIMITED_RANGE)
  target_compile_options(ringweave_build_flags INTERFACE -fcx-limited-range)
endif()
if(RINGWEAVE_SANITIZE)
  target_compile_options(ringweave_build_flags INTERFACE -fsanitize=${RINGWEAVE_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(ringweave_build_flags INTERFACE -fsanitize=${RINGWEAVE_SANITIZE})
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_definitions(ringweave_build_flags INTERFACE _FORTIFY_SOURCE=2)
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_EXTENSIONS OFF)

# ringweave_room(NAME SOURCES file... [ROOMS room...] [LINKS target...])
# Makes a static library Ringweave::NAME from the sources of the current folder. ROOMS are rooms it may include, LINKS
# external libraries.
function(ringweave_room name)
  cmake_parse_arguments(PARSE_ARGV 1 room "" "" "SOURCES;ROOMS;LINKS")
  add_library(ringweave_${name} STATIC ${room_SOURCES})
  add_library(Ringweave::${name} ALIAS ringweave_${name})
  set_target_properties(ringweave_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(ringweave_${name} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}/src>
    $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/ringweave>)
  target_compile_features(ringweave_${name} PUBLIC cxx_std_20)
  target_link_libraries(ringweave_${name} PRIVATE $<BUILD_INTERFACE:ringweave_build_flags>)
  foreach(other IN LISTS room_ROOMS)
    target_link_libraries(ringweave_${name} PUBLIC ringweave_${other})
  endforeach()
  target_link_libraries(ringweave_${name} PRIVATE ${room_LINKS})
  set_property(GLOBAL APPEND PROPERTY RINGWEAVE_ROOMS ringweave_${name})
  set_property(GLOBAL APPEND PROPERTY RINGWEAVE_ROOM_FOLDERS ${CMAKE_CURRENT_SOURCE_DIR})
endfunction()
