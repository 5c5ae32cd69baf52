# SPDX-License-Identifier: GPL-3.0-or-later
# How every module, test and benchmark is compiled.
include(CheckCXXCompilerFlag)
include(CheckCXXSourceRuns)

add_library(ringweave_build_flags INTERFACE)
target_compile_features(ringweave_build_flags INTERFACE cxx_std_20)
# Everything in this repository may include its own modules; users have include/ only.
set(RINGWEAVE_INCLUDE_FOLDERS ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
target_include_directories(ringweave_build_flags INTERFACE ${RINGWEAVE_INCLUDE_FOLDERS})
target_compile_options(ringweave_build_flags INTERFACE
  -Wall -Wextra -Wconversion -Wsign-conversion -Wshadow
  ${ringweave_hardening} ${ringweave_fortify})
# Precompiled headers of clang are the same bytes whenever they are made, so that a compiler cache knows what uses them.
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  target_compile_options(ringweave_build_flags INTERFACE "SHELL:-Xclang -fno-pch-timestamp")
endif()
# Complex products without the special cases of C99 Annex G; NaN and infinities still propagate.
check_cxx_compiler_flag(-fcx-limited-range RINGWEAVE_HAS_LIMITED_RANGE)
if(RINGWEAVE_HAS_LIMITED_RANGE)
  target_compile_options(ringweave_build_flags INTERFACE -fcx-limited-range)
endif()
if(RINGWEAVE_SANITIZE)
  target_compile_options(ringweave_build_flags INTERFACE -fsanitize=${RINGWEAVE_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  # AddressSanitizer sees what the check of object sizes sees, which takes a tenth of the compiler's time.
  if(RINGWEAVE_SANITIZE MATCHES undefined)
    target_compile_options(ringweave_build_flags INTERFACE -fno-sanitize=object-size)
  endif()
  # lld links sanitized code in a fraction of the time.
  target_link_options(ringweave_build_flags INTERFACE -fsanitize=${RINGWEAVE_SANITIZE} -fuse-ld=lld)
  # A source for several instruction sets is compiled for the best of this machine and for the portable one: the others
  # differ in the length of vectors only, and the release has them.
  check_cxx_source_runs("int main() { return __builtin_cpu_supports(\"avx512vl\") ? 0 : 1; }" RINGWEAVE_RUNS_AVX512)
  set(left_out $<IF:$<BOOL:${RINGWEAVE_RUNS_AVX512}>,HWY_AVX2,HWY_AVX3>|HWY_SSE4)
endif()
if(NOT RINGWEAVE_AVX)
  set(left_out HWY_AVX2|HWY_AVX3)
endif()
if(left_out)
  target_compile_definitions(ringweave_build_flags INTERFACE "HWY_BROKEN_TARGETS=(${left_out})")
endif()
if(RINGWEAVE_CHECK_ODR)
  # The representation is for the check alone, which reads objects; libraries have machine code.
  list(APPEND CMAKE_CXX_ARCHIVE_FINISH
    "${CMAKE_OBJCOPY} --wildcard --remove-section=.gnu.lto_* --strip-symbol=__gnu_lto_v1 <TARGET>")
endif()
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_EXTENSIONS OFF)

# ringweave_quick_checks([CALLED] file...): for sources of the current folder that take a multiple of their time to
# compile with sanitizers. They leave out the check of UndefinedBehaviorSanitizer for sums of pointers: AddressSanitizer
# sees where those point. CALLED: they call its checks, where others contain them; they run up to four times as long.
function(ringweave_quick_checks)
  cmake_parse_arguments(PARSE_ARGV 0 checks "CALLED" "" "")
  if(RINGWEAVE_SANITIZE MATCHES address)
    set(options -fno-sanitize=pointer-overflow)
    if(checks_CALLED)
      list(APPEND options -mllvm -asan-instrumentation-with-call-threshold=0)
    endif()
    set_source_files_properties(${checks_UNPARSED_ARGUMENTS} PROPERTIES COMPILE_OPTIONS "${options}")
  endif()
endfunction()

# ringweave_module(NAME [COMPUTES_LITTLE] [OF_PROGRAM] SOURCES file... [MODULES module...] [LINKS target...]
#                [PRECOMPILE header...])
# Makes a library Ringweave::NAME from the sources of the current folder, static unless BUILD_SHARED_LIBS is set and it
# is not OF_PROGRAM, which alone uses it. MODULES are modules it may include, LINKS external libraries. The headers of
# PRECOMPILE and standard ones are compiled once for the module; tests/house/check_standard_headers.py finds forgotten
# includes. Several sources are compiled at a time, which takes a third to a half of the compiler's time; who works on
# one (preset dev) compiles it alone, and a source for several instruction sets always is. A module that COMPUTES_LITTLE is
# optimised little, and not at all where it is sanitized. (At -O2, with precompiled headers, GCC 12 would also warn by
# mistake that std::string copies beyond its bounds.)
function(ringweave_module name)
  cmake_parse_arguments(PARSE_ARGV 1 module "COMPUTES_LITTLE;OF_PROGRAM" "" "SOURCES;MODULES;LINKS;PRECOMPILE")
  if(module_OF_PROGRAM)
    add_library(ringweave_${name} STATIC ${module_SOURCES})
  else()
    add_library(ringweave_${name} ${module_SOURCES})
    set_target_properties(ringweave_${name} PROPERTIES VERSION ${PROJECT_VERSION}
      SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  endif()
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
  foreach(other IN LISTS module_MODULES)
    target_link_libraries(ringweave_${name} PUBLIC ringweave_${other})
  endforeach()
  target_link_libraries(ringweave_${name} PRIVATE ${module_LINKS})
  if(module_COMPUTES_LITTLE)
    set(level $<$<CONFIG:Release>:-O1>)
    if(RINGWEAVE_SANITIZE AND NOT RINGWEAVE_SANITIZE MATCHES fuzzer)
      set(level -O0)
    endif()
    target_compile_options(ringweave_${name} PRIVATE ${level})
  endif()
  if(RINGWEAVE_SANITIZE OR NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
    set_target_properties(ringweave_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 48)
    foreach(source IN LISTS module_SOURCES)
      file(STRINGS ${source} for_instruction_sets REGEX "define HWY_TARGET_INCLUDE")
      if(for_instruction_sets)
        set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
      endif()
    endforeach()
    # GCC takes the sources for headers, in which anonymous namespaces would matter.
    target_compile_options(ringweave_${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
  if(module_PRECOMPILE)
    target_precompile_headers(ringweave_${name} PRIVATE ${module_PRECOMPILE} <algorithm> <array> <cmath> <complex>
      <cstdint> <filesystem> <functional> <map> <memory> <numbers> <optional> <span> <sstream> <string> <variant>
      <vector>)
  endif()
endfunction()
