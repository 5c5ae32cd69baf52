# SPDX-License-Identifier: GPL-3.0-or-later
# How every room, test and benchmark is compiled.
include(CheckCXXCompilerFlag)
include(CheckCXXSourceRuns)

add_library(ringweave_build_flags INTERFACE)
target_compile_features(ringweave_build_flags INTERFACE cxx_std_20)
# Everything in this repository may include its own rooms; users have include/ only.
set(RINGWEAVE_INCLUDE_FOLDERS ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
target_include_directories(ringweave_build_flags INTERFACE ${RINGWEAVE_INCLUDE_FOLDERS})
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
  # A source for several instruction sets is compiled for the best of this machine and for the portable one: the others
  # differ in the length of vectors only, and the release has them.
  check_cxx_source_runs("int main() { return __builtin_cpu_supports(\"avx512vl\") ? 0 : 1; }" RINGWEAVE_RUNS_AVX512)
  target_compile_definitions(ringweave_build_flags INTERFACE
    "HWY_BROKEN_TARGETS=($<IF:$<BOOL:${RINGWEAVE_RUNS_AVX512}>,HWY_AVX2,HWY_AVX3>|HWY_SSE4)")
elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
  target_compile_definitions(ringweave_build_flags INTERFACE _FORTIFY_SOURCE=2)
endif()
if(RINGWEAVE_CHECK_ODR)
  # The representation is for the check alone, which reads objects; libraries have machine code.
  list(APPEND CMAKE_CXX_ARCHIVE_FINISH
    "${CMAKE_OBJCOPY} --wildcard --remove-section=.gnu.lto_* --strip-symbol=__gnu_lto_v1 <TARGET>")
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_EXTENSIONS OFF)

# ringweave_skip_checks(CHECKS file...): leaves out checks of UndefinedBehaviorSanitizer in sources of the current folder
# that take a multiple of their time to compile with them. Wrong pointers are left to AddressSanitizer.
function(ringweave_skip_checks checks)
  if(RINGWEAVE_SANITIZE MATCHES undefined)
    set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS -fno-sanitize=${checks})
  endif()
endfunction()

# ringweave_precompile_headers(TARGET [header...]): compiles standard headers and those named once for a target, in builds
# with sanitizers. The release does not, so that a forgotten include shows.
function(ringweave_precompile_headers target)
  if(RINGWEAVE_SANITIZE)
    target_precompile_headers(${target} PRIVATE <algorithm> <array> <cmath> <complex> <cstdint> <filesystem> <functional>
      <map> <memory> <numbers> <optional> <span> <sstream> <string> <variant> <vector> ${ARGN})
  endif()
endfunction()

# ringweave_room(NAME SOURCES file... [ROOMS room...] [LINKS target...])
# Makes a static library Ringweave::NAME from the sources of the current folder. ROOMS are rooms it may include, LINKS
# external libraries.
function(ringweave_room name)
  cmake_parse_arguments(PARSE_ARGV 1 room "" "" "SOURCES;ROOMS;LINKS")
  add_library(ringweave_${name} STATIC ${room_SOURCES})
  add_library(Ringweave::${name} ALIAS ringweave_${name})
  set_target_properties(ringweave_${name} PROPERTIES EXPORT_NAME detail_${name})
  target_include_directories(ringweave_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(ringweave_${name} PUBLIC cxx_std_20)
  target_link_libraries(ringweave_${name} PRIVATE $<BUILD_INTERFACE:ringweave_build_flags>)
  if(RINGWEAVE_CHECK_ODR)
    target_compile_options(ringweave_${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-flto;-ffat-lto-objects>)
  endif()
  foreach(other IN LISTS room_ROOMS)
    target_link_libraries(ringweave_${name} PUBLIC ringweave_${other})
  endforeach()
  target_link_libraries(ringweave_${name} PRIVATE ${room_LINKS})
endfunction()
