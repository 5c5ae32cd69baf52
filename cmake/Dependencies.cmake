# SPDX-License-Identifier: GPL-3.0-or-later
# Every library from outside, found once, as imported targets.
include(CoreDependencies)
include(IoDependencies)
find_package(nlohmann_json REQUIRED)
if(RINGWEAVE_PROGRAM)
  find_package(CLI11 REQUIRED)
  pkg_check_modules(CAIRO REQUIRED IMPORTED_TARGET cairo)
endif()
