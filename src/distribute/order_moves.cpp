// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/order_moves.hpp"

#include <algorithm>
#include <complex>
#include <type_traits>

#include "base/checked_cast.hpp"
#include "distribute/exchange/degree_exchange.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/message_tags.hpp"
#include "distribute/mpi/peer_messages.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline distribute {
OrderMoves::OrderMoves(const Communicator& comm, const AlmLayout& from, const AlmLayout& to,
                       std::int64_t n_components) {
  agree(comm, [&] {
    if (from.lmax() != to.lmax() || from.mmax() != to.mmax())
      throw UsageError("a_lm are moved between layouts of the same degrees only");
  });
  const OrderOwners sources = gather_order_owners(comm, from);
  const OrderOwners targets = gather_order_owners(comm, to);
  agree(comm, [&] {
    for (int m = 0; m <= from.mmax(); ++m) {
      Move move{sources.owner(m), targets.owner(m), -1, -1, from.lmax() + std::int64_t{1} - m};
      if (move.source == comm.rank()) move.first = from.index(from.row_of(m), m);
      if (move.target == comm.rank()) move.place = to.index(to.row_of(m), m);
      if (move.first >= 0 || move.place >= 0) moves_.push_back(move);
    }
    messages_ = std::make_unique<PeerMessages>(comm, "the exchange of orders", message_tag::orders);
    messages_->reserve(ssize64(moves_) * n_components);
  });
}
OrderMoves::~OrderMoves() = default;

template <class T>
void OrderMoves::move(AlmView<const T> from, AlmView<T> to) {
  const MPI_Datatype number = std::is_same_v<T, float> ? MPI_FLOAT : MPI_DOUBLE;
  // Both ends go over the orders, and over the components of each, alike.
  for (const Move& move : moves_) {
    for (std::int64_t c = 0; c < to.n_components(); ++c) {
      const std::complex<T>* first = nullptr;
      std::complex<T>* place = nullptr;
      if (move.first >= 0) first = from.component(c).data() + move.first;
      if (move.place >= 0) place = to.component(c).data() + move.place;
      if (move.source == move.target) {
        std::copy_n(first, move.length, place);
      } else if (first != nullptr) {
        messages_->send(first, static_cast<int>(2 * move.length), number, move.target);
      } else {
        messages_->receive(place, static_cast<int>(2 * move.length), number, move.source);
      }
    }
  }
  messages_->end();
}

template <class T>
void move_orders(const Communicator& comm, const AlmLayout& from_layout, AlmView<const T> from,
                 const AlmLayout& to_layout, AlmView<T> to) {
  agree(comm, [&] {
    if (from.n_components() != to.n_components())
      throw UsageError("a_lm are moved between the same numbers of components only");
  });
  OrderMoves(comm, from_layout, to_layout, to.n_components()).move<T>(from, to);
}

#define RINGWEAVE_INSTANTIATE(T)                                                        \
  template void OrderMoves::move<T>(AlmView<const T>, AlmView<T>);                      \
  template void move_orders<T>(const Communicator&, const AlmLayout&, AlmView<const T>, \
                               const AlmLayout&, AlmView<T>);
RINGWEAVE_INSTANTIATE(float)
RINGWEAVE_INSTANTIATE(double)
#undef RINGWEAVE_INSTANTIATE

}  // namespace ringweave::detail::inline distribute
