// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/mode_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <complex>
#include <utility>
#include <vector>

#include "base/buffer.hpp"
#include "base/checked_cast.hpp"
#include "distribute/exchange/mode_rounding.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/exchange_mpi.hpp"
#include "distribute/mpi/peer_messages.hpp"

namespace ringweave {
namespace {

using Blocks = std::vector<ExchangePlan::Block>;

constexpr const char* failing = "the exchange of ring modes";
constexpr int tag = 6;

/// One side of one pass: where MPI finds or puts the modes, and how they get there if that is a
/// conversion buffer.
struct Side {
  std::vector<int> counts;    ///< [peer], positions; nothing towards the rank itself
  std::vector<int> firsts;    ///< [peer], positions
  std::vector<CopyRun> pack;  ///< elements, from the modes to the conversion buffer
  std::vector<CopyRun> unpack;
};

enum class Staging { none, buffers };

Staging staging_of(const OrderPasses& plan, const ExchangeOptions& options) {
  const bool countable = std::max(plan.all_slots(), plan.by_ring_size) <= options.mpi_count_limit;
  return options.precision == ModePrecision::single_ || !countable ? Staging::buffers
                                                                   : Staging::none;
}

/// Numbers of double precision in each of the two conversion buffers of a slot.
std::int64_t staging_size_of(const OrderPasses& plan, std::int64_t n_components,
                             const ExchangeOptions& options) {
  if (staging_of(plan, options) == Staging::none) return 0;
  const std::int64_t numbers =
      checked_product(plan.most_exchanged(), n_components, "modes of a pass");
  return options.precision == ModePrecision::single_ ? (numbers + 1) / 2 : numbers;
}

Side make_side(const Blocks& blocks, std::int64_t n_components, Staging staging) {
  Side side;
  std::int64_t staged = 0;  // positions in the conversion buffer
  for (const auto& [first, count] : blocks) {
    side.counts.push_back(checked_cast<int>(count, "count of an exchange"));
    if (staging == Staging::none) {
      side.firsts.push_back(checked_cast<int>(first, "displacement of an exchange"));
      continue;
    }
    side.firsts.push_back(checked_cast<int>(staged, "displacement of an exchange"));
    if (count == 0) continue;
    const CopyRun run{first * n_components, staged * n_components, count * n_components};
    side.pack.push_back(run);
    side.unpack.push_back({run.to, run.from, run.count});
    staged += count;
  }
  return side;
}

void expect_size(const char* name, std::int64_t size, std::int64_t expected) {
  if (size == expected) return;
  throw UsageError(fmt::format("exchange: {} holds {} modes x components, the plan needs {}", name,
                               size, expected));
}

}  // namespace

struct ModeExchange::Impl {
  struct Pass {
    CopyRun own;  ///< elements by ring, from and to the same place
    Side by_order;
    Side by_ring;
  };
  struct Slot {
    HostBuffer<std::complex<double>> send;  ///< doubles, or twice as many floats
    HostBuffer<std::complex<double>> receive;
    MPI_Request request = MPI_REQUEST_NULL;
    const Side* to = nullptr;  ///< of the pass under way
    std::complex<double>* target = nullptr;
  };

  Communicator comm;
  std::int64_t n_components;
  ExchangeOptions options;
  std::int64_t slots_size;
  std::int64_t by_ring_size;
  Staging staging;
  std::unique_ptr<ElementType> element;  ///< none on one rank
  std::vector<Pass> passes;
  std::vector<Slot> slots;
  std::int64_t staging_size;
  double largest = 0;  ///< magnitude that was rounded
  // With sends_ahead(), from rings to orders:
  PeerMessages arriving;
  std::array<PeerMessages, 2> leaving;  ///< [pass % 2]

  Impl(Communicator c, const OrderPasses& plan, std::int64_t components,
       const ExchangeOptions& asked)
      : comm(std::move(c)),
        n_components(components),
        options(asked),
        slots_size(plan.all_slots() * components),
        by_ring_size(plan.by_ring_size * components),
        staging(staging_of(plan, asked)),
        slots(to_size(n_slots_of(asked))),
        staging_size(staging_size_of(plan, components, asked)),
        arriving(comm, failing, tag),
        leaving{PeerMessages(comm, failing, tag), PeerMessages(comm, failing, tag)} {
    if (comm.size() > 1) {
      element = std::make_unique<ElementType>(
          components, in_single() ? MPI_C_FLOAT_COMPLEX : MPI_C_DOUBLE_COMPLEX);
    }
    arriving.reserve(comm.size() - 1);
    for (PeerMessages& messages : leaving) messages.reserve(comm.size() - 1);
    for (const OrderPasses::Pass& pass : plan.passes) {
      const std::int64_t first_own = pass.own.first * components;
      passes.push_back({{first_own, first_own, pass.own.count * components},
                        make_side(pass.by_order_blocks, components, staging),
                        make_side(pass.by_ring_blocks, components, staging)});
    }
  }

  bool in_single() const { return options.precision == ModePrecision::single_; }

  void allocate() {
    for (Slot& slot : slots) {
      if (slot.send.size() == staging_size) continue;
      slot.send.allocate(staging_size);
      slot.receive.allocate(staging_size);
    }
  }

  void round_own(int pass, std::complex<double>* by_ring) {
    if (!in_single()) return;
    const CopyRun& own = passes[to_size(pass)].own;
    largest = std::max(largest, round_to_single(by_ring, by_ring, {&own, 1}));
  }

  void begin(int pass, const Side& from, const std::complex<double>* source, const Side& to,
             std::complex<double>* target) {
    if (comm.size() == 1) return;
    Slot& slot = slots[to_size(pass) % slots.size()];
    slot.to = &to;
    slot.target = target;

    const void* send = source;
    void* receive = target;
    if (staging == Staging::buffers) {
      allocate();
      send = slot.send.data();
      receive = slot.receive.data();
      if (in_single()) {
        largest = std::max(
            largest,
            narrow(source, reinterpret_cast<std::complex<float>*>(slot.send.data()), from.pack));
      } else {
        copy_modes(source, slot.send.data(), from.pack);
      }
    }
    const MPI_Datatype type = element->get();
    const int code =
        options.schedule == ExchangeSchedule::overlapped
            ? MPI_Ialltoallv(send, from.counts.data(), from.firsts.data(), type, receive,
                             to.counts.data(), to.firsts.data(), type, mpi_handle(comm),
                             &slot.request)
            : MPI_Alltoallv(send, from.counts.data(), from.firsts.data(), type, receive,
                            to.counts.data(), to.firsts.data(), type, mpi_handle(comm));
    end_job_unless_done(comm, code, failing);
  }

  /// Modes by ring are all there before the first pass. Sent from where they lie, those of a pass
  /// go out one pass early, so that a rank waits only for those more than a pass behind it, where
  /// in a collective call for each pass all would keep in step.
  bool sends_ahead() const {
    return staging == Staging::none && options.schedule == ExchangeSchedule::whole &&
           passes.size() > 1;
  }

  template <class Move>
  void for_each_message(const Side& side, const Move& move) const {
    for (int peer = 0; peer < comm.size(); ++peer) {
      const int count = side.counts[to_size(peer)];
      if (count > 0) move(side.firsts[to_size(peer)] * n_components, count, peer);
    }
  }

  void send_to_orders(int pass, const std::complex<double>* by_ring) {
    if (pass >= ssize64(passes)) return;
    PeerMessages& messages = leaving[to_size(pass % 2)];
    messages.end();
    for_each_message(passes[to_size(pass)].by_ring, [&](std::int64_t first, int count, int peer) {
      messages.send(by_ring + first, count, element->get(), peer);
    });
  }

  void begin_ahead(int pass, const std::complex<double>* by_ring, std::complex<double>* slot) {
    if (comm.size() == 1) return;
    for_each_message(passes[to_size(pass)].by_order, [&](std::int64_t first, int count, int peer) {
      arriving.receive(slot + first, count, element->get(), peer);
    });
    if (pass == 0) send_to_orders(pass, by_ring);
    send_to_orders(pass + 1, by_ring);
  }

  void end_ahead(int pass) {
    arriving.end();
    if (pass + 1 < ssize64(passes)) return;
    for (PeerMessages& messages : leaving) messages.end();
  }

  void end(int pass) {
    if (comm.size() == 1) return;
    end_ahead(pass);
    Slot& slot = slots[to_size(pass) % slots.size()];
    end_job_unless_done(comm, MPI_Wait(&slot.request, MPI_STATUS_IGNORE), failing);
    if (staging == Staging::none) return;
    if (in_single()) {
      widen(reinterpret_cast<const std::complex<float>*>(slot.receive.data()), slot.target,
            slot.to->unpack);
    } else {
      copy_modes(slot.receive.data(), slot.target, slot.to->unpack);
    }
  }
};

ModeExchange::ModeExchange(Communicator comm, const OrderPasses& plan, std::int64_t n_components,
                           const ExchangeOptions& options) {
  std::vector<std::int64_t> sent;
  std::vector<std::int64_t> expected;
  for (int peer = 0; peer < comm.size(); ++peer) {
    for (const OrderPasses::Pass& pass : plan.passes) {
      sent.push_back(pass.by_order_blocks.at(to_size(peer)).count);
      expected.push_back(pass.by_ring_blocks.at(to_size(peer)).count);
    }
  }
  expect_fitting_counts(comm, sent, expected);
  impl_ = agreed(comm, [&] { return std::make_unique<Impl>(comm, plan, n_components, options); });
}

ModeExchange::~ModeExchange() = default;

int ModeExchange::n_passes() const { return static_cast<int>(impl_->passes.size()); }
int ModeExchange::n_slots() const { return static_cast<int>(impl_->slots.size()); }
int ModeExchange::n_slots_of(const ExchangeOptions& options) {
  return options.schedule == ExchangeSchedule::overlapped ? 2 : 1;
}
std::int64_t ModeExchange::buffer_bytes(const OrderPasses& plan, std::int64_t n_components,
                                        const ExchangeOptions& options) {
  constexpr std::int64_t of_a_number = sizeof(std::complex<double>);
  return n_slots_of(options) * 2 * staging_size_of(plan, n_components, options) * of_a_number;
}
void ModeExchange::allocate() { impl_->allocate(); }
void ModeExchange::end(int pass) { impl_->end(pass); }

void ModeExchange::release() noexcept {
  for (Impl::Slot& slot : impl_->slots) {
    slot.send.release();
    slot.receive.release();
  }
}

void ModeExchange::begin_orders_to_rings(int pass, ModeView<const double> slots,
                                         ModeView<double> by_ring) {
  expect_size("slots", slots.size(), impl_->slots_size);
  expect_size("by_ring", by_ring.size(), impl_->by_ring_size);
  const Impl::Pass& sides = impl_->passes[to_size(pass)];
  impl_->round_own(pass, by_ring.data());
  impl_->begin(pass, sides.by_order, slots.data(), sides.by_ring, by_ring.data());
}

void ModeExchange::begin_rings_to_orders(int pass, ModeView<double> by_ring,
                                         ModeView<double> slots) {
  expect_size("by_ring", by_ring.size(), impl_->by_ring_size);
  expect_size("slots", slots.size(), impl_->slots_size);
  const Impl::Pass& sides = impl_->passes[to_size(pass)];
  if (impl_->sends_ahead()) return impl_->begin_ahead(pass, by_ring.data(), slots.data());
  impl_->round_own(pass, by_ring.data());
  impl_->begin(pass, sides.by_ring, by_ring.data(), sides.by_order, slots.data());
}

void ModeExchange::progress() {
  for (Impl::Slot& slot : impl_->slots) {
    int done = 0;
    if (slot.request != MPI_REQUEST_NULL)
      end_job_unless_done(impl_->comm, MPI_Test(&slot.request, &done, MPI_STATUS_IGNORE), failing);
  }
}

void ModeExchange::require_range() {
  if (!impl_->in_single()) return;
  const double largest = impl_->comm.max(std::exchange(impl_->largest, 0.0));
  require_single_range(largest);
}

std::int64_t ModeExchange::bytes_sent() const {
  std::int64_t positions = 0;
  for (const Impl::Pass& pass : impl_->passes)
    for (const int count : pass.by_order.counts) positions += count;
  const std::int64_t bytes = impl_->in_single() ? 8 : 16;
  return positions * impl_->n_components * bytes;
}

}  // namespace ringweave
