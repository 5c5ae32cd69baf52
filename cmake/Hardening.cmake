# SPDX-License-Identifier: GPL-3.0-or-later
# Flags that make mistakes in the handling of memory harder to exploit. They hold for what is compiled and linked here,
# not for projects that use the libraries. Sanitized builds have the stack protector only: sanitizers see more.
#   ringweave_hardening   options of the compiler, for C++ and for the host's side of CUDA
#   ringweave_fortify     more of them, for C++
# tests/house/check_hardening.py reads the programs and libraries that result.
include(CheckCXXCompilerFlag)
include(CheckCXXSourceCompiles)
include(CheckLinkerFlag)
include(CheckPIESupported)

set(ringweave_hardening -fstack-protector-strong)
set(ringweave_fortify "")
# Without it CMake does not ask for position-independent programs, which some compilers do not make by themselves.
if(PROJECT_IS_TOP_LEVEL)
  check_pie_supported(LANGUAGES C CXX)
endif()
if(RINGWEAVE_SANITIZE)
  return()
endif()

set(CMAKE_REQUIRED_FLAGS -Werror)
# A frame of several pages touches each of them, so that it cannot jump over the guard page below the stack.
check_cxx_compiler_flag(-fstack-clash-protection RINGWEAVE_HAS_STACK_CLASH_PROTECTION)
if(RINGWEAVE_HAS_STACK_CLASH_PROTECTION)
  list(APPEND ringweave_hardening -fstack-clash-protection)
endif()
# Indirect jumps and calls end at marked places only, if the processor and the system check that (x86).
check_cxx_compiler_flag(-fcf-protection RINGWEAVE_HAS_CF_PROTECTION)
if(RINGWEAVE_HAS_CF_PROTECTION)
  list(APPEND ringweave_hardening -fcf-protection)
endif()

# Functions of the C library check the size of a buffer. Level 3 also uses sizes known only when the program runs; it
# needs GCC 12 or clang 9, and glibc 2.34. All of it needs optimisation. Some compilers set a level of their own.
if(CMAKE_BUILD_TYPE MATCHES "^(Release|RelWithDebInfo|MinSizeRel)$")
  set(CMAKE_REQUIRED_FLAGS "-Werror -O1 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
  check_cxx_source_compiles("
    #include <cstring>
    #if __USE_FORTIFY_LEVEL < 3
    #error lower
    #endif
    int main() {}" RINGWEAVE_HAS_FORTIFY_3)
  set(fortify_level 2)
  if(RINGWEAVE_HAS_FORTIFY_3)
    set(fortify_level 3)
  endif()
  set(ringweave_fortify -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=${fortify_level})
endif()
unset(CMAKE_REQUIRED_FLAGS)

# Tables of addresses are filled at the start and then read only; the stack holds no code.
set(hardened_links LINKER:-z,relro,-z,now,-z,noexecstack)
check_linker_flag(CXX ${hardened_links} RINGWEAVE_HAS_HARDENED_LINKS)
if(RINGWEAVE_HAS_HARDENED_LINKS)
  add_link_options(${hardened_links})
endif()
