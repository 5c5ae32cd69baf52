// SPDX-License-Identifier: GPL-3.0-or-later
// Kernels and their launches, as the code that nvcc generates calls them (crt/host_runtime.h).
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <unordered_map>
#include <utility>

#include "softdevice/findings.hpp"
#include "softdevice/machine/block.hpp"
#include "softdevice/machine/mutants.hpp"
#include "softdevice/machine/opcodes.hpp"
#include "softdevice/ptx/fat_binary.hpp"
#include "softdevice/ptx/module.hpp"
#include "softdevice/runtime/runtime.hpp"
#include "softdevice/settings.hpp"

namespace softdevice {
namespace {

/// A fat binary of an object, read when one of its kernels is used.
struct Binary {
  const void* wrapper;
  ptx::Module module;
};
struct Entry {
  Binary* binary;
  std::string name;
};

/// Kernels by the addresses of their functions on the host.
struct Registry {
  std::unordered_map<const void*, Entry> entries;
  std::unordered_map<const void*, std::unique_ptr<CUkern_st>> kernels;
};
Registry& registry() {
  static auto* all = new Registry;
  return *all;
}

[[noreturn]] void give_up(const std::string& problem) {
  std::fprintf(stderr, "softdevice: %s\n", problem.c_str());
  std::_Exit(status_of_findings);
}

CUkern_st* kernel_of(const void* function) {
  std::unique_ptr<CUkern_st>& kernel = registry().kernels[function];
  if (kernel != nullptr) return kernel.get();
  const auto entry = registry().entries.find(function);
  if (entry == registry().entries.end()) return nullptr;
  Binary& binary = *entry->second.binary;
  try {
    if (binary.module.empty())
      binary.module = ptx::read_module(ptx::ptx_of(binary.wrapper, settings().capability));
    const auto found = binary.module.find(entry->second.name);
    if (found == binary.module.end()) return nullptr;
    kernel = std::make_unique<CUkern_st>(CUkern_st{decode(found->second)});
    kernel->program.registers = ptx::registers_of(binary.wrapper, entry->second.name);
  } catch (const std::exception& error) {
    give_up(error.what());
  }
  return kernel.get();
}

void note_opcodes(const Binary& binary) {
  for (const auto& [name, kernel] :
       ptx::read_module(ptx::ptx_of(binary.wrapper, settings().capability))) {
    for (const ptx::Statement& statement : kernel.statements) note_opcode(statement);
  }
}

std::vector<std::byte> parameters_of(const Program& program, void** arguments) {
  std::vector<std::byte> parameters(static_cast<std::size_t>(program.parameter_bytes));
  for (std::size_t i = 0; i < program.parameters.size(); ++i) {
    const auto [offset, bytes] = program.parameters[i];
    std::memcpy(parameters.data() + offset, arguments[i], static_cast<std::size_t>(bytes));
  }
  return parameters;
}

cudaError_t error_of(Failure failure) {
  switch (failure) {
    case Failure::none: return cudaSuccess;
    case Failure::illegal_address: return cudaErrorIllegalAddress;
    case Failure::misaligned_address: return cudaErrorMisalignedAddress;
    case Failure::deadlock:
    case Failure::endless: return cudaErrorLaunchFailure;
  }
  return cudaErrorLaunchFailure;
}

struct Configuration {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes;
  cudaStream_t stream;
};
thread_local std::vector<Configuration> configurations;

}  // namespace
}  // namespace softdevice

using namespace softdevice;

extern "C" {

void** __cudaRegisterFatBinary(void* wrapper) {
  return reinterpret_cast<void**>(new Binary{wrapper, {}});
}
void __cudaRegisterFatBinaryEnd(void** handle) {
  if (!settings().opcodes.empty()) note_opcodes(*reinterpret_cast<const Binary*>(handle));
}
void __cudaUnregisterFatBinary(void**) {}

void __cudaRegisterFunction(void** binary, const char* function, char*, const char* name, int,
                            uint3*, uint3*, dim3*, dim3*, int*) {
  registry().entries[function] = {reinterpret_cast<Binary*>(binary), name};
}

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared_bytes,
                                     cudaStream_t stream) {
  configurations.push_back({grid, block, shared_bytes, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared_bytes,
                                       void* stream) {
  if (configurations.empty()) return cudaErrorInvalidConfiguration;
  const Configuration& last = configurations.back();
  *grid = last.grid;
  *block = last.block;
  *shared_bytes = last.shared_bytes;
  *static_cast<cudaStream_t*>(stream) = last.stream;
  configurations.pop_back();
  return cudaSuccess;
}

cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* function) {
  const Call call;
  *kernel = kernel_of(function);
  return call.runtime.fail(*kernel == nullptr ? cudaErrorInvalidDeviceFunction : cudaSuccess);
}

cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               std::size_t shared_bytes, cudaStream_t stream) {
  const Call call;
  const Program& program = kernel->program;
  constexpr std::int64_t most_shared_bytes = 48 << 10;
  if (grid.x == 0 || grid.x > 0x7fffffffU || grid.y != 1 || grid.z != 1 || block.x == 0 ||
      block.y != 1 || block.z != 1 || shared_bytes != 0 ||
      block.x > static_cast<unsigned>(program.most_threads) ||
      program.shared_bytes > most_shared_bytes)
    return call.runtime.fail(cudaErrorInvalidConfiguration);
  if (stream == nullptr) {
    find("default stream", program.name);
    return call.runtime.fail(cudaErrorInvalidResourceHandle);
  }
  Launch launch{&program, parameters_of(program, arguments), grid.x, static_cast<int>(block.x)};
  return call.runtime.enqueue(
      stream, program.name,
      [launch = std::move(launch)](OrderedMemory&, const Operation& operation, Moment moment) {
        LaunchCounts counts;
        Mutants mutants(launch, operation, moment);
        const Failure failure = run_launch(launch, operation, moment, counts, mutants.taken());
        mutants.run(failure, counts);
        add_counts(*launch.program, counts);
        if (failure != Failure::none) Runtime::get().sticky = error_of(failure);
      });
}
}
