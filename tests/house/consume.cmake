# SPDX-License-Identifier: GPL-3.0-or-later
# Uses Ringweave as other projects do: installs a build to a fresh prefix and builds and runs the consumer project with
# it; configures the consumer with a serial HDF5, with the sources as a subdirectory and by FetchContent.
#   cmake -DSOURCE=... -DBUILD=... -DCONSUMER=... -DFOLDER=... -DBUILD_TYPE=... -DGENERATOR=... -DCOMPILERS=... -DFLAGS=... -P consume.cmake
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

function(configure from)
  run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${FOLDER}/${from} -G ${GENERATOR} ${COMPILERS} -DCMAKE_BUILD_TYPE=${BUILD_TYPE}
      -DCMAKE_CXX_FLAGS=${FLAGS} -DRINGWEAVE_FROM=${from} ${ARGN})
endfunction()

file(REMOVE_RECURSE ${FOLDER})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${FOLDER}/prefix)
run(${FOLDER}/prefix/bin/ringweave --version)
file(GLOB_RECURSE headers ${FOLDER}/prefix/include/*)
list(LENGTH headers n_headers)
if(n_headers GREATER 20)
  message(FATAL_ERROR "${n_headers} headers are installed; the public interface has at most 20")
endif()
foreach(file IN ITEMS doc/ringweave/LICENSE doc/ringweave/SECURITY.md doc/ringweave/ringweave.spdx.json
        doc/ringweave/docs/README.md ringweave/examples/lcdm_cl.txt ringweave/jobs/local.sh)
  if(NOT EXISTS ${FOLDER}/prefix/share/${file})
    message(FATAL_ERROR "share/${file} is not installed")
  endif()
endforeach()
# The module names the prefix that was chosen at installation.
file(GLOB module ${FOLDER}/prefix/share/ringweave/modulefiles/ringweave/*)
file(STRINGS "${module}" prefix_line REGEX "^set prefix \"${FOLDER}/prefix\"$")
if(NOT prefix_line)
  message(FATAL_ERROR "the module file '${module}' does not name ${FOLDER}/prefix")
endif()

configure(installed -DCMAKE_PREFIX_PATH=${FOLDER}/prefix)
run(${CMAKE_COMMAND} --build ${FOLDER}/installed)
foreach(program IN ITEMS transform files)
  run(${FOLDER}/installed/${program} WORKING_DIRECTORY ${FOLDER}/installed)
endforeach()

configure(serial_hdf5 -DCMAKE_PREFIX_PATH=${FOLDER}/prefix)
foreach(from IN ITEMS subdirectory fetched)
  configure(${from} -DRINGWEAVE_SOURCE=${SOURCE} -DRINGWEAVE_CUDA=OFF)
endforeach()
run(${CMAKE_COMMAND} --build ${FOLDER}/subdirectory --target ringweave_base)
