// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/exchange/mode_exchange.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/exchange_mpi.hpp"
#include "distribute/mpi/message_tags.hpp"
#include "distribute/mpi/mpi_library.hpp"
#include "distribute/mpi/peer_messages.hpp"
#include "ringweave/execution.hpp"

namespace ringweave::detail::inline distribute {
namespace {

using Blocks = std::vector<ExchangePlan::Block>;
using Side = ModeTransport::Side;
using Value = ModeExchange::Value;

constexpr const char* exchanging = "the exchange of ring modes";

std::int64_t positions_of(const Blocks& blocks) {
  std::int64_t positions = 0;
  for (const ExchangePlan::Block& block : blocks) positions += block.count;
  return positions;
}

/// One side of a pass, [peer], in positions; empty for the rank itself.
struct MpiSide {
  std::vector<int> counts;
  std::vector<int> firsts;  ///< within the modes, or within the buffer if they are packed
};

MpiSide make_side(const Blocks& blocks, bool packed) {
  MpiSide side;
  std::int64_t next = 0;
  for (const auto& [first, count] : blocks) {
    side.counts.push_back(checked_cast<int>(count, "count of an exchange"));
    side.firsts.push_back(checked_cast<int>(packed ? next : first, "displacement of an exchange"));
    next += count;
  }
  return side;
}

/// Returns the copies of complex numbers from the modes into a buffer with `blocks` one after the
/// other; `runs` [peer] are positions within a peer's block.
std::vector<CopyRun> packing_of(const Blocks& runs, const Blocks& blocks,
                                std::int64_t n_components) {
  std::vector<CopyRun> packing;
  std::int64_t packed = 0;
  for (std::size_t peer = 0; peer < blocks.size(); ++peer) {
    const auto& [first, count] = runs[peer];
    if (count > 0) {
      packing.push_back({first * n_components, (packed + first - blocks[peer].first) * n_components,
                         count * n_components});
    }
    packed += blocks[peer].count;
  }
  return packing;
}

std::vector<CopyRun> reversed(std::vector<CopyRun> runs) {
  for (CopyRun& run : runs) std::swap(run.from, run.to);
  return runs;
}

}  // namespace

PackedSize packed_size(const OrderPasses& plan, std::int64_t n_components) {
  PackedSize most;
  for (const OrderPasses::Pass& pass : plan.passes) {
    most.by_order = std::max(most.by_order, positions_of(pass.by_order_blocks));
    most.by_ring = std::max(most.by_ring, positions_of(pass.by_ring_blocks));
  }
  most.by_order = checked_product(most.by_order, n_components, "modes of a pass");
  most.by_ring = checked_product(most.by_ring, n_components, "modes of a pass");
  return most;
}

struct ModeExchange::Impl {
  /// Copies of a pass, or of a part of it, into and out of the buffer.
  struct Packing {
    std::vector<CopyRun> pack;
    std::vector<CopyRun> unpack;
  };
  struct Pass {
    ExchangePlan::Block own;  ///< complex numbers by ring
    MpiSide by_order;
    MpiSide by_ring;
    std::vector<Packing> parts;
    Packing rings;
  };

  Communicator comm;
  std::int64_t n_components;
  std::int64_t by_ring_size;
  std::int64_t slots_size;
  ExchangeOptions options;
  std::unique_ptr<ModeTransport> transport;
  PackedSize buffer_size;
  std::unique_ptr<ElementType> element;  ///< null on one rank
  std::vector<Pass> passes;
  std::vector<MPI_Request> requests;  ///< [slot]
  // Used from rings to orders with sends_ahead():
  PeerMessages arriving;
  std::array<PeerMessages, 2> leaving;  ///< [pass % 2]

  Impl(Communicator c, const OrderPasses& plan, std::int64_t components,
       const ExchangeOptions& asked, std::unique_ptr<ModeTransport> how)
      : comm(std::move(c)),
        n_components(components),
        by_ring_size(plan.by_ring_size * components),
        slots_size(plan.all_slots() * components),
        options(asked),
        transport(std::move(how)),
        buffer_size(packed_size(plan, components)),
        requests(to_size(n_slots_of(asked)), MPI_REQUEST_NULL),
        arriving(comm, exchanging, message_tag::modes),
        leaving{PeerMessages(comm, exchanging, message_tag::modes),
                PeerMessages(comm, exchanging, message_tag::modes)} {
    if (!alone()) {
      element = std::make_unique<ElementType>(
          components, in_single() ? MPI_C_FLOAT_COMPLEX : MPI_C_DOUBLE_COMPLEX);
    }
    arriving.reserve(comm.size() - 1);
    for (PeerMessages& messages : leaving) messages.reserve(comm.size() - 1);
    for (const OrderPasses::Pass& pass : plan.passes) passes.push_back(plan_pass(pass));
  }

  Pass plan_pass(const OrderPasses::Pass& pass) const {
    Pass planned{{pass.own.first * n_components, pass.own.count * n_components},
                 make_side(pass.by_order_blocks, transport->packs()),
                 make_side(pass.by_ring_blocks, transport->packs()),
                 {},
                 {}};
    if (!transport->packs()) return planned;
    const auto packing = [&](const Blocks& runs, const Blocks& blocks) {
      const auto pack = packing_of(runs, blocks, n_components);
      return Packing{pack, reversed(pack)};
    };
    for (const OrderPasses::Part& part : pass.parts)
      planned.parts.push_back(packing(part.slots, pass.by_order_blocks));
    planned.rings = packing(pass.by_ring_blocks, pass.by_ring_blocks);
    return planned;
  }

  /// Throws a UsageError unless modes have the planned sizes.
  void require_sizes(const ModeMemory& modes) const {
    require_planned(exchanging, modes.n_by_ring, by_ring_size, "modes x components by ring");
    require_planned(exchanging, modes.n_slots, slots_size, "modes x components in slots");
  }

  bool alone() const { return comm.size() == 1; }
  bool in_single() const { return options.precision == ModePrecision::single_; }
  bool packs() const { return !alone() && transport->packs(); }
  int slot_of(int pass) const { return pass % static_cast<int>(requests.size()); }

  /// All modes by ring exist before the first pass. When they need no packing, those of a pass are
  /// sent one pass early, so that a rank waits only for ranks more than a pass behind it. A
  /// collective call per pass would keep all ranks in step.
  bool sends_ahead() const {
    return !packs() && options.schedule == ExchangeSchedule::whole && passes.size() > 1;
  }

  void move(int pass, const MpiSide& from, const void* send, const MpiSide& to, void* receive) {
    const MPI_Datatype type = element->get();
    const int code = waiting_in(exchanging, [&] {
      return options.schedule == ExchangeSchedule::overlapped
                 ? MPI_Ialltoallv(send, from.counts.data(), from.firsts.data(), type, receive,
                                  to.counts.data(), to.firsts.data(), type, mpi_handle(comm),
                                  &requests[to_size(slot_of(pass))])
                 : MPI_Alltoallv(send, from.counts.data(), from.firsts.data(), type, receive,
                                 to.counts.data(), to.firsts.data(), type, mpi_handle(comm));
    });
    end_job_unless_done(comm, code, exchanging);
  }

  template <class Move>
  void for_each_message(const MpiSide& side, const Move& move) const {
    for (int peer = 0; peer < comm.size(); ++peer) {
      const int count = side.counts[to_size(peer)];
      if (count > 0) move(side.firsts[to_size(peer)] * n_components, count, peer);
    }
  }

  void send_to_orders(int pass, const Value* by_ring) {
    if (pass >= ssize64(passes)) return;
    PeerMessages& messages = leaving[to_size(pass % 2)];
    messages.end();
    for_each_message(passes[to_size(pass)].by_ring, [&](std::int64_t first, int count, int peer) {
      messages.send(by_ring + first, count, element->get(), peer);
    });
  }

  void begin_ahead(int pass, const Value* by_ring, Value* slots) {
    for_each_message(passes[to_size(pass)].by_order, [&](std::int64_t first, int count, int peer) {
      arriving.receive(slots + first, count, element->get(), peer);
    });
    if (pass == 0) send_to_orders(pass, by_ring);
    send_to_orders(pass + 1, by_ring);
  }

  void end_ahead(int pass) {
    arriving.end();
    if (pass + 1 < ssize64(passes)) return;
    for (PeerMessages& messages : leaving) messages.end();
  }

  void begin(Direction direction, int pass, Value* slots, Value* by_ring) {
    if (alone()) return;
    const bool to_rings = direction == Direction::orders_to_rings;
    if (!to_rings && sends_ahead()) return begin_ahead(pass, by_ring, slots);
    const Pass& sides = passes[to_size(pass)];
    void* const at_orders = packs() ? transport->buffer(Side::orders, slot_of(pass)) : slots;
    void* const at_rings = packs() ? transport->buffer(Side::rings, slot_of(pass)) : by_ring;
    if (to_rings) return move(pass, sides.by_order, at_orders, sides.by_ring, at_rings);
    move(pass, sides.by_ring, at_rings, sides.by_order, at_orders);
  }

  void end(int pass) {
    if (alone()) return;
    end_ahead(pass);
    MPI_Request& request = requests[to_size(slot_of(pass))];
    const int code = waiting_in(exchanging, [&] { return MPI_Wait(&request, MPI_STATUS_IGNORE); });
    end_job_unless_done(comm, code, exchanging);
  }
};

ModeExchange::ModeExchange(Communicator comm, const OrderPasses& plan, std::int64_t n_components,
                           const ExchangeOptions& options,
                           std::unique_ptr<ModeTransport> transport) {
  std::vector<std::int64_t> sent;
  std::vector<std::int64_t> expected;
  agree(comm, [&] {
    for (const OrderPasses::Pass& pass : plan.passes) {
      require_planned(exchanging, comm.size(), ssize64(pass.by_order_blocks), "ranks");
      require_planned(exchanging, comm.size(), ssize64(pass.by_ring_blocks), "ranks");
    }
  });
  for (int peer = 0; peer < comm.size(); ++peer) {
    for (const OrderPasses::Pass& pass : plan.passes) {
      sent.push_back(pass.by_order_blocks[to_size(peer)].count);
      expected.push_back(pass.by_ring_blocks[to_size(peer)].count);
    }
  }
  expect_fitting_counts(comm, sent, expected);
  impl_ = agreed(comm, [&] {
    return std::make_unique<Impl>(comm, plan, n_components, options, std::move(transport));
  });
}

ModeExchange::~ModeExchange() = default;
ModeExchange::ModeExchange(ModeExchange&&) noexcept = default;

int ModeExchange::n_passes() const { return static_cast<int>(impl_->passes.size()); }
int ModeExchange::n_slots() const { return static_cast<int>(impl_->requests.size()); }
int ModeExchange::n_slots_of(const ExchangeOptions& options) {
  return options.schedule == ExchangeSchedule::overlapped ? 2 : 1;
}
bool ModeExchange::is_idle() const { return impl_->alone() && !impl_->in_single(); }
bool ModeExchange::on_device() const { return impl_->transport->on_device(); }

void ModeExchange::pack_part(int pass, int part, const ModeMemory& modes) {
  if (!impl_->packs()) return;
  impl_->require_sizes(modes);
  impl_->transport->pack(Side::orders, impl_->slot_of(pass), modes.slots,
                         impl_->passes[to_size(pass)].parts[to_size(part)].pack);
}

void ModeExchange::pack_rings(int pass, const ModeMemory& modes) {
  if (!impl_->packs()) return;
  impl_->require_sizes(modes);
  impl_->transport->pack(Side::rings, impl_->slot_of(pass), modes.by_ring,
                         impl_->passes[to_size(pass)].rings.pack);
}

void ModeExchange::ready(int pass, const ModeMemory& modes) {
  impl_->require_sizes(modes);
  const auto& [first, count] = impl_->passes[to_size(pass)].own;
  impl_->transport->round(modes.by_ring + first, count);
  if (!impl_->alone()) impl_->transport->wait();
}

void ModeExchange::unpack_rings(int pass, const ModeMemory& modes) {
  if (!impl_->packs()) return;
  impl_->transport->begin_unpack();
  impl_->transport->unpack(Side::rings, impl_->slot_of(pass), modes.by_ring,
                           impl_->passes[to_size(pass)].rings.unpack);
}

void ModeExchange::unpack_part(int pass, int part, const ModeMemory& modes) {
  if (!impl_->packs()) return;
  if (part == 0) impl_->transport->begin_unpack();
  impl_->transport->unpack(Side::orders, impl_->slot_of(pass), modes.slots,
                           impl_->passes[to_size(pass)].parts[to_size(part)].unpack);
}

void ModeExchange::begin(Direction direction, int pass, const ModeMemory& modes) {
  // Open MPI's non-blocking collectives take equal addresses for MPI_IN_PLACE, and an empty side
  // may begin where the other one does.
  impl_->begin(direction, pass, modes.n_slots > 0 ? modes.slots : nullptr,
               modes.n_by_ring > 0 ? modes.by_ring : nullptr);
}
void ModeExchange::end(int pass) { impl_->end(pass); }

void ModeExchange::progress() {
  for (MPI_Request& request : impl_->requests) {
    int done = 0;
    if (request != MPI_REQUEST_NULL)
      end_job_unless_done(impl_->comm, MPI_Test(&request, &done, MPI_STATUS_IGNORE), exchanging);
  }
}

void ModeExchange::require_range() {
  if (!impl_->in_single()) return;
  double largest = 0;
  const auto pop = [&] { largest = impl_->transport->pop_largest(); };
  on_device() ? agree(impl_->comm, pop) : pop();
  require_single_range(impl_->comm.max(largest));
}

void ModeExchange::allocate() {
  if (impl_->in_single() && !on_device()) impl_->transport->pop_largest();  // of a call that failed
  if (impl_->packs()) {
    impl_->transport->allocate(n_slots(), impl_->buffer_size.by_order, impl_->buffer_size.by_ring);
  }
}
void ModeExchange::release() noexcept { impl_->transport->release(); }
TransportBytes ModeExchange::bytes() const { return impl_->transport->bytes(); }

std::int64_t ModeExchange::bytes_sent() const {
  std::int64_t positions = 0;
  for (const Impl::Pass& pass : impl_->passes)
    for (const int count : pass.by_order.counts) positions += count;
  return positions * impl_->n_components * complex_bytes(impl_->options.precision);
}

}  // namespace ringweave::detail::inline distribute
