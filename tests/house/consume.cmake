# SPDX-License-Identifier: GPL-3.0-or-later
# Installs a build to a fresh prefix; configures, builds and runs the consumer project against it.
#   cmake -DBUILD=... -DCONSUMER=... -DFOLDER=... -DBUILD_TYPE=... -DGENERATOR=... -DCOMPILERS=... -DFLAGS=... -P consume.cmake
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${FOLDER})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${FOLDER}/prefix)
run(${FOLDER}/prefix/bin/ringweave --version)
run(${CMAKE_COMMAND} -S ${CONSUMER} -B ${FOLDER}/build -G ${GENERATOR} ${COMPILERS} -DCMAKE_BUILD_TYPE=${BUILD_TYPE}
    -DCMAKE_PREFIX_PATH=${FOLDER}/prefix -DCMAKE_CXX_FLAGS=${FLAGS})
run(${CMAKE_COMMAND} --build ${FOLDER}/build)
run(${FOLDER}/build/consumer WORKING_DIRECTORY ${FOLDER}/build)
