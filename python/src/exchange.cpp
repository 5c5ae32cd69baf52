// SPDX-License-Identifier: GPL-3.0-or-later
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "moves.hpp"

#include <ringweave/error.hpp>
#include <ringweave/mpi.hpp>

namespace ringweave::python {
namespace {

void check_call(int code, const char* call) {
  if (code != MPI_SUCCESS) throw PeerError(std::string(call) + " failed");
}

/// Type of MPI for an element of some bytes.
class Element {
 public:
  explicit Element(std::int64_t bytes) {
    check_call(MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type_),
               "MPI_Type_contiguous");
    check_call(MPI_Type_commit(&type_), "MPI_Type_commit");
  }
  ~Element() { MPI_Type_free(&type_); }
  Element(const Element&) = delete;
  Element& operator=(const Element&) = delete;
  MPI_Datatype type() const { return type_; }

 private:
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
};

/// Counts of elements for every rank, and the places where they begin.
struct Parts {
  std::vector<int> counts;
  std::vector<int> places;
};

Parts parts_of(const Counts& counts, const Communicator& comm, std::int64_t size,
               const char* name) {
  Parts parts;
  std::int64_t place = 0;
  if (static_cast<int>(counts.size()) != comm.size())
    throw UsageError(std::string(name) + ": expected a number for every rank");
  for (std::size_t rank = 0; rank < counts.size(); ++rank) {
    const std::int64_t count = counts.data()[rank];
    if (count < 0 || count > std::numeric_limits<int>::max() - place) {
      throw UsageError(std::string(name) + ": negative, or 2^31 elements and more; use more ranks");
    }
    parts.counts.push_back(static_cast<int>(count));
    parts.places.push_back(static_cast<int>(place));
    place += count;
  }
  if (place != size) {
    throw UsageError(std::string(name) + ": are " + std::to_string(place) +
                     " together; the array has " + std::to_string(size) + " elements");
  }
  return parts;
}

}  // namespace

void exchange(const Communicator& comm, const nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig>& sent,
              const Counts& sent_counts, const nb::ndarray<nb::ndim<2>, nb::c_contig>& received,
              const Counts& received_counts) {
  Parts from;
  Parts to;
  std::int64_t bytes = 0;
  agree(comm, "the bytes of an element", [&] {
    from = parts_of(sent_counts, comm, static_cast<std::int64_t>(sent.shape(0)), "sent_counts");
    to = parts_of(received_counts, comm, static_cast<std::int64_t>(received.shape(0)),
                  "received_counts");
    bytes = static_cast<std::int64_t>(sent.shape(1) * sent.itemsize());
    if (bytes != static_cast<std::int64_t>(received.shape(1) * received.itemsize()) ||
        bytes > std::numeric_limits<int>::max())
      throw UsageError("sent and received have elements of different sizes");
    return bytes;
  });
  const nb::gil_scoped_release released;
  const Element element(bytes);
  check_call(MPI_Alltoallv(sent.data(), from.counts.data(), from.places.data(), element.type(),
                           received.data(), to.counts.data(), to.places.data(), element.type(),
                           mpi_handle(comm)),
             "MPI_Alltoallv");
}

}  // namespace ringweave::python
