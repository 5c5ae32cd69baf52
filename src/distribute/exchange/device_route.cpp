// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/device_route.hpp"

#include <complex>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/device_buffer.hpp"
#include "base/error.hpp"
#include "distribute/exchange/mode_alltoall.hpp"
#include "distribute/mpi/agree.hpp"

namespace ringweave {
namespace {

using Mode = std::complex<double>;

/// 64 KiB for every rank: more than an MPI sends from buffers of its own, whose way says nothing of
/// the one that large messages take.
constexpr std::int64_t n_modes_for_each = 4096;

/// What a rank sends to another in the probe.
Mode probe_mode(int from, int to, std::int64_t i) {
  return {1.0 + from, static_cast<double>(i) - 1.0 - to};
}

/// The very collective of an exchange.
bool alltoall_delivers(const Communicator& comm, const DeviceStream& stream) {
  ModeAlltoall::Blocks blocks;
  std::vector<Mode> modes;
  for (int peer = 0; peer < comm.size(); ++peer) {
    blocks.push_back({ssize64(modes), n_modes_for_each});
    for (std::int64_t i = 0; i < n_modes_for_each; ++i)
      modes.push_back(probe_mode(comm.rank(), peer, i));
  }
  const ModeAlltoall alltoall(comm, blocks, blocks, 1, 1);
  DeviceBuffer<Mode> send;
  DeviceBuffer<Mode> receive;
  agree(comm, [&] {
    send.allocate(ssize64(modes));
    receive.allocate(ssize64(modes));
    copy_to_device(modes.data(), send.data(), send.bytes(), stream);
    zero_device_memory(receive.data(), receive.bytes(), stream);
    stream.synchronize();
  });
  bool right = alltoall.try_orders_to_rings(send.data(), receive.data());
  agree(comm, [&] {
    copy_to_host(receive.data(), modes.data(), receive.bytes(), stream);
    stream.synchronize();
  });
  for (int peer = 0; peer < comm.size(); ++peer) {
    if (peer == comm.rank()) continue;  // what a rank owes itself does not travel
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

}  // namespace ringweave
