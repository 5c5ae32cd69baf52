// SPDX-License-Identifier: GPL-3.0-or-later
// Run by injector_test.py: makes one call after another and prints what each returned.
//   injected_calls FOLDER
// Each rank has a file of its own in the folder, NAME.RANK, and writes its lines to
// FOLDER/said.RANK.
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <string>

namespace {

constexpr int n_times = 3;
constexpr std::size_t large = 100000;

int n_handled = 0;

void handle_error(MPI_Comm*, int*, ...) { ++n_handled; }

class Calls {
 public:
  Calls(const std::string& folder, int rank)
      : path_(folder + "/file." + std::to_string(rank)),
        said_((folder + "/said." + std::to_string(rank)).c_str(), "w") {}

  void descriptors();
  void names();
  void streams();
  void memory();
  void mpi();

 private:
  /// The file for what the calls returned.
  class Lines {
   public:
    Lines(const char* path, const char* mode) : file_(std::fopen(path, mode)) {
      if (file_ == nullptr) std::exit(98);
    }
    Lines(const Lines&) = delete;
    Lines& operator=(const Lines&) = delete;
    ~Lines() { std::fclose(file_); }
    void add(const std::string& line) { std::fprintf(file_, "%s\n", line.c_str()); }

   private:
    std::FILE* file_;
  };

  /// Writes down the result of a call and returns it.
  template <class Result>
  Result said(const char* call, Result result) {
    const int reason = errno;
    const std::string error = result < 0 ? std::string(" ") + ::strerrorname_np(reason) : "";
    said_.add(call + (" " + std::to_string(result)) + error);
    return result;
  }

  std::string path_;
  Lines said_;
  std::array<char, 8> data_ = {'n', 'u', 'm', 'b', 'e', 'r', 's', '\n'};
};

void Calls::descriptors() {
  iovec pieces[] = {{data_.data(), data_.size()}, {data_.data(), data_.size()}};
  const int out = ::open(path_.c_str(), O_RDWR | O_CREAT | O_TRUNC, 0644);
  said("open", out < 0 ? -1 : 0);
  for (int i = 0; i < n_times; ++i) said("write", ::write(out, data_.data(), data_.size()));
  for (int i = 0; i < n_times; ++i)
    said("pwrite", ::pwrite(out, data_.data(), data_.size(), 8 * i));
  said("writev", ::writev(out, pieces, 2));
  said("pwritev", ::pwritev(out, pieces, 2, 0));
  said("fallocate", ::fallocate(out, 0, 0, 100));
  said("posix_fallocate", ::posix_fallocate(out, 0, 100));
  said("ftruncate", ::ftruncate(out, 64));
  said("fdatasync", ::fdatasync(out));
  said("fsync", ::fsync(out));
  for (int i = 0; i < n_times; ++i) said("pread", ::pread(out, data_.data(), data_.size(), 0));
  said("read", ::read(out, data_.data(), data_.size()));
  said("readv", ::readv(out, pieces, 2));
  said("preadv", ::preadv(out, pieces, 2, 0));
  struct stat status {};
  said("fstat", ::fstat(out, &status));
  said("close", ::close(out));
}

void Calls::names() {
  const std::string other = path_ + ".other", folder = path_ + ".folder";
  struct stat status {};
  said("stat", ::stat(path_.c_str(), &status));
  said("lstat", ::lstat(path_.c_str(), &status));
  said("access", ::access(path_.c_str(), R_OK));
  said("chmod", ::chmod(path_.c_str(), 0600));
  said("rename", std::rename(path_.c_str(), other.c_str()));
  said("renameat2",
       ::renameat2(AT_FDCWD, other.c_str(), AT_FDCWD, path_.c_str(), RENAME_NOREPLACE));
  said("link", ::link(path_.c_str(), other.c_str()));
  said("unlink", ::unlink(other.c_str()));
  said("mkdir", ::mkdir(folder.c_str(), 0755));
  said("rmdir", ::rmdir(folder.c_str()));
}

void Calls::streams() {
  std::FILE* const stream = std::fopen(path_.c_str(), "w+");
  said("fopen", stream == nullptr ? -1 : 0);
  if (stream == nullptr) return;
  for (int i = 0; i < n_times; ++i) {
    said("fwrite", std::fwrite(data_.data(), 1, data_.size(), stream));
    said("ferror", static_cast<int>(std::ferror(stream) != 0));
  }
  said("fflush", std::fflush(stream));
  std::rewind(stream);
  for (int i = 0; i < n_times; ++i)
    said("fread", std::fread(data_.data(), 1, data_.size(), stream));
  said("fclose", std::fclose(stream));
}

void Calls::memory() {
  for (int i = 0; i < n_times; ++i) {
    void* volatile const block = std::malloc(large);
    said("malloc", block == nullptr ? -1 : 0);
    std::free(block);
  }
  said("time", std::time(nullptr));
}

void Calls::mpi() {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(handle_error, &handler);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
  const auto tell = [&](const char* call, int code) {
    said(call, static_cast<int>(code == MPI_SUCCESS ? 0 : n_handled > 0 ? 2 : 1));
    n_handled = 0;
  };
  int number = 1, sum = 0, done = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  for (int i = 0; i < n_times; ++i)
    tell("MPI_Bcast", MPI_Bcast(&number, 1, MPI_INT, 0, MPI_COMM_SELF));
  tell("MPI_Allreduce", MPI_Allreduce(&number, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_SELF));
  tell("MPI_Ibarrier", MPI_Ibarrier(MPI_COMM_SELF, &request));
  tell("MPI_Wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
  tell("MPI_Test", MPI_Test(&request, &done, MPI_STATUS_IGNORE));
  MPI_Errhandler_free(&handler);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 97;
  void* volatile const early = std::malloc(large);
  std::free(early);
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  {
    Calls calls(argv[1], rank);
    calls.descriptors();
    calls.names();
    calls.streams();
    calls.memory();
    calls.mpi();
  }
  MPI_Finalize();
  return 0;
}
