// SPDX-License-Identifier: GPL-3.0-or-later
#include "moves.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>

#include <ringweave/error.hpp>
#include <ringweave/mpi.hpp>

namespace ringweave::python {
namespace {

struct Piece {
  std::int64_t global;
  std::int64_t local;
  std::int64_t count;
};

/// An array of rows with contiguous elements of any type.
struct Bytes {
  bool is_given = false;
  char* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t size = 0;
  std::int64_t stride = 0;  ///< bytes between rows
  std::int64_t element = 0;
  nb::ndarray<nb::ro> owner;
};

Bytes bytes_of(nb::handle array, const char* name, bool is_written) {
  Bytes bytes;
  if (array.is_none()) return bytes;
  bytes.is_given = true;
  if (is_written) {
    nb::ndarray<nb::device::cpu> writable;
    if (!nb::try_cast(array, writable, false))
      throw ArrayError(std::string(name) +
                       ": is no array in the host's memory that can be written to");
    bytes.owner = nb::ndarray<nb::ro>(writable);
  } else {
    nb::ndarray<nb::ro, nb::device::cpu> readable;
    if (!nb::try_cast(array, readable, false))
      throw ArrayError(std::string(name) + ": is no array in the host's memory");
    bytes.owner = nb::ndarray<nb::ro>(readable);
  }
  const auto& owner = bytes.owner;
  bytes.element = (owner.dtype().bits * owner.dtype().lanes + 7) / 8;
  if (owner.ndim() != 2) throw ArrayError(std::string(name) + ": must have two axes");
  bytes.rows = static_cast<std::int64_t>(owner.shape(0));
  bytes.size = static_cast<std::int64_t>(owner.shape(1));
  if (bytes.size > 1 && owner.stride(1) != 1)
    throw ArrayError(std::string(name) + ": has a last axis that is not contiguous; copy it");
  bytes.stride = owner.stride(0) * bytes.element;
  bytes.data = static_cast<char*>(const_cast<void*>(owner.data()));
  return bytes;
}

std::vector<Piece> pieces_of(const Pieces& array, std::int64_t size, const char* name) {
  std::vector<Piece> pieces(array.shape(0));
  std::int64_t before = 0;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    pieces[i] = {array.data()[3 * i], array.data()[3 * i + 1], array.data()[3 * i + 2]};
    const Piece& piece = pieces[i];
    if (piece.count < 0 || piece.local < 0 || piece.local > size - piece.count ||
        piece.global < before) {
      throw UsageError(std::string(name) + ": has " + std::to_string(size) +
                       " elements, which are not those of its layout");
    }
    before = piece.global + piece.count;
  }
  return pieces;
}

void check(int code, const char* call) {
  if (code != MPI_SUCCESS) throw PeerError(std::string(call) + " failed");
}

/// Returns the pieces of all ranks. Collective.
std::vector<std::vector<Piece>> of_all_ranks(const Communicator& comm,
                                             const std::vector<Piece>& own) {
  std::vector<std::vector<Piece>> all(static_cast<std::size_t>(comm.size()));
  const auto counts = comm.all_gather(static_cast<std::int64_t>(own.size()));
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    all[rank].resize(static_cast<std::size_t>(counts[rank]));
    if (static_cast<int>(rank) == comm.rank()) all[rank] = own;
    comm.broadcast(all[rank].data(), counts[rank] * std::int64_t{sizeof(Piece)},
                   static_cast<int>(rank));
  }
  return all;
}

/// Calls use(place in `a`, place in `b`, count) for all elements that are in both.
template <class Use>
void for_common(const std::vector<Piece>& a, const std::vector<Piece>& b, const Use& use) {
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < a.size() && j < b.size()) {
    const std::int64_t begin = std::max(a[i].global, b[j].global);
    const std::int64_t end = std::min(a[i].global + a[i].count, b[j].global + b[j].count);
    if (begin < end)
      use(begin - a[i].global + a[i].local, begin - b[j].global + b[j].local, end - begin);
    if (a[i].global + a[i].count < b[j].global + b[j].count) {
      ++i;
    } else {
      ++j;
    }
  }
}

/// Type of MPI for some elements of all rows of an array; null: none.
class Selection {
 public:
  /// Adds elements of every row.
  void add(const Bytes& bytes, std::int64_t place, std::int64_t count) {
    constexpr std::int64_t most = std::int64_t{1} << 30;
    for (std::int64_t row = 0; row < bytes.rows; ++row) {
      for (std::int64_t done = 0; done < count * bytes.element; done += most) {
        lengths_.push_back(static_cast<int>(std::min(most, count * bytes.element - done)));
        places_.push_back(row * bytes.stride + place * bytes.element + done);
      }
    }
  }
  bool empty() const { return lengths_.empty(); }
  /// Makes the type.
  MPI_Datatype type() {
    check(MPI_Type_create_hindexed(static_cast<int>(lengths_.size()), lengths_.data(),
                                   places_.data(), MPI_BYTE, &type_),
          "MPI_Type_create_hindexed");
    check(MPI_Type_commit(&type_), "MPI_Type_commit");
    return type_;
  }
  Selection() = default;
  Selection(const Selection&) = delete;
  Selection& operator=(const Selection&) = delete;
  ~Selection() {
    if (type_ != MPI_DATATYPE_NULL) MPI_Type_free(&type_);
  }

 private:
  std::vector<int> lengths_;
  std::vector<MPI_Aint> places_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

void copy_own(const std::vector<Piece>& from, const Bytes& source, const std::vector<Piece>& to,
              const Bytes& target) {
  for_common(from, to, [&](std::int64_t there, std::int64_t here, std::int64_t count) {
    for (std::int64_t row = 0; row < target.rows; ++row) {
      std::memmove(target.data + row * target.stride + here * target.element,
                   source.data + row * source.stride + there * source.element,
                   static_cast<std::size_t>(count * target.element));
    }
  });
}

void move_between_ranks(const Communicator& comm, const std::vector<Piece>& from,
                        const Bytes& source, const std::vector<Piece>& to, const Bytes& target) {
  constexpr int tag = 71;
  const MPI_Comm handle = mpi_handle(comm);
  const auto sources = of_all_ranks(comm, from);
  const auto targets = of_all_ranks(comm, to);
  const auto n_ranks = static_cast<std::size_t>(comm.size());
  std::vector<Selection> received(n_ranks);
  std::vector<Selection> sent(n_ranks);
  std::vector<MPI_Request> requests;
  for (std::size_t step = 1; step < n_ranks; ++step) {
    const std::size_t left = (static_cast<std::size_t>(comm.rank()) + n_ranks - step) % n_ranks;
    for_common(sources[left], to, [&](std::int64_t, std::int64_t here, std::int64_t count) {
      received[left].add(target, here, count);
    });
    if (received[left].empty()) continue;
    requests.push_back(MPI_REQUEST_NULL);
    check(MPI_Irecv(target.data, 1, received[left].type(), static_cast<int>(left), tag, handle,
                    &requests.back()),
          "MPI_Irecv");
  }
  for (std::size_t step = 1; step < n_ranks; ++step) {
    const std::size_t right = (static_cast<std::size_t>(comm.rank()) + step) % n_ranks;
    for_common(from, targets[right], [&](std::int64_t here, std::int64_t, std::int64_t count) {
      sent[right].add(source, here, count);
    });
    if (sent[right].empty()) continue;
    requests.push_back(MPI_REQUEST_NULL);
    check(MPI_Isend(source.data, 1, sent[right].type(), static_cast<int>(right), tag, handle,
                    &requests.back()),
          "MPI_Isend");
  }
  copy_own(from, source, to, target);
  check(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE),
        "MPI_Waitall");
}

}  // namespace

void move(const Communicator& comm, nb::handle source, const Pieces& source_pieces,
          nb::handle target, const Pieces& target_pieces) {
  Bytes from;
  Bytes to;
  std::vector<Piece> have;
  std::vector<Piece> want;
  agree(comm, "the number of components and the type of arrays that are moved", [&] {
    from = bytes_of(source, "source", false);
    to = bytes_of(target, "target", true);
    have = pieces_of(source_pieces, from.size, "source");
    want = pieces_of(target_pieces, to.size, "target");
    const Bytes& one = from.is_given ? from : to;
    if (from.is_given && to.is_given && (from.element != to.element || from.rows != to.rows)) {
      throw UsageError("source and target have different numbers of components or types");
    }
    return one.rows * 1024 + one.element;
  });
  const nb::gil_scoped_release released;
  if (comm.size() == 1) {
    copy_own(have, from, want, to);
  } else {
    move_between_ranks(comm, have, from, want, to);
  }
}

}  // namespace ringweave::python
