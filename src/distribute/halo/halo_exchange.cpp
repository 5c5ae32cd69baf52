// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/halo/halo_exchange.hpp"

#include <algorithm>
#include <complex>
#include <limits>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/halo/halo_messages.hpp"
#include "distribute/mpi/agree.hpp"

namespace ringweave::detail::inline distribute {
namespace {

using Messages = std::vector<HaloPlan::Message>;

template <class T>
MPI_Datatype mpi_type();
template <>
MPI_Datatype mpi_type<float>() {
  return MPI_FLOAT;
}
template <>
MPI_Datatype mpi_type<double>() {
  return MPI_DOUBLE;
}
template <>
MPI_Datatype mpi_type<std::complex<float>>() {
  return MPI_C_FLOAT_COMPLEX;
}
template <>
MPI_Datatype mpi_type<std::complex<double>>() {
  return MPI_C_DOUBLE_COMPLEX;
}

/// Most values in one message.
std::int64_t most_values(const HaloOptions& options, std::size_t bytes_per_value) {
  return std::clamp<std::int64_t>(
      options.message_bytes / static_cast<std::int64_t>(bytes_per_value), 1,
      std::numeric_limits<int>::max());
}

/// Most messages in flight at once, for the longest value type.
std::int64_t most_messages(const HaloPlan& plan, std::int64_t n_components,
                           const HaloOptions& options) {
  plan.halo_bytes(n_components, sizeof(std::complex<double>));
  const std::int64_t most = most_values(options, sizeof(std::complex<double>));
  std::int64_t parts = 0;
  for (const Messages* messages : {&plan.sends, &plan.receives}) {
    for (const HaloPlan::Message& message : *messages) parts += (message.count + most - 1) / most;
  }
  const std::int64_t all = checked_product(parts, n_components, "messages of a halo");
  return checked_cast<int>(all, "messages of a halo");
}

PeerFingerprints fingerprints(const Messages& messages, int n_ranks, std::int64_t n_components,
                              const HaloOptions& options) {
  PeerFingerprints result(n_ranks);
  result.add_to_all(n_components);
  result.add_to_all(options.message_bytes);
  for (const HaloPlan::Message& message : messages) {
    result.add(message.peer, message.rings.begin);
    result.add(message.peer, message.rings.end);
    result.add(message.peer, message.count);
  }
  return result;
}

constexpr const char* where = "halo exchange";

/// Calls move(first value, number of values, peer) for every part of every message.
template <class T, class Move>
void for_each_part(const Messages& messages, const ComponentView<T>& view,
                   const HaloOptions& options, const Move& move) {
  const std::int64_t most = most_values(options, sizeof(T));
  for (const HaloPlan::Message& message : messages) {
    for (std::int64_t c = 0; c < view.n_components(); ++c) {
      T* const values = view.data() + c * view.stride() + message.first;
      for (std::int64_t done = 0; done < message.count; done += most) {
        move(values + done, static_cast<int>(std::min(most, message.count - done)), message.peer);
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
    const MPI_Datatype type = mpi_type<T>();
    messages.begin();
    // Receives first, so that arriving messages find their buffer posted.
    for_each_part(receives, halo, options, [&](T* values, int count, int peer) {
      messages.receive(values, count, type, peer);
    });
    for_each_part(sends, own, options, [&](const T* values, int count, int peer) {
      messages.send(values, count, type, peer,
                    std::int64_t{count} * static_cast<std::int64_t>(sizeof(T)));
    });
  }
};

HaloExchange::HaloExchange(Communicator comm, const HaloPlan& plan, std::int64_t n_components,
                           const HaloOptions& options) {
  const std::int64_t most = agreed(comm, [&] {
    expect_plan_of(comm, plan, n_components, options);
    return most_messages(plan, n_components, options);
  });
  expect_fitting_peers(comm, fingerprints(plan.sends, comm.size(), n_components, options),
                       fingerprints(plan.receives, comm.size(), n_components, options));
  impl_ = std::unique_ptr<Impl>(new Impl{n_components,
                                         options,
                                         plan.own_size,
                                         plan.halo_size,
                                         plan.sends,
                                         plan.receives,
                                         {std::move(comm), most}});
}

HaloExchange::~HaloExchange() = default;

template <class T>
void HaloExchange::begin(ComponentView<const std::type_identity_t<T>> own, ComponentView<T> halo) {
  impl_->messages.require_rest();
  require_planned(where, own.n_components(), impl_->n_components, "components of own rings");
  require_planned(where, own.size(), impl_->own_size, "values of own rings");
  require_planned(where, halo.n_components(), impl_->n_components, "components of the halo");
  require_planned(where, halo.size(), impl_->halo_size, "values of the halo");
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
template void HaloExchange::begin(ComponentView<const std::complex<float>>,
                                  ComponentView<std::complex<float>>);
template void HaloExchange::run(ComponentView<const std::complex<float>>,
                                ComponentView<std::complex<float>>, const std::function<void()>&);
template void HaloExchange::begin(ComponentView<const std::complex<double>>,
                                  ComponentView<std::complex<double>>);
template void HaloExchange::run(ComponentView<const std::complex<double>>,
                                ComponentView<std::complex<double>>, const std::function<void()>&);

}  // namespace ringweave::detail::inline distribute
