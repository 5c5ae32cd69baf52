// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/halo/halo_messages.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/checked_cast.hpp"
#include "distribute/halo/halo_exchange.hpp"
#include "distribute/mpi/message_tags.hpp"

namespace ringweave::detail::inline distribute {
HaloMessages::HaloMessages(Communicator comm, std::int64_t most)
    : messages_(std::move(comm), "the exchange of halo rings", message_tag::halo_rings) {
  messages_.reserve(most);
}

void HaloMessages::require_rest() const {
  if (moving_) throw UsageError("a halo exchange begins before its last one has ended");
}

void HaloMessages::begin() {
  moving_ = true;
  bytes_sent_ = 0;
}

void HaloMessages::receive(void* to, int count, MPI_Datatype type, int peer) {
  messages_.receive(to, count, type, peer);
}

void HaloMessages::send(const void* from, int count, MPI_Datatype type, int peer,
                        std::int64_t bytes) {
  messages_.send(from, count, type, peer);
  bytes_sent_ += bytes;
}

void HaloMessages::end() {
  messages_.end();
  moving_ = false;
}

void HaloMessages::end_after(const std::function<void()>& meanwhile) {
  try {
    meanwhile();
  } catch (...) {
    if (messages_.empty()) {
      moving_ = false;
      throw;
    }
    const CaughtError error = describe_current_exception();
    comm().abort(error.kind, error.message);
  }
  end();
}

void expect_plan_of(const Communicator& comm, const HaloPlan& plan, std::int64_t n_components,
                    const HaloOptions& options) {
  if (plan.n_ranks != comm.size() || plan.rank != comm.rank()) {
    throw UsageError(fmt::format(
        "the halo is planned for rank {} of {}, this is rank {} of {}; plan it for this one",
        plan.rank, plan.n_ranks, comm.rank(), comm.size()));
  }
  if (n_components < 0 || options.message_bytes < 1) {
    throw UsageError(fmt::format(
        "a halo of {} components in messages of {} bytes; expected 0 or more, and 1 or more",
        n_components, options.message_bytes));
  }
}

std::vector<Digest> peer_digests(int n_ranks, std::int64_t n_components,
                                 const HaloOptions& options) {
  Digest digest;
  digest.add(n_components);
  digest.add(options.message_bytes);
  return std::vector<Digest>(to_size(n_ranks), digest);
}

void expect_fitting_peers(const Communicator& comm, const std::vector<Digest>& sent,
                          const std::vector<Digest>& expected) {
  if (comm.size() == 1) return;
  std::vector<std::int64_t> sent_values;
  for (const Digest& digest : sent) sent_values.push_back(digest.value());
  const std::vector<std::int64_t> received = all_to_all(comm, sent_values);
  agree(comm, [&] {
    for (int peer = 0; peer < comm.size(); ++peer) {
      if (received[to_size(peer)] == expected[to_size(peer)].value()) continue;
      throw UsageError(fmt::format(
          "the halo plans do not fit: rank {} does not send what is expected from it; plan with "
          "the same grid, support, values per ring, components and options on all ranks",
          peer));
    }
  });
}

}  // namespace ringweave::detail::inline distribute
