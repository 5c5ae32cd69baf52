// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/device_transport.hpp"

#include "base/device_buffer.hpp"
#include "distribute/exchange/device_mode_rounding.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::inline distribute {
namespace {

/// A device that computes in one stream and copies in another.
class StreamMemory {
 public:
  using Staging = DeviceBuffer<char, MemorySpace::pinned>;
  using Buffer = DeviceBuffer<char>;

  StreamMemory(const DeviceStream& work, ModePrecision precision) : work_(&work) {
    if (precision == ModePrecision::single_) rounding_ = std::make_unique<DeviceModeRounding>(work);
  }

  Staging stage(std::int64_t bytes) const { return Staging(bytes); }
  Buffer buffer(std::int64_t bytes) const { return Buffer(bytes); }
  void down(const void* from, void* to, std::int64_t bytes) const {
    copy_to_host(from, to, bytes, copies_);
  }
  void up(const void* from, void* to, std::int64_t bytes) const {
    copy_to_device(from, to, bytes, copies_);
  }
  void keep(const void* from, void* to, std::int64_t bytes) const {
    copy_on_device(from, to, bytes, *work_);
  }
  template <class From, class To>
  void round(const std::complex<From>* from, std::complex<To>* to, std::int64_t n) const {
    rounding_->round(from, to, n);
  }
  double pop_largest() const { return rounding_->pop_largest(); }
  void copies_follow_work() {
    work_done_.record(*work_);
    copies_.wait_for(work_done_);
  }
  void work_follows_copies() {
    copies_done_.record(copies_);
    work_->wait_for(copies_done_);
  }
  void wait_for_copies() const { copies_.synchronize(); }
  void wait_for_work() const { work_->synchronize(); }

 private:
  const DeviceStream* work_;
  std::unique_ptr<DeviceModeRounding> rounding_;  ///< if modes are exchanged in single precision
  DeviceStream copies_;
  DeviceEvent work_done_;
  DeviceEvent copies_done_;
};

}  // namespace

std::unique_ptr<ModeTransport> make_device_transport(const DeviceStream& stream, DeviceRoute route,
                                                     ModePrecision precision, bool countable) {
  return std::make_unique<DeviceTransport<StreamMemory>>(
      std::make_unique<StreamMemory>(stream, precision), route, precision, countable);
}

}  // namespace ringweave::detail::inline distribute
