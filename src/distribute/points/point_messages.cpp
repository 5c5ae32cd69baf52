// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/points/point_messages.hpp"

#include <algorithm>
#include <utility>

#include "base/checked_cast.hpp"
#include "distribute/mpi/message_tags.hpp"

namespace ringweave::detail::inline distribute {
PointMessages::PointMessages(Communicator comm, std::span<const std::int64_t> listed,
                             std::span<const std::int64_t> summed, std::int64_t mpi_count_limit)
    : messages_(std::move(comm), "the exchange of points", message_tag::points),
      mpi_count_limit_(mpi_count_limit),
      listed_(blocks_of(listed)),
      summed_(blocks_of(summed)) {}

PointMessages::Blocks PointMessages::blocks_of(std::span<const std::int64_t> counts) {
  Blocks blocks;
  std::int64_t first = 0;
  for (std::int64_t peer = 0; peer < ssize64(counts); ++peer) {
    const std::int64_t count = counts[to_size(peer)];
    if (count > 0) blocks.push_back({static_cast<int>(peer), first, count});
    first += count;
  }
  return blocks;
}

void PointMessages::reserve(std::int64_t n_components) {
  std::int64_t n_messages = 0;
  for (const Blocks* blocks : {&listed_, &summed_}) {
    for (const Block& block : *blocks) {
      const std::int64_t numbers =
          checked_product(block.count, n_components, "numbers of points for one rank");
      n_messages += (numbers - 1) / mpi_count_limit_ + 1;
    }
  }
  messages_.reserve(checked_cast<int>(n_messages, "messages of an exchange of points"));
}

void PointMessages::move(const Blocks& from_blocks, const double* from, const Blocks& to_blocks,
                         double* to, std::int64_t n_components) {
  const auto for_each_message = [&](const Block& block, const auto& act) {
    const std::int64_t numbers = block.count * n_components;
    for (std::int64_t done = 0; done < numbers; done += mpi_count_limit_) {
      const std::int64_t count = std::min(mpi_count_limit_, numbers - done);
      act(block.first * n_components + done, static_cast<int>(count));
    }
  };
  // Receives first, so that arriving messages find their buffer posted.
  for (const Block& block : to_blocks) {
    for_each_message(block, [&](std::int64_t first, int count) {
      messages_.receive(to + first, count, MPI_DOUBLE, block.peer);
    });
  }
  for (const Block& block : from_blocks) {
    for_each_message(block, [&](std::int64_t first, int count) {
      messages_.send(from + first, count, MPI_DOUBLE, block.peer);
    });
  }
  messages_.end();
}

void PointMessages::to_summed(const double* listed, double* summed, std::int64_t n_components) {
  move(listed_, listed, summed_, summed, n_components);
}

void PointMessages::to_listed(const double* summed, double* listed, std::int64_t n_components) {
  move(summed_, summed, listed_, listed, n_components);
}

}  // namespace ringweave::detail::inline distribute
