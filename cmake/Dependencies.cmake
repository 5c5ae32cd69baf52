# SPDX-License-Identifier: GPL-3.0-or-later
# Finds every external library once, as imported targets.
include(LibraryDependencies)
# Used by the program.
find_package(CLI11 REQUIRED)
pkg_check_modules(CAIRO REQUIRED IMPORTED_TARGET cairo)
