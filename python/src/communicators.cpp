// SPDX-License-Identifier: GPL-3.0-or-later
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "bindings.hpp"
#include "moves.hpp"

#include <ringweave/mpi.hpp>

namespace ringweave::python {
namespace {

// A communicator of Python is duplicated once. The duplicate is an attribute of it, which MPI
// deletes when it is freed: garbage collection, whose order differs among ranks, frees none.

bool is_ending = false;

int free_duplicate(MPI_Comm, int, void* duplicate, void*) {
  // While MPI_Finalize runs, communicators may not be freed any more.
  if (!is_ending) delete static_cast<Communicator*>(duplicate);
  return MPI_SUCCESS;
}

int note_the_end(MPI_Comm, int, void*, void*) {
  is_ending = true;
  return MPI_SUCCESS;
}

int duplicates_key() {
  static const int key = [] {
    int created = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, free_duplicate, &created, nullptr);
    // MPI_Finalize deletes the attributes of MPI_COMM_SELF first.
    int at_end = MPI_KEYVAL_INVALID;
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note_the_end, &at_end, nullptr);
    MPI_Comm_set_attr(MPI_COMM_SELF, at_end, nullptr);
    return created;
  }();
  return key;
}

bool mpi_runs() {
  int has_started = 0;
  int has_ended = 0;
  MPI_Initialized(&has_started);
  MPI_Finalized(&has_ended);
  return has_started != 0 && has_ended == 0;
}

Communicator duplicate_of_handle(std::int64_t handle) {
  if (!mpi_runs()) throw UsageError("MPI is not running; import mpi4py.MPI first");
  const MPI_Comm comm = MPI_Comm_f2c(static_cast<MPI_Fint>(handle));
  if (comm == MPI_COMM_NULL || comm == MPI_Comm{}) throw UsageError("comm: is MPI.COMM_NULL");
  void* found = nullptr;
  int is_there = 0;
  MPI_Comm_get_attr(comm, duplicates_key(), static_cast<void*>(&found), &is_there);
  if (is_there != 0) return *static_cast<Communicator*>(found);
  const nb::gil_scoped_release released;
  auto duplicate = std::make_unique<Communicator>(Communicator::duplicate_of(comm));
  Communicator result = *duplicate;
  if (MPI_Comm_set_attr(comm, duplicates_key(), duplicate.get()) == MPI_SUCCESS)
    static_cast<void>(duplicate.release());
  return result;
}

std::string library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING + 1> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  return {text.data(), static_cast<std::size_t>(length)};
}

/// Returns some numbers below 2^53 of every rank. Collective.
std::vector<std::vector<std::int64_t>> all_gather_many(const Communicator& comm,
                                                       const std::vector<std::int64_t>& mine) {
  const std::size_t count = mine.size();
  std::vector<double> values(count * static_cast<std::size_t>(comm.size()));
  std::copy(mine.begin(), mine.end(),
            values.begin() + static_cast<std::ptrdiff_t>(count) * comm.rank());
  comm.sum(values.data(), static_cast<std::int64_t>(values.size()));
  std::vector<std::vector<std::int64_t>> result;
  for (std::size_t i = 0; i < values.size(); i += count) {
    std::vector<std::int64_t>& row = result.emplace_back();
    for (std::size_t j = i; j < i + count; ++j) row.push_back(static_cast<std::int64_t>(values[j]));
  }
  return result;
}

/// Returns the first rank with a text of an error and that text; -1 where no rank has one.
/// Collective.
std::pair<std::int64_t, std::string> first_error(const Communicator& comm,
                                                 const std::string& mine) {
  const auto failed = comm.all_gather(std::int64_t{mine.empty() ? 0 : 1});
  const auto found = std::find(failed.begin(), failed.end(), 1);
  if (found == failed.end()) return {-1, ""};
  const std::int64_t rank = found - failed.begin();
  return {rank, comm.broadcast(mine, static_cast<int>(rank))};
}

}  // namespace

void bind_communicators(nb::module_& module) {
  nb::class_<Communicator>(module, "Comm", "Duplicate of a communicator, or one rank without MPI.")
      .def_static("self", &Communicator::self, "Returns one rank that calls no MPI.")
      .def_static(
          "from_handle", &duplicate_of_handle, nb::arg("handle"),
          "Returns the duplicate of the communicator with this handle of Fortran. Collective.")
      .def_prop_ro("rank", &Communicator::rank, "Number of this rank.")
      .def_prop_ro("size", &Communicator::size, "Number of ranks.")
      .def(
          "barrier", [](const Communicator& comm) { comm.barrier(); },
          nb::call_guard<nb::gil_scoped_release>(), "Waits for all ranks. Collective.")
      .def(
          "broadcast",
          [](const Communicator& comm, const std::string& text, int root) {
            return comm.broadcast(text, root);
          },
          nb::arg("text"), nb::arg("root") = 0, nb::call_guard<nb::gil_scoped_release>(),
          "Returns the text of `root` on every rank. Collective.")
      .def(
          "all_gather",
          [](const Communicator& comm, std::int64_t value) { return comm.all_gather(value); },
          nb::arg("value"), nb::call_guard<nb::gil_scoped_release>(),
          "Returns the values of all ranks. Collective.")
      .def("all_gather_many", &all_gather_many, nb::arg("values"),
           nb::call_guard<nb::gil_scoped_release>(),
           "Returns a few numbers of all ranks. Collective.")
      .def("first_error", &first_error, nb::arg("error"), nb::call_guard<nb::gil_scoped_release>(),
           "Returns the first rank with a text of an error and that text, or -1. Collective.");
  module.def("mpi_library_version", &library_version,
             "Returns what the MPI that this module is linked with calls itself.");
  module.def("move", &move, nb::arg("comm"), nb::arg("source").none(), nb::arg("source_pieces"),
             nb::arg("target").none(), nb::arg("target_pieces"),
             "Copies elements of a distributed array to another distribution of it. Collective.");
  module.def("exchange", &exchange, nb::arg("comm"), nb::arg("sent"), nb::arg("sent_counts"),
             nb::arg("received"), nb::arg("received_counts"),
             "Sends rows of an array to all ranks and receives theirs. Collective.");
}

}  // namespace ringweave::python
