// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/device.hpp"
#include "distribute/mpi/communicator.hpp"

namespace ringweave {

/// How MPI gets at numbers on a device: by itself, or in staging buffers of the host.
enum class DeviceRoute { direct, staged };

/// What MPI says of itself (MPIX_Query_cuda_support), no where it cannot be asked.
bool mpi_says_it_takes_device_memory();

/// RINGWEAVE_DEVICE_MPI (1 or 0) where it is set, else what MPI says: a plain MPI reads an address
/// of a device as one of the host and crashes, so it must not be tried. Error  UsageError for
/// another value.
bool mpi_should_take_device_memory();

/// Direct where every rank's MPI should take device memory and then an MPI_Alltoallv like that of
/// an exchange from device to device delivers what was sent, to every rank. Collective. Error
/// ResourceError from the device.
DeviceRoute find_device_route(const Communicator& comm, const DeviceStream& stream);

}  // namespace ringweave
