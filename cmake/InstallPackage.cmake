# SPDX-License-Identifier: GPL-3.0-or-later
# find_package(Ringweave): every room as Ringweave::<room>, all of them as Ringweave::ringweave.
include(CMakePackageConfigHelpers)

get_property(rooms GLOBAL PROPERTY RINGWEAVE_ROOMS)
get_property(folders GLOBAL PROPERTY RINGWEAVE_ROOM_FOLDERS)
list(REMOVE_ITEM rooms ringweave_app ringweave_plot)

add_library(ringweave_all INTERFACE)
add_library(Ringweave::ringweave ALIAS ringweave_all)
set_target_properties(ringweave_all PROPERTIES EXPORT_NAME ringweave)
target_link_libraries(ringweave_all INTERFACE ${rooms})

install(TARGETS ${rooms} ringweave_all EXPORT RingweaveTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(folder IN LISTS folders)
  file(RELATIVE_PATH place ${CMAKE_SOURCE_DIR} ${folder})
  string(REGEX REPLACE "^src/" "" place ${place})
  if(NOT place MATCHES "^app")
    install(DIRECTORY ${folder}/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ringweave/${place}
      FILES_MATCHING PATTERN "*.hpp" PATTERN "host" EXCLUDE PATTERN "cuda" EXCLUDE PATTERN "simd" EXCLUDE)
  endif()
endforeach()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Ringweave)
install(EXPORT RingweaveTargets NAMESPACE Ringweave:: DESTINATION ${package_folder})
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/RingweaveConfig.cmake.in
  ${CMAKE_BINARY_DIR}/RingweaveConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/RingweaveConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/RingweaveConfig.cmake ${CMAKE_BINARY_DIR}/RingweaveConfigVersion.cmake
  ${CMAKE_SOURCE_DIR}/cmake/LibraryDependencies.cmake DESTINATION ${package_folder})
install(FILES ${CMAKE_SOURCE_DIR}/examples/lcdm_cl.txt DESTINATION ${CMAKE_INSTALL_DATADIR}/ringweave)
