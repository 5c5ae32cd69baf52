// SPDX-License-Identifier: GPL-3.0-or-later
#include "distribute/order_moves.hpp"

#include <algorithm>
#include <complex>
#include <type_traits>

#include "distribute/exchange/degree_exchange.hpp"
#include "distribute/mpi/agree.hpp"
#include "distribute/mpi/peer_messages.hpp"
#include "ringweave/error.hpp"

namespace ringweave::detail::inline distribute {
namespace {

constexpr int tag = 7;

}  // namespace

template <class T>
void move_orders(const Communicator& comm, const AlmLayout& from_layout, AlmView<const T> from,
                 const AlmLayout& to_layout, AlmView<T> to) {
  agree(comm, [&] {
    if (from_layout.lmax() != to_layout.lmax() || from_layout.mmax() != to_layout.mmax() ||
        from.n_components() != to.n_components())
      throw UsageError("a_lm are moved between layouts of the same degrees and components only");
  });
  const OrderOwners sources = gather_order_owners(comm, from_layout);
  const OrderOwners targets = gather_order_owners(comm, to_layout);
  const MPI_Datatype number = std::is_same_v<T, float> ? MPI_FLOAT : MPI_DOUBLE;
  PeerMessages messages(comm, "the exchange of orders", tag);
  // Both ends go over the orders, and over the components of each, alike.
  for (int m = 0; m <= from_layout.mmax(); ++m) {
    const int source = sources.owner(m);
    const int target = targets.owner(m);
    if (source != comm.rank() && target != comm.rank()) continue;
    const std::int64_t length = from_layout.lmax() + std::int64_t{1} - m;
    for (std::int64_t c = 0; c < to.n_components(); ++c) {
      const std::complex<T>* first = nullptr;
      std::complex<T>* place = nullptr;
      if (source == comm.rank())
        first = from.component(c).data() + from_layout.index(from_layout.row_of(m), m);
      if (target == comm.rank())
        place = to.component(c).data() + to_layout.index(to_layout.row_of(m), m);
      if (source == target) {
        std::copy_n(first, length, place);
      } else if (first != nullptr) {
        messages.send(first, static_cast<int>(2 * length), number, target);
      } else {
        messages.receive(place, static_cast<int>(2 * length), number, source);
      }
    }
  }
  messages.end();
}

#define RINGWEAVE_INSTANTIATE(T)                                                        \
  template void move_orders<T>(const Communicator&, const AlmLayout&, AlmView<const T>, \
                               const AlmLayout&, AlmView<T>);
RINGWEAVE_INSTANTIATE(float)
RINGWEAVE_INSTANTIATE(double)
#undef RINGWEAVE_INSTANTIATE

}  // namespace ringweave::detail::inline distribute
