// SPDX-License-Identifier: GPL-3.0-or-later
// Run by ctest: the last rank fails while the others wait in a collective; the job must end at
// once, with the exit code of the error.
#include "ringweave/communicator.hpp"

int main(int argc, char** argv) {
  const ringweave::MpiSession session(&argc, &argv);
  const ringweave::Communicator comm = ringweave::Communicator::world();
  if (comm.rank() == comm.size() - 1) comm.abort(ringweave::ErrorKind::resource, "disk full");
  comm.barrier();
}
