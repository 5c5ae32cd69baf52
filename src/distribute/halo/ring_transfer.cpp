// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/halo/ring_transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/exchange_mpi.hpp"
#include "distribute/mpi/message_tags.hpp"
#include "distribute/mpi/mpi_library.hpp"
#include "distribute/mpi/peer_messages.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline distribute {

namespace {

constexpr int n_buffers = 2;
constexpr const char* transferring = "the transfer of rings";

/// A chunk of pixels of one component, sent as one message.
struct RingPart {
  int peer;
  std::int64_t component;
  std::int64_t first;
  std::int64_t count;
};

std::int64_t digest_of(const RingDistribution& before, const RingDistribution& after,
                       std::int64_t n_components, const RingTransferOptions& options) {
  Digest digest;
  digest.add(n_components);
  digest.add(options.message_bytes);
  digest.add(options.arrival);
  for (const RingDistribution* rings : {&before, &after}) {
    for (const RingDistribution::OwnedBand& band : rings->bands()) {
      digest.add(band.rings.end);
      digest.add(band.rank);
    }
  }
  return digest.value();
}

/// `what` names the pixels of one map. A rank without pixels may have any number of maps.
template <class T>
void require_shape(const char* what, ComponentView<T> view, std::int64_t n_components,
                   std::int64_t size) {
  constexpr const char* where = "transfer of rings";
  require_planned(where, view.size(), size, what);
  if (size > 0) require_planned(where, view.n_components(), n_components, "maps");
}

/// Splits the messages of all components. Both ranks of a pair get the same order.
std::vector<RingPart> parts_of(const std::vector<RingTransferPlan::Message>& messages,
                               std::int64_t n_components, std::int64_t most) {
  std::vector<RingPart> parts;
  for (const RingTransferPlan::Message& message : messages) {
    for (std::int64_t c = 0; c < n_components; ++c) {
      for (std::int64_t done = 0; done < message.count; done += most) {
        parts.push_back(
            {message.peer, c, message.first + done, std::min(most, message.count - done)});
      }
    }
  }
  return parts;
}

template <class T>
int bytes_of_part(std::int64_t count) {
  return static_cast<int>(count * static_cast<std::int64_t>(sizeof(T)));
}

/// State of the sends in progress. `buffers`: n_buffers of message_bytes.
template <class T>
void add_as_they_arrive(const Communicator& comm, const std::vector<RingPart>& parts,
                        std::byte* buffers, std::int64_t message_bytes, ComponentView<T> to) {
  std::array<MPI_Request, n_buffers> requests{MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  std::array<std::size_t, n_buffers> arriving{};
  std::size_t next = 0;
  const std::int64_t values_of_buffer = message_bytes / static_cast<std::int64_t>(sizeof(T));
  const auto buffer = [&](std::size_t slot) {
    return reinterpret_cast<T*>(buffers) + static_cast<std::int64_t>(slot) * values_of_buffer;
  };
  const auto receive_next = [&](std::size_t slot) {
    if (next == parts.size()) return;
    const RingPart& part = parts[next];
    arriving[slot] = next++;
    end_job_unless_done(
        comm,
        MPI_Irecv(buffer(slot), bytes_of_part<T>(part.count), MPI_BYTE, part.peer,
                  message_tag::transferred_rings, mpi_handle(comm), &requests[slot]),
        transferring);
  };
  for (std::size_t slot = 0; slot < requests.size(); ++slot) receive_next(slot);
  for (std::size_t done = 0; done < parts.size(); ++done) {
    int arrived = 0;
    const int code = waiting_in(transferring, [&] {
      return MPI_Waitany(n_buffers, requests.data(), &arrived, MPI_STATUS_IGNORE);
    });
    end_job_unless_done(comm, code, transferring);
    const std::size_t slot = to_size(arrived);
    const RingPart& part = parts[arriving[slot]];
    const T* const values = buffer(slot);
    T* const place = to.component(part.component).data() + part.first;
#pragma omp parallel for schedule(static)
    for (std::int64_t i = 0; i < part.count; ++i) place[i] += values[i];
    receive_next(slot);
  }
}

}  // namespace

RingTransfer::RingTransfer(Communicator comm, const RingDistribution& before,
                           const RingDistribution& after, std::int64_t n_components,
                           const RingTransferOptions& options)
    : comm_(std::move(comm)), n_components_(n_components), options_(options) {
  agree(comm_, [&] {
    if (before.n_ranks() != comm_.size()) {
      throw UsageError(fmt::format("a transfer of rings among {} ranks is planned for {}",
                                   comm_.size(), before.n_ranks()));
    }
    if (n_components < 0)
      throw UsageError(fmt::format("a transfer of {} maps; expected 0 or more", n_components));
    if (options.message_bytes < std::int64_t{sizeof(double)} ||
        options.message_bytes > std::numeric_limits<int>::max()) {
      throw UsageError(fmt::format("rings in messages of {} bytes; expected {} to 2^31 - 1",
                                   options.message_bytes, sizeof(double)));
    }
    plan_ = plan_ring_transfer(before, after, comm_.rank());
    buffers_.allocate(buffer_bytes(plan_, options));
  });
  agree_same(comm_, "the transfer of rings (ownership, options)",
             digest_of(before, after, n_components, options));
}

std::int64_t RingTransfer::buffer_bytes(const RingTransferPlan& plan,
                                        const RingTransferOptions& options) {
  const bool has_buffers = options.arrival == Arrival::add && !plan.receives.empty();
  return has_buffers ? n_buffers * options.message_bytes : 0;
}

template <class T>
void RingTransfer::move(ComponentView<const T> from, ComponentView<T> to) {
  std::vector<RingPart> sends;
  std::vector<RingPart> receives;
  PeerMessages messages(comm_, transferring, message_tag::transferred_rings);
  agree(comm_, [&] {
    require_shape("pixels before", from, n_components_, plan_.size_before);
    require_shape("pixels after", to, n_components_, plan_.size_after);
    const std::int64_t most = options_.message_bytes / static_cast<std::int64_t>(sizeof(T));
    sends = parts_of(plan_.sends, n_components_, most);
    receives = parts_of(plan_.receives, n_components_, most);
    checked_cast<int>(ssize64(sends) + ssize64(receives), "messages of a transfer of rings");
    messages.reserve(ssize64(sends) + ssize64(receives));
  });
  // Receives first, so that arriving messages find their buffer posted.
  for (std::size_t i = 0; options_.arrival == Arrival::overwrite && i < receives.size(); ++i) {
    const RingPart& part = receives[i];
    messages.receive(to.component(part.component).data() + part.first, bytes_of_part<T>(part.count),
                     MPI_BYTE, part.peer);
  }
  for (const RingPart& part : sends) {
    messages.send(from.component(part.component).data() + part.first, bytes_of_part<T>(part.count),
                  MPI_BYTE, part.peer);
  }
  if (options_.arrival == Arrival::add)
    add_as_they_arrive(comm_, receives, buffers_.data(), options_.message_bytes, to);
  messages.end();
}

template void RingTransfer::move(ComponentView<const float>, ComponentView<float>);
template void RingTransfer::move(ComponentView<const double>, ComponentView<double>);

}  // namespace ringweave::detail::inline distribute
