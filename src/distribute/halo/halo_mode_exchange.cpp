// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/halo/halo_mode_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <limits>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "base/mode_view.hpp"
#include "distribute/halo/halo_messages.hpp"

namespace ringweave::detail::inline distribute {
namespace {

using Messages = std::vector<HaloPlan::Message>;

constexpr std::int64_t mode_bytes = sizeof(std::complex<double>);

/// The modes of one message to or from a peer: runs of positions.
struct ModePart {
  int peer = 0;
  std::int64_t positions = 0;
  std::vector<std::int64_t> firsts;
  std::vector<int> counts;

  void add(std::int64_t position) {
    ++positions;
    const bool follows = !firsts.empty() && firsts.back() + counts.back() == position &&
                         counts.back() < std::numeric_limits<int>::max();
    if (follows) {
      ++counts.back();
    } else {
      firsts.push_back(position);
      counts.push_back(1);
    }
  }
};

/// All messages of one direction, split into parts of at most `most` positions. Both ranks of a
/// pair list its modes in the same order: message by message, orders ascending, rings ascending.
class PartList {
 public:
  PartList(const Messages& messages, const ModeLayout& rows, const RingPayload& orders,
           std::int64_t most, std::vector<Digest> digests)
      : digests_(std::move(digests)), most_(most) {
    for (const HaloPlan::Message& message : messages) add(message, rows, orders);
  }

  const std::vector<ModePart>& parts() const { return parts_; }
  const std::vector<Digest>& digests() const { return digests_; }  ///< [peer]

 private:
  void add(const HaloPlan::Message& message, const ModeLayout& rows, const RingPayload& orders) {
    std::int64_t found = 0;
    Digest& digest = digests_[to_size(message.peer)];
    for (const ModeLayout::Row& row : rows.rows()) {
      for (const RowSegment& segment : rows.segments(row)) {
        const RingRange both = intersection(segment.rings, message.rings);
        for (std::int64_t r = both.begin; r < both.end; ++r) {
          if (orders.values(RingId{r}) <= row.m) continue;
          if (found++ % most_ == 0) parts_.push_back({message.peer, 0, {}, {}});
          parts_.back().add(segment.first + r - segment.rings.begin);
          digest.add(row.m);
          digest.add(r);
        }
      }
    }
    if (found == message.count) return;
    throw UsageError(fmt::format(
        "the rows hold {} modes of rings {} to {} exchanged between this rank and rank {}, the "
        "plan has {}; make it with the same orders per ring",
        found, message.rings.begin, message.rings.end - 1, message.peer, message.count));
  }

  std::vector<ModePart> parts_;
  std::vector<Digest> digests_;
  std::int64_t most_;
};

struct BothSides {
  PartList sends;
  PartList receives;
};

BothSides make_parts(const HaloPlan& plan, const ModeLayout& rows, const RingPayload& orders,
                     std::int64_t n_components, const HaloOptions& options) {
  const std::int64_t position_bytes =
      checked_product(std::max<std::int64_t>(n_components, 1), mode_bytes, "bytes of a mode");
  checked_product(rows.size(), position_bytes, "bytes of ring modes");
  const std::int64_t most = std::max<std::int64_t>(options.message_bytes / position_bytes, 1);
  const std::vector<Digest> digests = peer_digests(plan.n_ranks, n_components, options);
  BothSides sides{{plan.sends, rows, orders, most, digests},
                  {plan.receives, rows, orders, most, digests}};
  for (const PartList* side : {&sides.sends, &sides.receives})
    checked_cast<int>(ssize64(side->parts()), "messages of a halo");
  return sides;
}

/// The MPI type of a part.
struct MpiPart {
  int peer;
  std::int64_t bytes;
  std::unique_ptr<ElementType> type;
};

std::vector<MpiPart> to_mpi(const std::vector<ModePart>& parts, std::int64_t n_components) {
  std::vector<MpiPart> result;
  if (parts.empty() || n_components == 0) return result;
  const ElementType position(n_components, MPI_C_DOUBLE_COMPLEX);
  for (const ModePart& part : parts) {
    std::vector<MPI_Aint> first_bytes;
    for (const std::int64_t first : part.firsts)
      first_bytes.push_back(static_cast<MPI_Aint>(first * n_components * mode_bytes));
    result.push_back({part.peer, part.positions * n_components * mode_bytes,
                      std::make_unique<ElementType>(part.counts, first_bytes, position.get())});
  }
  return result;
}

}  // namespace

struct HaloModeExchange::Impl {
  std::int64_t size;  ///< size of the buffer in elements
  std::vector<MpiPart> sends;
  std::vector<MpiPart> receives;
  HaloMessages messages;
};

HaloModeExchange::HaloModeExchange(const Communicator& comm, const HaloPlan& plan,
                                   const ModeLayout& rows, const RingPayload& orders,
                                   std::int64_t n_components, const HaloOptions& options) {
  BothSides sides = agreed(comm, [&] {
    expect_plan_of(comm, plan, n_components, options);
    return make_parts(plan, rows, orders, n_components, options);
  });
  expect_fitting_peers(comm, sides.sends.digests(), sides.receives.digests());
  const std::int64_t most = ssize64(sides.sends.parts()) + ssize64(sides.receives.parts());
  impl_ = agreed(comm, [&] {
    return std::unique_ptr<Impl>(new Impl{rows.size() * n_components,
                                          to_mpi(sides.sends.parts(), n_components),
                                          to_mpi(sides.receives.parts(), n_components),
                                          {comm, most}});
  });
}

HaloModeExchange::~HaloModeExchange() = default;

void HaloModeExchange::begin(ModeView<double> modes) {
  HaloMessages& messages = impl_->messages;
  messages.require_rest();
  require_planned("halo exchange", modes.size(), impl_->size, "modes x components");
  messages.begin();
  // Receives first, so that arriving messages find their buffer posted.
  for (const MpiPart& part : impl_->receives)
    messages.receive(modes.data(), 1, part.type->get(), part.peer);
  for (const MpiPart& part : impl_->sends)
    messages.send(modes.data(), 1, part.type->get(), part.peer, part.bytes);
}

void HaloModeExchange::progress() { impl_->messages.progress(); }
void HaloModeExchange::end() { impl_->messages.end(); }
void HaloModeExchange::end_after(const std::function<void()>& meanwhile) {
  impl_->messages.end_after(meanwhile);
}

std::int64_t HaloModeExchange::bytes_sent() const { return impl_->messages.bytes_sent(); }

}  // namespace ringweave::detail::inline distribute
