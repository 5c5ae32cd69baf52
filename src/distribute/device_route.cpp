// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/device_route.hpp"

#include <complex>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/device_buffer.hpp"
#include "base/error.hpp"
#include "distribute/agree.hpp"
#include "distribute/mpi_handle.hpp"

namespace ringweave {
namespace {

using Value = std::complex<double>;

/// What a rank sends to another in the probe.
Value probe_value(int from, int to) { return {1.0 + from, -1.0 - to}; }

/// The very collective of an exchange, with one mode for every rank.
bool alltoall_delivers(const Communicator& comm, const DeviceStream& stream) {
  const int n = comm.size();
  std::vector<Value> values(to_size(n));
  for (int peer = 0; peer < n; ++peer) values[to_size(peer)] = probe_value(comm.rank(), peer);
  DeviceBuffer<Value> send;
  DeviceBuffer<Value> receive;
  agree(comm, [&] {
    send.allocate(n);
    receive.allocate(n);
    copy_to_device(values.data(), send.data(), send.bytes(), stream);
    zero_device_memory(receive.data(), receive.bytes(), stream);
    stream.synchronize();
  });
  const std::vector<int> counts(to_size(n), 1);
  std::vector<int> firsts(to_size(n));
  std::iota(firsts.begin(), firsts.end(), 0);
  const int code =
      MPI_Alltoallv(send.data(), counts.data(), firsts.data(), MPI_C_DOUBLE_COMPLEX, receive.data(),
                    counts.data(), firsts.data(), MPI_C_DOUBLE_COMPLEX, mpi_handle(comm));
  bool right = code == MPI_SUCCESS;
  agree(comm, [&] {
    copy_to_host(receive.data(), values.data(), receive.bytes(), stream);
    stream.synchronize();
  });
  for (int peer = 0; peer < n; ++peer)
    right = right && values[to_size(peer)] == probe_value(peer, comm.rank());
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

}  // namespace ringweave
