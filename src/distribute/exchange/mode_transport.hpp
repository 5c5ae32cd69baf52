// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <complex>
#include <cstdint>
#include <memory>
#include <span>

#include "distribute/exchange/exchange_plan.hpp"
#include "distribute/exchange/mode_rounding.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::inline distribute {

/// Bytes held by a transport for modes on a device.
struct TransportBytes {
  std::int64_t pinned = 0;  ///< on the host, for copies from and to a device
  std::int64_t device = 0;
};

/// Moves ring modes of one memory space to where MPI reads them, and back: in place, or through
/// buffers, one for the modes by order and one for those by ring of each pass in progress. Rounds
/// modes exchanged in single precision. Not collective. On a device, calls are enqueued in the
/// order of its work, and errors are ResourceErrors.
class ModeTransport {
 public:
  using Value = std::complex<double>;
  enum class Side { orders, rings };

  virtual ~ModeTransport() = default;

  /// Returns true if MPI reads and writes buffers instead of the modes.
  virtual bool packs() const = 0;
  /// Returns true if modes are on a device, where calls can fail.
  virtual bool on_device() const = 0;

  /// Allocates buffers for the given numbers of complex numbers. Does nothing when the sizes are
  /// unchanged.
  virtual void allocate(int n_slots, std::int64_t by_order, std::int64_t by_ring) = 0;
  virtual void release() noexcept = 0;
  virtual void* buffer(Side side, int slot) = 0;

  /// Packs runs of modes that earlier work computed. Runs count complex numbers.
  virtual void pack(Side side, int slot, const Value* modes, std::span<const CopyRun> runs) = 0;
  /// Must be called once before the unpack() calls of a pass.
  virtual void begin_unpack() = 0;
  /// Unpacks runs of modes for later work.
  virtual void unpack(Side side, int slot, Value* modes, std::span<const CopyRun> runs) = 0;
  /// Rounds modes that stay on the rank in the same way as those that are sent.
  virtual void round(Value* modes, std::int64_t n) = 0;
  /// Waits until MPI may read packed modes and write to the buffers.
  virtual void wait() = 0;
  /// Returns the largest magnitude rounded since the last call, for require_single_range().
  virtual double pop_largest() = 0;

  virtual TransportBytes bytes() const = 0;
};

/// Makes the transport for modes on the host. Packs modes in single precision, and where
/// `countable` is false, that is where MPI's counts cannot express all modes of a side.
std::unique_ptr<ModeTransport> make_host_transport(ModePrecision precision, bool countable);

}  // namespace ringweave::detail::inline distribute
