// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/halo/halo_exchange.hpp"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/halo/halo_messages.hpp"

namespace ringweave::detail::inline distribute {
namespace {

using Messages = std::vector<HaloPlan::Message>;

/// Most values in one message, whose bytes MPI counts.
std::int64_t most_values(const HaloOptions& options, std::int64_t bytes_per_value) {
  const std::int64_t bytes =
      std::min<std::int64_t>(options.message_bytes, std::numeric_limits<int>::max());
  return std::max<std::int64_t>(bytes / bytes_per_value, 1);
}

/// Most messages in flight at once, for the longest value type.
std::int64_t most_messages(const HaloPlan& plan, std::int64_t n_components,
                           const HaloOptions& options) {
  plan.halo_bytes(n_components, sizeof(double));
  const std::int64_t most = most_values(options, sizeof(double));
  std::int64_t parts = 0;
  for (const Messages* messages : {&plan.sends, &plan.receives}) {
    for (const HaloPlan::Message& message : *messages) parts += (message.count + most - 1) / most;
  }
  const std::int64_t all = checked_product(parts, n_components, "messages of a halo");
  return checked_cast<int>(all, "messages of a halo");
}

std::vector<Digest> digests_of(const Messages& messages, int n_ranks, std::int64_t n_components,
                               const HaloOptions& options) {
  std::vector<Digest> digests = peer_digests(n_ranks, n_components, options);
  for (const HaloPlan::Message& message : messages) {
    Digest& digest = digests[to_size(message.peer)];
    digest.add(message.rings.begin);
    digest.add(message.rings.end);
    digest.add(message.count);
  }
  return digests;
}

constexpr const char* halo_exchange = "halo exchange";

/// Calls move(first value, bytes, peer) for every part of every message.
template <class T, class Move>
void for_each_part(const Messages& messages, const ComponentView<T>& view,
                   const HaloOptions& options, const Move& move) {
  const std::int64_t most = most_values(options, sizeof(T));
  for (const HaloPlan::Message& message : messages) {
    for (std::int64_t c = 0; c < view.n_components(); ++c) {
      T* const values = view.data() + c * view.stride() + message.first;
      for (std::int64_t done = 0; done < message.count; done += most) {
        const std::int64_t count = std::min(most, message.count - done);
        move(values + done, static_cast<int>(count * std::int64_t{sizeof(T)}), message.peer);
      }
    }
  }
}

}  // namespace

struct HaloExchange::Impl {
  std::int64_t n_components;
  HaloOptions options;
  std::int64_t own_size;
  std::int64_t halo_size;
  Messages sends;
  Messages receives;
  HaloMessages messages;

  template <class T>
  void begin(const ComponentView<const T>& own, const ComponentView<T>& halo) {
    messages.begin();
    // Receives first, so that arriving messages find their buffer posted.
    for_each_part(receives, halo, options, [&](T* values, int bytes, int peer) {
      messages.receive(values, bytes, MPI_BYTE, peer);
    });
    for_each_part(sends, own, options, [&](const T* values, int bytes, int peer) {
      messages.send(values, bytes, MPI_BYTE, peer, bytes);
    });
  }
};

HaloExchange::HaloExchange(const Communicator& comm, const HaloPlan& plan,
                           std::int64_t n_components, const HaloOptions& options) {
  const std::int64_t most = agreed(comm, [&] {
    expect_plan_of(comm, plan, n_components, options);
    return most_messages(plan, n_components, options);
  });
  expect_fitting_peers(comm, digests_of(plan.sends, comm.size(), n_components, options),
                       digests_of(plan.receives, comm.size(), n_components, options));
  impl_ = agreed(comm, [&] {
    return std::unique_ptr<Impl>(new Impl{n_components,
                                          options,
                                          plan.own_size,
                                          plan.halo_size,
                                          plan.sends,
                                          plan.receives,
                                          {comm, most}});
  });
}

HaloExchange::~HaloExchange() = default;

template <class T>
void HaloExchange::begin(ComponentView<const std::type_identity_t<T>> own, ComponentView<T> halo) {
  impl_->messages.require_rest();
  require_planned(halo_exchange, own.n_components(), impl_->n_components,
                  "components of own rings");
  require_planned(halo_exchange, own.size(), impl_->own_size, "values of own rings");
  require_planned(halo_exchange, halo.n_components(), impl_->n_components,
                  "components of the halo");
  require_planned(halo_exchange, halo.size(), impl_->halo_size, "values of the halo");
  impl_->begin<T>(own, halo);
}

void HaloExchange::progress() { impl_->messages.progress(); }
void HaloExchange::end() { impl_->messages.end(); }

template <class T>
void HaloExchange::run(ComponentView<const std::type_identity_t<T>> own, ComponentView<T> halo,
                       const std::function<void()>& meanwhile) {
  begin(own, halo);
  impl_->messages.end_after(meanwhile);
}

std::int64_t HaloExchange::bytes_sent() const { return impl_->messages.bytes_sent(); }

template void HaloExchange::begin(ComponentView<const float>, ComponentView<float>);
template void HaloExchange::run(ComponentView<const float>, ComponentView<float>,
                                const std::function<void()>&);
template void HaloExchange::begin(ComponentView<const double>, ComponentView<double>);
template void HaloExchange::run(ComponentView<const double>, ComponentView<double>,
                                const std::function<void()>&);

}  // namespace ringweave::detail::inline distribute
