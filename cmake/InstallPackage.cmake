# SPDX-License-Identifier: GPL-3.0-or-later
# find_package(Ringweave [COMPONENTS core io]) gives Ringweave::core and Ringweave::io. Projects that use
# add_subdirectory or FetchContent have the same targets.
include(CMakePackageConfigHelpers)

set(core_modules ringweave_base ringweave_sphere ringweave_perf_models ringweave_distribute ringweave_legendre
               ringweave_fft ringweave_transform ringweave_convolve ringweave_nonuniform
               ringweave_gyro)
add_library(ringweave_core INTERFACE)
add_library(Ringweave::core ALIAS ringweave_core)
set_target_properties(ringweave_core PROPERTIES EXPORT_NAME core)
set_target_properties(ringweave_io PROPERTIES EXPORT_NAME io)
target_link_libraries(ringweave_core INTERFACE ${core_modules} MPI::MPI_C)  # for ringweave/mpi.hpp

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/Ringweave)
install(TARGETS ${core_modules} ringweave_core EXPORT RingweaveCoreTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS ringweave_io EXPORT RingweaveIoTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(library IN ITEMS fmt hwy)
  if(library IN_LIST ringweave_contained)
    set_target_properties(${library} PROPERTIES PUBLIC_HEADER "")
    install(TARGETS ${library} EXPORT RingweaveCoreTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}/ringweave)
  endif()
endforeach()
install(EXPORT RingweaveCoreTargets NAMESPACE Ringweave:: DESTINATION ${package_folder})
install(EXPORT RingweaveIoTargets NAMESPACE Ringweave:: DESTINATION ${package_folder})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ringweave DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/RingweaveConfig.cmake.in
  ${PROJECT_BINARY_DIR}/RingweaveConfig.cmake INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/RingweaveConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/RingweaveConfig.cmake ${PROJECT_BINARY_DIR}/RingweaveConfigVersion.cmake
  ${PROJECT_SOURCE_DIR}/cmake/CoreDependencies.cmake ${PROJECT_SOURCE_DIR}/cmake/IoDependencies.cmake
  DESTINATION ${package_folder})

set(doc_folder ${CMAKE_INSTALL_DATAROOTDIR}/doc/ringweave)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CITATION.cff
  ${PROJECT_SOURCE_DIR}/SECURITY.md DESTINATION ${doc_folder})
if(RINGWEAVE_PROGRAM)
  install(FILES ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/CONTRIBUTING.md DESTINATION ${doc_folder})
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${doc_folder})
  set(data_folder ${CMAKE_INSTALL_DATADIR}/ringweave)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples ${PROJECT_SOURCE_DIR}/jobs DESTINATION ${data_folder}
    USE_SOURCE_PERMISSIONS PATTERN __pycache__ EXCLUDE)
  install(PROGRAMS ${PROJECT_SOURCE_DIR}/scripts/mpirun.sh DESTINATION ${data_folder}/scripts)  # for jobs/demo.sh
  # The prefix may be chosen by `cmake --install`. In /usr the program needs no module, which would reorder PATH.
  install(CODE "
    if(NOT CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
      cmake_path(ABSOLUTE_PATH CMAKE_INSTALL_PREFIX OUTPUT_VARIABLE prefix)
      set(RINGWEAVE_VERSION ${PROJECT_VERSION})
      set(CMAKE_INSTALL_BINDIR ${CMAKE_INSTALL_BINDIR})
      set(CMAKE_INSTALL_MANDIR ${CMAKE_INSTALL_MANDIR})
      configure_file(\"${PROJECT_SOURCE_DIR}/packaging/modulefile.in\"
        \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${data_folder}/modulefiles/ringweave/${PROJECT_VERSION}\" @ONLY)
    endif()")
endif()
