// SPDX-License-Identifier: GPL-3.0-or-later
#include <dlfcn.h>
#include <link.h>

#include <array>
#include <exception>
#include <new>
#include <string>
#include <vector>

#include "base/checked_cast.hpp"
#include "distribute/mpi/mpi_library.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"
#include "ringweave/mpi.hpp"

namespace ringweave {

using namespace detail;

namespace {

/// Keeps all libraries loaded until the process ends. MPI_Finalize of Open MPI unloads its plugins
/// while its own threads may still be in their code: one of some thousand launches on one rank
/// ended with a segmentation fault after its work.
void keep_libraries() try {
  std::vector<std::string> names;
  dl_iterate_phdr(
      [](dl_phdr_info* library, std::size_t, void* list) {
        static_cast<std::vector<std::string>*>(list)->emplace_back(library->dlpi_name);
        return 0;
      },
      &names);
  for (const std::string& name : names) {
    if (!name.empty()) dlopen(name.c_str(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
  }
} catch (const std::bad_alloc&) {
  // A run that has no memory left ends with its own error.
}

}  // namespace

MpiSession::MpiSession(int* argc, char*** argv) {
  int running = 0;
  MPI_Initialized(&running);
  if (running != 0) return;
  int level = MPI_THREAD_SINGLE;
  if (MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &level) != MPI_SUCCESS) {
    throw ResourceError("MPI did not start; check the launcher and the MPI installation");
  }
  owner_ = true;
}

MpiSession::~MpiSession() {
  // While unwinding, other ranks may be anywhere; waiting for them here would turn an error into a
  // hang.
  if (!owner_ || std::uncaught_exceptions() > 0) return;
  int ended = 0;
  MPI_Finalized(&ended);
  if (ended != 0) return;
  keep_libraries();
  MPI_Finalize();
}

bool detail::threads_may_call_mpi() {
  int running = 0;
  MPI_Initialized(&running);
  if (running == 0) return false;
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  return level == MPI_THREAD_MULTIPLE;
}

std::string detail::mpi_library_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  MPI_Get_library_version(text.data(), &length);
  const std::string words(text.data(), to_size(length));
  return words.substr(0, words.find_first_of(",\n"));
}

}  // namespace ringweave
