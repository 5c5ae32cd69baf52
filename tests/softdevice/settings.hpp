// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace softdevice {

/// A schedule: in order, or random from a seed.
struct Schedule {
  enum class Kind { eager, lazy, random };
  Kind kind = Kind::eager;
  std::uint64_t seed = 0;
};

/// An operation of a stream that fails (SOFTDEVICE_FAIL), and the device with it.
struct FailingOperation {
  std::int64_t number = -1;  ///< counted from 0, events excluded; -1: none
  int rank = -1;             ///< on this rank of MPI alone; -1: on each
};

/// A mutant: the n-th instruction or call of a kind is left out (SOFTDEVICE_DROP).
struct Drop {
  std::string kind;    ///< an opcode, as far as given ("bar.sync"), or a function of the runtime
  int number = -1;     ///< counted from 0 in a kernel or in the run; -1: each
  std::string kernel;  ///< a part of the kernel's name; "": every kernel
};

/// The environment variables SOFTDEVICE_... Read once.
struct Settings {
  Schedule streams;             ///< _STREAMS=eager|lazy|random:SEED
  Schedule lanes;               ///< _LANES=together|random:SEED
  bool checks = true;           ///< _CHECKS=0|1
  int sample = 1;               ///< _SAMPLE=N: about one block in N is run, and counted N times;
                                ///< without checks, results are wrong
  std::int64_t memory;          ///< _MEMORY=BYTES of a device
  int capability = 80;          ///< _CAPABILITY=80|90
  int devices = 1;              ///< _DEVICES=N
  FailingOperation failing;     ///< _FAIL="N [RANK]"
  bool host_may_touch = false;  ///< _MPI=0|1: device addresses are memory of the host too
  std::vector<Drop> drops;      ///< _DROP="KIND [N] [KERNEL]; ..."
  std::string counts;           ///< _COUNTS=FILE: counts of every kernel, as JSON
  std::string mutants;          ///< _MUTANTS=FOLDER: instructions and waits left out in turn, as
                                ///< JSON; a file of this process there
  std::string opcodes;          ///< _OPCODES=FILE: instructions of all kernels; in tests of the
                                ///< device, those that were run
};
const Settings& settings();

/// Returns whether the n-th operation of the streams of this process is the one that fails.
bool must_fail(std::int64_t number);

/// Returns whether the n-th instruction or call of a kind is to be left out.
bool is_dropped(const std::string& kind, int number, const std::string& kernel = "");

}  // namespace softdevice
