// SPDX-License-Identifier: GPL-3.0-or-later
// Runs command lines of the program one after another in one launch, for program.py. The first rank
// reads one JSON object a line from stdin:
//   {"folder": ..., "out": ..., "err": ..., "command": [program, argument, ...]}
// All ranks run the command in the folder, with stdout and stderr appended to these files. The
// first rank prints the exit code on a line.
#include <fcntl.h>
#include <fmt/format.h>
#include <mpi.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "app/program.hpp"
#include "ringweave/communicator.hpp"
#include "ringweave/error.hpp"
#include "ringweave/mpi.hpp"

namespace {

using ringweave::Communicator;

constexpr std::chrono::microseconds longest_pause{10000};

/// Sends the first rank's text to all. They sleep until it comes, for tests may run beside this
/// one.
void share(const Communicator& comm, std::string& text) {
  const auto meet = [&](void* data, int count, MPI_Datatype type) {
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibcast(data, count, type, 0, ringweave::mpi_handle(comm), &request);
    auto pause = std::chrono::microseconds(100);
    for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE), done == 0;) {
      std::this_thread::sleep_for(pause);
      pause = std::min(2 * pause, longest_pause);
    }
  };
  int size = static_cast<int>(text.size());
  meet(&size, 1, MPI_INT);
  text.resize(static_cast<std::size_t>(size));
  meet(text.data(), size, MPI_CHAR);
}

/// Lets a stream of this process go to a file while it lives.
class Redirection {
 public:
  Redirection(std::FILE* stream, const std::string& path)
      : stream_(stream), kept_(dup(fileno(stream))) {
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (kept_ < 0 || file < 0 || dup2(file, fileno(stream_)) < 0) {
      throw ringweave::ResourceError(path + ": cannot take the output of a command");
    }
    close(file);
  }
  Redirection(const Redirection&) = delete;
  Redirection& operator=(const Redirection&) = delete;
  ~Redirection() {
    std::fflush(stream_);
    dup2(kept_, fileno(stream_));
    close(kept_);
  }

 private:
  std::FILE* stream_;
  int kept_;
};

int run(const Communicator& comm, const nlohmann::json& asked) {
  const auto command = asked.at("command").get<std::vector<std::string>>();
  std::vector<const char*> arguments;
  for (const std::string& argument : command) arguments.push_back(argument.c_str());
  const Redirection out(stdout, asked.at("out"));
  const Redirection err(stderr, asked.at("err"));
  std::filesystem::current_path(asked.at("folder").get<std::string>());
  return ringweave::detail::run_command(comm, static_cast<int>(arguments.size()), arguments.data());
}

}  // namespace

int main(int argc, char** argv) {
  ringweave::detail::prepare_process();
  const ringweave::MpiSession mpi(&argc, &argv);
  const Communicator comm = Communicator::world();
  const int threads = omp_get_max_threads();
  while (true) {
    std::string line;
    if (comm.is_root()) std::getline(std::cin, line);
    share(comm, line);
    if (line.empty()) return 0;
    const int code = run(comm, nlohmann::json::parse(line));
    omp_set_num_threads(threads);
    // Afterwards every rank has written what it prints.
    if (comm.min(std::int64_t{code}) != comm.max(std::int64_t{code})) {
      comm.abort(ringweave::ErrorKind::internal, "ranks end with different exit codes");
    }
    if (comm.is_root()) {
      fmt::print("{}\n", code);
      std::fflush(stdout);
    }
  }
}
