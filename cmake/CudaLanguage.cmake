# SPDX-License-Identifier: GPL-3.0-or-later
# RINGWEAVE_CUDA -> RINGWEAVE_HAS_CUDA: whether the cuda/ folders of the rooms are compiled, or their not_built.cpp.
include(CheckLanguage)

set(RINGWEAVE_HAS_CUDA OFF)
if(RINGWEAVE_CUDA STREQUAL "AUTO" AND NOT RINGWEAVE_SANITIZE)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    set(RINGWEAVE_HAS_CUDA ON)
  endif()
elseif(RINGWEAVE_CUDA STREQUAL "ON")
  set(RINGWEAVE_HAS_CUDA ON)
endif()

if(RINGWEAVE_HAS_CUDA)
  # Machine code and, for newer devices, PTX of each.
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES AND NOT DEFINED ENV{CUDAARCHS})
    set(CMAKE_CUDA_ARCHITECTURES "80;90" CACHE STRING "Compute capabilities the device code is made for")
  endif()
  enable_language(CUDA)
  find_package(CUDAToolkit REQUIRED)
  # CMake 3.25 does not know that nvcc has it.
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
  endif()
  # The host compiler's own conversion warnings would speak of what nvcc writes, not of what we wrote. 554: a view of const
  # converts to itself. Its host pass leaves "#pragma unroll" to a compiler that does not know it.
  add_library(ringweave_cuda_flags INTERFACE)
  target_compile_options(ringweave_cuda_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings --diag-suppress=554 -Xcompiler=-Wall,-Wextra,-Wshadow,-Wno-unknown-pragmas,-Werror>
    $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Werror>)
endif()
message(STATUS "CUDA: ${RINGWEAVE_HAS_CUDA}")

# ringweave_room_cuda(NAME [BUILT file...] [NOT_BUILT file...] [LINKS target...]): what a room has in cuda/, with CUDA
# and without. Objects of .cu files enter the room as objects, so that whoever links it needs no CUDA compiler. The
# runtime is linked statically: the program runs where there is no CUDA at all.
function(ringweave_room_cuda name)
  cmake_parse_arguments(PARSE_ARGV 1 room "" "" "BUILT;NOT_BUILT;LINKS")
  if(NOT RINGWEAVE_HAS_CUDA)
    target_sources(ringweave_${name} PRIVATE ${room_NOT_BUILT})
    return()
  endif()
  add_library(ringweave_${name}_cuda OBJECT ${room_BUILT})
  target_include_directories(ringweave_${name}_cuda PRIVATE
    $<TARGET_PROPERTY:ringweave_${name},INTERFACE_INCLUDE_DIRECTORIES>)
  set_target_properties(ringweave_${name}_cuda PROPERTIES CUDA_RUNTIME_LIBRARY Static
    CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON CUDA_STANDARD 20 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF)
  target_link_libraries(ringweave_${name}_cuda PRIVATE ringweave_cuda_flags CUDA::cudart_static ${room_LINKS})
  target_sources(ringweave_${name} PRIVATE $<TARGET_OBJECTS:ringweave_${name}_cuda>)
  target_link_libraries(ringweave_${name} PRIVATE CUDA::cudart_static ${room_LINKS})
endfunction()
