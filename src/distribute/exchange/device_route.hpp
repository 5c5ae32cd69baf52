// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "base/device.hpp"
#include "ringweave/communicator.hpp"

namespace ringweave::detail::inline distribute {

/// Access of MPI to data on a device: directly, or through staging buffers on the host.
enum class DeviceRoute { direct, staged };

/// Returns true if MPI reports support for device memory (MPIX_Query_cuda_support); false if it
/// cannot be asked.
bool mpi_says_it_takes_device_memory();

/// Returns RINGWEAVE_DEVICE_MPI (1 or 0) where it is set, else what MPI reports. This cannot be
/// found out by trying: an MPI without support reads a device address as a host address and
/// crashes. Error  UsageError for another value.
bool mpi_should_take_device_memory();

/// Returns `direct` if MPI should accept device memory on every rank and an MPI_Alltoallv like that
/// of an exchange delivers correctly from device to device on every rank. Collective. Error
/// ResourceError from the device.
DeviceRoute find_device_route(const Communicator& comm, const DeviceStream& stream);

}  // namespace ringweave::detail::inline distribute
