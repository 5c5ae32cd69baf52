# SPDX-License-Identifier: GPL-3.0-or-later
# Man pages and shell completion of the program, made from its help texts by Python; without Python they are left out.
# Included by the folder of the program.
find_package(Python3 3.9 COMPONENTS Interpreter)
if(NOT Python3_Interpreter_FOUND OR CMAKE_CROSSCOMPILING OR RINGWEAVE_SANITIZE)
  message(STATUS "Man pages and shell completion: none (they need Python 3, and no sanitizer or cross compiler)")
  return()
endif()

set(pages ${PROJECT_BINARY_DIR}/pages)
set(page_maker ${PROJECT_SOURCE_DIR}/packaging/program_pages.py)
add_executable(ringweave_help print_help.cpp)
target_link_libraries(ringweave_help PRIVATE ringweave_build_flags ringweave_app fmt::fmt)
add_custom_command(OUTPUT ${pages}/ringweave.bash
  COMMAND Python3::Interpreter ${page_maker} $<TARGET_FILE:ringweave_help> ${PROJECT_VERSION} ${pages}
  DEPENDS ringweave_help ${page_maker} ${PROJECT_SOURCE_DIR}/packaging/completion.bash.in
  COMMENT "Making man pages and shell completion")
add_custom_target(ringweave_pages ALL DEPENDS ${pages}/ringweave.bash)

install(DIRECTORY ${pages}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
install(FILES ${pages}/ringweave.bash RENAME ringweave
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
