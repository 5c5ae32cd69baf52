# SPDX-License-Identifier: GPL-3.0-or-later
# Writes and installs ringweave.spdx.json: what the libraries and the program are linked with, by name, version and
# licence, as SPDX 2.3. What those libraries need themselves is for their own lists. Set SOURCE_DATE_EPOCH to get the same
# file at any time. tests/house/bill_of_materials_test.py compares it with the program.

# ringweave_json(VARIABLE): makes the value a string of JSON.
function(ringweave_json variable)
  string(REGEX REPLACE "([\\\\\"])" "\\\\\\1" value "${${variable}}")
  set(${variable} "\"${value}\"" PARENT_SCOPE)
endfunction()

set(bom_packages "")
set(bom_relations "")

# ringweave_material(NAME VERSION LICENCE HOME RELATION): one library. RELATION: DYNAMIC_LINK, STATIC_LINK, CONTAINS (of
# headers alone), or what ends in _OF and begins with the library.
function(ringweave_material name version licence home relation)
  string(REGEX REPLACE "[^A-Za-z0-9.]+" "-" id "SPDXRef-${name}")
  string(REGEX REPLACE "-$" "" id "${id}")
  if(version STREQUAL "")
    set(version NOASSERTION)
  endif()
  foreach(value IN ITEMS name version licence home id)
    ringweave_json(${value})
  endforeach()
  string(APPEND bom_packages ",
    {\"name\": ${name}, \"SPDXID\": ${id}, \"versionInfo\": ${version}, \"downloadLocation\": \"NOASSERTION\",
     \"homepage\": ${home}, \"filesAnalyzed\": false, \"licenseConcluded\": ${licence}, \"licenseDeclared\": ${licence},
     \"copyrightText\": \"NOASSERTION\"}")
  set(from "\"SPDXRef-Ringweave\"")
  set(to ${id})
  if(relation MATCHES "_OF$")
    set(from ${id})
    set(to "\"SPDXRef-Ringweave\"")
  endif()
  string(APPEND bom_relations ",
    {\"spdxElementId\": ${from}, \"relationshipType\": \"${relation}\", \"relatedSpdxElement\": ${to}}")
  set(bom_packages "${bom_packages}" PARENT_SCOPE)
  set(bom_relations "${bom_relations}" PARENT_SCOPE)
endfunction()

# ringweave_defined(VARIABLE FILE MACRO...): the values of macros in a header, joined by dots; empty without them.
function(ringweave_defined variable file)
  set(numbers "")
  if(EXISTS "${file}")
    foreach(macro IN LISTS ARGN)
      file(STRINGS "${file}" line REGEX "#[ \t]*define[ \t]+${macro}[ \t]" LIMIT_COUNT 1)
      string(REGEX REPLACE ".*${macro}[ \t]+\"?([^ \t\"]*).*" "\\1" number "${line}")
      list(APPEND numbers ${number})
    endforeach()
  endif()
  list(JOIN numbers "." numbers)
  set(${variable} "${numbers}" PARENT_SCOPE)
endfunction()

# ringweave_kind(VARIABLE LIBRARIES): how the first library of a list is linked, by the name of its file.
function(ringweave_kind variable libraries)
  set(${variable} DYNAMIC_LINK PARENT_SCOPE)
  if(libraries MATCHES "^[^;]*\\.a(;|$)")
    set(${variable} STATIC_LINK PARENT_SCOPE)
  endif()
endfunction()

ringweave_defined(open_mpi "${MPI_C_HEADER_DIR}/mpi.h" OMPI_MAJOR_VERSION OMPI_MINOR_VERSION OMPI_RELEASE_VERSION)
ringweave_defined(mpich "${MPI_C_HEADER_DIR}/mpi.h" MPICH_VERSION)
ringweave_kind(kind "${MPI_C_LIBRARIES}")
if(open_mpi)
  ringweave_material("Open MPI" "${open_mpi}" BSD-3-Clause-Open-MPI https://www.open-mpi.org ${kind})
elseif(mpich)
  ringweave_material(MPICH "${mpich}" mpich2 https://www.mpich.org ${kind})
else()
  ringweave_material(MPI "" NOASSERTION https://www.mpi-forum.org ${kind})
endif()

ringweave_kind(kind "${FFTW_LINK_LIBRARIES}")
ringweave_material(FFTW "${FFTW_VERSION}" GPL-2.0-or-later https://www.fftw.org ${kind})
ringweave_kind(kind "${HDF5_C_LIBRARIES}")
ringweave_material(HDF5 "${HDF5_VERSION}" LicenseRef-HDF5 https://www.hdfgroup.org ${kind})
ringweave_kind(kind "${CFITSIO_LINK_LIBRARIES}")
ringweave_material(CFITSIO "${CFITSIO_VERSION}" CFITSIO https://heasarc.gsfc.nasa.gov/fitsio ${kind})
ringweave_kind(kind "${HEALPIX_LINK_LIBRARIES}")
ringweave_material("HEALPix C++" "${HEALPIX_VERSION}" GPL-2.0-or-later https://healpix.sourceforge.io ${kind})
ringweave_kind(kind "${ZLIB_LIBRARIES}")
ringweave_material(zlib "${ZLIB_VERSION_STRING}" Zlib https://zlib.net ${kind})
foreach(library IN ITEMS fmt hwy)
  set(${library}_kind DYNAMIC_LINK)
  get_target_property(type ${library}::${library} TYPE)
  if(type STREQUAL "STATIC_LIBRARY")
    set(${library}_kind STATIC_LINK)
  endif()
endforeach()
if(fmt IN_LIST ringweave_contained)
  get_directory_property(fmt_VERSION DIRECTORY ${RINGWEAVE_LIBRARY_SOURCES}/fmt DEFINITION FMT_VERSION)
endif()
if(nlohmann_json IN_LIST ringweave_contained)
  get_directory_property(nlohmann_json_VERSION DIRECTORY ${RINGWEAVE_LIBRARY_SOURCES}/json DEFINITION PROJECT_VERSION)
endif()
ringweave_material(fmt "${fmt_VERSION}" MIT https://fmt.dev ${fmt_kind})
ringweave_material(Highway "${hwy_VERSION}" Apache-2.0 https://github.com/google/highway ${hwy_kind})
ringweave_material("JSON for Modern C++" "${nlohmann_json_VERSION}" MIT https://json.nlohmann.me CONTAINS)
ringweave_material(Random123 "" BSD-3-Clause https://github.com/DEShawResearch/random123 CONTAINS)
if(RINGWEAVE_PROGRAM)
  if(CLI11 IN_LIST ringweave_contained)
    get_directory_property(CLI11_VERSION DIRECTORY ${RINGWEAVE_LIBRARY_SOURCES}/CLI11 DEFINITION PROJECT_VERSION)
  endif()
  ringweave_material(CLI11 "${CLI11_VERSION}" BSD-3-Clause https://github.com/CLIUtils/CLI11 CONTAINS)
  if(RINGWEAVE_HAS_CAIRO)
    ringweave_kind(kind "${CAIRO_LINK_LIBRARIES}")
    ringweave_material(cairo "${CAIRO_VERSION}" "LGPL-2.1-only OR MPL-1.1" https://www.cairographics.org ${kind})
  endif()
endif()

# The compiler's own libraries. Clang uses those of a GCC, too.
set(gcc_version "")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  set(gcc_version ${CMAKE_CXX_COMPILER_VERSION})
endif()
ringweave_material("GCC runtime libraries" "${gcc_version}" "GPL-3.0-or-later WITH GCC-exception-3.1" https://gcc.gnu.org
  DYNAMIC_LINK)
if(OpenMP_CXX_LIB_NAMES MATCHES "^i?omp")
  set(llvm_version "")
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    set(llvm_version ${CMAKE_CXX_COMPILER_VERSION})
  endif()
  ringweave_material("LLVM OpenMP" "${llvm_version}" "Apache-2.0 WITH LLVM-exception" https://openmp.llvm.org DYNAMIC_LINK)
endif()
find_file(RINGWEAVE_FEATURES_HEADER features.h)
mark_as_advanced(RINGWEAVE_FEATURES_HEADER)
ringweave_defined(glibc_version "${RINGWEAVE_FEATURES_HEADER}" __GLIBC__ __GLIBC_MINOR__)
if(glibc_version)
  ringweave_material("GNU C Library" "${glibc_version}" LGPL-2.1-or-later https://www.gnu.org/software/libc DYNAMIC_LINK)
endif()

if(RINGWEAVE_HAS_CUDA)
  set(kind STATIC_LINK)
  if(BUILD_SHARED_LIBS)
    set(kind DYNAMIC_LINK)
  endif()
  ringweave_material("CUDA Runtime" "${CUDAToolkit_VERSION}" LicenseRef-CUDA https://developer.nvidia.com/cuda-toolkit ${kind})
  # Opened by its name where there is a device (src/base/cuda/cufft_library.cpp).
  ringweave_material(cuFFT "${CUDAToolkit_VERSION}" LicenseRef-CUDA https://developer.nvidia.com/cufft RUNTIME_DEPENDENCY_OF)
endif()
if(RINGWEAVE_TESTS)
  foreach(library IN ITEMS Boost GTest)
    get_directory_property(version DIRECTORY ${PROJECT_SOURCE_DIR}/tests DEFINITION ${library}_VERSION)
    set(${library}_of_tests "${version}")
  endforeach()
  ringweave_material("Boost Math" "${Boost_of_tests}" BSL-1.0 https://www.boost.org TEST_DEPENDENCY_OF)
  ringweave_material(GoogleTest "${GTest_of_tests}" BSD-3-Clause https://github.com/google/googletest TEST_DEPENDENCY_OF)
endif()

string(UUID bom_id NAMESPACE 6ba7b811-9dad-11d1-80b4-00c04fd430c8 TYPE SHA1
  NAME "ringweave ${PROJECT_VERSION} ${bom_packages} ${bom_relations}")
string(TIMESTAMP bom_time UTC)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/ringweave.spdx.json @ONLY CONTENT [[
{
  "spdxVersion": "SPDX-2.3",
  "dataLicense": "CC0-1.0",
  "SPDXID": "SPDXRef-DOCUMENT",
  "name": "ringweave-@PROJECT_VERSION@",
  "documentNamespace": "urn:uuid:@bom_id@",
  "creationInfo": {"created": "@bom_time@", "creators": ["Tool: CMake-@CMAKE_VERSION@"]},
  "packages": [
    {"name": "Ringweave", "SPDXID": "SPDXRef-Ringweave", "versionInfo": "@PROJECT_VERSION@",
     "downloadLocation": "NOASSERTION", "filesAnalyzed": false, "licenseConcluded": "GPL-3.0-or-later",
     "licenseDeclared": "GPL-3.0-or-later", "copyrightText": "Copyright 2026 The Ringweave developers"}@bom_packages@
  ],
  "hasExtractedLicensingInfos": [
    {"licenseId": "LicenseRef-HDF5", "name": "Licence of HDF5",
     "extractedText": "The text is COPYING in the sources of HDF5; its terms are those of BSD-3-Clause and more.",
     "seeAlsos": ["https://www.hdfgroup.org/licenses"]},
    {"licenseId": "LicenseRef-CUDA", "name": "CUDA Toolkit End User License Agreement",
     "extractedText": "The text is at https://docs.nvidia.com/cuda/eula.",
     "seeAlsos": ["https://docs.nvidia.com/cuda/eula"]}
  ],
  "relationships": [
    {"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-Ringweave"}@bom_relations@
  ]
}
]])
install(FILES ${PROJECT_BINARY_DIR}/ringweave.spdx.json DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/ringweave)
