// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/device_route.hpp"

#include <complex>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/device_buffer.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/exchange_mpi.hpp"
#include "distribute/mpi/mpi_library.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline distribute {
namespace {

using Mode = std::complex<double>;

/// 64 KiB per rank: more than MPI sends eagerly, so that the path of large messages is tested.
constexpr int n_modes_for_each = 4096;

/// Value that a rank sends to another in the probe.
Mode probe_mode(int from, int to, std::int64_t i) {
  return {1.0 + from, static_cast<double>(i) - 1.0 - to};
}

/// Returns true if the collective of an exchange delivers data from device to device.
bool alltoall_delivers(const Communicator& comm, const DeviceStream& stream) {
  std::vector<Mode> modes;
  for (int peer = 0; peer < comm.size(); ++peer) {
    for (std::int64_t i = 0; i < n_modes_for_each; ++i)
      modes.push_back(probe_mode(comm.rank(), peer, i));
  }
  DeviceBuffer<Mode> send;
  DeviceBuffer<Mode> receive;
  agree(comm, [&] {
    send.allocate(ssize64(modes));
    receive.allocate(ssize64(modes));
    copy_to_device(modes.data(), send.data(), send.bytes(), stream);
    zero_device_memory(receive.data(), receive.bytes(), stream);
    stream.synchronize();
  });
  const std::vector<int> counts(to_size(comm.size()), n_modes_for_each);
  std::vector<int> firsts;
  for (int peer = 0; peer < comm.size(); ++peer) firsts.push_back(peer * n_modes_for_each);
  const ElementType element(1, MPI_C_DOUBLE_COMPLEX);
  const int code = waiting_in("a trial exchange between devices", [&] {
    return MPI_Alltoallv(send.data(), counts.data(), firsts.data(), element.get(), receive.data(),
                         counts.data(), firsts.data(), element.get(), mpi_handle(comm));
  });
  bool right = code == MPI_SUCCESS;
  agree(comm, [&] {
    copy_to_host(receive.data(), modes.data(), receive.bytes(), stream);
    stream.synchronize();
  });
  for (int peer = 0; peer < comm.size(); ++peer) {
    for (std::int64_t i = 0; i < n_modes_for_each; ++i) {
      right =
          right && modes[to_size(peer * n_modes_for_each + i)] == probe_mode(peer, comm.rank(), i);
    }
  }
  return comm.min(std::int64_t{right}) == 1;
}

}  // namespace

bool mpi_should_take_device_memory() {
  const char* asked = std::getenv("RINGWEAVE_DEVICE_MPI");
  if (asked == nullptr || *asked == '\0') return mpi_says_it_takes_device_memory();
  const std::string word = asked;
  if (word == "1") return true;
  if (word == "0") return false;
  throw UsageError("RINGWEAVE_DEVICE_MPI=" + word +
                   ": expected 1 (MPI reads and writes device memory) or 0 (it does not)");
}

DeviceRoute find_device_route(const Communicator& comm, const DeviceStream& stream) {
  const bool should = agreed(comm, mpi_should_take_device_memory);
  if (comm.size() == 1 || comm.min(std::int64_t{should}) == 0) return DeviceRoute::staged;
  return alltoall_delivers(comm, stream) ? DeviceRoute::direct : DeviceRoute::staged;
}

}  // namespace ringweave::detail::inline distribute
