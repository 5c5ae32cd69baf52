// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/points/piece_exchange.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/checked_cast.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/exchange_mpi.hpp"
#include "distribute/points/point_messages.hpp"

namespace ringweave::detail::inline distribute {
namespace {

/// Ring, sector, first and last tap: the numbers that are sent of a piece.
constexpr std::int64_t n_numbers = 4;

/// Returns which ranks own rows that a piece touches, ascending.
std::vector<int> ranks_of(const PointPlan& plan, const MovedPiece& piece) {
  std::vector<int> ranks;
  const RingRange rows = plan.rows().rows_between(piece.first_tap, piece.last_tap);
  for (std::int64_t row = rows.begin; row < rows.end; ++row) {
    if (plan.exists(row)) ranks.push_back(plan.owner(row));
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

}  // namespace

/// Messages to and from other ranks while this is planned: numbers of pieces, and their vectors.
struct PieceExchange::Moving {
  std::vector<std::vector<const MovedPiece*>> to_peer;
  std::unique_ptr<PointMessages> messages;  ///< of numbers
  // [piece][number]
  HostBuffer<double> numbers_sent;
  HostBuffer<double> numbers_received;
  // [point][to the south, to the east]
  HostBuffer<double> given;
  HostBuffer<double> received;

  /// Returns [peer] the sum of count(piece) over the pieces that leave.
  template <class Count>
  std::vector<std::int64_t> counts(const Count& count) const {
    std::vector<std::int64_t> sums(to_peer.size(), 0);
    for (std::size_t peer = 0; peer < sums.size(); ++peer) {
      for (const MovedPiece* piece : to_peer[peer]) sums[peer] += count(*piece);
    }
    return sums;
  }

  void pack(ComponentView<const double> vectors) {
    double* number = numbers_sent.data();
    double* vector = given.data();
    for (const std::vector<const MovedPiece*>& pieces : to_peer) {
      for (const MovedPiece* piece : pieces) {
        *number++ = static_cast<double>(piece->pixels.ring);
        for (const std::int32_t value : {piece->sector, piece->first_tap, piece->last_tap})
          *number++ = value;
        for (std::int64_t i = piece->place; i < piece->place + piece->pixels.count; ++i) {
          for (const std::int64_t c : {0, 1}) *vector++ = vectors.component(c)[i];
        }
      }
    }
  }
};

PieceExchange::~PieceExchange() = default;

PieceExchange::PieceExchange(Communicator comm, const PixelPieces& cut, const PointPlan& plan,
                             std::vector<MovedPiece>&& pieces, ComponentView<const double> vectors,
                             const PointOptions& options)
    : comm_(std::move(comm)) {
  if (comm_.size() == 1) {
    summed_ = std::move(pieces);
    return;
  }
  Moving moving;
  std::vector<std::int64_t> pieces_sent;
  std::vector<std::int64_t> points_sent;
  agree(comm_, [&] {
    list(plan, pieces, moving);
    pieces_sent = moving.counts([](const MovedPiece&) { return std::int64_t{1}; });
    points_sent = moving.counts([](const MovedPiece& piece) { return piece.pixels.count; });
  });
  const std::vector<std::int64_t> pieces_arrive = all_to_all(comm_, pieces_sent);
  const std::vector<std::int64_t> points_arrive = all_to_all(comm_, points_sent);
  agree(comm_, [&] {
    const auto plan_messages = [&](const auto& sent, const auto& arriving, std::int64_t numbers) {
      auto messages =
          std::make_unique<PointMessages>(comm_, sent, arriving, options.mpi_count_limit);
      messages->reserve(numbers);
      return messages;
    };
    moving.messages = plan_messages(pieces_sent, pieces_arrive, n_numbers);
    messages_ = plan_messages(points_sent, points_arrive,
                              std::max<std::int64_t>(options.most_components, 2));
    moving.numbers_sent.allocate(n_numbers * moving.messages->n_listed());
    moving.numbers_received.allocate(n_numbers * moving.messages->n_summed());
    moving.given.allocate(2 * messages_->n_listed());
    moving.received.allocate(2 * messages_->n_summed());
    moving.pack(vectors);
  });
  moving.messages->to_summed(moving.numbers_sent.data(), moving.numbers_received.data(), n_numbers);
  messages_->to_summed(moving.given.data(), moving.received.data(), 2);
  agree(comm_, [&] {
    const std::int64_t n_kept = place_sums(messages_->n_summed());
    receive(cut, moving);
    listed_buffer_.allocate(options.most_components * messages_->n_listed());
    summed_buffer_.allocate(options.most_components * (messages_->n_summed() + n_kept));
  });
}

/// Lists the pieces that this rank sums, and those that others sum.
void PieceExchange::list(const PointPlan& plan, std::span<const MovedPiece> pieces,
                         Moving& moving) {
  moving.to_peer.resize(to_size(comm_.size()));
  std::vector<int> peers;  // [place]
  std::vector<std::int64_t> n_sent(moving.to_peer.size(), 0);
  for (const MovedPiece& piece : pieces) {
    const std::vector<int> ranks = ranks_of(plan, piece);
    const std::int64_t count = piece.pixels.count;
    const bool is_summed_here = std::binary_search(ranks.begin(), ranks.end(), comm_.rank());
    if (is_summed_here) summed_.push_back(piece);
    if (is_summed_here && ranks.size() == 1) continue;
    for (const int rank : ranks) {
      if (rank == comm_.rank()) continue;
      moving.to_peer[to_size(rank)].push_back(&piece);
      places_.push_back(std::exchange(n_sent[to_size(rank)], n_sent[to_size(rank)] + count));
      peers.push_back(rank);
    }
    shared_.push_back(
        {piece.place, count, is_summed_here ? ssize64(summed_) - 1 : -1, ssize64(places_)});
  }
  std::exclusive_scan(n_sent.begin(), n_sent.end(), n_sent.begin(), std::int64_t{0});
  for (std::size_t i = 0; i < places_.size(); ++i) places_[i] += n_sent[to_size(peers[i])];
}

/// Gives the pieces that this rank and others sum a place for their sums, from `first` on. Returns
/// the number of their points.
std::int64_t PieceExchange::place_sums(std::int64_t first) {
  std::int64_t next = first;
  for (SharedPiece& shared : shared_) {
    if (shared.sums < 0) continue;
    summed_[to_size(shared.sums)].sums = next;
    shared.sums = std::exchange(next, next + shared.count);
  }
  return next - first;
}

/// Sorts the pieces of others in, and takes their vectors.
void PieceExchange::receive(const PixelPieces& cut, const Moving& moving) {
  std::int64_t place = 0;
  for (std::int64_t i = 0; i < moving.messages->n_summed(); ++i) {
    const double* const numbers = moving.numbers_received.data() + i * n_numbers;
    const auto ring = static_cast<std::int64_t>(numbers[0]);
    const std::int64_t block = cut.block_of(ring);
    MovedPiece piece{};
    piece.block = static_cast<std::int32_t>(block);
    piece.sector = static_cast<std::int32_t>(numbers[1]);
    piece.first_tap = static_cast<std::int32_t>(numbers[2]);
    piece.last_tap = static_cast<std::int32_t>(numbers[3]);
    piece.pixels = cut.piece(cut.blocks()[to_size(block)], piece.sector, ring);
    piece.place = piece.sums = place;
    place += piece.pixels.count;
    summed_.push_back(piece);
  }
  const auto key = [](const MovedPiece& piece) {
    return std::tuple(piece.block, piece.sector, piece.pixels.ring);
  };
  std::sort(summed_.begin(), summed_.end(),
            [&](const MovedPiece& a, const MovedPiece& b) { return key(a) < key(b); });
  vectors_ = ComponentBuffer<double>(2, place);
  for (std::int64_t i = 0; i < place; ++i) {
    for (const std::int64_t c : {0, 1})
      vectors_.view().component(c)[i] = moving.received[2 * i + c];
  }
}

std::span<const std::int64_t> PieceExchange::places_of(std::int64_t shared) const {
  const std::int64_t begin = shared == 0 ? 0 : shared_[to_size(shared - 1)].end;
  return std::span(places_).subspan(to_size(begin), to_size(shared_[to_size(shared)].end - begin));
}

template <class T>
void PieceExchange::gather(ComponentView<T> values) {
  if (messages_ == nullptr) return;
  const std::int64_t n_components = values.n_components();
  messages_->to_listed(summed_buffer_.data(), listed_buffer_.data(), n_components);
#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < ssize64(shared_); ++k) {
    const SharedPiece& piece = shared_[to_size(k)];
    const std::span<const std::int64_t> places = places_of(k);
    for (std::int64_t c = 0; c < n_components; ++c) {
      T* const to = values.component(c).data() + piece.pixel;
      for (std::int64_t i = 0; i < piece.count; ++i) {
        double sum = piece.sums < 0 ? 0 : summed_buffer_[(piece.sums + i) * n_components + c];
        for (const std::int64_t place : places)
          sum += listed_buffer_[(place + i) * n_components + c];
        to[i] = static_cast<T>(sum);
      }
    }
  }
}

template <class T>
void PieceExchange::scatter(ComponentView<const T> values) {
  if (messages_ == nullptr) return;
  const std::int64_t n_components = values.n_components();
#pragma omp parallel for schedule(static)
  for (std::int64_t k = 0; k < ssize64(shared_); ++k) {
    const SharedPiece& piece = shared_[to_size(k)];
    for (const std::int64_t place : places_of(k)) {
      for (std::int64_t c = 0; c < n_components; ++c) {
        const T* const from = values.component(c).data() + piece.pixel;
        double* to = listed_buffer_.data() + place * n_components + c;
        for (std::int64_t i = 0; i < piece.count; ++i, to += n_components)
          *to = static_cast<double>(from[i]);
      }
    }
  }
  messages_->to_summed(listed_buffer_.data(), summed_buffer_.data(), n_components);
}

std::int64_t PieceExchange::bytes() const {
  const std::int64_t bytes =
      held_bytes(summed_, shared_, places_, listed_buffer_, summed_buffer_) + vectors_.bytes();
  return messages_ == nullptr ? bytes : bytes + messages_->bytes();
}

std::int64_t PieceExchange::bytes_of(const PointCounts& points, std::int64_t n_components) {
  constexpr std::int64_t number = sizeof(double);
  constexpr std::int64_t usual_pixels = PixelPieces::most_pixels * 7 / 8;
  // Points that this rank and another sum.
  const std::int64_t kept = std::min(points.listed, points.repeated);
  return (points.summed * std::int64_t{sizeof(MovedPiece)} +
          points.sent * std::int64_t{sizeof(SharedPiece) + sizeof(std::int64_t)}) /
             usual_pixels +
         (points.sent + kept) * n_components * number +
         points.arriving * (n_components + 2) * number;
}

#define RINGWEAVE_INSTANTIATE(T)                            \
  template void PieceExchange::gather<T>(ComponentView<T>); \
  template void PieceExchange::scatter<T>(ComponentView<const T>);
RINGWEAVE_INSTANTIATE(float)
RINGWEAVE_INSTANTIATE(double)
#undef RINGWEAVE_INSTANTIATE

}  // namespace ringweave::detail::inline distribute
